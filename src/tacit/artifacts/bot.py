"""Bots by name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tacit.agents.base import Agent
from tacit.agents.bots import RandomBot, always_call, always_fold
from tacit.agents.hand_policy import HAND_POLICIES, HandAgent, HandPolicy
from tacit.agents.options import ALL_OPTIONS, SearchOptions
from tacit.artifacts.base import Artifact, Evaluation, Monitor
from tacit.artifacts.holdem import endgame_measures
from tacit.artifacts.objects import StrategyArtifact
from tacit.games import AnyGame
from tacit.games.holdem import require_holdem
from tacit.tree.base import Strategy
from tacit.tree.compiler import compile_for_solving

POT_ODDS, SEARCHING, MINIMAX = "pot-odds", "holdem-search", "minimax"
BOTS = ("random", "always-call", "always-fold", POT_ODDS, SEARCHING, MINIMAX)


class BotArtifact(Artifact):
    """A bot. In hold'em its strategy for every hand is known, and in an endgame its exploitability.

    In games that compile, the exploitability of `random` is known, too.
    """

    def __init__(self, name: str, game: AnyGame | None = None, monitor: Monitor | None = None) -> None:
        super().__init__(name, game, monitor)
        self.search_options = ALL_OPTIONS if name == SEARCHING else ()

    def make_agent(self, generator: np.random.Generator, options: SearchOptions) -> Agent:
        if self.name == "random":
            return RandomBot(generator)
        if self.name in ("always-call", "always-fold"):
            return (always_call if self.name == "always-call" else always_fold)(self.game)
        if self.name == MINIMAX:
            return self._minimax(generator)
        rules = require_holdem(self.game, self.name)
        if self.name == POT_ODDS:
            return HandAgent(rules, self.policy(), generator, self.name)
        from tacit.agents.hand_planner import HandPlanner
        from tacit.agents.hand_search import HandSearch
        from tacit.agents.search import SearchAgent

        return SearchAgent(HandPlanner(HandSearch(rules, generator=generator, **options.given())), generator, self.name)

    def _minimax(self, generator: np.random.Generator) -> Agent:
        from tacit.agents.minimax import Minimax, MinimaxAgent

        solver = Minimax(self.game)
        solver.value(self.game.initial_state())
        return MinimaxAgent(solver, generator)

    def policy(self) -> HandPolicy:
        rules = require_holdem(self.game, "a policy over hands")
        if self.name in HAND_POLICIES:
            return HAND_POLICIES[self.name]
        from tacit.agents.hand_search import HandSearch

        return HandSearch(rules)

    def strategy(self) -> Strategy:
        if self.name != "random":
            return super().strategy()
        tree = compile_for_solving(self.game)
        return tree.strategy(tree.uniform_strategy())

    def measures(self) -> dict[str, Callable[..., Evaluation]]:
        by_layout: dict[str, dict[str, Callable[..., Evaluation]]] = {
            "rows": {"exploitability": self._exploitability} if self.name == "random" else {},
            "hands": endgame_measures(self),
        }
        return by_layout["hands" if self.given is None else self.given.tree_layout]

    def _exploitability(self) -> Evaluation:
        """Returns the exact exploitability of its table."""
        return StrategyArtifact(self.name, lambda _: self.strategy(), self.given, self.monitor).exploitability()


def find(name: str, game: AnyGame | None, monitor: Monitor | None) -> BotArtifact | None:
    """Returns the bot of that name, or None."""
    return BotArtifact(name, game, monitor) if name in BOTS else None
