"""Which of two hands wins before the flop: exact counts over all 1,712,304 boards, for all pairs of hands.

Pairs that differ by a renaming of suits have the same count; one of each kind is kept in a file.
`python -m tacit.cards.preflop` makes it again in about a minute and a half.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
from numba import njit
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from tacit.cards.deck import NUM_CARDS
from tacit.cards.hands import HANDS, NUM_HANDS
from tacit.cards.strength import fill_strengths, strength_tables

NUM_BOARDS = 1_712_304
"""Boards of five of the 48 cards that two hands leave."""
FILE = Path(__file__).with_name("preflop.safetensors")


@cache
def preflop_leads() -> NDArray[np.float64]:
    """Returns `[1326, 1326]` how often a hand wins less how often it loses, before the flop; 0 where they share a card."""
    pairs, place = _pair_classes()
    counts = np.append(load_file(FILE)["wins_less_losses"], 0)  # the last one stands for hands that share a card
    leads: NDArray[np.float64] = (counts[place] / NUM_BOARDS).reshape(NUM_HANDS, NUM_HANDS)
    assert len(counts) == len(pairs) + 1
    return leads


def _suit_maps() -> list[NDArray[np.int64]]:
    """Returns for each renaming of suits `[1326]` the hand that each hand becomes."""
    maps = []
    for suits in permutations(range(4)):
        cards = HANDS // 4 * 4 + np.array(suits)[HANDS % 4]
        high, low = cards.max(axis=1), cards.min(axis=1)
        maps.append(high * (high - 1) // 2 + low)
    return maps


def _pair_classes() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns one pair, `first * 1326 + second`, for each class, and `[1326 * 1326]` the class of every pair."""
    first = np.full((NUM_HANDS, NUM_HANDS), NUM_HANDS**2)
    for hands in _suit_maps():
        np.minimum(first, hands[:, None] * NUM_HANDS + hands, out=first)
    for card in range(NUM_CARDS):
        holds = np.isin(HANDS, card).any(axis=1)
        first[np.ix_(holds, holds)] = NUM_HANDS**2  # sorts last
    pairs, place = np.unique(first, return_inverse=True)
    return pairs[:-1], place.ravel()


def count_boards() -> NDArray[np.int32]:
    """Returns `[classes]` wins less losses of the first hand for each class of pairs, by going through all boards."""
    boards = np.array(list(combinations(range(NUM_CARDS), 5)))
    digits, first = NUM_CARDS ** np.arange(5), np.full(len(boards), NUM_CARDS**5)
    for suits in permutations(range(4)):
        renamed = np.sort(boards // 4 * 4 + np.array(suits)[boards % 4], axis=1)
        np.minimum(first, renamed @ digits, out=first)
    kinds, times = np.unique(first, return_counts=True)
    tables, half = strength_tables(), np.zeros((NUM_HANDS, NUM_HANDS), np.int32)
    _count(kinds[:, None] // digits % NUM_CARDS, times, HANDS, tables.key, tables.by_sum, tables.by_suit, half)
    whole = half.astype(np.int64) - half.T
    total = sum((whole[np.ix_(hands, hands)] for hands in _suit_maps()), np.zeros_like(whole))
    pairs, _ = _pair_classes()
    return (total.ravel()[pairs] // 24).astype(np.int32)


@njit(cache=True)
def _count(boards, times, hands, key, by_sum, by_suit, half):  # type: ignore[no-untyped-def]
    """Adds to `half[i, j]`, j < i, how often hand i wins less how often it loses, each board counted `times`."""
    strength, held = np.empty(len(hands), np.int32), np.empty(len(hands), np.int32)
    for b in range(len(boards)):
        number = fill_strengths(boards[b], hands, key, by_sum, by_suit, held, strength)
        for i in range(number):
            row = half[held[i]]
            for j in range(i):
                if strength[i] > strength[j]:
                    row[held[j]] += times[b]
                elif strength[i] < strength[j]:
                    row[held[j]] -= times[b]


if __name__ == "__main__":
    save_file({"wins_less_losses": count_boards()}, FILE)
