"""Renaming suits: the 24 permutations, their effect on cards and hands, and those that leave a situation unchanged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from tacit.cards.deck import NUM_CARDS, SUITS
from tacit.cards.hands import HANDS, possible_hands

IDENTITY = 0
"""The number of the permutation that changes no suit."""
_PERMUTATIONS: NDArray[np.int64] = np.array(list(permutations(range(len(SUITS)))))
RENAMED_CARDS: NDArray[np.int64] = np.arange(NUM_CARDS) // 4 * 4 + _PERMUTATIONS[:, np.arange(NUM_CARDS) % 4]
"""`[24, 52]`, the card that each card becomes."""
_HIGH, _LOW = RENAMED_CARDS[:, HANDS].max(axis=2), RENAMED_CARDS[:, HANDS].min(axis=2)
RENAMED_HANDS: NDArray[np.int64] = _HIGH * (_HIGH - 1) // 2 + _LOW
"""`[24, 1326]`, the hand that each hand becomes."""
_POWERS = len(SUITS) ** np.arange(len(SUITS))


def _numbers(suits: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the numbers of permutations `[..., 4]`."""
    order = np.argsort(_PERMUTATIONS @ _POWERS)
    return order[np.searchsorted(_PERMUTATIONS @ _POWERS, suits @ _POWERS, sorter=order)]


INVERSE: NDArray[np.int64] = _numbers(np.argsort(_PERMUTATIONS, axis=1))
"""`[24]`, the inverse of each permutation."""
COMPOSED: NDArray[np.int64] = _numbers(_PERMUTATIONS[:, _PERMUTATIONS])
"""`[24, 24]`, the permutation that applies the second and then the first."""


def symmetries(board: Iterable[int], ranges: Iterable[NDArray[np.float64]]) -> tuple[int, ...]:
    """Returns the permutations that change neither a board, in any order, nor the weights `[1326]` of the hands it allows.

    Weights must be exactly equal: nearly symmetric ranges are not symmetric.
    """
    cards = sorted(board)
    allowed = [weights * possible_hands(cards) for weights in ranges]
    return tuple(
        number
        for number, renamed in enumerate(RENAMED_HANDS)
        if sorted(RENAMED_CARDS[number, cards]) == cards
        and all(np.array_equal(weights[renamed], weights) for weights in allowed)
    )


def orbits(board: Iterable[int], group: Sequence[int]) -> dict[int, dict[int, int]]:
    """Returns the orbits of the cards that are not on a board, under a group of permutations.

    Returns:
      For the first card of each orbit its members, itself first, each with a permutation that turns it into the first.
    """
    members: dict[int, dict[int, int]] = {}
    seen = set(board)
    for card in range(NUM_CARDS):
        if card not in seen:
            members[card] = {card: IDENTITY}
            for number in group:
                members[card].setdefault(int(RENAMED_CARDS[INVERSE[number], card]), number)
            seen.update(members[card])
    return members


def stabiliser(group: Sequence[int], card: int) -> tuple[int, ...]:
    """Returns the permutations of a group that do not change a card."""
    return tuple(number for number in group if RENAMED_CARDS[number, card] == card)
