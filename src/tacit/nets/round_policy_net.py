"""A policy network for decisions inside a betting round of hold'em, for all hands of any board and menus of any size.

It is built like `RoundEndNet`: an embedding of hands sums up the beliefs, layers process both sums and the public features, and
a hand's score for an action is the product of its embedding with the action's code. The code is computed from the action's
features, above all its size relative to the pot, so no action has an output of its own.
"""

from __future__ import annotations

import math
from itertools import pairwise

import torch
from torch import Tensor, nn

from tacit.cards.board_tensors import NUM_FEATURES, NUM_TEXTURE, BoardTensors
from tacit.games.betting import CALL, FOLD, Betting
from tacit.nets.round_end_net import HAND_WIDTH, NUM_PUBLIC, public_features

NUM_DECISION = NUM_PUBLIC + 7
"""Number of public features at a decision: those at a round's end, and the betting so far."""
NUM_ACTION = 8
"""Number of features of an action."""


class RoundPolicyNet(nn.Module):
    """Probabilities of actions at decisions inside a betting round.

    Args:
      hidden: the width of the layers.
      layers: the number of layers.
      embedding: how many numbers a hand's embedding has.
    """

    def __init__(self, hidden: int = 512, layers: int = 3, embedding: int = 64) -> None:
        super().__init__()
        self.board = nn.Linear(NUM_TEXTURE, HAND_WIDTH, bias=False)
        self.hand = nn.Linear(NUM_FEATURES, HAND_WIDTH)
        self.hands = nn.Sequential(nn.GELU(), nn.Linear(HAND_WIDTH, 2 * embedding))
        widths = [2 * embedding + NUM_DECISION, *[hidden] * layers]
        self.body = nn.Sequential(
            *(nn.Sequential(nn.Linear(a, b), nn.LayerNorm(b), nn.GELU(approximate="tanh")) for a, b in pairwise(widths))
        )
        self.action = nn.Linear(NUM_ACTION, hidden)
        self.out = nn.Linear(hidden, embedding + 1)
        with torch.no_grad():
            self.out.weight.mul_(0.01)
            self.out.bias.zero_()

    def embed(self, features: Tensor, texture: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the embeddings that sum up beliefs and those that make scores, `[G, H, K]` each (see `RoundEndNet.embed`)."""
        summing, making = self.hands(self.hand(features) + self.board(texture)[:, None]).chunk(2, dim=2)
        return summing, making

    def forward(
        self, hands: tuple[Tensor, Tensor], decision: Tensor, beliefs: Tensor, actions: Tensor, legal: Tensor
    ) -> Tensor:
        """Returns `[N, G, A, H]` probabilities of the acting player's actions, 0 for actions that do not exist.

        Args:
          hands: both embeddings `[G, H, K]`.
          decision: `[N, G, NUM_DECISION]`.
          beliefs: `[2, N, G, H]` the acting player's, then the opponent's; each sums to 1.
          actions: `[N, G, A, NUM_ACTION]`.
          legal: `[N, G, A]` True for actions that exist.
        """
        summing, making = hands
        columns = beliefs.to(summing.dtype).flatten(0, 1).transpose(0, 1)  # [G, 2 * N, H]
        own, other = torch.bmm(columns, summing).transpose(0, 1).chunk(2)  # [N, G, K] each
        made = self.body(torch.cat([own, other, decision.to(own.dtype)], 2))
        codes = self.out(nn.functional.gelu(made[:, :, None] + self.action(actions.to(made.dtype)), approximate="tanh"))
        count, games, menu, _ = actions.shape
        flat = codes[..., :-1].transpose(0, 1).reshape(games, count * menu, -1)
        scores = torch.bmm(flat, making.transpose(1, 2)).view(games, count, menu, -1).transpose(0, 1) + codes[..., -1:]
        probabilities: Tensor = scores.float().masked_fill(~legal[..., None], -torch.inf).softmax(2)
        return probabilities


def decision_features(boards: BoardTensors, bettings: list[Betting], stack: int) -> Tensor:
    """Returns `[N, G, NUM_DECISION]` public features at `N` decisions of `G` games (see `public_features`)."""
    rows = [
        [
            float(betting.actor), float(betting.num_raises > 0), float(betting.acted), betting.to_call / betting.pot,
            math.log1p(betting.to_call / betting.pot), *(betting.spent[player] / stack for player in _order(betting)),
        ]
        for betting in bettings
    ]  # fmt: skip
    more = torch.tensor(rows, device=boards.device)[:, None].expand(-1, len(boards), -1)
    return torch.cat([public_features(boards, bettings, stack), more], 2)


def action_features(betting: Betting, actions: list[int], stack: int) -> list[list[float]]:
    """Returns `[A, NUM_ACTION]` features of the actions at a decision: kind, size relative to the pot, and stacks."""
    rows = []
    pot = betting.pot + betting.to_call  # after a call
    for action in actions:
        raised = max(0, action - betting.facing) if action > CALL else 0
        size = raised / pot
        rows.append(
            [
                float(action == FOLD), float(action == CALL), float(raised > 0), size, math.log1p(size), size / (1.0 + size),
                float(raised > 0 and action >= stack), (betting.facing + raised) / stack,
            ]
        )  # fmt: skip
    return rows


def _order(betting: Betting) -> tuple[int, int]:
    return betting.actor, 1 - betting.actor
