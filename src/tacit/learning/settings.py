"""The settings shared by all systems that search with a value network."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from pathlib import Path
from typing import Annotated, ClassVar, Self

from tacit.games import AnyGame
from tacit.games.own import parse_own
from tacit.search.config import CFR_AVE, CFR_D, MODIFIED_CFR_AVE, SearchConfig
from tacit.training.ranges import Choice, Number, Text
from tacit.training.settings import Settings
from tacit.tree.subgame import ROUND, Depth

ENCODERS = ("classes", "features")
REPLAY_MEMORY = 4.0
"""Gigabytes of memory for the examples of a network, by default."""
SearchDepth = Annotated[int | str, Number(int, 1, word=ROUND)]
"""The type of the setting for the depth of searches."""
Decomposition = Annotated[str, Choice(CFR_D, MODIFIED_CFR_AVE, reason=f"{CFR_AVE} needs exact values of leaves, not networks")]
"""The type of the setting for the beliefs at which leaves are valued."""
MLP = "mlp"
"""The value network of ReBeL's appendix G (`nets/value_net.py`)."""


def _check_network(text: str) -> None:
    if text != MLP and parse_own(text) is None:
        raise ValueError(text)


ValueNetwork = Annotated[str, Text(f"{MLP}, or FILE.py:CLASS(key=value,...)", _check_network)]
"""The type of the setting for the value network."""


class NetworkSettings(Settings):
    """The configuration of a run whose networks value the leaves of searches.

    Attributes:
      solver: The search algorithm (see `SearchConfig`).
      iterations: Search iterations; each updates both players.
      depth: Actions a search looks ahead, or `round` for the rest of the betting round.
      encoder: What networks see of a public state: its class, or its `features` (see `networks.py`).
      hidden: The width of the networks' hidden layers.
      layers: The number of hidden layers.
      network: The value network: `mlp`, or one of your own as FILE.py:CLASS(key=value,...).
      batch_size: Examples of a training step.
      ratio: Examples trained on for each new one.
      replay_size: Examples kept.
      replay_memory: Gigabytes of memory for the examples of each network.
    """

    zero_sum: ClassVar[bool] = False
    """Whether the values of value networks are made to sum to zero (`nets/zero_sum.py`)."""
    warm_starts: ClassVar[bool] = False
    """Whether searches start from the policy network, if there is one (`search/warm.py`)."""

    solver: str
    iterations: int
    depth: int | str
    encoder: str
    hidden: int
    layers: int
    network: str
    batch_size: int
    ratio: float
    replay_size: int
    replay_memory: float

    def __post_init__(self) -> None:
        super().__post_init__()
        own = parse_own(self.network)
        if own is not None:  # the run must find it from any folder
            object.__setattr__(self, "network", str(own.absolute()))

    def found_near(self, place: str | Path) -> Self:
        own = parse_own(self.network)
        return self if own is None else replace(self, network=str(own.found_near(place)))

    @abstractmethod
    def search(self) -> SearchConfig:
        """Returns the settings of search."""

    def depth_in(self, game: AnyGame) -> Depth:
        """Returns how far searches look ahead in a game."""
        del game
        return self.depth

    def search_in(self, game: AnyGame) -> SearchConfig:
        """Returns the settings of search in a game."""
        return replace(self.search(), depth=self.depth_in(game))
