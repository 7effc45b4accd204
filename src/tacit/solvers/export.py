"""Strategies for others to read: JSON, CSV and OpenSpiel's tabular policies."""

from __future__ import annotations

import csv
import io
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tacit.errors import TacitError
from tacit.files import write_whole
from tacit.games import AnyGame
from tacit.games.base import CHANCE, TERMINAL, InfostateGame
from tacit.solvers.result import SolveResult
from tacit.tree.base import Strategy
from tacit.tree.navigate import NOWHERE, Navigator, Place
from tacit.tree.observations import resolve_chance
from tacit.tree.public_tree import NO_ACTION
from tacit.tree.strategy import RowStrategy

SUFFIXES = (".json", ".csv", ".openspiel.json")

OpenSpielTable = dict[str, dict[int, float]]


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


def openspiel_table(strategy: RowStrategy) -> OpenSpielTable:
    """Returns the probabilities by OpenSpiel's infostate strings and action numbers.

    Raises:
      TacitError: OpenSpiel has no game with the same moves.
    """
    tree = strategy.tree
    if isinstance(tree.game, InfostateGame):
        names = [tree.infostate_label(s)[2] for s in range(tree.num_infostates)]
        return {name: _row(strategy, s, None) for s, name in enumerate(names)}
    twin = tree.game.openspiel_twin()
    if twin is None:
        raise TacitError(f"{tree.game} has no counterpart in OpenSpiel; export to .json or .csv")
    import pyspiel

    table: OpenSpielTable = {}
    game, navigator = tree.game, Navigator(tree)

    def walk(arrival: Any, spiel: Any, place: Place) -> None:
        """Fills the table from `place` on, with both games at the same history."""
        if arrival.actor == TERMINAL:
            return
        table[spiel.information_state_string()] = _row(strategy, navigator.infostate(place), spiel.legal_actions())
        for action, spiel_action in zip(game.legal_actions(arrival.state), spiel.legal_actions(), strict=True):
            after = game.apply(arrival.state, action)
            for next_arrival, next_spiel in _arrive(game, after, spiel.child(spiel_action)):
                if next_arrival.actor != TERMINAL:
                    walk(next_arrival, next_spiel, navigator.follow(place, arrival.actor, action, next_arrival))

    spiel_root = pyspiel.load_game(twin).new_initial_state()
    for arrival, spiel in _arrive(game, game.initial_state(), spiel_root):
        walk(arrival, spiel, navigator.follow(NOWHERE, CHANCE, NO_ACTION, arrival))
    return table


def openspiel_policy(strategy: RowStrategy) -> Any:
    """Returns the strategy as a `pyspiel.TabularPolicy`, for OpenSpiel's own evaluators."""
    import pyspiel

    return pyspiel.TabularPolicy({name: list(row.items()) for name, row in openspiel_table(strategy).items()})


def _arrive(game: Any, state: Any, spiel: Any) -> list[tuple[Any, Any]]:
    """Returns the arrivals of our game beside OpenSpiel's states: chance outcomes are taken in the same order."""
    spiel_states, stack = [], [spiel]
    while stack:
        spiel = stack.pop()
        if spiel.is_chance_node():
            stack.extend(spiel.child(action) for action, _ in reversed(spiel.chance_outcomes()))
        else:
            spiel_states.append(spiel)
    return list(zip(resolve_chance(game, state), spiel_states, strict=True))


def _row(strategy: RowStrategy, infostate: int, actions: list[int] | None) -> dict[int, float]:
    entries = range(strategy.tree.entry_start[infostate], strategy.tree.entry_start[infostate + 1])
    names = actions if actions is not None else [int(strategy.tree.entry_action[e]) for e in entries]
    return {name: float(strategy.probabilities[e]) for name, e in zip(names, entries, strict=True)}


def _as_csv(strategy: Strategy) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("player", "public", "private", "action", "probability"))
    for decision in strategy:
        for action, probability in decision.probabilities.items():
            writer.writerow((decision.player, decision.public, decision.private, action, repr(probability)))
    return text.getvalue()
