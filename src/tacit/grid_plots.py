"""Pictures of poker strategies: the 13 x 13 grid of hands in the colours that solvers use."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.cards.grid import SIZE, cell_name, overall_frequencies, reach_grid, strategy_grid
from tacit.cards.hands import possible_hands
from tacit.colors import action_colors
from tacit.plots import house_pyplot, save_figure

EMPTY, ABSENT, MUTED, INK = "#e4e6eb", "#979dab", "#a5abb7", "#23262d"
"""Colours of unreached cells, of the unreached part of a cell, of names in unreached cells, and of text outside cells."""

_TITLE, _BAR, _LEGEND, _SHARE, _TOP = -1.88, -1.48, -0.72, -0.34, -2.2
"""The y of each item above the grid, whose y axis points down. The bar shows the whole range."""
_BAR_HEIGHT, _CHIP = 0.38, 0.26
_GAP = 0.025
_FAINTEST = 0.07
"""The minimum height of a cell that is reached at all, so that it stays visible."""


def draw_strategy_grid(
    path: str | Path,
    strategy: NDArray[Any],
    reach: NDArray[Any],
    action_names: Sequence[str],
    title: str = "",
    board: tuple[int, ...] = (),
) -> None:
    """Draws the strategy of every hand into a file (.png, .svg or .pdf), one cell per hand class.

    A cell is split from left to right by how often it takes each action, the largest raise first and the fold last. It is
    filled from the bottom by its reach; the most frequent cell is full. A bar above the grid shows the same for the whole
    range.

    Args:
      path: the file to write.
      strategy: `[A, 1326]` probabilities of actions.
      reach: `[1326]` reach of each hand, on any scale.
      action_names: one per action, bets and raises from small to large.
      title: a line above the picture.
      board: cards on the table; hands that hold one of them are left out.
    """
    figure = strategy_figure(strategy, reach, action_names, title, board)
    save_figure(figure, path)


def strategy_figure(
    strategy: NDArray[Any], reach: NDArray[Any], action_names: Sequence[str], title: str, board: tuple[int, ...] = ()
) -> Any:
    """Returns the figure of `draw_strategy_grid`: cell `(row, column)` is the unit square at x `column`, y `row`."""
    possible = possible_hands(board)
    reach = np.where(possible, reach, 0.0)
    frequency, filled = strategy_grid(strategy, reach), reach_grid(reach, possible)
    filled = np.where(filled > 0, np.maximum(filled, _FAINTEST), 0.0)
    colors = action_colors(action_names)
    pyplot = house_pyplot()
    figure, axis = pyplot.subplots(figsize=(7.2, 8.3 if title else 7.9))
    axis.set(xlim=(0, SIZE), ylim=(SIZE, _TOP if title else _BAR), aspect="equal")
    axis.axis("off")
    if title:
        font_size = min(13.0, 750 / len(title))
        axis.text(_GAP, _TITLE, title, fontsize=font_size, fontweight="bold", color=INK, va="center", parse_math=False)
    _draw_cells(axis, frequency, filled, colors)
    _draw_names(axis, filled)
    _draw_whole_range(axis, overall_frequencies(strategy, reach), action_names, colors)
    for text in axis.texts:
        text.set_in_layout(False)  # a long text must not shrink the grid
    return figure


def _draw_cells(axis: Any, frequency: NDArray[np.float64], filled: NDArray[np.float64], colors: Sequence[str]) -> None:
    """Draws the rectangles: the cell's background, then its actions from last to first."""
    row, column = np.indices((SIZE, SIZE))
    side = 1 - 2 * _GAP
    left, bottom = column + _GAP, row + 1 - _GAP
    style = {"align": "edge", "linewidth": 0, "antialiased": False}
    background = np.where(filled > 0, ABSENT, EMPTY).ravel()
    axis.bar(left.ravel(), -side, side, bottom.ravel(), color=background, **style)
    for frequencies, color in reversed(list(zip(frequency, colors, strict=True))):
        width = side * frequencies
        axis.bar(left.ravel(), -side * filled.ravel(), width.ravel(), bottom.ravel(), color=color, **style)
        left = left + width


def _draw_names(axis: Any, filled: NDArray[np.float64]) -> None:
    from matplotlib.patheffects import withStroke

    outline = [withStroke(linewidth=1.2, foreground="#00000050")]
    for row, column in np.ndindex(SIZE, SIZE):
        shown = filled[row, column] > 0
        axis.text(
            column + 0.5, row + 0.5, cell_name(row, column), fontsize=9, fontweight="bold" if shown else "normal",
            color="white" if shown else MUTED, path_effects=outline if shown else None, ha="center", va="center_baseline",
        )  # fmt: skip


def _draw_whole_range(axis: Any, overall: NDArray[np.float64], action_names: Sequence[str], colors: Sequence[str]) -> None:
    """Draws a bar of overall frequencies and the legend under it, in the same order as in a cell."""
    left, entries = _GAP, list(reversed(list(zip(action_names, overall, colors, strict=True))))
    style = {"align": "edge", "linewidth": 0, "antialiased": False}
    step = SIZE / max(len(entries), 5)
    axis.bar(_GAP, _BAR_HEIGHT, SIZE - 2 * _GAP, _BAR, color=EMPTY, **style)
    font_size = min(9.0, 72 * (step - 0.45) / max(map(len, action_names)))
    for place, (name, share, color) in enumerate(entries):
        width, x = (SIZE - 2 * _GAP) * share, _GAP + place * step
        axis.bar(left, _BAR_HEIGHT, width, _BAR, color=color, **style)
        axis.bar(x, _CHIP, _CHIP, _LEGEND - _CHIP / 2, color=color, **style)
        axis.text(x + 1.4 * _CHIP, _LEGEND, name, fontsize=font_size, color=INK, va="center_baseline", parse_math=False)
        axis.text(
            x + 1.4 * _CHIP, _SHARE, f"{100 * share:.1f} %", fontsize=9, fontweight="bold", color=INK, va="center_baseline"
        )
        left += width
