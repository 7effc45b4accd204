"""The 13 x 13 grid of poker hands: in a terminal, in colour or as text, and as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import TacitError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from tacit.tree.base import Strategy
    from tacit.tree.hand_strategy import HandStrategy
    from tacit.tree.hand_tree import HandTree, Spot

_WIDTH = 5
"""Columns of a cell; with the one between cells, the grid fits 80."""
_EMPTY = "#8a8f99"


def who_acts(tree: HandTree, spot: Spot) -> str:
    """Returns who acts at a spot.

    Raises:
      TacitError: nobody does.
    """
    if tree.actor[spot.node] < 0:
        raise TacitError(f"nobody acts after {tree.label(spot)!r}: --at must end where somebody does")
    return f"player {tree.actor[spot.node]} {'after ' + tree.label(spot) if spot.node else 'at the start'}"


def print_grid(console: Console, strategy: Strategy, at: str) -> None:
    """Prints what every hand does at a spot of a strategy over hands; of other strategies there is no grid."""
    from tacit.tree.hand_strategy import HandStrategy

    if isinstance(strategy, HandStrategy):
        console.print(f"\n{who_acts(strategy.tree, strategy.tree.find(at))}", soft_wrap=True)
        console.print(strategy_text(*_grid_numbers(strategy, at)))


def draw_grid(strategy: Any, at: str, path: Path) -> None:
    """Draws what every hand does at a spot of a strategy over hands (`HandStrategy`)."""
    from tacit.cards.deck import card_names
    from tacit.grid_plots import draw_strategy_grid

    shares, reach, names, board = _grid_numbers(strategy, at)
    title = f"{who_acts(strategy.tree, strategy.tree.find(at))}, board {card_names(board)}"
    draw_strategy_grid(path, shares, reach, names, title, board)


def _grid_numbers(strategy: HandStrategy, at: str) -> tuple[Any, ...]:
    """Returns the strategy, the range, the names of actions and the board at a spot."""
    tree, spot = strategy.tree, strategy.tree.find(at)
    reach = strategy.range_at(spot, int(tree.actor[spot.node]))
    return strategy.played(spot), reach, tree.action_names(spot.node), tree.board(spot)


def strategy_text(
    strategy: NDArray[Any], reach: NDArray[Any], action_names: Sequence[str], board: tuple[int, ...] = ()
) -> Text:
    """Returns what every hand does, two lines a cell: its name, then the most frequent action's letter and percentage.

    In colour, the background is that of the most frequent action. Below the grid stand the letters and how often the whole
    range takes each action. Cells that do not get here show their name only.

    Args:
      strategy: `[A, 1326]` probabilities of actions.
      reach: `[1326]` how often each hand gets here, on any scale.
      action_names: one per action, bets and raises from small to large.
      board: cards on the table; hands that hold one of them are left out.
    """
    from rich.text import Text

    from tacit.cards.grid import SIZE, cell_name, overall_frequencies, reach_grid, strategy_grid
    from tacit.cards.hands import possible_hands
    from tacit.grid_plots import action_colors

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
    """Returns one letter per action, the first of its name; those that would share one get 1, 2, ... instead."""
    first = [name[:1].upper() for name in action_names]
    numbers = iter(range(1, len(first) + 1))
    return [letter if first.count(letter) == 1 else str(next(numbers)) for letter in first]


def _style(color: str) -> str:
    return f"bold #ffffff on {color}"


def _darker(color: str) -> str:
    """Returns the colour of a cell's lower line, which sets it off from the cell below."""
    return "#" + "".join(f"{int(color[place : place + 2], 16) * 4 // 5:02x}" for place in (1, 3, 5))
