"""`tacit show`: a solved strategy at any point of the game, without solving again."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.common import JsonOption, SeedOption, print_json, print_lines, printer, program, progress_monitor, start
from tacit.errors import TacitError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tacit.artifacts.base import Artifact
    from tacit.evaluation import StrategyViews
    from tacit.tree.node_view import NodeView

MOST_STATES = 12
"""Most public states that are all shown at once when no line is named."""
MOST_HANDS = 40
"""Most hands that are listed below the grid."""
MOST_STEPS = 60
"""Most next steps of a line that are listed."""


def show(
    file: Annotated[str, typer.Argument(help="A file of `tacit solve --save`, or any agent whose strategy is a table.")],
    at: Annotated[str | None, typer.Option(help="The line to show, like 'check / bet to 2000'. [default: the start]")] = None,
    csv: Annotated[
        Path | None, typer.Option(help="Write a line for each action in each private state, at --at or in the whole game.")
    ] = None,
    grid: Annotated[Path | None, typer.Option(help="Hold'em: draw the grid of hands (.png, .svg or .pdf).")] = None,
    game: Annotated[str | None, typer.Option(help="The game, if it is one of your own: FILE.py:CLASS.")] = None,
    as_json: JsonOption = False,
    seed: SeedOption = 0,
) -> None:
    """Show a solved strategy: action frequencies, reach, weight in the range, value, and in hold'em equity.

    Only private states that can occur are shown. Values are what the player wins on average from there, in the game's units;
    in hold'em they count from the start of the hand. With --at, --json and --csv give only that point, else the whole game.

    Examples:

      tacit solve kuhn_poker --save kuhn.tacit

      tacit show kuhn.tacit

      tacit show kuhn.tacit --at "check / bet" --json

      tacit solve "no_limit_holdem(board=3s7hTdKs,pot=2000,bets=1|allin,raises=allin)" --target 0.5%pot --save turn.tacit

      tacit show turn.tacit --at "check / bet to 3000" --grid grid.png --csv hands.csv
    """
    from tacit import artifacts
    from tacit.games.holdem import require_holdem

    start(seed)
    _check_files(file, csv, grid)
    with progress_monitor() as monitor:
        monitor.step(f"loading {file}", 0, note="compiling the game")
        artifact = artifacts.open(file, game, monitor)
        views = artifact.views()
        if grid is not None:
            require_holdem(artifact.game, "--grid")
        node = views.at(at or "") if grid is not None or at is not None else None
        if csv is not None:
            _write_csv(views, node if at is not None else None, csv)
    if node is not None and grid is not None:
        draw_view(node, grid)
    if as_json:
        _print_json(artifact, views, node if at is not None else None)
        return
    _print(artifact, views, node)
    for path in filter(None, (csv, grid)):
        print_lines(f"written  {path}")


def print_view(view: NodeView) -> None:
    """Prints a point of a game; in hold'em as a grid, followed by a table of hands if there are few."""
    if view.hands is None:
        print_lines(*view.text().splitlines())
        return
    from tacit.cli.strategy_grid import strategy_text

    shares, reach, board = _on_cards(view)
    print_lines(view.heading)
    printer().print(strategy_text(shares, reach, view.actions, board))
    if len(view) <= MOST_HANDS:
        print_lines("", *view.text().splitlines()[1:])


def draw_view(view: NodeView, path: Path) -> None:
    """Draws a point of a hold'em game as a grid of hands."""
    from tacit.grid_plots import draw_strategy_grid

    shares, reach, board = _on_cards(view)
    where = f"after {view.line}" if view.line else "at the start"
    draw_strategy_grid(path, shares, reach, view.actions, f"player {view.actor} {where}, board {view.board or 'empty'}", board)


def _on_cards(view: NodeView) -> tuple[NDArray[np.float64], NDArray[np.float64], tuple[int, ...]]:
    """Returns every hand's action probabilities `[A, 1326]` and reach `[1326]`, and the board."""
    import numpy as np

    from tacit.cards.deck import parse_cards
    from tacit.cards.hands import NUM_HANDS

    assert view.hands is not None
    shares, reach = np.zeros((len(view.actions), NUM_HANDS)), np.zeros(NUM_HANDS)
    shares[:, view.hands], reach[view.hands] = view.strategy.T, view.acting.reach
    return shares, reach, parse_cards(view.board)


def _check_files(file: str, csv: Path | None, grid: Path | None) -> None:
    """Raises a `TacitError` unless the files can be written in their formats and none is the file that is shown."""
    from tacit.files import check_writable
    from tacit.plots import SUFFIXES

    for name, path, endings in (("csv", csv, (".csv",)), ("grid", grid, SUFFIXES)):
        if path is None:
            continue
        if path.resolve() == Path(file).resolve():
            raise TacitError(f"--{name} would replace {file} itself: choose another file")
        if not path.name.endswith(endings):
            raise TacitError(f"cannot write {path}: the name must end in {', '.join(endings)}")
        check_writable(path)


def _write_csv(views: StrategyViews, node: NodeView | None, path: Path) -> None:
    from tacit.solvers.export import text_file, write_csv

    with text_file(path) as file:
        write_csv(views, file, None if node is None else [node])


def _print_json(artifact: Artifact, views: StrategyViews, node: NodeView | None) -> None:
    from tacit.solvers.export import write_json

    if node is None:
        write_json(artifact.figures(), views, sys.stdout)
    else:
        print_json({**node.as_dict(), "agent": artifact.name})


def _print(artifact: Artifact, views: StrategyViews, node: NodeView | None) -> None:
    tree: Any = views.strategy.tree
    figures = artifact.figures()
    figures_in_words = [f"{name} {figures[name]:.6g}" for name in ("value", "exploitability") if name in figures]
    print_lines(f"{artifact.name}: {artifact.game}{', '.join(['', *figures_in_words])}", "")
    if node is None and getattr(tree, "nodes", tree) is None:
        print_lines(
            "The player to act is not public, so there are no public states to show: --json or --csv FILE lists all infostates."
        )
        return
    if node is None and 1 < len(tree.decision_spots) <= MOST_STATES:
        for view in views:
            print_view(view)
            print_lines("")
        return
    node = views.at("") if node is None else node
    print_view(node)
    steps, more = node.next_steps[:MOST_STEPS], "" if len(node.next_steps) <= MOST_STEPS else ", ..."
    longer = (f"{node.line} / {step}" if node.line else step for step in steps)
    further = next((line for line in longer if tree.actor_at(tree.find(line)) >= 0), None)
    example = "" if further is None else f"  ({program()} show {shlex.quote(artifact.name)} --at {shlex.quote(further)})"
    print_lines("", f"next steps: {', '.join(steps)}{more}{example}")
