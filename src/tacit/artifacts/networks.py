"""Value networks that are used by search, whichever system trained them: their agents, and their search's exploitability."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, ClassVar, Generic, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.agents.base import Agent
from tacit.agents.class_planner import ClassPlanner
from tacit.agents.growing_planner import GrowingPlanner
from tacit.agents.options import RE_SOLVING, SAMPLED, SearchOptions
from tacit.agents.search import Planner, SearchAgent
from tacit.artifacts.base import Artifact, Evaluation, Monitor, trained_game
from tacit.errors import TacitError
from tacit.evaluation import evaluate
from tacit.games import AnyGame, game_source
from tacit.kernels import make_passes
from tacit.kernels.base import LeafEvaluator
from tacit.learning.trained import S, Trained
from tacit.nets.forward import forward_pass
from tacit.processes import HERE, Workers
from tacit.search.best_response import best_response_bound, max_bound_searches
from tacit.search.growing.judge import growing_strategy
from tacit.search.growing.search import GrowingConfig, GrowingSearch
from tacit.search.playthroughs import max_searches, playthrough_strategy
from tacit.search.resolving import resolving_strategy
from tacit.search.search import BatchSearch
from tacit.training.folder import RunFolder
from tacit.training.system import System
from tacit.tree.base import Strategy
from tacit.tree.public_tree import Floats
from tacit.tree.search_space import SearchSpace

GROWING_SHARE = 0.1
"""The share of a search's updates, at its start, during which its tree grows."""
PLAYTHROUGHS = 64
"""Default number of policies of sampled search that an evaluation averages."""


class _Way(NamedTuple):
    """How a whole game is searched (see `NetworkArtifact.exploitability`)."""

    solver: str
    iterations: int
    safety: str
    expansions: int | None
    playthroughs: int | None
    device: str
    seed: int


class NetworkArtifact(Artifact, Generic[S]):
    """Networks that are used by search.

    Attributes:
      safety: How it searches again below an earlier search by default (one of `options.SAFETY`).
      at_decisions: Whether it re-solves at all of its decisions, and not only at leaves.
    """

    search_options = ("solver", "iterations", "safety", "expansions")
    safety: ClassVar[str]
    at_decisions: ClassVar[bool]

    def __init__(self, name: str, game: AnyGame | None = None, monitor: Monitor | None = None) -> None:
        self._trained = self.load(name)
        super().__init__(name, trained_game(name, self._trained.game, game, self._trained.source), monitor)

    @abstractmethod
    def load(self, name: str) -> Trained[S]:
        """Returns the trained networks of a run folder or a network file."""

    @abstractmethod
    def system(self) -> System[S, Any]:
        """Returns the system that trained it."""

    @abstractmethod
    def judged_search(self) -> tuple[str, int]:
        """Returns the default solver and iterations for evaluations."""

    @abstractmethod
    def play_search(self) -> tuple[str, int]:
        """Returns the default solver and iterations for play."""

    @abstractmethod
    def learnt_classes(self) -> NDArray[np.int64]:
        """Returns the classes of public states whose values its network has learnt, at which growing trees may have leaves."""

    @cached_property
    def _space(self) -> SearchSpace:
        return self._trained.space(self.game)

    @cached_property
    def _steps(self) -> SearchSpace:
        """The search space with searches of one action, by which trees grow."""
        return self._space.at_depth(1)

    def make_agent(self, generator: np.random.Generator, options: SearchOptions) -> Agent:
        solver, iterations = self.play_search()
        solver, iterations, safety = options.solver or solver, options.iterations or iterations, self._safety(options)
        planner: Planner
        if options.expansions is None:
            planner = ClassPlanner(self._trained.search(self._space, solver, iterations), generator, safety, self.at_decisions)
        else:
            search = self.growing_search(self._trained, solver, iterations, options.expansions)
            planner = GrowingPlanner(self._steps, search, int(generator.integers(2**32)))
        return SearchAgent(planner, generator, self.name)

    def growing_search(self, trained: Trained[S], solver: str, iterations: int, expansions: int) -> GrowingSearch:
        """Returns the search with growing trees, which open `expansions` public states over `iterations` regret updates."""
        config = replace(trained.config, solver=solver, iterations=iterations).search_in(self.game)
        growing = max(1, round(GROWING_SHARE * iterations))
        growth = GrowingConfig(
            expansions, expansions / growing, solver, config.alternating, config.decomposition, config.warm_up,
            settling=iterations - growing,
        )  # fmt: skip
        known = np.zeros(self._space.num_classes, bool)
        known[self.learnt_classes()] = True
        return trained.growing_search(self._space, self._steps.source, growth, known)

    def _safety(self, options: SearchOptions) -> str:
        if options.expansions is not None and options.safety not in (None, RE_SOLVING):
            raise TacitError(f"growing trees are searched again by re-solving: leave out --safety {options.safety}")
        return RE_SOLVING if options.expansions is not None else options.safety or self.safety

    def leaf(self, space: SearchSpace, device: str = "cpu") -> LeafEvaluator:
        return forward_pass(self._trained.value_net(space, device))

    def measures(self) -> dict[str, Callable[..., Evaluation]]:
        if not self._space.compiled:
            return {"best-response": self.best_response}
        return {"exploitability": self.exploitability, "best-response": self.best_response}

    def exploitability(
        self,
        *,
        solver: str | None = None,
        iterations: int | None = None,
        safety: str | None = None,
        expansions: int | None = None,
        playthroughs: int | None = None,
        last: int | None = None,
        device: str = "cpu",
        workers: Workers = HERE,
        seed: int = 0,
    ) -> Evaluation:
        """Returns the exploitability of search.

        For sampled search it is that of the average policy of several playthroughs, an upper bound. Unsafe search and
        re-solving draw nothing, so their figures are exact.

        Args:
          solver: the search algorithm; None takes that of `judged_search`.
          iterations: search iterations; None takes those of `judged_search`. Each updates both players, so the 1,024 of
            ReBeL's paper are 512.
          safety: how it searches again below an earlier search, one of `SAFETY`.
          expansions: if given, search by growing trees that each open this many public states, and re-solve at all decisions.
          playthroughs: policies of sampled search that are averaged, by default 64; more give a tighter bound.
          last: average over this many of the run's last evaluated networks, instead of using its latest.
          device: `cpu` or `cuda`.
          workers: the processes that search in playthroughs; figures do not depend on them.
          seed: seed of the sampled iterations, and of growing trees.
        """
        way = self._way(solver, iterations, safety, expansions, playthroughs, device, seed)
        if workers is not HERE and way.safety == RE_SOLVING:
            raise TacitError(f"workers share playthroughs, and {RE_SOLVING} has none: leave out --workers")
        networks = [self._trained] if last is None else self._last_networks(last)
        tree, qualities = self._space.tree, []
        for number, trained in enumerate(networks, 1):
            strategy = self._tabulated(trained, way, f"evaluating network {number} of {len(networks)}", workers)
            qualities.append(evaluate(make_passes(tree), strategy))
        safety, sampled, playthroughs = way.safety, way.safety == SAMPLED, way.playthroughs
        known, bounds = self.game.known_value(), [quality.exploitability for quality in qualities]
        units = {f"exploitability_{unit}": part for unit, part in self.game.in_units(float(np.mean(bounds))).items()}
        return self.evaluation(
            "exploitability", float(np.mean(bounds)), "upper bound" if sampled else "exact", playthroughs=playthroughs,
            solver=way.solver, iterations=way.iterations, expansions=expansions, safety=safety, **units,
            value=float(np.mean([quality.value for quality in qualities])), known_value=known and known.value,
            checkpoints=[{"epoch": net.epoch, "exploitability": bound} for net, bound in zip(networks, bounds, strict=True)],
        )  # fmt: skip

    def strategy(self) -> Strategy:
        """Returns its search's strategy for the whole game, by which it is evaluated; for sampled search the average."""
        self._require_compiled()
        way = self._way(None, None, None, None, None, "cpu", 0)
        return self._space.tree.strategy(self._tabulated(self._trained, way, "writing down the strategy"))

    def _require_compiled(self) -> None:
        if not self._space.compiled:
            raise TacitError(f"{self.game} is too large for a table of the strategy of {self.name}")

    def _way(
        self,
        solver: str | None,
        iterations: int | None,
        safety: str | None,
        expansions: int | None,
        playthroughs: int | None,
        device: str,
        seed: int,
    ) -> _Way:
        """Returns how the whole game is searched, by the user's options (see `exploitability`).

        Raises:
          TacitError: the options do not fit together.
        """
        safety = self._safety(SearchOptions(safety=safety, expansions=expansions))
        if playthroughs is not None and safety != SAMPLED:
            raise TacitError(f"{safety} search draws nothing: leave out playthroughs, or choose --safety {SAMPLED}")
        if expansions is not None and device != "cpu":
            raise TacitError("in games with hidden information, growing trees run on the cpu: leave out --device")
        count = (playthroughs or PLAYTHROUGHS) if safety == SAMPLED else None
        defaults = self.judged_search()
        return _Way(solver or defaults[0], iterations or defaults[1], safety, expansions, count, device, seed)

    def search_of(self, trained: Trained[S], solver: str, iterations: int, device: str = "cpu") -> BatchSearch:
        """Returns the search that uses one of its networks."""
        return trained.search(self._space, solver, iterations, device)

    def _tabulated(self, trained: Trained[S], way: _Way, what: str, workers: Workers = HERE) -> Floats:
        """Returns `[E]` the strategy of search with a network in the whole game; `what` names the work to the monitor."""
        solver, iterations, space = way.solver, way.iterations, self._space
        most = space.tree.num_nodes if way.safety == RE_SOLVING else max_searches(space) * (way.playthroughs or 1)
        show = partial(self._show_searches, what, most)
        if way.expansions is not None:
            return growing_strategy(self.growing_search(trained, solver, iterations, way.expansions), way.seed, show)
        search = self.search_of(trained, solver, iterations, way.device)
        if way.safety == RE_SOLVING:
            return resolving_strategy(search, show, self.at_decisions)
        generator, safe, count = np.random.default_rng(way.seed), way.safety == SAMPLED, way.playthroughs or 1
        if workers is HERE:
            return playthrough_strategy(search, count, generator, show, safe)
        from tacit.artifacts.plans import PlaythroughPlan

        game = game_source(self.game) or str(self.game)
        plan = PlaythroughPlan(self.name, game, trained.name, trained.epoch, solver, iterations, way.device, safe)
        with workers.on(plan, workers.size) as hands:
            return playthrough_strategy(search, count, generator, show, safe, hands)

    def best_response(
        self,
        *,
        solver: str | None = None,
        iterations: int | None = None,
        playthroughs: int = 64,
        device: str = "cpu",
        seed: int = 0,
    ) -> Evaluation:
        """Returns what an approximate best response wins from sampled search: a lower bound, also in large games.

        Args:
          solver: the search algorithm; None takes that of `judged_search`.
          iterations: search iterations, each of which updates both players; None takes those of `judged_search`.
          playthroughs: games in each seat; four times as many halve the interval.
          device: `cpu` or `cuda`.
          seed: seed for everything random.
        """
        solver, iterations = solver or self.judged_search()[0], iterations or self.judged_search()[1]
        search = self._trained.search(self._space, solver, iterations, device)
        show = partial(self._show_searches, "responding", max_bound_searches(self._space, playthroughs))
        bound = best_response_bound(search, playthroughs, np.random.default_rng(seed), show)
        return self.evaluation(
            "best-response", bound.exploitability, bound.kind, interval=bound.interval, playthroughs=playthroughs,
            solver=solver, iterations=iterations, payoff_as_player_0=bound.payoffs[0],
            payoff_as_player_1=bound.payoffs[1], games=bound.games, epoch=self._trained.epoch,
        )  # fmt: skip

    def _show_searches(self, what: str, most: int, done: int) -> None:
        self.monitor.step(what, done, most, "searches", "at most: games that end early need fewer")

    def _last_networks(self, count: int) -> list[Trained[S]]:
        """Returns the networks of the run's last `count` evaluations, oldest first."""
        kept = list(RunFolder(self.name, self.system()).kept_networks().values())
        if len(kept) < count:
            raise TacitError(f"{self.name} keeps the networks of {len(kept)} evaluations, not of {count}")
        return [self.load(str(file)) for file in kept[-count:]]
