"""Exact results of hands against each other if the rest of the board is dealt without further betting.

For two hands that share no card, the *margin* is how often the first wins minus how often it loses, over all boards that can
still come; its equity is `(1 + margin) / 2`. From the flop on, all boards are counted on first use. Before the flop there are
2.6 million; their counts are in a file, which a slow test makes again.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.cards.deck import NUM_CARDS
from tacit.cards.grid import CELLS
from tacit.cards.hands import HANDS, NUM_HANDS, possible_hands
from tacit.cards.strength import IMPOSSIBLE, hand_strengths
from tacit.cards.suits import RENAMED_HANDS
from tacit.compiled import compiled

FULL_BOARD = 5
PREFLOP_FILE = Path(__file__).with_name("preflop_margins.npz")
_KEPT_BOARDS = 32
"""The number of boards whose margins are kept. On the flop each takes 11 MB in float64."""
_AT_ONCE = 1_000
"""The number of boards counted together: few enough for 16-bit sums, and for their strengths to stay in the cache."""
_CARD_BITS: NDArray[np.int64] = np.left_shift(1, HANDS).sum(axis=1)
"""`[1326]`, each hand as two of 52 bits."""

Board = tuple[int, ...]


@lru_cache(maxsize=_KEPT_BOARDS)
def run_out_margins(board: Board, dtype: str = "float64") -> NDArray[Any]:
    """Returns `[H, H]`, the margins of the hands that a board allows, in ascending order; 0 if two share a card.

    Args:
      board: 0, 3, 4 or 5 cards.
      dtype: The type of the result.
    """
    counted = _counted(board) if board else _counted_preflop()
    margins: NDArray[Any] = counted.astype(dtype)
    margins /= _num_boards(len(board))
    return margins


def leads(board: Board, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns `[1326]`, for each hand the weight it beats minus the weight that beats it, averaged over all run-outs.

    Args:
      board: 0, 3, 4 or 5 cards.
      weights: `[1326]`, the weights of the other player's hands; those that the board excludes do not count.
    """
    hands, lead = np.flatnonzero(possible_hands(board)), np.zeros(NUM_HANDS)
    lead[hands] = run_out_margins(board) @ weights[hands]
    return lead


def hand_margins(hand: int, board: Board) -> NDArray[np.float64]:
    """Returns `[1326]`, the margins of one hand against all others; undefined for hands that it cannot meet.

    This is much faster than a row of `run_out_margins`, which compares every hand with every other.

    Args:
      hand: The number of the hand, of 1,326.
      board: 0, 3, 4 or 5 cards, none of them in the hand.
    """
    if not board:
        return np.asarray(run_out_margins(board)[hand])
    left = [card for card in range(NUM_CARDS) if card not in (*board, *HANDS[hand])]
    rests = combinations(left, FULL_BOARD - len(board))
    strengths = np.stack([hand_strengths((*board, *rest)) for rest in rests])
    wins = np.where(strengths == IMPOSSIBLE, 0, np.sign(strengths[:, [hand]] - strengths)).sum(axis=0)
    return np.asarray(wins / _num_boards(len(board)))


def _counted_preflop() -> NDArray[np.int32]:
    """Returns `[1326, 1326]`, wins minus losses over all boards, from the file."""
    rows, first = np.load(PREFLOP_FILE)["margins"], np.unique(CELLS, return_index=True)[1]
    counted = np.empty((NUM_HANDS, NUM_HANDS), np.int32)
    for name in RENAMED_HANDS:  # the first hand of each cell becomes every hand of the cell
        counted[np.ix_(name[first], name)] = rows
    return counted


def _counted(board: Board) -> NDArray[np.int32]:
    """Returns `[H, H]`, wins minus losses over all boards that can come."""
    left = [card for card in range(NUM_CARDS) if card not in board]
    missing = FULL_BOARD - len(board)
    hands = np.flatnonzero(possible_hands(board))
    counted = np.zeros((len(hands), len(hands)), np.int32)
    rests = list(combinations(left, missing))
    for first in range(0, len(rests), _AT_ONCE):
        part = rests[first : first + _AT_ONCE]
        _count(np.stack([hand_strengths((*board, *rest))[hands] for rest in part]), counted)
    excluded = comb(len(left) - 2, missing) - _num_boards(len(board))
    return np.where(_meet(hands, hands), counted - excluded, 0)


def _num_boards(num_cards: int) -> int:
    """Returns the number of full boards that are possible with two hands."""
    return comb(NUM_CARDS - 4 - num_cards, FULL_BOARD - num_cards)


def _meet(first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Returns `[H, K]`, whether two hands share no card."""
    apart: NDArray[np.bool_] = _CARD_BITS[first][:, None] & _CARD_BITS[second] == 0
    return apart


@compiled()
def _count(strength, counted):  # type: ignore[no-untyped-def]
    """Adds to `counted` the number of boards on which a hand wins minus the number on which it loses.

    A hand that a board excludes has a strength below all others, so each board that excludes it but not the first hand adds a
    false win. Over all boards the number of these is the same for every pair of hands; the caller subtracts it.

    Args:
      strength: `[B, H]` int16, negative if excluded.
      counted: `[H, H]`, the sums.
    """
    num_boards, num_hands = strength.shape
    row = np.empty(num_hands, np.int16)
    for hand in range(num_hands):
        row[:] = 0
        for board in range(num_boards):
            own = strength[board, hand]
            if own >= 0:
                for other in range(num_hands):
                    against = strength[board, other]
                    row[other] += np.int16(own > against) - np.int16(own < against)
        for other in range(num_hands):
            counted[hand, other] += row[other]
