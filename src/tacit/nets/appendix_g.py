"""The paper's network (ReBeL, appendix G): cards, pot, and both players' beliefs over all 1,326 hands in, 1,326 values out.

An evaluation runs it twice, once per agent index. Board cards are embedded by rank, suit and card, and summed. Where we
differ: the acting player is not an input, since after a round's end it is always player 0; and there is one network per number
of board cards, as for all our networks.
"""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn

from tacit.cards.board_tensors import NUM_TEXTURE, BoardTable, BoardTensors, FullBoards
from tacit.cards.dealing import canonical_names
from tacit.cards.deck import NUM_CARDS
from tacit.cards.hands import NUM_HANDS
from tacit.cards.suits import RENAMED_CARDS, RENAMED_HANDS
from tacit.nets.round_net import ALL_HELPS, Helps, RoundNet, without_surplus


class AppendixGNet(RoundNet):
    """Values of both players' hands by layers with an input and an output for each of the 1,326 hands.

    Args:
      hidden: the width of the layers.
      layers: the number of layers.
      embedding: how many numbers a card's embedding has.
      helps: what the network need not learn.
    """

    def __init__(self, hidden: int = 1_536, layers: int = 6, embedding: int = 64, helps: Helps = ALL_HELPS) -> None:
        super().__init__(helps)
        self.rank, self.suit, self.card = (nn.Embedding(count, embedding) for count in (13, 4, NUM_CARDS))
        widths = [embedding + 2 + 2 * NUM_HANDS, *[hidden] * layers]
        self.body = nn.Sequential(
            *(nn.Sequential(nn.Linear(a, b), nn.LayerNorm(b), nn.GELU(approximate="tanh")) for a, b in pairwise(widths))
        )
        self.out = nn.Linear(hidden, NUM_HANDS)
        with torch.no_grad():
            self.out.weight.mul_(0.01)
            self.out.bias.zero_()

    def know(self, boards: BoardTensors, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """Returns `[G, K]` embeddings of boards, and `[G, H]` the place of each hand among the 1,326."""
        cards, places = boards.board, boards.hand
        if self.helps.suits:
            names = canonical_names(cards)
            cards = torch.from_numpy(RENAMED_CARDS).to(cards.device)[names].gather(1, cards)
            places = torch.from_numpy(RENAMED_HANDS).to(cards.device)[names].gather(1, places)
        return (self.rank(cards // 4) + self.suit(cards % 4) + self.card(cards)).sum(1).to(dtype), places

    def know_kind(self, table: BoardTable | FullBoards, kind: Tensor, public: Tensor) -> tuple[Tensor, Tensor]:
        return self.know(table.plain_boards(kind), public.dtype)

    def forward(self, hands: tuple[Tensor, Tensor], public: Tensor, beliefs: Tensor, odds: Tensor, met: Tensor) -> Tensor:
        cards, places = hands
        spread = beliefs.new_zeros(*beliefs.shape[:3], NUM_HANDS).scatter_(3, places.expand(beliefs.shape), beliefs)
        pot = public[:, :, NUM_TEXTURE : NUM_TEXTURE + 1]  # each player's contribution, in stacks
        known = torch.cat([cards.expand(*pot.shape[:2], -1).to(pot), pot, spread[0].to(pot), spread[1].to(pot)], 2)
        asked = torch.stack([torch.cat([known, torch.full_like(pot, agent)], 2) for agent in (0.0, 1.0)])
        values = self.out(self.body(asked.to(self.out.weight.dtype))).to(odds.dtype).gather(3, places.expand(beliefs.shape))
        return without_surplus(values, beliefs, met) if self.helps.zero_sum else values
