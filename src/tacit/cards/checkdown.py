"""What hands win against weighted hands of the other player when the board is completed and nobody bets any more; exact.

Hands of a full board are sorted by strength once; against any weights a sweep over them leaves out those that share a card
(`kernels/card_removal.py` has the idea). Before the flop a table of all pairs takes the place of two million boards.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from math import comb

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tacit.cards.deck import NUM_CARDS
from tacit.cards.hands import HANDS, NUM_HANDS, possible_hands
from tacit.cards.preflop import preflop_leads
from tacit.cards.strength import fill_strengths, strength_tables

Board = tuple[int, ...]
Floats = NDArray[np.float64]
FULL_BOARD = 5
_HANDS = 2_048
"""More than there are: hands are sorted by `hand + 2048 * strength`."""


def leads(board: Board, weights: Floats) -> Floats:
    """Returns `[1326]` for each hand the weight of hands it beats less the weight of those that beat it.

    A mean over all boards that can come, given both hands; hands that share a card with each other or the board do not count.

    Args:
      board: 0, 3, 4 or 5 cards.
      weights: `[1326]` of the other player's hands.
    """
    if not board:
        return preflop_leads() @ weights
    hands, starts = _sorted_hands(board)
    found = np.zeros(NUM_HANDS)
    _add_leads(hands, starts, HANDS, weights * possible_hands(board), found)
    return found / comb(NUM_CARDS - 4 - len(board), FULL_BOARD - len(board))


@lru_cache(maxsize=16)
def _sorted_hands(board: Board) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """Returns `[boards, hands]` for every full board its hands from the weakest, and where those of equal strength start."""
    left = [card for card in range(NUM_CARDS) if card not in board]
    boards = np.array([(*board, *rest) for rest in combinations(left, FULL_BOARD - len(board))])
    tables = strength_tables()
    return _sort_hands(boards, HANDS, tables.key, tables.by_sum, tables.by_suit)  # type: ignore[no-any-return]


@njit(cache=True)
def _sort_hands(boards, hands, key, by_sum, by_suit):  # type: ignore[no-untyped-def]
    """Does the work of `_sorted_hands` for `[B, 5]` boards."""
    num_hands = 47 * 46 // 2
    order, starts = np.empty((len(boards), num_hands), np.int16), np.empty((len(boards), num_hands), np.int16)
    held, strength = np.empty(num_hands, np.int32), np.empty(num_hands, np.int32)
    for b in range(len(boards)):
        fill_strengths(boards[b], hands, key, by_sum, by_suit, held, strength)
        keys = held + _HANDS * strength
        keys.sort()
        for i in range(num_hands):
            order[b, i] = keys[i] % _HANDS
            same = i > 0 and keys[i] // _HANDS == keys[i - 1] // _HANDS
            starts[b, i] = starts[b, i - 1] if same else i
    return order, starts


@njit(cache=True)
def _add_leads(order, starts, cards, weights, found):  # type: ignore[no-untyped-def]
    """Adds to `found` what each hand beats less what beats it, summed over boards."""
    by_card = np.empty(52)
    for b in range(len(order)):
        num_hands = order.shape[1]
        by_card[:] = 0.0
        total, added = 0.0, 0
        for i in range(num_hands):  # from the weakest: all below the present strength has been added
            while added < starts[b, i]:
                hand = order[b, added]
                total += weights[hand]
                by_card[cards[hand, 0]] += weights[hand]
                by_card[cards[hand, 1]] += weights[hand]
                added += 1
            hand = order[b, i]
            found[hand] += total - by_card[cards[hand, 0]] - by_card[cards[hand, 1]]
        by_card[:] = 0.0
        total, added = 0.0, num_hands - 1
        for i in range(num_hands - 1, -1, -1):  # from the strongest: all above it
            while starts[b, added] > starts[b, i]:
                hand = order[b, added]
                total += weights[hand]
                by_card[cards[hand, 0]] += weights[hand]
                by_card[cards[hand, 1]] += weights[hand]
                added -= 1
            hand = order[b, i]
            found[hand] -= total - by_card[cards[hand, 0]] - by_card[cards[hand, 1]]
