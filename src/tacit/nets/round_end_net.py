"""A network for hold'em values where a betting round ends and the next card is still to come, for all hands of any board.

Most of the value is known without learning: how often each hand would win if nobody bet any more. The network adds the effect
of the betting to come. It treats all hands alike. The features of a hand and its board (`BoardTensors.features`, `texture`)
give two embeddings: one sums up a player's beliefs, and the other turns the layers' output for both sums into the hand's value:
a part of its own, and a part per unit of its odds. So the names of suits and the order of hands do not matter, and what is
learnt on one board holds on others.

The output is zero-sum: the players' combined surplus is subtracted from all their hands alike.
"""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn

from tacit.cards.board_tensors import NUM_FEATURES, NUM_TEXTURE, BoardTable, BoardTensors, FullBoards
from tacit.games.betting import Betting
from tacit.nets.round_net import ALL_HELPS, Helps, RoundNet, without_surplus

NUM_PUBLIC = NUM_TEXTURE + 4
"""Number of public features: ranks and suits on the board, three for pot and stacks, and one for the number of bet sizes."""
POWERS = 4
"""How many powers of a hand's odds contribute to its value, besides its embedding."""
HAND_WIDTH = 128
"""Width of the hidden layers that embed hands."""
PARTS = 2
"""Parts of a value that come from embeddings: a hand's own part, and its part per unit of odds."""


class RoundEndNet(RoundNet):
    """Values of both players' hands at the end of a betting round.

    Args:
      hidden: the width of the layers.
      layers: the number of layers.
      embedding: how many numbers a hand's embedding has.
      helps: what the network need not learn.
    """

    def __init__(self, hidden: int = 512, layers: int = 3, embedding: int = 64, helps: Helps = ALL_HELPS) -> None:
        super().__init__(helps)
        self.board = nn.Linear(NUM_TEXTURE, HAND_WIDTH, bias=False)
        self.hand = nn.Linear(NUM_FEATURES, HAND_WIDTH)
        self.hands = nn.Sequential(
            nn.GELU(), nn.Linear(HAND_WIDTH, HAND_WIDTH), nn.GELU(), nn.Linear(HAND_WIDTH, 2 * embedding)
        )
        widths = [2 * embedding + NUM_PUBLIC, *[hidden] * layers]
        self.body = nn.Sequential(
            *(nn.Sequential(nn.Linear(a, b), nn.LayerNorm(b), nn.GELU(approximate="tanh")) for a, b in pairwise(widths))
        )
        self.out = nn.Linear(hidden, 2 * (PARTS * embedding + POWERS))
        with torch.no_grad():
            self.out.weight.mul_(0.01)
            self.out.bias.zero_()

    def embed(self, features: Tensor, texture: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the embeddings that sum up beliefs and those that make values, `[G, H, K]` each.

        Args:
          features: `[G, H, NUM_FEATURES]` features of hands.
          texture: `[G, NUM_TEXTURE]` features of their boards.
        """
        summing, making = self.hands(self.hand(features) + self.board(texture)[:, None]).chunk(2, dim=2)
        return summing, making

    def know(self, boards: BoardTensors, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        return self.embed(boards.features.to(dtype), boards.texture.to(dtype))

    def know_kind(self, table: BoardTable | FullBoards, kind: Tensor, public: Tensor) -> tuple[Tensor, Tensor]:
        return self.embed(table.features(kind).float(), public[:, :NUM_TEXTURE])

    def forward(self, hands: tuple[Tensor, Tensor], public: Tensor, beliefs: Tensor, odds: Tensor, met: Tensor) -> Tensor:
        """Returns `[2, L, G, H]` values (see `RoundNet`); `hands` are both embeddings `[G, H, K]`."""
        summed = torch.stack([self.sum_up(hands, beliefs[player]) for player in (0, 1)])
        values = self.finish(*self.make(hands, public, summed), odds)
        return without_surplus(values, beliefs, met) if self.helps.zero_sum else values

    @staticmethod
    def sum_up(hands: tuple[Tensor, Tensor], beliefs: Tensor) -> Tensor:
        """Returns `[G, L, K]` a player's beliefs `[L, G, H]` summed up by embeddings."""
        summing = hands[0]
        return torch.bmm(beliefs.to(summing.dtype).transpose(0, 1), summing)

    def make(self, hands: tuple[Tensor, Tensor], public: Tensor, summed: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the layers' output: `[G, PARTS, 2 * L, H]` parts of values and `[2, L, G, POWERS]` factors of odds' powers.

        Args:
          hands: both embeddings `[G, H, K]`.
          public: `[L, G, NUM_PUBLIC]`.
          summed: `[2, G, L, K]` both players' beliefs, summed up.
        """
        making, (first, second) = hands[1], summed.transpose(1, 2)  # [L, G, K] each
        made = self.out(self.body(torch.cat([first, second, public.to(first.dtype)], 2)))
        made = torch.stack(made.chunk(2, dim=2))  # [2, L, G, PARTS * K + POWERS]
        codes = torch.stack(made[..., :-POWERS].chunk(PARTS, dim=3))  # [PARTS, 2, L, G, K]
        coded = torch.bmm(codes.flatten(0, 2).transpose(0, 1), making.transpose(1, 2))
        return coded.view(len(coded), PARTS, -1, coded.shape[2]), made[..., -POWERS:]

    @staticmethod
    def finish(coded: Tensor, powers: Tensor, odds: Tensor) -> Tensor:
        """Returns `[2, L, G, H]` values from the output of `make` and the odds."""
        own, tilt = (part.transpose(0, 1).reshape(odds.shape).to(odds.dtype) for part in coded.unbind(1))
        values: Tensor = own + tilt * odds
        for power in range(POWERS):
            values = values + powers[..., power, None].to(odds.dtype) * odds ** (power + 1)
        return values


def public_features(boards: BoardTensors, bettings: list[Betting], stack: int, num_sizes: int = 1) -> Tensor:
    """Returns `[L, G, NUM_PUBLIC]` public features: the board's ranks and how its suits repeat, the pot, and the bet sizes.

    Args:
      boards: the boards of the `G` games.
      bettings: the state of the betting at each of `L` leaves.
      stack: each player's chips at the start of the hand.
      num_sizes: the most raise sizes that any state of the betting offers; values depend on it.
    """
    board = boards.board
    put_in = torch.tensor([float(betting.facing) for betting in bettings], device=board.device)
    behind = (stack - put_in) / (2 * put_in)
    menu = torch.full_like(behind, 1.0 / num_sizes)
    pots = torch.stack([put_in / stack, torch.log1p(behind), 1.0 / (1.0 + behind), menu], 1)
    shape = len(bettings), len(board)
    return torch.cat([boards.texture[None].expand(*shape, -1), pots[:, None].expand(*shape, -1)], 2)
