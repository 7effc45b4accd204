"""Games by name: `load_game("liars_dice(dice=1,faces=4)")`."""

from __future__ import annotations

import importlib.util
import re
import sys
from dataclasses import Field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from tacit.errors import TacitError
from tacit.games.base import Game
from tacit.games.coin_guess import CoinGuess
from tacit.games.goofspiel import Goofspiel
from tacit.games.kuhn_poker import KuhnPoker
from tacit.games.leduc_poker import LeducPoker
from tacit.games.liars_dice import LiarsDice
from tacit.games.modified_rps import ModifiedRps
from tacit.games.pot_limit_leduc import PotLimitLeduc
from tacit.games.tic_tac_toe import TicTacToe

AnyGame = Game[Any]

_GAMES: dict[str, type[AnyGame]] = {}


def register_game(game_class: type[AnyGame]) -> type[AnyGame]:
    """Returns `game_class` after making it loadable by its name; usable as a decorator."""
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
      TacitError: the name, a parameter or a value is unknown; the message says what would be right.
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
    return game_class(**_parse_arguments(game_class, arguments or ""))


def _load_class(path: str, name: str) -> type[AnyGame]:
    """Returns the class `name` defined in the Python file at `path`."""
    file = Path(path)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if not file.is_file() or spec is None or spec.loader is None:
        raise TacitError(f"no Python file at {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module  # dataclasses look their module up by name
    spec.loader.exec_module(module)
    game_class = getattr(module, name, None)
    if not (isinstance(game_class, type) and issubclass(game_class, Game)):
        raise TacitError(f"{path} defines no Game called {name}")
    return game_class


def _parse_arguments(game_class: type[AnyGame], arguments: str) -> dict[str, Any]:
    """Returns keyword arguments parsed by the types of the game's dataclass fields."""
    known: dict[str, Field[Any]] = {field.name: field for field in fields(game_class)}  # type: ignore[arg-type]
    parsed: dict[str, Any] = {}
    for part in filter(None, (piece.strip() for piece in arguments.split(","))):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or key not in known:
            expected = ", ".join(known) or "none"
            raise TacitError(f"{game_class.name} has no parameter {key!r} (it takes: {expected})")
        parsed[key] = _parse_value(game_class.name, known[key], value)
    return parsed


def _parse_value(game: str, field: Field[Any], value: str) -> Any:
    kind: Any = type(field.default)
    try:
        if kind is bool:
            return {"true": True, "false": False}[value.lower()]
        return kind(value)
    except (ValueError, KeyError):
        raise TacitError(f"{game}: {field.name} takes {kind.__name__}, not {value!r}") from None


for _game_class in (CoinGuess, Goofspiel, KuhnPoker, LeducPoker, LiarsDice, ModifiedRps, PotLimitLeduc, TicTacToe):
    register_game(_game_class)
