"""Everything that can be set in a run of a blueprint, and the presets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from tacit.blueprint.buckets import ALL, MAX_BUCKETS
from tacit.blueprint.menus import parse_streets
from tacit.errors import TacitError
from tacit.training.settings import Settings


@dataclass(frozen=True)
class BlueprintConfig(Settings):
    """A run; the defaults are for two cores and some twenty minutes.

    Attributes:
      flop: buckets of hands on the flop; `all` makes one for each hand on each board, for endgames. So do the next two.
      turn: buckets on the turn.
      river: buckets on the river.
      bets: sizes of the first bet or raise of a street, in pots, like `0.5|1|allin`; streets are separated by `/`. Of those
        that the game offers, the nearest are taken. In limit games there is nothing to choose.
      raises: sizes of later raises, likewise.
      max_raises: bets and raises of a street after which nothing but all-in is left to raise.
      threads: how many compute together; 0 takes all cores.
      epoch_iterations: iterations an epoch. Those of epoch t count t times as much as those of the first.
      deals: of an evaluation, each played in both seats against every bot.
      epochs: length of the run.
      evaluate_every: epochs between evaluations; 0 evaluates at the end only.
      seed: of everything random.
    """

    system: ClassVar[str] = "blueprint"
    words: ClassVar[Mapping[str, str]] = {"flop": ALL, "turn": ALL, "river": ALL}

    flop: int | str = 200
    turn: int | str = 200
    river: int | str = 200
    bets: str = "0.75|1.5|allin/0.5|1|allin/0.5|1|allin/0.5|1|allin"
    raises: str = "1|allin"
    max_raises: int = 3
    threads: int = 0
    epoch_iterations: int = 1_000_000
    deals: int = 50_000
    epochs: int = 150
    evaluate_every: int = 10
    seed: int = 0

    @property
    def buckets(self) -> tuple[int | str, int | str, int | str]:
        """Buckets on the flop, the turn and the river."""
        return self.flop, self.turn, self.river

    def __post_init__(self) -> None:
        for key in self.words:
            buckets = getattr(self, key)
            if buckets != ALL and not (isinstance(buckets, int) and 1 <= buckets <= MAX_BUCKETS):
                raise TacitError(f"{key} must be from 1 to {MAX_BUCKETS} buckets or {ALL}, not {buckets}")
        parse_streets(self.bets)
        parse_streets(self.raises)
        self.require_at_least(1, "max_raises", "epoch_iterations", "epochs")
        self.require_at_least(2, "deals", reason="for an interval")
        self.require_at_least(0, "threads", "evaluate_every")
        self.require_seed()


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
