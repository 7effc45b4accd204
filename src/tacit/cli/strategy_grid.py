"""The 13 x 13 grid of poker hands in a terminal, in colour or as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from rich.text import Text

_WIDTH = 5
"""Columns of a cell; with one between cells, the grid fits 80."""
_EMPTY = "#8a8f99"


def strategy_text(
    strategy: NDArray[Any], reach: NDArray[Any], action_names: Sequence[str], board: tuple[int, ...] = ()
) -> Text:
    """Returns the grid, with two lines a cell: the hand's name, then its most frequent action's letter and percentage.

    In colour, the background is that of the most frequent action. Below the grid are the letters and how often the whole
    range takes each action. Cells with zero reach show only their name.

    Args:
      strategy: `[A, 1326]` probabilities of actions.
      reach: `[1326]` how often each hand reaches this point, on any scale.
      action_names: one per action, bets and raises from small to large.
      board: cards on the table; hands that hold one of them are left out.
    """
    from rich.text import Text

    from tacit.cards.grid import SIZE, cell_name, overall_frequencies, reach_grid, strategy_grid
    from tacit.cards.hands import possible_hands
    from tacit.colors import action_colors

    possible = possible_hands(board)
    reach = np.where(possible, reach, 0.0)
    shown = reach_grid(reach, possible) > 0
    frequency, letters, colors = strategy_grid(strategy, reach), action_letters(action_names), action_colors(action_names)
    text = Text(no_wrap=True)
    for row in range(SIZE):
        names, shares = Text(), Text()
        for column in range(SIZE):
            best = int(frequency[:, row, column].argmax())
            share = f"{letters[best]}{100 * frequency[best, row, column]:>3.0f}" if shown[row, column] else ""
            upper, lower = (_style(colors[best]), _style(_darker(colors[best]))) if share else (_EMPTY, _EMPTY)
            names.append(f"{cell_name(row, column):^{_WIDTH}}", upper).append(" ")
            shares.append(f"{share:>{_WIDTH}}", lower).append(" ")
        text.append(names).append("\n").append(shares).append("\n")
    for letter, name, share, color in reversed(
        list(zip(letters, action_names, overall_frequencies(strategy, reach), colors, strict=True))
    ):
        text.append("\n").append(f" {letter} ", _style(color)).append(f" {100 * share:5.1f} %  {name}")
    return text


def action_letters(action_names: Sequence[str]) -> list[str]:
    """Returns one letter per action, the first of its name; actions that would share a letter get 1, 2, ... instead."""
    first = [name[:1].upper() for name in action_names]
    numbers = iter(range(1, len(first) + 1))
    return [letter if first.count(letter) == 1 else str(next(numbers)) for letter in first]


def _style(color: str) -> str:
    return f"bold #ffffff on {color}"


def _darker(color: str) -> str:
    """Returns the colour of a cell's lower line, darker to set it off from the cell below."""
    return "#" + "".join(f"{int(color[place : place + 2], 16) * 4 // 5:02x}" for place in (1, 3, 5))
