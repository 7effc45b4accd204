"""Exports strategies to JSON, CSV and OpenSpiel's tabular policies.

JSON and CSV are written public state by public state, so a solve of any size needs no more memory than its values. Both list
the infostates that their player's own strategy reaches: the others cannot occur, whatever the opponent does. Their fields are:

- `player`, `public` (the line that leads there, as `--at` takes it) and `private`;
- the action probabilities: in JSON `strategy`, in the order of `actions`, `null` for illegal ones; in CSV one line for each
  `action` with its `probability`;
- `reach`, the weight of the private state at the start times the probability that the player's own actions lead there;
- `weight`, the probability of the private state, given the public state; it sums to 1 over the player's private states there;
- `infostate_value`, the player's expected winnings from there, in the game's units;
- `equity`, in hold'em only, how often the hand wins against the opponent's range if everyone checks down.

JSON is one document: the figures of the solve, then `public_states`, each on a line of its own with lists over its private
states, so that names are not repeated for each. Programs can also read it line by line, so there is no separate JSON Lines
format. Values that are unknown because the opponent never gets there are `null`, or empty in CSV. Numbers have as many digits
as are meaningful: 17, or 6 if the strategy is in float32.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from tacit.errors import TacitError
from tacit.evaluation import StrategyViews
from tacit.files import json_text, whole_file
from tacit.games import AnyGame
from tacit.solvers.openspiel import openspiel_table
from tacit.solvers.result import SolveResult
from tacit.tree.node_view import NodeView
from tacit.tree.strategy import RowStrategy

SUFFIXES = (".json", ".csv", ".openspiel.json")

NUMBERS = ("reach", "weight", "infostate_value", "equity")
"""The quantities of each infostate besides its strategy: names in JSON, columns in CSV."""


def check_export(game: AnyGame, path: str | Path) -> None:
    """Checks before a solve of `game` that its strategy can be exported to a file.

    Raises:
      TacitError: The ending is none of `SUFFIXES`, or OpenSpiel does not have the game or is not installed.
    """
    name = Path(path).name
    if not name.endswith(SUFFIXES):
        raise TacitError(f"cannot export to {name}: the name must end in {', '.join(SUFFIXES)}")
    if name.endswith(".openspiel.json"):
        if game.openspiel_twin() is None:
            raise TacitError(f"{game} has no counterpart in OpenSpiel; export to .json or .csv")
        if find_spec("pyspiel") is None:
            raise TacitError("OpenSpiel is not installed: pip install 'tacit[openspiel]', or export to .json or .csv")


def export(result: SolveResult, path: str | Path) -> None:
    """Writes the strategy in the format of the file's ending.

    Raises:
      TacitError: `check_export` rejects the file, or it cannot be written.
    """
    check_export(result.strategy.tree.game, path)
    name = Path(path).name
    with text_file(path) as file:
        if name.endswith(".openspiel.json"):
            assert isinstance(result.strategy, RowStrategy)
            json.dump(openspiel_table(result.strategy), file, indent=1)
        elif name.endswith(".json"):
            write_json(result.summary(), result.views, file)
        else:
            write_csv(result.views, file)


@contextmanager
def text_file(path: str | Path) -> Iterator[TextIO]:
    """Yields a text file for writing, which gets its name once it is complete (`whole_file`)."""
    with whole_file(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="\n")
        yield text
        text.flush()
        text.detach()


def write_json(figures: dict[str, Any], views: StrategyViews, file: TextIO) -> None:
    """Writes a strategy as one JSON document, with a line for each public state.

    Args:
      figures: the fields before the strategy, ready for JSON.
      views: the strategy's views.
      file: the file to write to.
    """
    number = _format_of(views)
    file.write(f'{json_text(figures)[:-1]}, "public_states": [')
    for place, view in enumerate(view for view in views if len(view)):
        head = json.dumps({"player": view.actor, "public": view.line, "actions": view.actions, "private": view.acting.names})
        columns = [f'"{name}":[{",".join(map(number, column))}]' for name, column in _columns(view)]
        shares = ",".join(f"[{','.join(map(number, row))}]" for row in view.strategy.tolist())
        comma = "," if place else ""
        file.write(f'{comma}\n{head[:-1]}, {",".join(columns)},"strategy":[{shares}]}}')
    file.write("\n]}\n")


def write_csv(views: StrategyViews, file: TextIO, chosen: Iterable[NodeView] | None = None) -> None:
    """Writes a strategy as CSV, with a line for each action of each infostate.

    Args:
      views: the strategy's views.
      file: the file to write to.
      chosen: the public states to write; None for all of them.
    """
    number = _format_of(views)
    file.write(",".join(("player", "public", "private", "action", "probability", *NUMBERS)) + "\n")
    for view in views if chosen is None else chosen:
        public, actions = f"{view.actor},{_quoted(view.line)}", [_quoted(action) for action in view.actions]
        known = dict(_columns(view))
        columns = [[_cell(number(value)) for value in known[name]] if name in known else [""] * len(view) for name in NUMBERS]
        for private, shares, *numbers in zip(view.acting.names, view.strategy.tolist(), *columns, strict=True):
            before, after = f"{public},{_quoted(private)}", ",".join(numbers)
            for action, share in zip(actions, shares, strict=True):
                if not math.isnan(share):
                    file.write(f"{before},{action},{number(share)},{after}\n")


def _columns(view: NodeView) -> list[tuple[str, list[float]]]:
    """Returns the known quantities of the actor's private states, by name."""
    columns = ((name, getattr(view.acting, name)) for name in NUMBERS)
    return [(name, column.tolist()) for name, column in columns if column is not None]


def _format_of(views: StrategyViews) -> Callable[[float], str]:
    """Returns a function that formats a strategy's numbers for JSON with their meaningful digits."""
    write = repr if views.given_dtype == np.float64 else "{:.6g}".format
    return lambda value: "null" if math.isnan(value) else write(value)


def _cell(number: str) -> str:
    return "" if number == "null" else number


def _quoted(text: str) -> str:
    """Returns a text as a CSV cell."""
    return '"' + text.replace('"', '""') + '"' if any(letter in text for letter in ',"\r\n') else text
