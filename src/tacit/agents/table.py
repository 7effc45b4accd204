"""The table at which two agents play. Only the table knows the hidden state; players get sights of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tacit.agents.base import Agent, Sight
from tacit.errors import TacitError
from tacit.games import AnyGame
from tacit.games.base import TERMINAL, InfostateGame
from tacit.games.chips import Chips
from tacit.tree.observations import Draws, draw_chance
from tacit.tree.strategy import distinct_names


class Table:
    """A game in progress, one move at a time.

    Attributes:
      game: the rules.
      actor: who moves now: 0, 1 or `TERMINAL`.
      sights: for each player what it sees after the last move; None if it noticed nothing.
    """

    actor: int
    sights: tuple[Sight | None, Sight | None]

    def __init__(self, game: AnyGame, draws: Draws) -> None:
        self.game = game
        self._draws = draws
        self._own_action: list[int | None] = [None, None]
        self._last_name: list[tuple[str, bool] | None] = [None, None]
        self._chips: Chips | None = None
        self._arrive(game.initial_state(), "")

    def play(self, action: int) -> None:
        """Makes the actor's move.

        Raises:
          TacitError: it is not legal, or the game is over.
        """
        if self.actor == TERMINAL or not self.game.is_legal(self._state, action):
            raise TacitError(f"{self.game}: {action!r} is not a legal action here")
        self._own_action[self.actor] = action
        self._arrive(self.game.apply(self._state, action), "" if self._chips is None else self._chips.name(action))

    @property
    def returns(self) -> tuple[float, float]:
        """Both players' payoffs, once the game is over."""
        return self.game.returns(self._state)

    def _arrive(self, state: Any, move: str) -> None:
        """Moves on to the next decision or the end; `move` is the last action as people say it, or empty for its plain name."""
        arrival = draw_chance(self.game, state, self._draws)
        self._state, self.actor = arrival.state, arrival.actor
        self._told = (move, *arrival.public[1:]) if move else arrival.public
        if self.actor != TERMINAL:
            chips = self.game.chips(self._state)
            self._chips = None if chips is None else chips.since(self._chips)
        first, second = (self._look(player, arrival.public, arrival.private[player]) for player in (0, 1))
        self.sights = first, second

    def _look(self, player: int, public: tuple[str, ...], private: tuple[str, ...]) -> Sight | None:
        acting = self.actor == player
        if isinstance(self.game, InfostateGame) and self.actor != TERMINAL:
            name = (self.game.infostate(self._state, player), acting)
            if name == self._last_name[player] and not acting:  # the other player moved unnoticed, as in phantom games
                return None
            self._last_name[player] = name
            private = name[:1]
        action, self._own_action[player] = self._own_action[player], None
        legal = tuple(self.game.legal_actions(self._state)) if acting else ()
        names = distinct_names([self.game.action_name_at(self._state, move).strip() for move in legal], legal)
        chips = None if self.actor == TERMINAL else self._chips
        drawing = self.game.drawing(self._state)
        return Sight(self.actor, action, public, private, legal, tuple(names), drawing, self._told, chips)


def play_game(
    game: AnyGame,
    agents: Sequence[Agent],
    draws: Draws,
    watch: Callable[[Table], None] = lambda _: None,
) -> tuple[float, float]:
    """Returns both players' payoffs after a game between two agents.

    Args:
      game: the rules.
      agents: the players in seats 0 and 1.
      draws: the generator for chance; agents have generators of their own.
      watch: called at every state, before the players see it.
    """
    table = Table(game, draws)
    for player, agent in enumerate(agents):
        agent.start(player)
    while True:
        watch(table)
        for agent, sight in zip(agents, table.sights, strict=True):
            if sight is not None:
                agent.observe(sight)
        if table.actor == TERMINAL:
            return table.returns
        table.play(agents[table.actor].act())
