"""Games by name: `load_game("liars_dice(dice=1,faces=4)")`."""

from __future__ import annotations

import importlib.util
import re
import sys
from dataclasses import MISSING, Field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args, get_type_hints
from zlib import crc32

from tacit.errors import TacitError
from tacit.games.base import Game
from tacit.games.check import check_game, class_problem
from tacit.games.coin_guess import CoinGuess
from tacit.games.connect_four import ConnectFour
from tacit.games.goofspiel import Goofspiel
from tacit.games.holdem import LimitHoldem, NoLimitHoldem, TurnEndgameHoldem
from tacit.games.liars_dice import LiarsDice
from tacit.games.modified_rps import ModifiedRps
from tacit.games.one_card_poker import KuhnPoker, LeducPoker, PotLimitLeduc
from tacit.games.tic_tac_toe import TicTacToe
from tacit.games.tplo import Tplo

AnyGame = Game[Any]

QUICK_CHECK = 2_000
"""Histories that are checked when a game is loaded from a file."""

_OURS: tuple[type[AnyGame], ...] = (
    CoinGuess, ConnectFour, Goofspiel, KuhnPoker, LeducPoker, LiarsDice, LimitHoldem, ModifiedRps, NoLimitHoldem, PotLimitLeduc,
    TicTacToe, Tplo, TurnEndgameHoldem,
)  # fmt: skip
_GAMES = {game_class.name: game_class for game_class in _OURS}


def register_game(game_class: type[AnyGame]) -> type[AnyGame]:
    """Returns `game_class` after making it loadable by its name; usable as a decorator.

    Raises:
      TacitError: the class cannot be a game.
    """
    problem = class_problem(game_class)
    if problem is not None:
        raise TacitError(problem)
    _GAMES[game_class.name] = game_class
    return game_class


def registered_games() -> dict[str, type[AnyGame]]:
    """Returns the games by name, in alphabetical order."""
    return dict(sorted(_GAMES.items()))


def load_game(text: str) -> AnyGame:
    """Returns the game that `text` names.

    Args:
      text: `name`, `name(key=value,...)`, `openspiel:<OpenSpiel game string>`, or `path/to/file.py:ClassName(...)` for a
        game of your own.

    Raises:
      TacitError: the name, a parameter or a value is unknown, or a game in a file breaks the rules; the message says what
        would be right.
    """
    if text.startswith("openspiel:"):
        from tacit.games.openspiel import load_openspiel_game

        return load_openspiel_game(text.removeprefix("openspiel:"))
    match = re.fullmatch(r"\s*(?:(.+\.py):)?(\w+)\s*(?:\((.*)\))?\s*", text)
    if match is None:
        raise TacitError(f"cannot read the game {text!r}: write name or name(key=value,...)")
    path, name, arguments = match.groups()
    game_class = _load_class(path, name) if path else _GAMES.get(name)
    if game_class is None:
        close = get_close_matches(name, _GAMES, n=1)
        hint = f"did you mean {close[0]}?" if close else "see `tacit games`"
        raise TacitError(f"unknown game {name!r}: {hint}")
    values = _parse_arguments(game_class, arguments or "")
    return _make_own(game_class, values, path) if path else game_class(**values)


def _load_class(path: str, name: str) -> type[AnyGame]:
    """Returns the class `name` defined in the Python file at `path`."""
    file = Path(path)
    # A name of its own: a file called json.py must not take the place of the module json.
    module_name = f"tacit_own_{file.stem}_{crc32(str(file.resolve()).encode()):08x}"
    spec = importlib.util.spec_from_file_location(module_name, file)
    if not file.is_file() or spec is None or spec.loader is None:
        raise TacitError(f"no Python file at {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module  # dataclasses look their module up by name
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise TacitError(f"{path} cannot be imported: {type(error).__name__}: {error}") from error
    game_class = getattr(module, name, None)
    if not (isinstance(game_class, type) and issubclass(game_class, Game)):
        raise TacitError(f"{path} defines no Game called {name}")
    problem = class_problem(game_class)
    if problem is not None:
        raise TacitError(f"{path}: {problem}")
    return game_class


def _make_own(game_class: type[AnyGame], values: dict[str, Any], path: str) -> AnyGame:
    """Returns a game of the user's own, after a quick check of its rules: they are the likeliest to be wrong."""
    try:
        game = game_class(**values)
    except TacitError:
        raise
    except Exception as error:
        raise TacitError(f"{path}: {game_class.__name__}() raised {type(error).__name__}: {error}") from error
    report = check_game(game, max_histories=QUICK_CHECK)
    if not report.ok:
        raise TacitError(f"{path} breaks a rule (tacit.check_game says more): {report.violations[0]}")
    return game


def _parse_arguments(game_class: type[AnyGame], arguments: str) -> dict[str, Any]:
    """Returns keyword arguments parsed by the types of the game's dataclass fields."""
    known: dict[str, Field[Any]] = {field.name: field for field in fields(game_class)}  # type: ignore[arg-type]
    parsed: dict[str, Any] = {}
    for part in filter(None, (piece.strip() for piece in arguments.split(","))):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if key in game_class.refused_parameters:
            raise TacitError(f"{game_class.name} takes no {key}: {game_class.refused_parameters[key]}")
        if not equals or key not in known:
            expected = ", ".join(known) or "none"
            raise TacitError(f"{game_class.name} has no parameter {key!r} (it takes: {expected})")
        if key in parsed:
            raise TacitError(f"{game_class.name}: {key} is given twice")
        parsed[key] = _parse_value(game_class, known[key], value)
    for key, field in known.items():
        if key not in parsed and field.default is MISSING and field.default_factory is MISSING:
            raise TacitError(f"{game_class.name} needs a value for {key}: write {game_class.name}({key}=...)")
    return parsed


def _parse_value(game_class: type[AnyGame], field: Field[Any], value: str) -> Any:
    """Returns a value of the type the field is annotated with: `bool`, `int`, `float`, `str`, or one of these or None."""
    try:
        hint = get_type_hints(game_class)[field.name]
    except NameError as error:
        raise TacitError(f"{game_class.name}: the type of {field.name} is unknown: {error}") from None
    kinds = get_args(hint) or (hint,)
    if type(None) in kinds and value.lower() == "none":
        return None
    kind: Any = next((kind for kind in kinds if kind in (bool, int, float, str)), None)
    if kind is None:
        raise TacitError(f"{game_class.name}: {field.name} cannot be given in words, only in Python")
    try:
        return {"true": True, "false": False}[value.lower()] if kind is bool else kind(value)
    except (ValueError, KeyError):
        raise TacitError(f"{game_class.name}: {field.name} takes {kind.__name__}, not {value!r}") from None
