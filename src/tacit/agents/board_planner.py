"""Planning in board games with growing trees: each of the agent's decisions starts a new search at the current position."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from tacit.agents.base import Sight
from tacit.agents.options import RE_SOLVING
from tacit.agents.view import View
from tacit.errors import TacitError
from tacit.games.base import Game
from tacit.games.boards import position_after
from tacit.search.boards.search import BoardResult, BoardSearch
from tacit.threads import one_thread
from tacit.tree.base import Floats


class BoardPlanner:
    """Follows a board game, searches the current position (see `Planner`) and plays the most probable action."""

    policy = None
    safety = RE_SOLVING  # nothing is hidden, so searches below a search are safe anyway

    def __init__(self, game: Game[Any], search: BoardSearch, generator: np.random.Generator) -> None:
        self.game, self.search, self._generator = game, search, generator
        self.start(0)

    def start(self, player: int) -> None:
        del player  # both seats see everything
        self._state: Any = None
        self._moves: list[int] = []

    def observe(self, sight: Sight) -> None:
        self.__dict__.pop("result", None)
        if self._state is None:
            self._state = self.game.initial_state()
        else:
            self._state = self._next(sight)

    def weights(self) -> tuple[list[int], Floats]:
        actions = list(self.game.legal_actions(self._state))
        policy = self.result.policy[0, actions].astype(np.float64)
        return actions, (policy == policy.max()).astype(np.float64)

    def view(self) -> View | None:
        if self._state is None:
            return None
        actor, actions = self.game.actor(self._state), list(self.game.legal_actions(self._state))
        value = float(self.result.values[0])
        return View(
            public=" ".join(filter(None, [self.game.public_observation(self._state)])),
            actor=actor,
            private_states=([""], [""]),
            beliefs=(np.ones(1), np.ones(1)),
            actions=[self.game.action_name_at(self._state, action) for action in actions],
            strategy=self.result.policy[:, actions].astype(np.float64),
            values=(np.array([value]), np.array([-value])),
        )

    @cached_property
    def result(self) -> BoardResult:
        """The result of the search at the current position."""
        with one_thread():  # a single game's queries are far too small to split
            return self.search.run(position_after(self.search.boards, self._moves), self._generator)

    def _next(self, sight: Sight) -> Any:
        """Returns the state after the observed action."""
        actions = self.game.legal_actions(self._state) if sight.action is None else [sight.action]
        for action in actions:
            state = self.game.apply(self._state, action)
            if self.game.public_observation(state) == " ".join(sight.public):
                self._moves.append(int(action))
                return state
        raise TacitError(f"{self.game}: no legal action shows {sight.public}")
