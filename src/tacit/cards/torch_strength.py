"""Strengths of seven cards for tensors on any device, looked up in the tables of `cards/strength.py`."""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor

from tacit.cards.strength import StrengthTables, strength_tables


@cache
def tensor_tables(device: str) -> StrengthTables:
    """Returns the tables on a device; they are copied there once."""
    tables = StrengthTables(*(torch.from_numpy(array).to(device) for array in strength_tables()))
    return tables._replace(key=tables.key.long())


def seven_card_strengths(cards: Tensor, tables: StrengthTables) -> Tensor:
    """Returns `[...]` int16, the strengths of `[..., 7]` int64 cards."""
    flush = tables.by_suit[tables.suit_bit[cards].sum(-2)].amax(-1)
    return torch.maximum(tables.by_sum[tables.key[cards].sum(-1)], flush)
