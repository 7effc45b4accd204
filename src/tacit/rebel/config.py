"""Everything that can be set in a ReBeL run, and the presets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from tacit.errors import TacitError
from tacit.learning.settings import ENCODERS, MLP, REPLAY_MEMORY, Decomposition, NetworkSettings, SearchDepth, ValueNetwork
from tacit.search.config import CFR_D, SearchConfig
from tacit.solvers.schedules import SCHEDULES
from tacit.solvers.warm import WARM_ITERATIONS
from tacit.training.ranges import Choice, Count, CountOrZero, Positive, Seed, Share
from tacit.training.settings import find_preset


@dataclass(frozen=True)
class RebelConfig(NetworkSettings):
    """A ReBeL run.

    Attributes:
      solver: The search algorithm; fictitious play (`fp`, `linear-fp`, `flop`, `xfp`) or one of the CFR family.
      iterations: Search iterations; each updates both players.
      depth: Actions a search looks ahead, or `round` for the rest of the betting round.
      decomposition: The beliefs at which regret matching values leaves: those of the current strategies (`cfr-d`) or of their
        averages (`modified-cfr-ave`).
      recycle: Search iterations that use the same leaf values.
      beliefs: Where training states come from: `self-play`, or `random` beliefs for comparison.
      games: Games of self-play that advance together; 0 fits them to the game.
      exploration: How often the exploring player plays at random.
      encoder: What networks see of a public state: its class (`classes`), or `features` made of public observations.
      hidden: The width of the network's hidden layers.
      layers: The number of hidden layers.
      network: The value network: `mlp`, or one of your own as FILE.py:CLASS(key=value,...).
      learning_rate: The initial learning rate of Adam.
      halve_every: Epochs after which the learning rate is halved; 0 decays it by a cosine over the run instead.
      batch_size: Examples in a training step.
      ratio: Examples trained on for each new one.
      replay_size: Examples kept for training.
      replay_memory: Gigabytes of memory for the examples of each network; if they take more, older ones go to files of the run.
        On a GPU all stay in its memory.
      epoch_examples: New examples in an epoch; 0 fits them to the game.
      epochs: The length of the run; 0 fits it to the game.
      warm_start_at: The epoch after which searches start from a policy network, trained beside the value network; 0 for none.
      drop_half_at: The epoch after which the older half of the buffer, made with a poor network, is dropped; 0 never drops it.
      evaluate_every: Epochs between evaluations; 0 evaluates at the end only.
      playthroughs: Playthroughs of an evaluation during the run: more give a tighter bound; 0 fits them to the game.
      seed: The seed of everything random.
    """

    system: ClassVar[str] = "rebel"
    fitted: ClassVar[Mapping[str, float]] = {"games": 0, "epoch_examples": 0, "epochs": 0, "playthroughs": 0}
    warm_starts: ClassVar[bool] = True

    solver: Annotated[str, Choice(*SCHEDULES)] = "linear-cfr"
    iterations: Count = 512
    depth: SearchDepth = 2
    decomposition: Decomposition = CFR_D
    recycle: Count = 1
    beliefs: Annotated[str, Choice("self-play", "random")] = "self-play"
    games: CountOrZero = 256
    exploration: Share = 0.25
    encoder: Annotated[str, Choice(*ENCODERS)] = "classes"
    hidden: Count = 256
    layers: Count = 2
    network: ValueNetwork = MLP
    learning_rate: Positive = 3e-4
    halve_every: CountOrZero = 400
    batch_size: Count = 512
    ratio: Positive = 4.0
    replay_size: Count = 2_000_000
    replay_memory: Positive = REPLAY_MEMORY
    epoch_examples: CountOrZero = 6_400
    epochs: CountOrZero = 1_000
    warm_start_at: CountOrZero = 0
    drop_half_at: CountOrZero = 20
    evaluate_every: CountOrZero = 50
    playthroughs: CountOrZero = 64
    seed: Seed = 0

    def search(self) -> SearchConfig:
        """Returns the settings of search."""
        return SearchConfig(self.solver, self.iterations, self.depth, self.decomposition, recycle=self.recycle)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.warm_start_at and self.iterations <= WARM_ITERATIONS:
            raise TacitError(f"a warm start counts as {WARM_ITERATIONS} iterations: set iterations to more than that")


PRESETS: dict[str, RebelConfig] = {
    "paper": RebelConfig(),
    "cpu": RebelConfig(
        solver="dcfr", iterations=128, games=0, hidden=128, learning_rate=2e-3, halve_every=0, batch_size=512, ratio=8.0,
        replay_size=300_000, epoch_examples=0, epochs=0, drop_half_at=0, evaluate_every=10, playthroughs=0,
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
