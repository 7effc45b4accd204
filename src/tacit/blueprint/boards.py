"""All boards of a street as rows; boards that differ only in the names of suits share one row."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from tacit.cards.deck import NUM_CARDS
from tacit.cards.suits import RENAMED_CARDS
from tacit.compiled import compiled, inner

NO_ROW = -1
"""The row of a board that the game never deals."""
CHOOSE: NDArray[np.int64] = np.array([[comb(card, count) for count in range(6)] for card in range(NUM_CARDS + 1)])
"""`[53, 6]` binomial coefficients."""


@dataclass(frozen=True)
class BoardRows:
    """The boards of one street.

    Attributes:
      row: `[C(52, n)]` int32, the row of each set of n cards, by its `board_number`; `NO_ROW` if it is never dealt.
      rename: `[C(52, n)]` uint8, the permutation of suits that turns each set into the board of its row.
      boards: `[R, n]` int64, the board of each row.
    """

    row: NDArray[np.int32]
    rename: NDArray[np.uint8]
    boards: NDArray[np.int64]


@lru_cache(maxsize=8)
def board_rows(num_cards: int, known: tuple[int, ...], group: tuple[int, ...]) -> BoardRows:
    """Returns the boards of `num_cards` cards that include the known ones.

    Args:
      num_cards: 3, 4 or 5.
      known: cards that are on the board in every hand.
      group: the permutations of suits that leave the game unchanged, as `symmetries` returns them.
    """
    left = [card for card in range(NUM_CARDS) if card not in known]
    cards = np.sort(np.array([(*known, *new) for new in combinations(left, num_cards - len(known))], np.int64), axis=1)
    number, first, rename = (np.empty(len(cards), kind) for kind in (np.int64, np.int64, np.uint8))
    _canonical(cards, RENAMED_CARDS[list(group)], np.array(group, np.uint8), number, first, rename)
    total = comb(NUM_CARDS, num_cards)
    rows, renames = np.full(total, NO_ROW, np.int32), np.zeros(total, np.uint8)
    kept, place = np.unique(first, return_inverse=True)
    rows[number], renames[number] = place, rename
    boards = np.empty((len(kept), num_cards), np.int64)
    itself = number == first
    boards[place[itself]] = cards[itself]
    return BoardRows(rows, renames, boards)


@inner(_nrt=False)
def board_number(cards, count):  # type: ignore[no-untyped-def]
    """Returns the number of a set of `count` cards among all sets of that size; sorts the cards in place."""
    for i in range(1, count):
        card, j = cards[i], i - 1
        while j >= 0 and cards[j] > card:
            cards[j + 1] = cards[j]
            j -= 1
        cards[j + 1] = card
    number = 0
    for i in range(count):
        number += CHOOSE[cards[i], i + 1]
    return number


@compiled(_nrt=False, inline="always")
def set_number(boards, row, count):  # type: ignore[no-untyped-def]
    """Returns the `board_number` of the first `count` cards in a row of boards `[B, 5]`, without sorting or branches."""
    number = 0
    for i in range(count):
        place = 1
        for j in range(count):
            place += boards[row, j] < boards[row, i]
        number += CHOOSE[boards[row, i], place]
    return number


@compiled()
def _canonical(cards, renamed, group, number, first, rename):  # type: ignore[no-untyped-def]
    """Fills in each board's number, the smallest number among its renamings, and the renaming that has it.

    Args:
      cards: `[B, n]`, the boards.
      renamed: `[G, 52]`, every card under each permutation.
      group: `[G]`, the numbers of the permutations.
      number: `[B]`, filled with the board's number.
      first: `[B]`, filled with the smallest number.
      rename: `[B]`, filled with the renaming.
    """
    count = cards.shape[1]
    some = np.empty(count, np.int64)
    for board in range(len(cards)):
        some[:] = cards[board]
        number[board] = board_number(some, count)
        best = np.int64(1) << 60
        for permutation in range(len(group)):
            for i in range(count):
                some[i] = renamed[permutation, cards[board, i]]
            value = board_number(some, count)
            if value < best:
                best, rename[board] = value, group[permutation]
        first[board] = best
