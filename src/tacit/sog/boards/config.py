"""Everything that can be set in a run of Student of Games on boards, and the presets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tacit.search.boards.search import BoardSearchConfig
from tacit.training.settings import Settings


@dataclass(frozen=True)
class BoardConfig(Settings):
    """A run of Student of Games on a board.

    Attributes:
      expansions: positions that a search opens, SoG's s.
      per_update: of them before each update of regrets, SoG's c.
      puct: how much searches explore what the policy head likes.
      games: games of self-play that advance in step.
      uniform_mix: how often a move is drawn uniformly instead of from the search's policy.
      queries: positions per game and step that the solver searches: the network's own questions in earlier searches.
      outcome_share: weight of a game's outcome in the value that is learnt, TD(1); the rest is what its search found.
      channels: of the network's tower.
      blocks: its residual blocks.
      learning_rate: of AdamW at the start; a cosine lets it fall over the run.
      weight_decay: of AdamW.
      batch_size: examples a training step.
      ratio: examples trained on for each new one.
      replay_size: examples kept.
      epoch_steps: moves of every game an epoch.
      epochs: length of the run.
      evaluate_every: epochs between evaluations; 0 evaluates at the end only.
      match_games: games of an evaluation, against the same search without a network.
      seed: of everything random.
    """

    system: ClassVar[str] = "sog-boards"

    expansions: int = 100
    per_update: int = 4
    puct: float = 1.5
    games: int = 128
    uniform_mix: float = 0.1
    queries: float = 0.25
    outcome_share: float = 0.5
    channels: int = 32
    blocks: int = 3
    learning_rate: float = 2e-3
    weight_decay: float = 1e-4
    batch_size: int = 256
    ratio: float = 4.0
    replay_size: int = 200_000
    epoch_steps: int = 16
    epochs: int = 100
    evaluate_every: int = 10
    match_games: int = 64
    seed: int = 0

    def growth(self) -> BoardSearchConfig:
        """Returns the part that concerns search."""
        return BoardSearchConfig(self.expansions, self.per_update, self.puct)

    def __post_init__(self) -> None:
        self.require_at_least(
            1, "games", "channels", "blocks", "batch_size", "replay_size", "epoch_steps", "epochs", "match_games"
        )
        self.require_at_least(0, "evaluate_every", "queries", "weight_decay")
        self.require_positive("learning_rate", "ratio", "puct")
        self.require_shares("uniform_mix", "outcome_share")
        self.require_seed()
        self.growth()  # refuses what search does not know


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
