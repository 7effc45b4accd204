"""The settings of a blueprint run, and the presets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from tacit.blueprint.buckets import ALL, MAX_BUCKETS
from tacit.blueprint.menus import parse_streets
from tacit.training.ranges import Count, CountOrZero, Number, Seed, Text
from tacit.training.settings import Settings

Buckets = Annotated[int | str, Number(int, 1, MAX_BUCKETS, word=ALL)]
StreetSizes = Annotated[str, Text("sizes in pots for all streets or for each of four, like 0.5|1/1/1/1|allin", parse_streets)]


@dataclass(frozen=True)
class BlueprintConfig(Settings):
    """A run; the defaults take some twenty minutes on two cores.

    Attributes:
      flop: Buckets of hands on the flop; `all` makes one for each hand on each board, for endgames.
      turn: Buckets of hands on the turn; `all` as on the flop.
      river: Buckets of hands on the river; `all` as on the flop.
      bets: Sizes of the first bet or raise of a street, in pots, like `0.5|1|allin`; streets are separated by `/`. The nearest
        sizes that the game offers are used. Limit games ignore it.
      raises: Sizes of later raises, written like `bets`.
      max_raises: Bets and raises on a street after which only all-in is left as a raise.
      threads: Number of threads; 0 uses all cores.
      epoch_iterations: Iterations in an epoch. Those of epoch t count t times as much as those of the first.
      deals: Deals in an evaluation, each played in both seats against every bot.
      epochs: The length of the run.
      evaluate_every: Epochs between evaluations; 0 evaluates at the end only.
      seed: The seed of everything random.
    """

    system: ClassVar[str] = "blueprint"

    flop: Buckets = 200
    turn: Buckets = 200
    river: Buckets = 200
    bets: StreetSizes = "0.75|1.5|allin/0.5|1|allin/0.5|1|allin/0.5|1|allin"
    raises: StreetSizes = "1|allin"
    max_raises: Count = 3
    threads: CountOrZero = 0
    epoch_iterations: Count = 1_000_000
    deals: Annotated[int, Number(int, 2)] = 50_000
    epochs: Count = 150
    evaluate_every: CountOrZero = 10
    seed: Seed = 0

    @property
    def buckets(self) -> tuple[int | str, int | str, int | str]:
        """The buckets on the flop, the turn and the river."""
        return self.flop, self.turn, self.river


PRESETS = {
    "cpu": BlueprintConfig(),
    # Eight minutes on sixteen cores; at most 16 MiB on disk even if nothing could be compressed (docs/blueprint.md).
    "medium": BlueprintConfig(
        flop=1_000, turn=600, river=500, bets="0.75|1.5/0.5|1/0.5|1|allin/0.5|1|allin", epoch_iterations=10_000_000, epochs=100,
        evaluate_every=5,
    ),
    # More buckets and bets, for hours on many cores.
    "large": BlueprintConfig(
        flop=1_000, turn=1_000, river=1_000, epoch_iterations=10_000_000, epochs=200,
        bets="0.5|0.75|1.5|allin/0.33|0.75|1.5|allin/0.5|1|2|allin/0.5|1|2|allin",
    ),
    "smoke": BlueprintConfig(
        flop=20, turn=20, river=20, bets="1|allin", raises="allin", epoch_iterations=20_000, epochs=5, deals=2_000,
        evaluate_every=1,
    ),
}  # fmt: skip
