"""How strong seven cards are, for tensors of cards on any device: the tables of `cards/strength.py`, asked in one go."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor

from tacit.cards.strength import strength_tables

_SUITS = 4


class TensorTables(NamedTuple):
    """The tables on a device.

    Attributes:
      key: `[52]` the key of each card.
      by_sum: `[7825760]` the strength without a flush, by the sum of keys.
      by_suit: `[8192]` the strength of a flush, by the ranks of a suit as bits; -1 for fewer than five.
      suit_bit: `[52, 4]` for each card its rank as a bit, in the column of its suit.
    """

    key: Tensor
    by_sum: Tensor
    by_suit: Tensor
    suit_bit: Tensor


@cache
def tensor_tables(device: str) -> TensorTables:
    """Returns the tables on a device; they are copied there once."""
    tables, cards = strength_tables(), torch.arange(52)
    suit_bit = torch.where(cards[:, None] % _SUITS == torch.arange(_SUITS), 1 << cards[:, None] // _SUITS, 0)
    key, by_sum, by_suit = (torch.from_numpy(array).to(device) for array in (tables.key, tables.by_sum, tables.by_suit))
    return TensorTables(key.long(), by_sum, by_suit, suit_bit.to(device))


def seven_card_strengths(cards: Tensor, tables: TensorTables) -> Tensor:
    """Returns `[...]` int16 the strengths of `[..., 7]` cards, int64."""
    best = tables.by_sum[tables.key[cards].sum(-1)]
    flush = tables.by_suit[tables.suit_bit[cards].sum(-2)].amax(-1)
    return torch.maximum(best, flush)
