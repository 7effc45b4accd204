"""Everything that can be set in a run of Student of Games on boards, and the presets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tacit.learning.settings import REPLAY_MEMORY
from tacit.search.boards.search import BoardSearchConfig
from tacit.training.ranges import Count, CountOrZero, Positive, PositiveOrZero, Seed, Share
from tacit.training.settings import Settings


@dataclass(frozen=True)
class BoardConfig(Settings):
    """A run of Student of Games on a board.

    Attributes:
      expansions: Positions that a search opens, SoG's s.
      per_update: Positions opened before each update of regrets, SoG's c.
      puct: How strongly searches explore the actions that the policy head favours.
      games: Games of self-play that advance together.
      uniform_mix: How often a move is drawn uniformly instead of from the search's policy.
      queries: Positions per game and step that the solver searches: those that earlier searches asked the network about.
      outcome_share: The weight of a game's outcome in the value that is learnt, TD(1); the rest is the value its search found.
      channels: The channels of the network's tower.
      blocks: The residual blocks of the tower.
      learning_rate: The initial learning rate of AdamW, which decays by a cosine over the run.
      weight_decay: The weight decay of AdamW.
      batch_size: Examples in a training step.
      ratio: Examples trained on for each new one.
      replay_size: Examples kept for training.
      replay_memory: Gigabytes of memory for the examples of each network; if they take more, older ones go to files of the run.
        On a GPU all stay in its memory.
      epoch_steps: Moves of every game in an epoch.
      epochs: The length of the run.
      evaluate_every: Epochs between evaluations; 0 evaluates at the end only.
      match_games: Games of an evaluation, against the same search without a network.
      seed: The seed of everything random.
    """

    system: ClassVar[str] = "sog-boards"

    expansions: Count = 100
    per_update: Count = 4
    puct: Positive = 1.5
    games: Count = 128
    uniform_mix: Share = 0.1
    queries: PositiveOrZero = 0.25
    outcome_share: Share = 0.5
    channels: Count = 32
    blocks: Count = 3
    learning_rate: Positive = 2e-3
    weight_decay: PositiveOrZero = 1e-4
    batch_size: Count = 256
    ratio: Positive = 4.0
    replay_size: Count = 200_000
    replay_memory: Positive = REPLAY_MEMORY
    epoch_steps: Count = 16
    epochs: Count = 100
    evaluate_every: CountOrZero = 10
    match_games: Count = 64
    seed: Seed = 0

    def growth(self) -> BoardSearchConfig:
        """Returns the settings of search."""
        return BoardSearchConfig(self.expansions, self.per_update, self.puct)


PRESETS: dict[str, BoardConfig] = {
    "cpu": BoardConfig(),
    "gpu": BoardConfig(
        expansions=128, games=4_096, channels=64, blocks=5, batch_size=4_096, ratio=8.0, replay_size=1_500_000, epoch_steps=8,
        epochs=200, evaluate_every=20,
    ),
    "smoke": BoardConfig(
        expansions=16, games=16, channels=8, blocks=1, batch_size=32, replay_size=2_048, epoch_steps=4, epochs=3,
        evaluate_every=1, match_games=8,
    ),
}  # fmt: skip
