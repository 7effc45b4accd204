"""Trained NFSP or DQN in use: both players' strategies from a run folder or a network file."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from tacit.errors import TacitError
from tacit.games import AnyGame, recall_game
from tacit.games.limit_batch import NUM_ACTIONS, RAISE
from tacit.games.public_hand import PublicHand
from tacit.nets.checkpoint import load_tensors
from tacit.nfsp.config import DqnConfig, LimitConfig, NfspConfig, TabularConfig
from tacit.nfsp.limit.encoding import encode_all_hands
from tacit.nfsp.limit.networks import Layers, make_layers, named_weights, strategy_probabilities
from tacit.nfsp.strategies import STRATEGIES, split_strategy
from tacit.nfsp.tabular.engine import PlayedGame
from tacit.training.folder import network_file
from tacit.training.headers import run_facts
from tacit.tree.public_tree import Floats
from tacit.tree.strategy import RowStrategy

_CONFIGS: dict[str, type[NfspConfig]] = {config.system: config for config in (TabularConfig, DqnConfig, LimitConfig)}


@dataclass(frozen=True)
class LimitPolicy:
    """A strategy of trained networks, as a `HandPolicy` (`agents/hand_policy.py`).

    Attributes:
      game: the game it plays.
      layers: all four networks.
      strategy: one of `STRATEGIES`.
      epoch: finished epochs of training.
    """

    game: str
    layers: Layers
    strategy: str
    epoch: int

    def probabilities(self, public: PublicHand, hand: int | None = None) -> Floats:
        """Returns `[A, 1326]` how often each hand takes each legal action; `[A, 1]` for a single hand if it is given."""
        actions, legal = [min(action, RAISE) for action in public.actions], torch.zeros(NUM_ACTIONS, dtype=torch.bool)
        legal[actions] = True
        inputs = encode_all_hands(public)[slice(None) if hand is None else slice(hand, hand + 1)]
        with torch.no_grad():
            probabilities = strategy_probabilities(self.layers, self.strategy, public.betting.actor, inputs, legal)
        by_action: Floats = probabilities.double().numpy().T[actions]
        return by_action


@dataclass(frozen=True)
class TrainedNfsp:
    """A trained run: use `strategies` on a compiled game, `policy` on limit hold'em.

    Attributes:
      name: the run folder or the file, with the strategy if it is named.
      system: `nfsp`, `dqn` or `nfsp-limit`.
      game: the game it was trained on.
      config: the settings of its training.
      epoch: finished epochs.
      weights: both players' networks.
      strategy: the one of `STRATEGIES` that its name asks for.
      source: the source of the game, if it is in a user's file (`game_source`).
    """

    name: str
    system: str
    game: str
    config: NfspConfig
    epoch: int
    weights: dict[str, Tensor]
    strategy: str
    source: str | None = None

    def strategies(self, game: AnyGame | None = None) -> dict[str, RowStrategy]:
        """Returns all `STRATEGIES` of a compiled game by name.

        Args:
          game: the game; needed if its file no longer exists.

        Raises:
          TacitError: it is a different game, or the networks do not fit it.
        """
        self._require(game)
        played = PlayedGame.of(recall_game(self.game, self.source, self.name) if game is None else game)
        networks = played.make_networks(self.config.hidden_layers(), np.random.default_rng(0))
        self._fill({"params": torch.from_numpy(networks.params)})
        return {name: RowStrategy(played.tree, played.strategy(networks, name)) for name in STRATEGIES}

    def policy(self, game: AnyGame | None = None) -> LimitPolicy:
        """Returns the policy of `strategy` for limit hold'em.

        Raises:
          TacitError: `game` is a different one, or the networks are not for limit hold'em.
        """
        self._require(game)
        if self.system != LimitConfig.system:
            raise TacitError(f"{self.name} was trained on {self.game}: only NFSP on limit_holdem has a policy over hands")
        layers = make_layers(self.config.hidden_layers(), torch.Generator())
        self._fill(named_weights(layers))
        return LimitPolicy(self.game, layers, self.strategy, self.epoch)

    def _require(self, game: AnyGame | None) -> None:
        if game is not None and str(game) != self.game:
            raise TacitError(f"{self.name} was trained on {self.game}, not on {game}")

    def _fill(self, networks: dict[str, Tensor]) -> None:
        """Copies the weights into networks of the same shapes."""
        if {name: part.shape for name, part in networks.items()} != {name: part.shape for name, part in self.weights.items()}:
            raise TacitError(f"{self.name} does not fit {self.game}: it was made by another version")
        for name, part in networks.items():
            part.copy_(self.weights[name])


def load_nfsp(name: str) -> TrainedNfsp:
    """Returns a trained run.

    Raises:
      TacitError: there is no network, or it is damaged.
    """
    path, strategy = split_strategy(name)
    weights, header = load_tensors(network_file(path))
    system = header.get("system")
    if not isinstance(system, str) or system not in _CONFIGS:
        raise TacitError(f"{path} is not a network of this version")
    facts = run_facts(header, _CONFIGS[system], path)
    return TrainedNfsp(name, system, facts.game, facts.config, facts.epoch, weights, strategy, facts.source)
