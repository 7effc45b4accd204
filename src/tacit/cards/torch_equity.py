"""Sampled equities of many hands, each with its own board, against random hands, on any device."""

from __future__ import annotations

from functools import cache

import numpy as np
import torch
from torch import Tensor

from tacit.cards.deck import NUM_CARDS
from tacit.cards.strength import StrengthTables
from tacit.cards.torch_strength import seven_card_strengths

SAMPLES = 200
"""The number of samples. Standard errors are near 0.03, as on the flop in `cards/equity.py`."""
_CHUNK = 2_000
"""The number of hands computed at once, to bound memory."""


def sampled_equities(hands: Tensor, boards: Tensor, tables: StrengthTables) -> Tensor:
    """Returns `[n]` float32, how often each hand beats a random one when its board is completed; ties count half.

    Every hand samples the same places in the rest of the deck, so the result depends only on hand and board.

    Args:
      hands: `[n, 2]` int64, the hands.
      boards: `[n, 0 to 5]` int64, their boards.
      tables: The tables of `tensor_tables` on the same device.
    """
    parts = (slice(first, first + _CHUNK) for first in range(0, len(hands), _CHUNK))
    return torch.cat([_equities(hands[part], boards[part], tables) for part in parts])


def _equities(hands: Tensor, boards: Tensor, tables: StrengthTables) -> Tensor:
    known = torch.cat((hands, boards), 1)
    left = torch.ones(len(known), NUM_CARDS, device=known.device).scatter_(1, known, 0.0)
    num_left = NUM_CARDS - known.shape[1]
    deck = left.sort(dim=1, descending=True, stable=True).indices[:, :num_left]
    places = _places(num_left, 7 - boards.shape[1]).to(known.device)
    drawn = deck[:, places]  # [n, SAMPLES, 2 + missing board cards]
    full = torch.cat((boards[:, None].expand(-1, SAMPLES, -1), drawn[..., 2:]), 2)
    own, other = (
        seven_card_strengths(torch.cat((two, full), 2), tables)
        for two in (hands[:, None].expand(-1, SAMPLES, -1), drawn[..., :2])
    )
    return ((own > other).float() + 0.5 * (own == other).float()).mean(1)


@cache
def _places(num_cards: int, count: int) -> Tensor:
    """Returns `[SAMPLES, count]`, different places in a deck, always the same ones."""
    generator = np.random.default_rng([num_cards, count])
    return torch.from_numpy(np.stack([generator.permutation(num_cards)[:count] for _ in range(SAMPLES)]))
