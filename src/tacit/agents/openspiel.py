"""OpenSpiel's bots as agents.

A bot is given whole states, an agent only what its seat sees. So a bot is given the first state, in the order of moves, that
its seat cannot tell from the real one. It cannot peek at hidden information, and for a bot that does not peek nothing changes.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from tacit.agents.base import Sight
from tacit.errors import TacitError
from tacit.games import AnyGame
from tacit.games.base import CHANCE, TERMINAL
from tacit.games.openspiel import OpenSpielGame


@runtime_checkable
class SpielBot(Protocol):
    """A bot of OpenSpiel, written in Python or in C++."""

    def restart(self) -> None:
        """Forgets the game before."""
        ...

    def step(self, state: Any) -> int:
        """Returns an action for the player to act."""
        ...


def require_spiel(game: AnyGame) -> OpenSpielGame:
    """Returns the game if it is OpenSpiel's; raises a `TacitError` otherwise."""
    if not isinstance(game, OpenSpielGame):
        twin = game.openspiel_twin()
        hint = f"name openspiel:{twin}" if twin else "name one as openspiel:NAME"
        raise TacitError(f"OpenSpiel's bots play only OpenSpiel's games, not {game}: {hint}")
    return game


class SpielAgent:
    """A bot of OpenSpiel for either seat. It keeps its own generator and memory, and is only told when a game starts.

    Args:
      bots: the bots for seats 0 and 1: the same one twice, or two if each is built for one seat, as many of OpenSpiel's are.
      game: a game of OpenSpiel.
      name: its name in results.
    """

    def __init__(self, bots: tuple[SpielBot, SpielBot], game: AnyGame, name: str) -> None:
        self.name = name
        self._bots, self._game = bots, require_spiel(game)
        self._player = 0
        self._sights: list[Sight] = []

    def start(self, player: int) -> None:
        self._player, self._sights = player, []
        self._bots[player].restart()

    def observe(self, sight: Sight) -> None:
        if sight.actor != TERMINAL:
            self._sights.append(sight)

    def act(self) -> int:
        state = self._find(self._game.initial_state(), 0)
        if state is None:
            raise TacitError(
                f"{self._game} has no state that matches what player {self._player} saw: {self._sights[-1].private}"
            )
        return int(self._bots[self._player].step(state))

    def view(self) -> None:
        return None

    def _find(self, state: Any, seen: int) -> Any:
        """Returns the first state below `state` that agrees with all sights after the first `seen`; None if there is none."""
        actor, game = self._game.actor(state), self._game
        if actor == TERMINAL:
            return None
        if actor == CHANCE:
            return self._first(state, [outcome for outcome, _ in game.chance_outcomes(state)], seen)
        sight, name = self._sights[seen], game.infostate(state, self._player)
        if sight.actor == actor and sight.private[0] == name:
            if seen + 1 == len(self._sights):
                return state
            own = self._sights[seen + 1].action if actor == self._player else None
            return self._first(state, game.legal_actions(state) if own is None else [own], seen + 1)
        unnoticed = actor != self._player and seen and self._sights[seen - 1].private[0] == name
        return self._first(state, game.legal_actions(state), seen) if unnoticed else None

    def _first(self, state: Any, moves: Any, seen: int) -> Any:
        states = (self._find(state.child(move), seen) for move in moves)
        return next((match for match in states if match is not None), None)
