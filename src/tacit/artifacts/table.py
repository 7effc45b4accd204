"""Tables of probabilities for a whole game, measured exactly; saved solves are found by the name of their file."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from tacit.agents.base import Agent
from tacit.agents.hand_policy import HandAgent, HandPolicy, SolvedPolicy
from tacit.agents.options import SearchOptions
from tacit.agents.tabular import TabularAgent
from tacit.artifacts.base import Artifact, Evaluation, Monitor, quality_figures
from tacit.artifacts.holdem import hand_measures
from tacit.errors import TacitError
from tacit.evaluation import evaluate_exactly
from tacit.games import AnyGame
from tacit.kernels import make_passes
from tacit.solvers import SolveResult, load_result
from tacit.solvers.result import is_saved_solve
from tacit.tree.base import Strategy
from tacit.tree.hand_strategy import HandStrategy


class TableArtifact(Artifact):
    """Plays `strategy()`. Where that is over hands of hold'em, it has a policy as well."""

    def make_agent(self, generator: np.random.Generator, options: SearchOptions) -> Agent:
        strategy = self.strategy()
        return _AGENTS[strategy.tree.layout](strategy, generator, self.name)

    def policy(self) -> HandPolicy:
        make_policy = _POLICIES.get(self.strategy().tree.layout)
        if make_policy is None:
            raise TacitError(f"{self.name} is no solve of hold'em over hands")
        return make_policy(self.strategy())

    def measures(self) -> dict[str, Callable[..., Evaluation]]:
        over_hands = self.strategy().tree.layout in _POLICIES
        return {"exploitability": self.exploitability, **(hand_measures(self) if over_hands else {})}

    def exploitability(self) -> Evaluation:
        """Returns the exact exploitability of its strategy."""
        return exact_exploitability(self)


class SolveArtifact(TableArtifact):
    """A file of `tacit solve --save`, read when it is first needed, because that compiles its game."""

    @cached_property
    def _result(self) -> SolveResult:
        return load_result(self.name, self.given)

    def strategy(self) -> Strategy:
        return self._result.strategy

    def figures(self) -> dict[str, Any]:
        return {**super().figures(), **self._result.summary()}

    @property
    def game(self) -> AnyGame:
        game: AnyGame = self.strategy().tree.game
        return game


def exact_exploitability(artifact: Artifact) -> Evaluation:
    """Returns the exploitability of an artifact's strategy, by best responses."""
    strategy = artifact.strategy()
    game, quality = strategy.tree.game, evaluate_exactly(make_passes(strategy.tree), strategy.probabilities)
    return artifact.evaluation("exploitability", quality.exploitability, "exact", **quality_figures(game, quality))


def _hand_agent(strategy: HandStrategy, generator: np.random.Generator, name: str) -> HandAgent:
    return HandAgent(strategy.tree.game, SolvedPolicy(strategy), generator, name)


_AGENTS: dict[str, Callable[[Any, np.random.Generator, str], Agent]] = {"rows": TabularAgent, "hands": _hand_agent}
"""Who plays a strategy, by the layout of its tree."""
_POLICIES: dict[str, Callable[[Any], HandPolicy]] = {"hands": SolvedPolicy}
"""What a strategy does with every hand, for layouts of hands."""


def find(name: str, game: AnyGame | None, monitor: Monitor | None) -> SolveArtifact | None:
    """Returns the saved solve in the file of that name, if it is one."""
    return SolveArtifact(name, game, monitor) if Path(name).is_file() and is_saved_solve(name) else None
