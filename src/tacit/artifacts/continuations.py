"""Continuations by name: `continuations(by=bias,count=4,...)` values leaves, and plays by searching with such leaves.

The parameters are those of `ContinuationConfig`. Its agent looks `AGENT_DEPTH` actions ahead and re-solves.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property, partial

import numpy as np

from tacit.agents.base import Agent
from tacit.agents.class_planner import ClassPlanner
from tacit.agents.options import RE_SOLVING, SAMPLED, SearchOptions
from tacit.agents.search import SearchAgent
from tacit.artifacts.base import Artifact, Evaluation, Monitor, quality_figures
from tacit.errors import TacitError
from tacit.evaluation import evaluate
from tacit.games import AnyGame
from tacit.games.own import parse_arguments
from tacit.kernels import make_passes
from tacit.leaves.continuations import ContinuationLeaves
from tacit.search.config import SearchConfig
from tacit.search.continuations import ContinuationConfig, continuation_play
from tacit.search.search import BatchSearch
from tacit.search.solve import PLAYTHROUGHS, played_strategy
from tacit.tree.base import Strategy
from tacit.tree.public_tree import Floats
from tacit.tree.search_space import SearchSpace, game_space
from tacit.tree.strategy import RowStrategy

CONTINUATIONS = "continuations"
AGENT_DEPTH = 2
SOLVER, ITERATIONS = "dcfr", 200
"""Default solver and iterations of its agents."""


class ContinuationArtifact(Artifact):
    """Leaves at which players choose among continuations, and the agent that searches with them."""

    search_options = ("solver", "iterations", "safety")

    def __init__(self, name: str, game: AnyGame | None = None, monitor: Monitor | None = None) -> None:
        super().__init__(name, game, monitor)
        parsed = re.fullmatch(r"\s*\w+\s*(?:\((.*)\))?\s*", name)
        if parsed is None:
            raise TacitError(f"cannot read {name!r}: write {CONTINUATIONS}, or {CONTINUATIONS}(by=search,count=8)")
        self.config = ContinuationConfig(**parse_arguments(ContinuationConfig, parsed[1] or "", CONTINUATIONS))

    def leaf(self, space: SearchSpace, device: str = "cpu") -> ContinuationLeaves:
        show = partial(self.monitor.step, "finding continuations", unit="searches")
        return ContinuationLeaves(space, continuation_play(space, self.config, self._blueprint(space), show), device)

    def _blueprint(self, space: SearchSpace) -> Floats | None:
        """Returns `[E]` the probabilities of the blueprint that the user named, None without one."""
        if self.config.blueprint is None:
            return None
        from tacit.artifacts import open

        strategy = open(self.config.blueprint, space.game).strategy()
        if not isinstance(strategy, RowStrategy) or strategy.tree.num_entries != space.tree.num_entries:
            raise TacitError(f"{self.config.blueprint} is not a table for {space.game}: it cannot be a blueprint")
        return strategy.probabilities

    def make_agent(self, generator: np.random.Generator, options: SearchOptions) -> Agent:
        search = self._search(options.solver, options.iterations)
        return SearchAgent(ClassPlanner(search, generator, options.safety or RE_SOLVING), generator, self.name)

    def _search(self, solver: str | None, iterations: int | None) -> BatchSearch:
        config = SearchConfig(solver or SOLVER, iterations or ITERATIONS, AGENT_DEPTH)
        return BatchSearch(self._space, self._leaves, config)

    @cached_property
    def _space(self) -> SearchSpace:
        return game_space(self.game, AGENT_DEPTH)

    @cached_property
    def _leaves(self) -> ContinuationLeaves:
        return self.leaf(self._space)

    def measures(self) -> dict[str, Callable[..., Evaluation]]:
        return {"exploitability": self.exploitability}

    def exploitability(
        self,
        *,
        solver: str | None = None,
        iterations: int | None = None,
        safety: str | None = None,
        playthroughs: int | None = None,
        seed: int = 0,
    ) -> Evaluation:
        """Returns the exploitability of its search: exact, or for sampled search an upper bound.

        Args:
          solver: the search algorithm.
          iterations: search iterations; each updates both players.
          safety: how it searches again below an earlier search, one of `SAFETY`.
          playthroughs: policies of sampled search that are averaged.
          seed: seed of the sampled iterations.
        """
        safety, sampled = safety or RE_SOLVING, safety == SAMPLED
        if playthroughs is not None and not sampled:
            raise TacitError(f"{safety} search draws nothing: leave out playthroughs, or choose --safety {SAMPLED}")
        count = (playthroughs or PLAYTHROUGHS) if sampled else None
        strategy = self._tabulated(solver, iterations, safety, count, seed)
        quality = evaluate(make_passes(strategy.tree), strategy.probabilities)
        return self.evaluation(
            "exploitability", quality.exploitability, "upper bound" if sampled else "exact", playthroughs=count,
            solver=solver or SOLVER, iterations=iterations or ITERATIONS, safety=safety, **quality_figures(self.game, quality),
        )  # fmt: skip

    def strategy(self) -> Strategy:
        """Returns its search's strategy for the whole game, by which it is evaluated."""
        return self._tabulated(None, None, RE_SOLVING, None, 0)

    def _tabulated(
        self, solver: str | None, iterations: int | None, safety: str, playthroughs: int | None, seed: int
    ) -> RowStrategy:
        tree = self._space.tree
        search, show = self._search(solver, iterations), partial(self.monitor.step, "searching the whole game", unit="searches")
        return tree.strategy(played_strategy(search, safety, seed, show, playthroughs or PLAYTHROUGHS))


def find(name: str, game: AnyGame | None, monitor: Monitor | None) -> ContinuationArtifact | None:
    """Returns the continuations that a name describes, or None if it names something else."""
    return ContinuationArtifact(name, game, monitor) if re.match(rf"\s*{CONTINUATIONS}\s*(\(|$)", name) else None
