"""Objects that play, wrapped as artifacts: solves, strategies, agents, and OpenSpiel's policies and bots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tacit.agents.base import Agent, Sight
from tacit.agents.openspiel import SpielAgent, SpielBot
from tacit.agents.options import SearchOptions
from tacit.agents.view import View
from tacit.artifacts.base import Artifact, Evaluation, Monitor
from tacit.artifacts.table import TableArtifact
from tacit.errors import TacitError
from tacit.games import AnyGame
from tacit.solvers.locks import Lock
from tacit.solvers.openspiel import SpielPolicy, spiel_strategy
from tacit.solvers.result import SolveResult
from tacit.tree.base import Strategy


class StrategyArtifact(TableArtifact):
    """A strategy in memory; `make` returns it for a game."""

    def __init__(
        self,
        name: str,
        make: Callable[[AnyGame], Strategy],
        game: AnyGame | None = None,
        monitor: Monitor | None = None,
        locks: tuple[Lock, ...] = (),
    ) -> None:
        super().__init__(name, game, monitor)
        self._make, self._locks = make, locks
        self._strategy: Strategy | None = None

    def strategy(self) -> Strategy:
        if self._strategy is None:
            self._strategy = self._make(self.game)
        return self._strategy

    def locks(self) -> tuple[Lock, ...]:
        return self._locks

    def on(self, game: AnyGame) -> StrategyArtifact:
        return StrategyArtifact(self.name, self._make, game, self.monitor, self._locks)


class AgentArtifact(Artifact):
    """An agent in memory; `make` returns it for a game and a generator. Only its moves are known."""

    def __init__(
        self,
        name: str,
        make: Callable[[AnyGame, np.random.Generator], Agent],
        game: AnyGame | None = None,
        monitor: Monitor | None = None,
    ) -> None:
        super().__init__(name, game, monitor)
        self._make = make

    def make_agent(self, generator: np.random.Generator, options: SearchOptions) -> Agent:
        return self._make(self.game, generator)

    def measures(self) -> dict[str, Callable[..., Evaluation]]:
        return {}

    def on(self, game: AnyGame) -> AgentArtifact:
        return AgentArtifact(self.name, self._make, game, self.monitor)


class NamedAgent:
    """Gives a user's agent a name and a view, which it need not have itself."""

    def __init__(self, inner: Any, name: str) -> None:
        self.inner, self.name = inner, name

    def start(self, player: int) -> None:
        self.inner.start(player)

    def observe(self, sight: Sight) -> None:
        self.inner.observe(sight)

    def act(self) -> int:
        return int(self.inner.act())

    def view(self) -> View | None:
        view: View | None = self.inner.view() if hasattr(self.inner, "view") else None
        return view


def artifact_of(made: Any, game: AnyGame | None, monitor: Monitor | None = None, name: str | None = None) -> Artifact:
    """Returns the artifact that wraps an object which plays.

    Args:
      made: a `SolveResult`, a `Strategy`, an `Agent`, a policy or bot of OpenSpiel, or a pair of bots, one for each seat.
      game: the game it plays; solves and strategies know theirs.
      monitor: receives the progress of slow work.
      name: its name in results; None takes the object's own.

    Raises:
      TacitError: it is none of these, or it belongs to another game.
    """
    if isinstance(made, SolveResult):
        called = name or f"{made.solver}, {made.iterations} iterations"
        rules = game or made.strategy.tree.game
        return StrategyArtifact(called, _only_of(made.strategy, called), rules, monitor, made.locks)
    if isinstance(made, Strategy):
        called = name or "strategy"
        return StrategyArtifact(called, _only_of(made, called), game or made.tree.game, monitor)
    called = name or str(getattr(made, "name", None) or type(made).__name__)
    if isinstance(made, SpielPolicy):
        return StrategyArtifact(called, lambda rules: spiel_strategy(made, rules), game, monitor)
    bots = (made, made) if isinstance(made, SpielBot) else made
    if isinstance(bots, tuple) and [isinstance(bot, SpielBot) for bot in bots] == [True, True]:
        return AgentArtifact(called, lambda rules, _: SpielAgent(bots, rules, called), game, monitor)
    if all(callable(getattr(made, method, None)) for method in ("start", "observe", "act")):
        return AgentArtifact(called, lambda _rules, _generator: NamedAgent(made, called), game, monitor)
    raise TacitError(
        f"{called} cannot play: it must have start(player), observe(sight) and act(), or be a policy or bot of OpenSpiel"
    )


def _only_of(strategy: Strategy, name: str) -> Callable[[AnyGame], Strategy]:
    """Returns a function that returns the strategy for its own game and refuses other games."""

    def make(game: AnyGame) -> Strategy:
        if str(game) != str(strategy.tree.game):
            raise TacitError(f"{name} is a strategy of {strategy.tree.game}, not of {game}")
        return strategy

    return make
