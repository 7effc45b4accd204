"""Exact strengths of seven cards, from two tables.

Each rank has a key such that the sum of seven keys determines the ranks. The first table maps sums to the best hand without a
flush. The second maps the set of ranks of a suit with five or more cards to the best flush. A strength is a number from 0 to
7,461, the place of the best five cards among all kinds of five cards; higher is better, equal is a tie.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.cards.hands import HANDS, possible_hands

_KEYS = np.array([0, 1, 5, 22, 98, 453, 2_031, 8_698, 22_854, 83_661, 262_349, 636_345, 1_479_181], np.int32)
_ANY_SEVEN = 7_825_760
"""One more than the largest sum: four aces and three kings."""
IMPOSSIBLE = -1
"""The strength of a hand that shares a card with the board."""

(HIGH_CARD, PAIR, TWO_PAIR, TRIPS, STRAIGHT, FLUSH, FULL_HOUSE, QUADS, STRAIGHT_FLUSH) = range(9)

Ranks = tuple[int, ...]


class StrengthTables(NamedTuple):
    """The tables, as arrays or as tensors on a device.

    Attributes:
      key: `[52]`, the key of each card.
      by_sum: `[7825760]`, the strength without a flush, by the sum of keys.
      by_suit: `[8192]`, the strength of a flush, by the ranks of a suit as bits; -1 for fewer than five.
      suit_bit: `[52, 4]`, for each card its rank as a bit, in the column of its suit.
      category: `[7462]`, the category of each strength, such as `FLUSH`.
    """

    key: Any
    by_sum: Any
    by_suit: Any
    suit_bit: Any
    category: Any


@cache
def strength_tables() -> StrengthTables:
    """Returns the tables; making them takes a fraction of a second."""
    plain = {ranks: _best_plain(ranks) for ranks in _rank_multisets()}
    flushes = {mask: _best_flush(mask) for mask in range(2**13) if mask.bit_count() >= 5}
    every = sorted({_best_plain(five) for five in combinations_with_replacement(range(13), 5) if _at_most_four(five)}
                   | {_best_flush(mask) for mask in flushes if mask.bit_count() == 5})  # fmt: skip
    place = {kind: number for number, kind in enumerate(every)}
    by_sum, by_suit = np.zeros(_ANY_SEVEN, np.int16), np.full(2**13, -1, np.int16)
    by_sum[_KEYS[np.array(list(plain))].sum(axis=1)] = [place[kind] for kind in plain.values()]
    by_suit[list(flushes)] = [place[kind] for kind in flushes.values()]
    suit_bit = np.left_shift(1, np.arange(52) // 4)[:, None] * (np.arange(52)[:, None] % 4 == np.arange(4))
    category = np.array([kind[0] for kind in every], np.int8)
    return StrengthTables(np.repeat(_KEYS, 4), by_sum, by_suit, suit_bit, category)


def seven_card_strengths(cards: NDArray[Any]) -> NDArray[np.int16]:
    """Returns `[...]`, the strengths of `[..., 7]` cards."""
    tables = strength_tables()
    flush = tables.by_suit[tables.suit_bit[cards].sum(axis=-2)].max(axis=-1)
    best: NDArray[np.int16] = np.maximum(tables.by_sum[tables.key[cards].sum(axis=-1)], flush)
    return best


def hand_strengths(board: tuple[int, ...]) -> NDArray[np.int16]:
    """Returns `[1326]`, the strength of every hand on a board of five cards; -1 if they share a card."""
    tables, cards = strength_tables(), np.array(board)
    sums = tables.key[HANDS].sum(axis=1) + tables.key[cards].sum()
    best = tables.by_sum[np.minimum(sums, _ANY_SEVEN - 1)]  # five aces are beyond the table, and impossible
    for suit in range(4):
        if (cards % 4 == suit).sum() >= 3:
            on_board = int(np.where(cards % 4 == suit, 1 << cards // 4, 0).sum())
            in_hand = np.where(suit == HANDS % 4, 1 << HANDS // 4, 0)
            best = np.maximum(best, tables.by_suit[on_board | in_hand[:, 0] | in_hand[:, 1]])
    return np.where(possible_hands(board), best, IMPOSSIBLE).astype(np.int16)


def _rank_multisets() -> Iterator[Ranks]:
    return (ranks for ranks in combinations_with_replacement(range(13), 7) if _at_most_four(ranks))


def _at_most_four(ranks: Ranks) -> bool:
    return all(ranks[i] != ranks[i + 4] for i in range(len(ranks) - 4))


def _best_plain(ranks: Ranks) -> Ranks:
    """Returns the best hand of five or more ranks: its category, then the ranks that decide within the category."""
    count = [0] * 13
    for rank in ranks:
        count[rank] += 1
    order = sorted((rank for rank in range(13) if count[rank]), key=lambda rank: (-count[rank], -rank))
    most, second = count[order[0]], count[order[1]]

    def rest(*used: int) -> Ranks:
        """Returns the highest other ranks, enough to make five cards."""
        left = 5 - (min(most, 4) + (2 if len(used) == 2 else 0))
        return tuple(sorted((rank for rank in order if rank not in used), reverse=True)[:left])

    if most == 4:
        return QUADS, order[0], *rest(order[0])
    if most == 3 and second >= 2:
        return FULL_HOUSE, order[0], order[1]
    top = _straight(sum(1 << rank for rank in order))
    if top >= 0:
        return STRAIGHT, top
    if most == 3:
        return TRIPS, order[0], *rest(order[0])
    if most == 2 and second == 2:
        return TWO_PAIR, order[0], order[1], *rest(order[0], order[1])
    return (PAIR, order[0], *rest(order[0])) if most == 2 else (HIGH_CARD, *order[:5])


def _best_flush(mask: int) -> Ranks:
    """Returns the best flush of five or more ranks of a suit, in the same form as `_best_plain`."""
    top = _straight(mask)
    ranks = [rank for rank in range(12, -1, -1) if mask >> rank & 1]
    return (STRAIGHT_FLUSH, top) if top >= 0 else (FLUSH, *ranks[:5])


def _straight(mask: int) -> int:
    """Returns the highest rank of the best straight among ranks given as bits, -1 if there is none; the ace can be low."""
    with_low_ace = mask << 1 | mask >> 12
    return next((top for top in range(12, 2, -1) if with_low_ace >> (top - 3) & 31 == 31), -1)
