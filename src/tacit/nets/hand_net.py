"""A value network over the 1,326 hands of hold'em: maps boards with pot and stacks, and both players' beliefs, to values.

The public part of the input does not change during a search, so it is encoded once for each set of leaves.
"""

from __future__ import annotations

import copy
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from tacit.cards.deck import NUM_CARDS
from tacit.cards.hands import NUM_HANDS
from tacit.games.betting import BOARD_CARDS, BettingRules
from tacit.kernels.hand_leaves import HandStates
from tacit.nets.value_net import BeliefNet

NUM_FEATURES = NUM_CARDS + len(BOARD_CARDS) + 1
"""The cards on the board, their number, and the share of the stack that is in the pot."""


def encode_boards(states: HandStates, rules: BettingRules) -> Tensor:
    """Returns `[L, NUM_FEATURES]` the public part of each leaf."""
    features = torch.zeros(len(states.board), NUM_FEATURES)
    for leaf, (board, betting) in enumerate(zip(states.board, states.betting, strict=True)):
        features[leaf, list(board)] = 1.0
        features[leaf, NUM_CARDS + BOARD_CARDS.index(len(board))] = 1.0
        features[leaf, -1] = betting.facing / rules.stack
    return features


class HandValueNet(BeliefNet):
    """Values of both players' hands.

    Args:
      hidden: the width of the layers.
      layers: the number of layers.
    """

    def __init__(self, hidden: int = 512, layers: int = 3) -> None:
        public, private = nn.Linear(NUM_FEATURES, hidden), nn.Linear(2 * NUM_HANDS, hidden, bias=False)
        super().__init__(public, private, 2 * NUM_HANDS, layers)

    def forward(self, features: Tensor, beliefs: Tensor) -> Tensor:
        """Returns `[B, 2 * 1326]` values in units of each player's contribution to the pot.

        Args:
          features: `[B, NUM_FEATURES]`.
          beliefs: `[B, 2 * 1326]`, each player's sum to 1.
        """
        return self.outputs(features, beliefs)


class HandNetLeaves:
    """Values leaves by a network; call `refresh` after training steps.

    Args:
      net: the network.
      rules: the rules of the betting.
      dtype: the type of the network's numbers; None for bfloat16 on a GPU and float32 elsewhere.
    """

    counterfactual = False

    def __init__(self, net: HandValueNet, rules: BettingRules, dtype: torch.dtype | None = None) -> None:
        self.net, self._rules = net, rules
        on_gpu = net.out.weight.device.type == "cuda"
        self._dtype = dtype or (torch.bfloat16 if on_gpu else torch.float32)
        self._fast = copy.deepcopy(net).to(self._dtype)
        self._encoded: WeakKeyDictionary[HandStates, tuple[Tensor, Tensor]] = WeakKeyDictionary()

    @torch.no_grad()
    def refresh(self) -> None:
        """Copies the network's current weights, in place so that captured graphs see them."""
        for fast, trained in zip(self._fast.parameters(), self.net.parameters(), strict=True):
            fast.copy_(trained)

    @torch.no_grad()
    def evaluate(self, states: HandStates, beliefs: Tensor) -> Tensor:
        """Returns `[2 * 1326, L]` infostate values in chips (see `LeafEvaluator`)."""
        if states not in self._encoded:
            chips = torch.tensor([float(betting.facing) for betting in states.betting])
            features = encode_boards(states, self._rules)
            self._encoded[states] = features.to(beliefs.device, self._dtype), chips.to(beliefs)
        features, chips = self._encoded[states]
        values: Tensor = self._fast(features, beliefs.T.to(self._dtype))
        return values.T.to(beliefs) * chips
