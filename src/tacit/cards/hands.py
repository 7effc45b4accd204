"""The 1,326 two-card hands, everywhere in the same order: by the higher card, then by the lower one."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from tacit.cards.deck import NUM_CARDS, card_name

HANDS: NDArray[np.int64] = np.array([(high, low) for high in range(NUM_CARDS) for low in range(high)])
"""`[1326, 2]`, the cards of each hand, the higher one first."""
NUM_HANDS = len(HANDS)
_NAMES = tuple(card_name(high) + card_name(low) for high, low in HANDS.tolist())


def hand_index(first: int, second: int) -> int:
    """Returns the number of a hand: `high * (high - 1) / 2 + low`."""
    high, low = max(first, second), min(first, second)
    return high * (high - 1) // 2 + low


def hand_name(hand: int) -> str:
    """Returns the cards of a hand: `AsKd`."""
    return _NAMES[hand]


def possible_hands(dead: Iterable[int]) -> NDArray[np.bool_]:
    """Returns `[1326]`, False for hands that hold a dead card."""
    gone = np.zeros(NUM_CARDS, bool)
    gone[list(dead)] = True
    return ~(gone[HANDS[:, 0]] | gone[HANDS[:, 1]])


def meetings(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns `[1326]`, for each hand the weight of the hands that share no card with it."""
    by_card = np.bincount(HANDS.ravel(), np.repeat(weights, 2), minlength=NUM_CARDS)
    met: NDArray[np.float64] = weights.sum() - by_card[HANDS].sum(axis=1) + weights  # the hand itself was subtracted twice
    return met
