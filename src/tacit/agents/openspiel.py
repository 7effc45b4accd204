"""OpenSpiel's bots as agents.

A bot is shown whole states, an agent only what its seat sees. So a bot gets a state that looks to its seat as the game does,
the first such state in the order of moves: it cannot peek at what is hidden, and a bot that does not peek notices nothing.
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
    """Returns a game that is OpenSpiel's; raises a `TacitError` for others."""
    if not isinstance(game, OpenSpielGame):
        twin = game.openspiel_twin()
        hint = f"name openspiel:{twin}" if twin else "name one as openspiel:NAME"
        raise TacitError(f"a bot of OpenSpiel plays OpenSpiel's games, not {game}: {hint}")
    return game


class SpielAgent:
    """A bot of OpenSpiel for either seat. Its generator and its memory are its own; it is told nothing but when a game starts.

    Args:
      bots: who plays seat 0 and seat 1: one bot that plays both, or one for each, as many of OpenSpiel's know their seat.
      game: of OpenSpiel.
      name: how results call it.
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
                f"{self._game} has no state that looks as player {self._player} sees it: {self._sights[-1].private}"
            )
        return int(self._bots[self._player].step(state))

    def view(self) -> None:
        return None

    def _find(self, state: Any, seen: int) -> Any:
        """Returns the first state, from `state` on, that all sights but the first `seen` lead to; None where there is none."""
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
        found = (self._find(state.child(move), seen) for move in moves)
        return next((one for one in found if one is not None), None)
