"""Perfect play in small games without chance or hidden information, by backward induction over positions.

States with the same `Game.public_key` are one position, so transpositions are valued once: tic-tac-toe has 5,478 positions and
549,946 histories.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.agents.base import Sight
from tacit.agents.view import View
from tacit.errors import TacitError
from tacit.games.base import CHANCE, TERMINAL, Game
from tacit.tree.base import Floats

MAX_POSITIONS = 200_000
"""Games with more are refused."""


class Minimax:
    """The exact values of a game's positions, each computed on first use.

    Args:
      game: The rules; it must have a `public_key`, no chance and no hidden information.
    """

    def __init__(self, game: Game[Any]) -> None:
        self.game = game
        self._values: dict[Any, float] = {}

    def value(self, state: Any) -> float:
        """Returns the value of a state to player 0.

        Raises:
          TacitError: the game is too large, or has chance moves.
        """
        game, actor = self.game, self.game.actor(state)
        if actor == TERMINAL:
            return game.returns(state)[0]
        key = (actor, game.public_key(state))
        if key not in self._values:
            if actor == CHANCE or key[1] is None or len(self._values) >= MAX_POSITIONS:
                raise TacitError(f"minimax plays only small games without chance or hidden information, unlike {game}")
            worth = self.action_values(state).max()
            self._values[key] = float(worth if actor == 0 else -worth)
        return self._values[key]

    def action_values(self, state: Any) -> Floats:
        """Returns `[A]` the value of each legal action to the player to act."""
        sign = 1.0 if self.game.actor(state) == 0 else -1.0
        after = [self.value(self.game.apply(state, action)) for action in self.game.legal_actions(state)]
        return sign * np.array(after)

    def after(self, state: Any, sight: Sight) -> Any:
        """Returns the state after the move that a new sight shows."""
        actions = self.game.legal_actions(state) if sight.action is None else [sight.action]
        for action in actions:
            following = self.game.apply(state, action)
            if self.game.public_observation(following) == " ".join(sight.public):
                return following
        raise TacitError(f"{self.game}: no legal action shows {sight.public}")


class MinimaxAgent:
    """Plays one of the best actions, each with equal probability."""

    name = "minimax"

    def __init__(self, solver: Minimax, generator: np.random.Generator) -> None:
        self._solver, self._generator = solver, generator
        self.start(0)

    def start(self, player: int) -> None:
        del player  # both seats see everything
        self._state: Any = None

    def observe(self, sight: Sight) -> None:
        if self._state is None:
            self._state = self._solver.game.initial_state()
        elif sight.actor != TERMINAL:  # after the end, `view` still shows the last decision
            self._state = self._solver.after(self._state, sight)

    def act(self) -> int:
        return int(self._generator.choice(list(self._solver.game.legal_actions(self._state)), p=self._shares()))

    def view(self) -> View | None:
        if self._state is None:
            return None
        game, value = self._solver.game, self._solver.value(self._state)
        actions = list(game.legal_actions(self._state))
        return View(
            public=game.public_observation(self._state),
            actor=game.actor(self._state),
            private_states=([""], [""]),
            beliefs=(np.ones(1), np.ones(1)),
            actions=[game.action_name_at(self._state, action) for action in actions],
            strategy=self._shares()[None],
            values=(np.array([value]), np.array([-value])),
            action_values=self._solver.action_values(self._state)[None],
        )

    def _shares(self) -> Floats:
        values = self._solver.action_values(self._state)
        best: Floats = (values == values.max()).astype(np.float64)
        return best / float(best.sum())
