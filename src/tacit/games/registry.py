"""Games by name: `load_game("liars_dice(dice=1,faces=4)")`."""

from __future__ import annotations

import re
from difflib import get_close_matches
from pathlib import Path
from typing import Any

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
from tacit.games.own import OwnName, load_own, make_own, parse_arguments, parse_own, source_of
from tacit.games.tic_tac_toe import TicTacToe
from tacit.games.tplo import Tplo

AnyGame = Game[Any]
"""A game whose world states are of any type."""

QUICK_CHECK = 2_000
"""The number of histories checked when a game is loaded from a file."""

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
      TacitError: the name, a parameter or a value is unknown, or a game in a file breaks a rule; the message says what
        would be right.
    """
    if text.startswith("openspiel:"):
        from tacit.games.openspiel import load_openspiel_game

        return load_openspiel_game(text.removeprefix("openspiel:"))
    own = parse_own(text)
    if own is not None:
        return _load_own_game(own)
    match = re.fullmatch(r"\s*(\w+)\s*(?:\((.*)\))?\s*", text)
    if match is None:
        how = "FILE.py:CLASS(key=value,...)" if ".py" in text else "name or name(key=value,...)"
        raise TacitError(f"cannot read the game {text!r}: write {how}")
    name, arguments = match.groups()
    game_class = _GAMES.get(name)
    if game_class is None:
        close = get_close_matches(name, _GAMES, n=1)
        hint = f"did you mean {close[0]}?" if close else "see `tacit games`"
        raise TacitError(f"unknown game {name!r}: {hint}")
    return game_class(**parse_arguments(game_class, arguments or "", game_class.name))


def game_source(game: AnyGame) -> str | None:
    """Returns the text with which `load_game` finds a user's own game from any folder; None for all other games."""
    own, arguments = source_of(type(game)), ",".join(f"{key}={value}" for key, value in game.parameters.items())
    return None if own is None else str(OwnName(own.path, own.class_name, arguments))


def recall_game(name: str, source: str | None, place: str | Path) -> AnyGame:
    """Returns the game that something was solved or trained for.

    Args:
      name: The game as text, `str(game)`.
      source: Its `game_source`.
      place: The path of that result. If the game's file was moved along with it, the file is found near this path.

    Raises:
      TacitError: the game is unknown, its file is missing, or its parameters have changed.
    """
    if source is None:
        return load_game(name)
    own = parse_own(source) if isinstance(source, str) else None  # it comes from a file
    if own is None:
        raise TacitError(f"{source!r} does not name a game in a file: it must be FILE.py:CLASS(...)")
    current = own.found_near(place)
    game = load_game(str(current))
    if str(game) != name:
        raise TacitError(f"{current.path}:{current.class_name} is {game} now, not {name}")
    return game


def load_game_class(own: OwnName) -> type[AnyGame]:
    """Returns the class of a user's own game.

    Raises:
      TacitError: the file does not define it, or it cannot be a game.
    """
    game_class = load_own(own.path, own.class_name, "Game")
    if not (isinstance(game_class, type) and issubclass(game_class, Game)):
        raise TacitError(f"{own.path}: {own.class_name} is not a game: write class {own.class_name}(tacit.Game)")
    problem = class_problem(game_class)
    if problem is not None:
        raise TacitError(f"{own.path}: {problem}")
    return game_class


def make_own_game(own: OwnName) -> AnyGame:
    """Returns a user's own game without checking its rules."""
    game_class = load_game_class(own)
    game: AnyGame = make_own(game_class, own, {}, game_class.name)
    return game


def _load_own_game(own: OwnName) -> AnyGame:
    """Returns a user's own game after a quick check of its rules, which are the likeliest to be wrong."""
    game = make_own_game(own)
    report = check_game(game, max_histories=QUICK_CHECK)
    if not report.ok:
        raise TacitError(f"{own.path} breaks a rule (see `tacit check {own}`): {report.violations[0]}")
    return game
