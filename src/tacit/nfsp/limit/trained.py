"""What NFSP trained on limit hold'em, as it is used: what both players' networks do with every hand at a public state."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from tacit.errors import TacitError
from tacit.games.holdem import Holdem
from tacit.games.limit_batch import NUM_ACTIONS, RAISE
from tacit.games.public_hand import PublicHand
from tacit.nets.checkpoint import load_tensors
from tacit.nfsp.limit.config import LimitConfig
from tacit.nfsp.limit.encoding import encode_all_hands
from tacit.nfsp.limit.judge import probabilities
from tacit.nfsp.limit.networks import POLICY, Layers, Q, choose, forward, make_layers
from tacit.nfsp.limit.train import NAME, named_weights
from tacit.nfsp.players import BEST_RESPONSE
from tacit.nfsp.trained import split_strategy
from tacit.training.folder import network_file, system_of
from tacit.tree.public_tree import Floats


@dataclass(frozen=True)
class LimitPolicy:
    """A strategy of trained networks, as `agents/hand_policy.py` wants it.

    Attributes:
      name: the run folder or the file, and the strategy if it is named.
      game: the game it is of.
      layers: all four networks.
      strategy: one of `nfsp.players.STRATEGIES`.
      epoch: finished epochs of training.
    """

    name: str
    game: str
    layers: Layers
    strategy: str
    epoch: int

    def probabilities(self, public: PublicHand) -> Floats:
        """Returns `[A, 1326]`: for each legal action how often each hand takes it."""
        return self._of(public, slice(None))

    def of_hand(self, public: PublicHand, hand: int) -> Floats:
        """Returns `[A]` how often one hand takes each legal action."""
        return self._of(public, slice(hand, hand + 1))[:, 0]

    def _of(self, public: PublicHand, hands: slice) -> Floats:
        network = 2 * public.betting.actor + (Q if self.strategy == BEST_RESPONSE else POLICY)
        layers = choose(self.layers, slice(network, network + 1))
        legal = torch.zeros(NUM_ACTIONS, dtype=torch.bool)
        rows = [min(action, RAISE) for action in public.actions]
        legal[rows] = True
        with torch.no_grad():
            scores = forward(layers, encode_all_hands(public)[hands][None])[-1][0]
        found: Floats = probabilities(scores, legal, self.strategy).double().numpy().T[rows]
        return found


def is_limit_nfsp(name: str) -> bool:
    """Returns whether a name is that of a run folder or network file of NFSP on limit hold'em."""
    return system_of(split_strategy(name)[0]) == NAME


def load_limit_policy(name: str, game: Holdem | None = None) -> LimitPolicy:
    """Returns what a run trained, ready for `game`, or for the game it is of.

    Raises:
      TacitError: there is no network, it is damaged, or it is of another game.
    """
    path, strategy = split_strategy(name)
    tensors, header = load_tensors(network_file(path))
    try:
        layers = make_layers(LimitConfig(**header["config"]).hidden_layers(), torch.Generator())
        for part, tensor in named_weights(layers).items():
            tensor.copy_(tensors[part])
        policy = LimitPolicy(name, str(header["game"]), layers, strategy, int(header["epoch"]))
    except (KeyError, TypeError, RuntimeError):
        raise TacitError(f"{path} is no network of this version") from None
    if game is not None and policy.game != str(game):
        raise TacitError(f"{name} was trained on {policy.game}, not on {game}")
    return policy
