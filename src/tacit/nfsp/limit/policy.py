"""What networks that were trained on limit hold'em do with every hand at a public state."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from tacit.games.limit_batch import NUM_ACTIONS, RAISE
from tacit.games.public_hand import PublicHand
from tacit.nfsp.limit.encoding import encode_all_hands
from tacit.nfsp.limit.networks import Layers, strategy_probabilities
from tacit.tree.public_tree import Floats


@dataclass(frozen=True)
class LimitPolicy:
    """A strategy of trained networks, as `agents/hand_policy.py` wants it.

    Attributes:
      game: the game it is of.
      layers: all four networks.
      strategy: one of `STRATEGIES`.
      epoch: finished epochs of training.
    """

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
        actions, legal = [min(action, RAISE) for action in public.actions], torch.zeros(NUM_ACTIONS, dtype=torch.bool)
        legal[actions] = True
        inputs = encode_all_hands(public)[hands]
        with torch.no_grad():
            played = strategy_probabilities(self.layers, self.strategy, public.betting.actor, inputs, legal)
        found: Floats = played.double().numpy().T[actions]
        return found
