"""Everything that can be set in a ReBeL run, and the presets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from tacit.errors import TacitError
from tacit.learning.settings import ENCODERS, NetworkSettings
from tacit.search.config import CFR_AVE, CFR_D, MODIFIED_CFR_AVE, SearchConfig
from tacit.solvers.warm import WARM_ITERATIONS
from tacit.training.settings import find_preset
from tacit.tree.subgame import ROUND

BELIEFS = ("self-play", "random")


@dataclass(frozen=True)
class RebelConfig(NetworkSettings):
    """A ReBeL run.

    Attributes:
      solver: the search algorithm (see `SearchConfig`).
      iterations: search iterations; each updates both players.
      depth: actions a search looks ahead, or `round` for the rest of the betting round.
      decomposition: where regret matching values leaves (see `SearchConfig`).
      recycle: search iterations that use the same leaf values.
      beliefs: where training states come from: `self-play`, or `random` beliefs for comparison.
      games: games of self-play that advance in step.
      exploration: how often the exploring player plays at random.
      encoder: what networks see of a public state: its class, or `features` made of public observations (`nets/encoders.py`).
      hidden: width of the network's hidden layers.
      layers: their number.
      learning_rate: of Adam at the start.
      halve_every: epochs after which the learning rate is halved; 0 decays it by a cosine over the run instead.
      batch_size: examples a training step.
      ratio: examples trained on for each new one.
      replay_size: examples kept.
      epoch_examples: new examples an epoch.
      epochs: length of the run.
      warm_start_at: epoch after which searches start from a policy network, trained beside the value network; 0 has none.
      drop_half_at: epoch after which the older half of the buffer, made with a poor network, is dropped; 0 never.
      evaluate_every: epochs between evaluations; 0 evaluates at the end only.
      playthroughs: of an evaluation on the way.
      seed: of everything random.
    """

    system: ClassVar[str] = "rebel"
    words: ClassVar[Mapping[str, str]] = {"depth": ROUND}
    warm_starts: ClassVar[bool] = True

    solver: str = "linear-cfr"
    iterations: int = 512
    depth: int | str = 2
    decomposition: str = CFR_D
    recycle: int = 1
    beliefs: str = "self-play"
    games: int = 256
    exploration: float = 0.25
    encoder: str = "classes"
    hidden: int = 256
    layers: int = 2
    learning_rate: float = 3e-4
    halve_every: int = 400
    batch_size: int = 512
    ratio: float = 4.0
    replay_size: int = 2_000_000
    epoch_examples: int = 6_400
    epochs: int = 1_000
    warm_start_at: int = 0
    drop_half_at: int = 20
    evaluate_every: int = 50
    playthroughs: int = 64
    seed: int = 0

    def search(self) -> SearchConfig:
        """Returns the part that concerns search."""
        return SearchConfig(self.solver, self.iterations, self.depth, self.decomposition, recycle=self.recycle)

    def __post_init__(self) -> None:
        self.require_choice("beliefs", BELIEFS)
        self.require_choice("encoder", ENCODERS)
        self.require_at_least(
            1, "games", "hidden", "layers", "batch_size", "replay_size", "epoch_examples", "epochs", "playthroughs"
        )
        self.require_at_least(0, "halve_every", "warm_start_at", "drop_half_at", "evaluate_every")
        self.require_seed()
        self.require_positive("learning_rate", "ratio")
        self.require_shares("exploration")
        if self.decomposition == CFR_AVE:
            raise TacitError(f"{CFR_AVE} needs exact values of leaves, which networks are not: choose {MODIFIED_CFR_AVE}")
        if self.warm_start_at and self.iterations <= WARM_ITERATIONS:
            raise TacitError(f"a warm start stands for {WARM_ITERATIONS} iterations: set iterations to more than that")
        self.search()  # refuses what search does not know


PRESETS: dict[str, RebelConfig] = {
    "paper": RebelConfig(),
    "cpu": RebelConfig(
        solver="dcfr", iterations=128, games=512, hidden=128, learning_rate=2e-3, halve_every=0, batch_size=512, ratio=8.0,
        replay_size=300_000, epoch_examples=4_096, epochs=100, drop_half_at=0, evaluate_every=10, playthroughs=64,
    ),
    "gpu": RebelConfig(
        solver="dcfr", iterations=256, games=32_768, learning_rate=3e-3, halve_every=0, batch_size=4_096, ratio=24.0,
        replay_size=4_000_000, epoch_examples=131_072, epochs=80, drop_half_at=0, evaluate_every=5, playthroughs=128,
    ),
    "smoke": RebelConfig(
        solver="dcfr", iterations=8, games=64, hidden=32, learning_rate=2e-3, halve_every=0, batch_size=64, replay_size=4_096,
        epoch_examples=256, epochs=3, drop_half_at=0, evaluate_every=1, playthroughs=4,
    ),
}  # fmt: skip


def preset(name: str) -> RebelConfig:
    """Returns a preset by name."""
    return find_preset(PRESETS, name)
