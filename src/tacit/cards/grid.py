"""The 13 x 13 grid on which poker hands are shown: pairs on the diagonal, suited above, offsuit below, aces first.

The 1,326 hands fall into 169 cells. The hands of a cell differ only in suits: a pair has 6, a suited cell 4, an offsuit one 12.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.cards.deck import RANKS
from tacit.cards.hands import HANDS

SIZE = len(RANKS)
_HIGH, _LOW = SIZE - 1 - HANDS.T // 4  # places in the grid, not ranks: the ace is 0
_SUITED = HANDS[:, 0] % 4 == HANDS[:, 1] % 4

CELLS: NDArray[np.int64] = np.where(_SUITED, SIZE * _HIGH + _LOW, SIZE * _LOW + _HIGH)
"""`[1326]`, the cell of each hand: 13 times its row plus its column."""
LEAST_REACH = 1e-3
"""Cells below this share of the most frequent cell's reach count as empty: solvers never quite reach 0."""


def cell_name(row: int, column: int) -> str:
    """Returns the name of a cell: `AA`, `AKs` above the diagonal, `AKo` below it."""
    high, low = sorted((row, column))
    return RANKS[::-1][high] + RANKS[::-1][low] + ("" if row == column else "s" if row < column else "o")


def grid_of(weights: NDArray[Any], possible: NDArray[np.bool_] | None = None) -> NDArray[np.float64]:
    """Returns `[13, 13]`, the mean weight of the hands in each cell.

    Args:
      weights: `[1326]`, the weights of the hands.
      possible: `[1326]`, False for hands to leave out of the mean, such as those that share a card with the board. A cell
        with no hand left has weight 0.
    """
    counted = np.ones(len(CELLS)) if possible is None else possible.astype(float)
    return _ratio(_sum(weights * counted), _sum(counted))


def reach_grid(reach: NDArray[Any], possible: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Returns `[13, 13]`, the reach of each cell relative to the most frequent one; 0 below a thousandth of it.

    Args:
      reach: `[1326]`, on any scale.
      possible: `[1326]`, False for hands that share a card with the board.
    """
    grid = grid_of(reach, possible)
    relative: NDArray[np.float64] = grid / (grid.max() or 1.0)
    return np.where(relative >= LEAST_REACH, relative, 0.0)


def strategy_grid(strategy: NDArray[Any], reach: NDArray[Any]) -> NDArray[np.float64]:
    """Returns `[A, 13, 13]`, how often each cell takes each action, with its hands weighted by reach.

    Args:
      strategy: `[A, 1326]`, the probabilities of actions.
      reach: `[1326]`, on any scale.

    Returns:
      Frequencies that sum to 1 over the actions; 0 in cells without reach.
    """
    reached = _sum(reach)
    return np.stack([_ratio(_sum(probability * reach), reached) for probability in strategy])


def overall_frequencies(strategy: NDArray[Any], reach: NDArray[Any]) -> NDArray[np.float64]:
    """Returns `[A]`, how often the whole range takes each action; 0 if no hand has any reach.

    Args:
      strategy: `[A, 1326]`, the probabilities of actions.
      reach: `[1326]`, on any scale.
    """
    frequencies: NDArray[np.float64] = strategy @ reach / (reach.sum() or 1.0)
    return frequencies


def _sum(weights: NDArray[Any]) -> NDArray[np.float64]:
    """Returns `[13, 13]`, the sums over the hands of each cell."""
    return np.bincount(CELLS, weights, SIZE * SIZE).astype(np.float64).reshape(SIZE, SIZE)


def _ratio(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
