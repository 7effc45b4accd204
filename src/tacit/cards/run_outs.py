"""How hands fare against each other when the rest of the board is dealt and nobody bets any more, exactly.

For two hands that share no card, the *margin* is how often the first wins less how often it loses, over all boards that can
still come: its equity is `(1 + margin) / 2`. From the flop on all boards are counted when they are first asked for. Before it
there are 2.6 million; they were counted once and come in a file, which a slow test makes again.
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
"""Of 11 MB each on the flop, in float64."""
_AT_ONCE = 1_000
"""Boards that are counted together: few enough for sums of 16 bits, and for their strengths to stay in the cache."""
_CARD_BITS: NDArray[np.int64] = np.left_shift(1, HANDS).sum(axis=1)
"""`[1326]` each hand as two bits of the 52."""

Board = tuple[int, ...]


@lru_cache(maxsize=_KEPT_BOARDS)
def run_out_margins(board: Board, dtype: str = "float64") -> NDArray[Any]:
    """Returns `[H, H]` the margins of the hands that a board allows, in ascending order; 0 where two share a card.

    Args:
      board: 0, 3, 4 or 5 cards.
      dtype: of the result.
    """
    counted = _counted(board) if board else _counted_preflop()
    margins: NDArray[Any] = counted.astype(dtype)
    margins /= _num_boards(len(board))
    return margins


def leads(board: Board, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns `[1326]` for each hand the weight of hands it beats less that of those that beat it, a mean over all run-outs.

    Args:
      board: 0, 3, 4 or 5 cards.
      weights: `[1326]` of the other player's hands; those that the board excludes do not count.
    """
    hands, found = np.flatnonzero(possible_hands(board)), np.zeros(NUM_HANDS)
    found[hands] = run_out_margins(board) @ weights[hands]
    return found


def hand_margins(hand: int, board: Board) -> NDArray[np.float64]:
    """Returns `[1326]` the margins of one hand against all others; those against hands that it cannot meet mean nothing.

    Much faster than a row of `run_out_margins`, which compares every hand with every other.

    Args:
      hand: a number of the 1,326.
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
    """Returns `[1326, 1326]` wins less losses over all boards, from the file."""
    rows, first = np.load(PREFLOP_FILE)["margins"], np.unique(CELLS, return_index=True)[1]
    counted = np.empty((NUM_HANDS, NUM_HANDS), np.int32)
    for name in RENAMED_HANDS:  # the first hand of each cell becomes every hand of the cell
        counted[np.ix_(name[first], name)] = rows
    return counted


def _counted(board: Board) -> NDArray[np.int32]:
    """Returns `[H, H]` wins less losses over all boards that can come."""
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
    """Returns how many full boards two hands leave."""
    return comb(NUM_CARDS - 4 - num_cards, FULL_BOARD - num_cards)


def _meet(first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Returns `[H, K]` whether two hands share no card."""
    apart: NDArray[np.bool_] = _CARD_BITS[first][:, None] & _CARD_BITS[second] == 0
    return apart


@compiled()
def _count(strength, counted):  # type: ignore[no-untyped-def]
    """Adds to `counted` on how many boards a hand wins less on how many it loses.

    A hand that a board excludes has a strength below all others: against it one more is counted for each board that excludes it
    but not the first hand. How many these are does not depend on the hands, once all boards have been counted.

    Args:
      strength: `[B, H]` int16, negative where excluded.
      counted: `[H, H]`.
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
