"""What NFSP or DQN trained, as it is used: both players' strategies from a run folder or a network file.

A name may end with the strategy that is meant: `runs/leduc:greedy-average`. Without it the average strategy is.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tacit.errors import TacitError
from tacit.games import AnyGame, load_game
from tacit.nets.checkpoint import load_tensors
from tacit.nfsp.config import NfspConfig
from tacit.nfsp.networks import make_networks
from tacit.nfsp.players import AVERAGE, STRATEGIES, PlayedGame, strategy_of
from tacit.nfsp.system import SYSTEMS
from tacit.training.folder import network_file, system_of
from tacit.tree.public_tree import Floats
from tacit.tree.strategy import RowStrategy


@dataclass(frozen=True)
class TrainedNfsp:
    """What a run trained.

    Attributes:
      name: the run folder or the file.
      system: `nfsp` or `dqn`.
      game: the game it is of.
      config: of its training.
      epoch: finished epochs.
      params: both players' networks (see `Networks`).
      strategy: the one of `STRATEGIES` that its name asks for.
    """

    name: str
    system: str
    game: str
    config: NfspConfig
    epoch: int
    params: Floats
    strategy: str

    def strategies(self, game: AnyGame | None = None) -> dict[str, RowStrategy]:
        """Returns all `STRATEGIES` by name.

        Args:
          game: the game; needed for one in a file of one's own, which its name alone does not find.

        Raises:
          TacitError: it is another game, or the networks do not fit it.
        """
        if game is not None and str(game) != self.game:
            raise TacitError(f"{self.name} was trained on {self.game}, not on {game}")
        played = PlayedGame.of(load_game(self.game) if game is None else game)
        networks = make_networks(played.num_features, self.config.hidden_layers(), played.num_actions, np.random.default_rng(0))
        if networks.params.shape != self.params.shape:
            raise TacitError(f"{self.name} does not fit {self.game}: it was made by another version")
        networks.params[:] = self.params
        return {kind: played.tree.strategy(strategy_of(played, networks, kind)) for kind in STRATEGIES}


def is_nfsp(name: str) -> bool:
    """Returns whether a name is that of a run folder or network file of NFSP or DQN."""
    return system_of(split_strategy(name)[0]) in SYSTEMS


def load_nfsp(name: str) -> TrainedNfsp:
    """Returns what a run trained.

    Raises:
      TacitError: there is no network, or it is damaged.
    """
    path, strategy = split_strategy(name)
    tensors, header = load_tensors(network_file(path))
    try:
        config = SYSTEMS[header["system"]].config(**header["config"])
        params = tensors["params"].numpy()
        return TrainedNfsp(name, header["system"], str(header["game"]), config, int(header["epoch"]), params, strategy)
    except (KeyError, TypeError):
        raise TacitError(f"{path} is no network of this version") from None


def split_strategy(name: str) -> tuple[Path, str]:
    """Returns the path and the strategy that a name means."""
    path, colon, strategy = name.rpartition(":")
    if colon and strategy in STRATEGIES:
        return Path(path), strategy
    return Path(name), AVERAGE
