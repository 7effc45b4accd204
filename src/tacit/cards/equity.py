"""Equities: how often hands win if the rest of the board is dealt without further betting. Ties count half."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from tacit.cards.deck import NUM_CARDS
from tacit.cards.grid import CELLS
from tacit.cards.hands import HANDS, NUM_HANDS, meetings, possible_hands
from tacit.cards.run_outs import FULL_BOARD, hand_margins, leads, run_out_margins
from tacit.cards.strength import IMPOSSIBLE, hand_strengths
from tacit.compiled import compiled
from tacit.errors import TacitError

SAMPLED_BOARDS = {0: 2_000, 3: 100}
"""The number of boards that `random_hand_equities` samples, by the number of cards on the board."""
RAISING_EQUITY = 0.7
"""The equity from which the pot-odds bot bets and raises, one hand at a time or thousands at once."""

_NOTHING = 1e-12
"""Below this share of a range, the weight that a hand can meet is a rounding error."""

Board = tuple[int, ...]


@dataclass(frozen=True)
class RangeEquity:
    """The exact equity of a range against another one if the board is run out; ties count half.

    Attributes:
      equity: Player 0's share of the pot; the rest is player 1's.
      hand_equity: For each player `[1326]`, the equity of each hand against the other range. It is NaN for hands that the
        player cannot hold, or that share a card with every hand of the other range.
      num_boards: The number of full boards counted for each pair of hands.
    """

    equity: float
    hand_equity: tuple[NDArray[np.float64], NDArray[np.float64]]
    num_boards: int


def range_equity(first: NDArray[np.float64], second: NDArray[np.float64], board: Board) -> RangeEquity:
    """Returns the equities of two ranges against each other, over all boards. Before the flop they are precomputed.

    Args:
      first: `[1326]`, the weights of player 0's hands; those that the board excludes do not count.
      second: `[1326]`, the weights of player 1's hands, likewise.
      board: 0, 3, 4 or 5 cards.

    Raises:
      TacitError: no hand of one range can be held together with one of the other.
    """
    possible = possible_hands(board)
    ranges = first * possible, second * possible
    hand_equity, likely = [], []
    for own, other in (ranges, ranges[::-1]):
        met = meetings(other)
        held = (own > 0) & (met > _NOTHING * other.sum())
        share = np.divide(leads(board, other), met, out=np.full(NUM_HANDS, np.nan), where=held)
        hand_equity.append(0.5 + 0.5 * share)
        likely.append(np.where(held, own * met, 0.0))
    if not likely[0].any():
        raise TacitError("no hand of one range can be held together with one of the other: they share cards")
    equity = float(likely[0] @ np.nan_to_num(hand_equity[0]) / likely[0].sum())
    missing = FULL_BOARD - len(board)
    return RangeEquity(equity, (hand_equity[0], hand_equity[1]), comb(NUM_CARDS - 4 - len(board), missing))


@cache
def preflop_order() -> tuple[tuple[int, ...], NDArray[np.float64]]:
    """Returns the 169 cells of the grid from best to worst, and `[169]`, the equity of each against a random hand.

    Equities are exact: all boards and all opposing hands are counted. Cells of equal equity are in the order of the grid.
    """
    against_all = run_out_margins(()).sum(axis=1) / comb(NUM_CARDS - 2, 2)
    counts = np.bincount(CELLS)
    equity = 0.5 + 0.5 * np.bincount(CELLS, against_all) / counts
    order = np.argsort(-np.round(equity, 12), kind="stable")
    return tuple(order.tolist()), equity


@lru_cache(maxsize=256)
def random_hand_equities(board: Board) -> NDArray[np.float64]:
    """Returns `[1326]`, how often each hand beats a random one; 0 for hands that share a card with the board.

    It is exact from the turn on. On the flop it samples 100 boards, before the flop 2,000, always the same ones; before the
    flop all hands of a kind, such as `AKs`, are averaged. Sampling errors are near 0.03 and 0.005.

    Args:
      board: 0, 3, 4 or 5 cards.
    """
    share, seen = np.zeros(NUM_HANDS), np.zeros(NUM_HANDS)
    for full in _full_boards(board):
        strength = hand_strengths(full)
        _add_shares(strength, np.argsort(strength, kind="stable"), HANDS, share)
        seen += strength != IMPOSSIBLE
    if not board:
        share, seen = (np.bincount(CELLS, numbers, 169).astype(np.float64)[CELLS] for numbers in (share, seen))
    return np.divide(share, seen, out=np.zeros(NUM_HANDS), where=(seen > 0) & possible_hands(board))


def win_chances(hand: int, board: Board) -> NDArray[np.float64]:
    """Returns `[1326]`, exactly how often a hand beats each other hand on a completed board; 0 for those it cannot meet.

    Args:
      hand: The number of the hand, of 1,326.
      board: 0, 3, 4 or 5 cards, none of them in the hand.
    """
    return (0.5 + 0.5 * hand_margins(hand, board)) * possible_hands((*board, *HANDS[hand].tolist()))


def _full_boards(board: Board) -> list[Board]:
    left = [card for card in range(NUM_CARDS) if card not in board]
    missing = FULL_BOARD - len(board)
    if missing <= 1:
        return [(*board, *rest) for rest in combinations(left, missing)]
    generator = np.random.default_rng([*board, len(board)])  # seeded by the board, so that results are reproducible
    return [(*board, *generator.permutation(left)[:missing].tolist()) for _ in range(SAMPLED_BOARDS[len(board)])]


@compiled()
def _add_shares(strength, order, cards, share):  # type: ignore[no-untyped-def]
    """Adds to `share` the fraction of opposing hands that each hand beats on a full board (of 990 it can meet; ties half).

    Args:
      strength: `[1326]`, the strengths of the hands, negative if impossible.
      order: `[1326]`, the hands from weakest to strongest.
      cards: `[1326, 2]`, the cards of the hands.
      share: `[1326]`, the sums.
    """
    below_with, level_with = np.zeros(52), np.zeros(52)
    below, first = 0.0, 0
    while first < len(order) and strength[order[first]] < 0:
        first += 1
    while first < len(order):
        last = first
        level_with[:] = 0.0
        while last < len(order) and strength[order[last]] == strength[order[first]]:
            for card in cards[order[last]]:
                level_with[card] += 1.0
            last += 1
        level = last - first
        for hand in order[first:last]:
            high, low = cards[hand, 0], cards[hand, 1]
            weaker = below - below_with[high] - below_with[low]
            equal = level - level_with[high] - level_with[low] + 1.0  # the hand itself was subtracted twice
            share[hand] += (weaker + 0.5 * equal) / 990.0
        below_with += level_with
        below += level
        first = last
