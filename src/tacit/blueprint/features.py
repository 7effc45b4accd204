"""Features of hands for the card abstraction, in which hands that play alike are near each other.

On the river: how often a hand beats each of eight groups of hands, from the weakest to the strongest before the flop
(opponent cluster hand strength, Johanson et al. 2013). Before the river: the distribution of the hand's strength on the river,
as cumulative shares of sixteen equal intervals; the distance between two such rows is a kind of earth mover's distance.

All counts are in whole and half hands, so boards that differ only in the names of suits have exactly the same features.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.cards.deck import NUM_CARDS
from tacit.cards.grid import CELLS
from tacit.cards.hands import HANDS, NUM_HANDS
from tacit.cards.run_outs import FULL_BOARD, run_out_margins
from tacit.cards.strength import strength_tables
from tacit.compiled import compiled, inner
from tacit.threads import run_together

GROUPS = 8
"""The number of groups of opponents' hands on the river."""
BINS = 16
"""The number of intervals of strength on the river."""
EARLY_FEATURES = BINS - 1


class FeatureTables(NamedTuple):
    """The lookup tables of the kernels.

    Attributes:
      cards: `[1326, 2]` int64, the cards of each hand.
      group: `[1326]` int64, each hand's group by its strength before the flop.
      key: `[52]`, as in `StrengthTables`.
      by_sum: `[7825760]`, as in `StrengthTables`.
      by_suit: `[8192]`, as in `StrengthTables`.
    """

    cards: Any
    group: Any
    key: Any
    by_sum: Any
    by_suit: Any


@cache
def feature_tables() -> FeatureTables:
    """Returns the tables."""
    strengths = strength_tables()
    equity = np.bincount(CELLS, run_out_margins((), "float32").sum(axis=1), 169) / np.bincount(CELLS, minlength=169)
    order = np.argsort(equity[CELLS], kind="stable")
    place = np.empty(NUM_HANDS, np.int64)
    place[order] = np.arange(NUM_HANDS) * GROUPS // NUM_HANDS
    # Hands of one cell are equally good, so all of them join the group of the first.
    first = np.full(169, GROUPS)
    np.minimum.at(first, CELLS, place)
    return FeatureTables(HANDS, first[CELLS], strengths.key.astype(np.int64), strengths.by_sum, strengths.by_suit)


def street_features(board: tuple[int, ...]) -> NDArray[np.float32]:
    """Returns `[1326, F]` the features of hands: 8 on a full board, 15 on one of three or four cards.

    Those of hands that share a card with the board are meaningless. A river takes 0.1 ms, a turn 5 ms, a flop 0.1 s.
    """
    if len(board) == FULL_BOARD:
        return _river(board)[0]
    out = np.zeros((NUM_HANDS, EARLY_FEATURES), np.float32)
    _early_once(np.array(board), feature_tables(), out)
    return out


def features_of_boards(boards: NDArray[np.int64], threads: int) -> NDArray[np.float32]:
    """Returns `[B, 1326, F]` the `street_features` of boards `[B, n]`, computed with several threads."""
    is_river = boards.shape[1] == FULL_BOARD
    out = np.zeros((len(boards), NUM_HANDS, GROUPS if is_river else EARLY_FEATURES), np.float32)
    run_together(threads, _rivers if is_river else _early_boards, boards, feature_tables(), out)
    return out


def river_bins(board: tuple[int, ...]) -> NDArray[np.uint8]:
    """Returns `[1326]` the interval of each hand's strength on a full board; `BINS` for hands that share a card with it."""
    return _river(board)[1]


def _river(board: tuple[int, ...]) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
    out, bins = np.zeros((NUM_HANDS, GROUPS), np.float32), np.zeros(NUM_HANDS, np.uint8)
    _river_once(np.array(board), feature_tables(), out, bins)
    return out, bins


@inner(_nrt=False)
def strength_at(total, suits, tables):  # type: ignore[no-untyped-def]
    """Returns the strength of seven cards.

    Args:
      total: the sum of the cards' keys.
      suits: the cards' `rank_in_suit` bits.
      tables: `FeatureTables`.
    """
    best = tables.by_sum[total]
    for suit in range(4):
        best = max(best, tables.by_suit[(suits >> (16 * suit)) & 8191])
    return best


@inner(_nrt=False)
def rank_in_suit(card):  # type: ignore[no-untyped-def]
    """Returns a card as one bit of 64: sixteen bits for each suit, thirteen of them ranks."""
    return np.int64(1) << (16 * (card & 3) + (card >> 2))


@inner()
def sort_hands(board, tables, strength, order):  # type: ignore[no-untyped-def]
    """Returns the number of possible hands; fills in strengths `[1326]` and these hands `[1326]` from the weakest on."""
    dead = np.zeros(NUM_CARDS, np.bool_)
    on_board, suit_count, suit_ranks = np.int64(0), np.zeros(4, np.int64), np.zeros(4, np.int64)
    for card in board:
        dead[card] = True
        on_board += tables.key[card]
        suit_count[card & 3] += 1
        suit_ranks[card & 3] |= 1 << (card >> 2)
    flush = -1
    for suit in range(4):
        if suit_count[suit] >= 3:
            flush = suit
    num = 0
    for hand in range(NUM_HANDS):
        high, low = tables.cards[hand, 0], tables.cards[hand, 1]
        if dead[high] or dead[low]:
            strength[hand] = -1
            continue
        best = np.int64(tables.by_sum[on_board + tables.key[high] + tables.key[low]])
        if flush >= 0:
            ranks = suit_ranks[flush]
            if high & 3 == flush:
                ranks |= 1 << (high >> 2)
            if low & 3 == flush:
                ranks |= 1 << (low >> 2)
            best = max(best, np.int64(tables.by_suit[ranks]))
        strength[hand] = best
        order[num] = best * NUM_HANDS + hand
        num += 1
    order[:num].sort()
    for i in range(num):
        order[i] %= NUM_HANDS
    return num


@inner()
def river_row(board, tables, strength, order, features, bins):  # type: ignore[no-untyped-def]
    """Fills in features `[1326, 8]` and intervals `[1326]` of the possible hands on a full board.

    Args:
      board: `[5]`.
      tables: `FeatureTables`.
      strength: `[1326]` int64, scratch space.
      order: `[1326]` int64, scratch space.
      features: `[1326, 8]`, filled in.
      bins: `[1326]`, filled in; `BINS` for impossible hands.
    """
    num = sort_hands(board, tables, strength, order)
    bins[:] = BINS
    met, met_with = np.zeros(GROUPS), np.zeros((NUM_CARDS, GROUPS))
    for i in range(num):
        hand = order[i]
        group = tables.group[hand]
        met[group] += 1.0
        met_with[tables.cards[hand, 0], group] += 1.0
        met_with[tables.cards[hand, 1], group] += 1.0
    beaten, beaten_with, level, level_with = np.zeros(GROUPS), np.zeros((NUM_CARDS, GROUPS)), np.zeros(GROUPS), met_with * 0.0
    first = 0
    while first < num:
        last = first
        while last < num and strength[order[last]] == strength[order[first]]:
            hand = order[last]
            group = tables.group[hand]
            level[group] += 0.5  # a tie is half a win
            level_with[tables.cards[hand, 0], group] += 0.5
            level_with[tables.cards[hand, 1], group] += 0.5
            last += 1
        for i in range(first, last):
            hand = order[i]
            high, low, own = tables.cards[hand, 0], tables.cards[hand, 1], tables.group[hand]
            all_won = 0.0
            for group in range(GROUPS):
                won = beaten[group] - beaten_with[high, group] - beaten_with[low, group]
                won += level[group] - level_with[high, group] - level_with[low, group]
                faced = met[group] - met_with[high, group] - met_with[low, group]
                if group == own:  # the hand itself was subtracted twice
                    won += 0.5
                    faced += 1.0
                all_won += won
                features[hand, group] = won / faced if faced > 0.0 else 0.5
            bins[hand] = min(BINS - 1, int(all_won * BINS / 990.0))
        for i in range(first, last):
            hand = order[i]
            group, high, low = tables.group[hand], tables.cards[hand, 0], tables.cards[hand, 1]
            for card in (high, low):
                beaten_with[card, group] += 1.0
                level_with[card, group] -= 0.5
            beaten[group] += 1.0
            level[group] -= 0.5
        first = last


@inner()
def shares_below(count, hand, features):  # type: ignore[no-untyped-def]
    """Fills in a hand's row `[15]` of `features`: the cumulative shares of its counts over the 16 intervals."""
    total = 0
    for interval in range(BINS):
        total += count[hand, interval]
    below = 0
    for interval in range(BINS - 1):
        below += count[hand, interval]
        features[hand, interval] = below / total if total else 0.0


@compiled(nogil=True)
def _river_once(board, tables, features, bins):  # type: ignore[no-untyped-def]
    strength, order = np.empty(NUM_HANDS, np.int64), np.empty(NUM_HANDS, np.int64)
    river_row(board, tables, strength, order, features, bins)


@compiled(nogil=True)
def _early_once(board, tables, features):  # type: ignore[no-untyped-def]
    strength, order = np.empty(NUM_HANDS, np.int64), np.empty(NUM_HANDS, np.int64)
    unused, bins = np.empty((NUM_HANDS, GROUPS), np.float32), np.empty(NUM_HANDS, np.uint8)
    count, full = np.zeros((NUM_HANDS, BINS + 1), np.int64), np.empty(5, np.int64)
    lies = np.zeros(NUM_CARDS, np.bool_)
    full[: len(board)] = board
    for card in board:
        lies[card] = True
    for last in range(NUM_CARDS):
        if lies[last]:
            continue
        full[4] = last
        before = last if len(board) == 3 else 1
        for other in range(before):
            if len(board) == 3:
                if lies[other]:
                    continue
                full[3] = other
            river_row(full, tables, strength, order, unused, bins)
            for hand in range(NUM_HANDS):
                count[hand, bins[hand]] += 1
    for hand in range(NUM_HANDS):
        shares_below(count, hand, features)


@compiled(nogil=True)
def _rivers(member, members, place, boards, tables, features):  # type: ignore[no-untyped-def]
    bins = np.empty(NUM_HANDS, np.uint8)
    for number in range(member, len(boards), members):
        _river_once(boards[number], tables, features[number], bins)


@compiled(nogil=True)
def _early_boards(member, members, place, boards, tables, features):  # type: ignore[no-untyped-def]
    for number in range(member, len(boards), members):
        _early_once(boards[number], tables, features[number])
