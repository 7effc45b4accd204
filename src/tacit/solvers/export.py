"""Strategies for others to read: JSON, CSV and OpenSpiel's tabular policies."""

from __future__ import annotations

import csv
import io
import json
from importlib.util import find_spec
from pathlib import Path

from tacit.errors import TacitError
from tacit.files import write_whole
from tacit.games import AnyGame
from tacit.solvers.openspiel import openspiel_table
from tacit.solvers.result import SolveResult
from tacit.tree.base import Strategy
from tacit.tree.strategy import RowStrategy

SUFFIXES = (".json", ".csv", ".openspiel.json")


def check_export(game: AnyGame, path: str | Path) -> None:
    """Refuses a file that could not be written after a solve of `game`, before it starts.

    Raises:
      TacitError: the ending is none of `SUFFIXES`, or OpenSpiel does not have the game or is not installed.
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
      TacitError: `check_export` says why, or the place cannot be written.
    """
    check_export(result.strategy.tree.game, path)
    name = Path(path).name
    if name.endswith(".openspiel.json"):
        assert isinstance(result.strategy, RowStrategy)
        content = json.dumps(openspiel_table(result.strategy), indent=1)
    elif name.endswith(".json"):
        decisions = [decision._asdict() for decision in result.strategy]
        content = json.dumps({**result.summary(), "strategy": decisions}, indent=1)
    else:
        content = _as_csv(result.strategy)
    write_whole(path, content.encode())


def _as_csv(strategy: Strategy) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("player", "public", "private", "action", "probability"))
    for decision in strategy:
        for action, probability in decision.probabilities.items():
            writer.writerow((decision.player, decision.public, decision.private, action, repr(probability)))
    return text.getvalue()
