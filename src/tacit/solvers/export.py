"""Strategies for others to read: JSON, CSV and OpenSpiel's tabular policies.

JSON and CSV are written infostate by infostate, so that a solve of any size needs no more memory than its values. Both have the
infostates to which their player's own strategy comes: the others cannot occur, whatever the opponent does. Of each they tell

- `player`, `public` (the line that leads there, as `--at` takes it), `private`;
- how often each action is taken: in JSON `probabilities`, in CSV one line for each `action` with its `probability`;
- `reach`, the weight of the private state at the start times how likely the player's own actions lead there;
- `weight`, how likely the private state is, given the public state; it sums to 1 over the player's private states there;
- `infostate_value`, what the player wins on average from there, in the game's units;
- `equity`, in hold'em alone, how often the hand wins against the opponent's range if all is checked down.

JSON is one document: the figures of the solve, and under `strategy` a line for each infostate, so that programs can also read
it line by line; that is why there is no format of JSON lines besides. What is not known, because the opponent never comes
there, is `null`, in CSV empty. Numbers have as many digits as the strategy itself: 17, or 8 where it is in float32.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from tacit.errors import TacitError
from tacit.evaluation import StrategyViews
from tacit.files import json_text, whole_file
from tacit.games import AnyGame
from tacit.games.base import CHANCE, TERMINAL, InfostateGame
from tacit.solvers.result import SolveResult
from tacit.tree.base import Decision
from tacit.tree.navigate import NOWHERE, Navigator, Place
from tacit.tree.observations import resolve_chance
from tacit.tree.public_tree import NO_ACTION
from tacit.tree.strategy import RowStrategy

SUFFIXES = (".json", ".csv", ".openspiel.json")

OpenSpielTable = dict[str, dict[int, float]]

_NUMBERS = ("reach", "weight", "infostate_value", "equity")
"""Columns of CSV after the probability."""


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
    with text_file(path) as file:
        if name.endswith(".openspiel.json"):
            assert isinstance(result.strategy, RowStrategy)
            json.dump(openspiel_table(result.strategy), file, indent=1)
        elif name.endswith(".json"):
            write_json(result.summary(), result.views, file)
        else:
            write_csv(result.views.decisions(), file, digits_of(result.views))


@contextmanager
def text_file(path: str | Path) -> Iterator[TextIO]:
    """Yields a file to write text to that gets its name once it is whole (`whole_file`)."""
    with whole_file(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="\n")
        yield text
        text.flush()
        text.detach()


def digits_of(views: StrategyViews) -> int:
    """Returns how many digits of numbers about a strategy mean something."""
    return 17 if views.given_dtype == np.float64 else 8


def write_json(figures: dict[str, Any], views: StrategyViews, file: TextIO) -> None:
    """Writes a strategy as one JSON document, a line for each infostate.

    Args:
      figures: what comes before the strategy, ready for JSON.
      views: of the strategy.
      file: where to.
    """
    digits = digits_of(views)
    file.write(f'{json_text(figures)[:-1]}, "strategy": [')
    for number, decision in enumerate(views.decisions()):
        row = {key: _rounded(value, digits) for key, value in vars(decision).items() if value is not None}
        file.write(f"{',' if number else ''}\n{json.dumps(row)}")
    file.write("\n]}\n")


def write_csv(decisions: Iterable[Decision], file: TextIO, digits: int = 17) -> None:
    """Writes decisions as CSV, a line for each action of each infostate."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(("player", "public", "private", "action", "probability", *_NUMBERS))
    for decision in decisions:
        numbers = [_cell(getattr(decision, name), digits) for name in _NUMBERS]
        for action, probability in decision.probabilities.items():
            cells = action, _cell(probability, digits), *numbers
            writer.writerow((decision.player, decision.public, decision.private, *cells))


def _rounded(value: Any, digits: int) -> Any:
    """Returns what JSON knows of a value, with so many digits."""
    if isinstance(value, dict):
        return {key: _rounded(part, digits) for key, part in value.items()}
    if isinstance(value, float):
        return float(f"{value:.{digits}g}") if math.isfinite(value) else None
    return value


def _cell(value: float | None, digits: int) -> str:
    return "" if value is None or not math.isfinite(value) else repr(_rounded(value, digits))


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
