"""Any two-player zero-sum OpenSpiel game as a `Game`, simultaneous ones turned sequential.

Public states are the closure of shared infostates, because only a few OpenSpiel games have public observers.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from tacit.errors import TacitError
from tacit.games.base import CHANCE, TERMINAL, InfostateGame


@dataclass(frozen=True)
class OpenSpielGame(InfostateGame[Any]):
    """A game of OpenSpiel, by its OpenSpiel name and parameters."""

    spiel_name: str
    spiel_game: Any = field(repr=False, compare=False)

    name = "openspiel"

    def initial_state(self) -> Any:
        return self.spiel_game.new_initial_state()

    def actor(self, state: Any) -> int:
        if state.is_terminal():
            return TERMINAL
        return CHANCE if state.is_chance_node() else int(state.current_player())

    def legal_actions(self, state: Any) -> Sequence[int]:
        return state.legal_actions()  # type: ignore[no-any-return]

    def chance_outcomes(self, state: Any) -> Sequence[tuple[int, float]]:
        return [(action, chance) for action, chance in state.chance_outcomes() if chance > 0.0]

    def apply(self, state: Any, action: int) -> Any:
        return state.child(action)

    def returns(self, state: Any) -> tuple[float, float]:
        first, second = state.returns()
        return float(first), float(second)

    def infostate(self, state: Any, player: int) -> str:
        return str(state.information_state_string(player))

    def action_name(self, action: int) -> str:
        return self.action_name_for(0, action)

    def action_name_for(self, player: int, action: int) -> str:
        return str(self.spiel_game.action_to_string(player, action))

    def action_name_at(self, state: Any, action: int) -> str:
        return str(state.action_to_string(state.current_player(), action))

    def openspiel_twin(self) -> str:
        return self.spiel_name

    @property
    def parameters(self) -> dict[str, Any]:
        return {}

    def __str__(self) -> str:
        return f"openspiel:{self.spiel_name}"


def load_openspiel_game(text: str) -> OpenSpielGame:
    """Returns the OpenSpiel game that `text` names, ready for the compiler.

    Raises:
      TacitError: OpenSpiel is not installed, does not know the game, or the game is of a kind that cannot be solved here.
    """
    try:
        import pyspiel
    except ImportError:
        raise TacitError("OpenSpiel is not installed: pip install 'tacit[openspiel]'") from None
    name = text.partition("(")[0]
    if name not in pyspiel.registered_names():
        close = get_close_matches(name, pyspiel.registered_names(), n=1)
        raise TacitError(f"OpenSpiel has no game {name!r}" + (f": did you mean {close[0]}?" if close else ""))
    try:
        with _quiet_stderr():  # OpenSpiel prints its errors as well as raising them
            _refuse_negative(pyspiel.game_parameters_from_string(text), pyspiel.registered_games(), name)
            game = pyspiel.load_game(text)
    except TacitError:
        raise
    except Exception as error:  # C++ exceptions arrive as various Python ones
        reason = " ".join(str(error).split())
        raise TacitError(f"OpenSpiel cannot load {text!r}: {reason[:160]}") from None
    game_type = game.get_type()
    if game.num_players() != 2:
        raise TacitError(f"openspiel:{text} has {game.num_players()} player(s); only two-player games are supported")
    if (
        game_type.utility not in (pyspiel.GameType.Utility.ZERO_SUM, pyspiel.GameType.Utility.CONSTANT_SUM)
        or game.utility_sum() != 0
    ):
        raise TacitError(f"openspiel:{text} is not zero-sum")
    if game_type.dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        game = pyspiel.convert_to_turn_based(game)
    elif game_type.dynamics == pyspiel.GameType.Dynamics.MEAN_FIELD:
        raise TacitError(f"openspiel:{text} is a mean-field game; only sequential and simultaneous games are supported")
    if not game.get_type().provides_information_state_string:
        raise TacitError(f"openspiel:{text} gives no information_state_string, so its infostates are unknown")
    if game_type.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        raise TacitError(f"openspiel:{text} samples its chance outcomes instead of listing them")
    return OpenSpielGame(text, game)


def _refuse_negative(parameters: dict[str, Any], kinds: Sequence[Any], name: str) -> None:
    """Raises a `TacitError` for a negative parameter whose default is not negative: OpenSpiel would write out of bounds.

    `goofspiel(num_cards=-1)` corrupts the heap, and the process aborts at some later allocation.
    """
    usual = next(kind for kind in kinds if kind.short_name == name).parameter_specification
    for key, value in parameters.items():
        if isinstance(value, dict) and "name" in value:  # a game inside a game
            _refuse_negative(value, kinds, value["name"])
        if isinstance(value, int) and value < 0 and isinstance(usual.get(key), int) and usual[key] >= 0:
            raise TacitError(f"openspiel:{name}: {key} must not be negative, not {value}")


@contextmanager
def _quiet_stderr() -> Iterator[None]:
    """Discards what C++ code writes to standard error."""
    saved, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(nowhere)
