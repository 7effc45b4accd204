"""Value networks that search plays with, whatever system trained them: their agents, and how exploitable their search is."""

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
"""The share of a search's updates, at its start, in which its tree grows."""
PLAYTHROUGHS = 64
"""Policies of sampled search that an evaluation averages, unless the user says otherwise."""


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
    """Networks that search plays with.

    Attributes:
      safety: How it searches again below a search, unless the user says otherwise (`options.SAFETY`).
      at_decisions: Whether it re-solves at all of its decisions, and not at leaves alone.
    """

    search_options = ("solver", "iterations", "safety", "expansions")
    safety: ClassVar[str]
    at_decisions: ClassVar[bool]

    def __init__(self, name: str, game: AnyGame | None = None, monitor: Monitor | None = None) -> None:
        self._trained = self.load(name)
        super().__init__(name, trained_game(name, self._trained.game, game, self._trained.source), monitor)

    @abstractmethod
    def load(self, name: str) -> Trained[S]:
        """Returns what was trained there."""

    @abstractmethod
    def system(self) -> System[S, Any]:
        """Returns the system that trained it."""

    @abstractmethod
    def judged_search(self) -> tuple[str, int]:
        """Returns the solver and the iterations that it is judged with, unless the user says otherwise."""

    @abstractmethod
    def play_search(self) -> tuple[str, int]:
        """Returns the solver and the iterations that it plays with, unless the user says otherwise."""

    @abstractmethod
    def learnt_classes(self) -> NDArray[np.int64]:
        """Returns the classes of public states whose values its network has learnt: where growing trees may have leaves."""

    @cached_property
    def _space(self) -> SearchSpace:
        return self._trained.space(self.game)

    @cached_property
    def _steps(self) -> SearchSpace:
        """The game as searches of one action, by which trees grow."""
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
        """Returns the search of its networks by trees that open so many public states over so many regret updates."""
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

        Sampled search is judged by the average policy of some playthroughs, so by an upper bound; unsafe search and re-solving
        draw nothing, and their figures are exact.

        Args:
          solver: the search algorithm; None takes that of `judged_search`.
          iterations: search iterations, likewise; each updates both players, so the 1,024 of ReBeL's paper are 512.
          safety: how it searches again below a search, one of `SAFETY`.
          expansions: has it search by growing trees that open so many public states each, and re-solve at all decisions.
          playthroughs: policies of sampled search that are averaged, 64 unless told; more give a tighter bound.
          last: takes the mean over so many networks that the run was last evaluated with, instead of its latest.
          device: `cpu` or `cuda`.
          workers: who searches in playthroughs; figures are the same.
          seed: of the sampled iterations, and of growing trees.
        """
        way = self._way(solver, iterations, safety, expansions, playthroughs, device, seed)
        if workers is not HERE and way.safety == RE_SOLVING:
            raise TacitError(f"workers share playthroughs, and {RE_SOLVING} has none: leave out --workers")
        networks = [self._trained] if last is None else self._last_networks(last)
        tree, quality = self._space.tree, []
        for number, trained in enumerate(networks, 1):
            strategy = self._tabulated(trained, way, f"evaluating network {number} of {len(networks)}", workers)
            quality.append(evaluate(make_passes(tree), strategy))
        safety, sampled, playthroughs = way.safety, way.safety == SAMPLED, way.playthroughs
        known, bounds = self.game.known_value(), [one.exploitability for one in quality]
        units = {f"exploitability_{unit}": part for unit, part in self.game.in_units(float(np.mean(bounds))).items()}
        return self.evaluation(
            "exploitability", float(np.mean(bounds)), "upper bound" if sampled else "exact", playthroughs=playthroughs,
            solver=way.solver, iterations=way.iterations, expansions=expansions, safety=safety, **units,
            value=float(np.mean([one.value for one in quality])), known_value=known and known.value,
            checkpoints=[{"epoch": one.epoch, "exploitability": bound} for one, bound in zip(networks, bounds, strict=True)],
        )  # fmt: skip

    def strategy(self) -> Strategy:
        """Returns the table that it is judged by: what its search plays everywhere, for sampled search on average."""
        self._require_compiled()
        way = self._way(None, None, None, None, None, "cpu", 0)
        return self._space.tree.strategy(self._tabulated(self._trained, way, "writing down the strategy"))

    def _require_compiled(self) -> None:
        if not self._space.compiled:
            raise TacitError(f"{self.game} is too large for a table of what {self.name} plays")

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
        """Returns how the whole game is searched, by what the user says (see `exploitability`).

        Raises:
          TacitError: that does not fit together.
        """
        safety = self._safety(SearchOptions(safety=safety, expansions=expansions))
        if playthroughs is not None and safety != SAMPLED:
            raise TacitError(f"{safety} search draws nothing: leave out playthroughs, or choose --safety {SAMPLED}")
        if expansions is not None and device != "cpu":
            raise TacitError("growing trees where something is hidden are searched on a cpu: leave out --device")
        count = (playthroughs or PLAYTHROUGHS) if safety == SAMPLED else None
        usual = self.judged_search()
        return _Way(solver or usual[0], iterations or usual[1], safety, expansions, count, device, seed)

    def search_of(self, trained: Trained[S], solver: str, iterations: int, device: str = "cpu") -> BatchSearch:
        """Returns the search of one of its networks."""
        return trained.search(self._space, solver, iterations, device)

    def _tabulated(self, trained: Trained[S], way: _Way, what: str, workers: Workers = HERE) -> Floats:
        """Returns `[E]` what networks play by search in the whole game; the monitor hears `what` is going on."""
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
        """Returns what an approximate best response wins from sampled search: a lower bound, for large games as well.

        Args:
          solver: the search algorithm; None takes that of `judged_search`.
          iterations: search iterations, likewise; each updates both players.
          playthroughs: games in each seat; four times as many halve the interval.
          device: `cpu` or `cuda`.
          seed: of everything random.
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
        """Returns the networks of the last evaluations of a run, oldest first."""
        kept = list(RunFolder(self.name, self.system()).kept_networks().values())
        if len(kept) < count:
            raise TacitError(f"{self.name} keeps the networks of {len(kept)} evaluations, not of {count}")
        return [self.load(str(file)) for file in kept[-count:]]
