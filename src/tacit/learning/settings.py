"""The settings that every system with a value network and search has."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Annotated, ClassVar

from tacit.games import AnyGame
from tacit.search.config import CFR_AVE, CFR_D, MODIFIED_CFR_AVE, SearchConfig
from tacit.training.ranges import Choice, Number
from tacit.training.settings import Settings
from tacit.tree.subgame import ROUND, Depth

ENCODERS = ("classes", "features")
SearchDepth = Annotated[int | str, Number(int, 1, word=ROUND)]
"""How the depth of searches is set."""
Decomposition = Annotated[str, Choice(CFR_D, MODIFIED_CFR_AVE, reason=f"{CFR_AVE} needs exact values of leaves, not networks")]
"""How the beliefs at which leaves are valued are set."""


class NetworkSettings(Settings):
    """The configuration of a run whose networks value the leaves of searches.

    Attributes:
      solver: The search algorithm (see `SearchConfig`).
      iterations: Search iterations; each updates both players.
      depth: Actions a search looks ahead, or `round` for the rest of the betting round.
      encoder: What networks see of a public state: its class, or `features` of it (see `networks.py`).
      hidden: The width of the networks' hidden layers.
      layers: The number of hidden layers.
      batch_size: Examples of a training step.
      ratio: Examples trained on for each new one.
      replay_size: Examples kept.
    """

    zero_sum: ClassVar[bool] = False
    """Whether value networks are made to give values that sum to zero (`nets/zero_sum.py`)."""
    warm_starts: ClassVar[bool] = False
    """Whether searches start from the policy network, where there is one (`search/warm.py`)."""

    solver: str
    iterations: int
    depth: int | str
    encoder: str
    hidden: int
    layers: int
    batch_size: int
    ratio: float
    replay_size: int

    @abstractmethod
    def search(self) -> SearchConfig:
        """Returns the part that concerns search."""

    def depth_in(self, game: AnyGame) -> Depth:
        """Returns how far searches look ahead in a game."""
        del game
        return self.depth

    def search_in(self, game: AnyGame) -> SearchConfig:
        """Returns how a game is searched."""
        return replace(self.search(), depth=self.depth_in(game))
