"""Tables of probabilities for a whole game, evaluated exactly; saved solves are opened by their file's name."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict
from functools import cached_property
from typing import Any

import numpy as np

from tacit.agents.base import Agent
from tacit.agents.hand_policy import HandAgent, HandPolicy, SolvedPolicy
from tacit.agents.options import SearchOptions
from tacit.agents.tabular import TabularAgent
from tacit.artifacts.base import Artifact, Evaluation, Monitor, quality_figures
from tacit.artifacts.holdem import hand_measures
from tacit.errors import TacitError
from tacit.evaluation import Quality, evaluate_exactly
from tacit.games import AnyGame
from tacit.kernels import make_passes
from tacit.solvers import SolveResult, load_result
from tacit.solvers.locks import Lock, lock_tree
from tacit.solvers.result import is_saved_solve
from tacit.tree.base import Strategy, Tree
from tacit.tree.hand_strategy import HandStrategy


class TableArtifact(Artifact):
    """Plays `strategy()`. If the table is over hold'em hands, it also has a policy."""

    def locks(self) -> tuple[Lock, ...]:
        """Returns the locks under which the strategy was solved."""
        return ()

    def make_agent(self, generator: np.random.Generator, options: SearchOptions) -> Agent:
        strategy = self.strategy()
        return _AGENTS[strategy.tree.layout](strategy, generator, self.name)

    def policy(self) -> HandPolicy:
        make_policy = _POLICIES.get(self.strategy().tree.layout)
        if make_policy is None:
            raise TacitError(f"{self.name} is not a solve of hold'em over hands")
        return make_policy(self.strategy())

    def measures(self) -> dict[str, Callable[..., Evaluation]]:
        over_hands = self.strategy().tree.layout in _POLICIES
        return {"exploitability": self.exploitability, **(hand_measures(self) if over_hands else {})}

    def exploitability(self) -> Evaluation:
        """Returns the exact exploitability of its strategy; with locks, that of the free part.

        With locks, best responses obey them, as in the solve; `unlocked_exploitability` is the figure without them.
        """
        strategy, locks = self.strategy(), self.locks()
        game: AnyGame = strategy.tree.game
        quality = _quality(strategy, strategy.tree)
        if not locks:
            return self.evaluation("exploitability", quality.exploitability, "exact", **quality_figures(game, quality))
        free = _quality(strategy, lock_tree(strategy.tree, locks)[1])
        figures = {**quality_figures(game, free), "known_value": None, "unlocked_exploitability": quality.exploitability}
        fixed: dict[str, Any] = {
            "of": "the free part: best responses keep to the locks",
            "locks": [asdict(lock) for lock in locks],
        }
        return self.evaluation("exploitability", free.exploitability, "exact", **figures, **fixed)


class SolveArtifact(TableArtifact):
    """A file of `tacit solve --save`; it is read when first needed, because reading compiles its game."""

    @cached_property
    def _result(self) -> SolveResult:
        return load_result(self.name, self.given)

    def strategy(self) -> Strategy:
        return self._result.strategy

    def locks(self) -> tuple[Lock, ...]:
        return self._result.locks

    def figures(self) -> dict[str, Any]:
        return {**super().figures(), **self._result.summary()}

    @property
    def game(self) -> AnyGame:
        game: AnyGame = self.strategy().tree.game
        return game


def _quality(strategy: Strategy, tree: Tree) -> Quality:
    """Returns how good a strategy is in its tree, or in a copy of it with locks."""
    return evaluate_exactly(make_passes(tree), strategy.probabilities)


def _hand_agent(strategy: HandStrategy, generator: np.random.Generator, name: str) -> HandAgent:
    return HandAgent(strategy.tree.game, SolvedPolicy(strategy), generator, name)


_AGENTS: dict[str, Callable[[Any, np.random.Generator, str], Agent]] = {"rows": TabularAgent, "hands": _hand_agent}
"""The agent that plays a strategy, by the layout of its tree."""
_POLICIES: dict[str, Callable[[Any], HandPolicy]] = {"hands": SolvedPolicy}
"""The policy over hands of a strategy, by the layout of its tree."""


def find(name: str, game: AnyGame | None, monitor: Monitor | None) -> SolveArtifact | None:
    """Returns the artifact of a file, or None unless it is a saved solve."""
    return SolveArtifact(name, game, monitor) if os.path.isfile(name) and is_saved_solve(name) else None
