"""Runs of the user's own systems: run folders and network files that name the file which defines their system."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from tacit.agents.base import Agent
from tacit.agents.class_planner import ClassPlanner
from tacit.agents.options import SAMPLED, SearchOptions
from tacit.agents.search import SearchAgent
from tacit.artifacts.base import Artifact, Evaluation, Monitor, trained_game
from tacit.artifacts.systems import own_system
from tacit.errors import TacitError
from tacit.games import AnyGame
from tacit.nets.checkpoint import load_tensors
from tacit.search.judging import judge_search, max_judge_searches
from tacit.search.playthroughs import playthrough_strategy
from tacit.search.search import BatchSearch
from tacit.training.folder import network_file, own_system_of
from tacit.training.headers import run_facts
from tacit.training.search_trainer import PLAYTHROUGHS
from tacit.training.system import Trainer
from tacit.tree.base import Strategy


class OwnRunArtifact(Artifact):
    """A run of the user's own system. If its trainer has a `search`, that search plays and is evaluated."""

    search_options = ("solver", "iterations", "safety")

    def __init__(self, name: str, game: AnyGame | None = None, monitor: Monitor | None = None) -> None:
        file = network_file(name)
        called = own_system_of(name) or ""
        system = own_system(called, file)
        if system is None:
            raise TacitError(f"{name} says that {called!r} trained it, which is not a FILE.py:SYSTEM")
        self._weights, header = load_tensors(file)
        try:
            facts = run_facts(header, system.config, name)
        except TacitError:
            raise TacitError(f"{name} does not fit {system.source}: its settings have changed") from None
        self._config, self._system = facts.config.found_near(file), system
        super().__init__(name, trained_game(name, facts.game, game, facts.source), monitor)

    @cached_property
    def _trainer(self) -> Trainer[Any, Any]:
        """The trainer with the weights of the run's latest epoch, which is all that playing needs."""
        trainer: Trainer[Any, Any] = self._system.trainer(self.game, self._config, "cpu")
        try:
            trainer.load_weights(self._weights)
        except (RuntimeError, KeyError):
            raise TacitError(f"{self.name} does not fit {self._system.source}: its network has changed") from None
        return trainer

    def _search(self, solver: str | None, iterations: int | None) -> BatchSearch:
        search = getattr(self._trainer, "search", None)
        if not isinstance(search, BatchSearch):
            raise TacitError(f"{self.name} does not play: {type(self._trainer).__name__} has no BatchSearch called search")
        given: dict[str, Any] = {"solver": solver, "iterations": iterations}
        config = replace(search.config, **{key: value for key, value in given.items() if value is not None})
        return BatchSearch(search.space, search.evaluator, config)

    def make_agent(self, generator: np.random.Generator, options: SearchOptions) -> Agent:
        search = self._search(options.solver, options.iterations)
        return SearchAgent(ClassPlanner(search, generator, options.safety or SAMPLED), generator, self.name)

    def strategy(self) -> Strategy:
        """Returns its search's strategy for the whole game, averaged over playthroughs."""
        search = self._search(None, None)
        if not search.space.compiled:
            raise TacitError(f"{self.game} is too large for a table of the strategy of {self.name}")
        return search.space.tree.strategy(playthrough_strategy(search, PLAYTHROUGHS, np.random.default_rng(0)))

    def measures(self) -> dict[str, Callable[..., Evaluation]]:
        return {"exploitability": self.exploitability}

    def exploitability(
        self, *, solver: str | None = None, iterations: int | None = None, playthroughs: int = PLAYTHROUGHS, seed: int = 0
    ) -> Evaluation:
        """Returns a bound on the exploitability of its search (see `judge_search`).

        Args:
          solver: the search algorithm; None takes that of the trainer's search.
          iterations: search iterations; None takes those of the trainer's search.
          playthroughs: policies that are averaged; more give a tighter bound.
          seed: seed for everything random.
        """
        search = self._search(solver, iterations)
        most_searches = max_judge_searches(search, playthroughs)
        bound = judge_search(
            search, playthroughs, seed, lambda done: self.monitor.step("evaluating", done, most_searches, "searches", "at most")
        )
        interval = None if bound.margin is None else (bound.exploitability - bound.margin, bound.exploitability + bound.margin)
        units = {f"exploitability_{unit}": part for unit, part in self.game.in_units(bound.exploitability).items()}
        return self.evaluation(
            "exploitability", bound.exploitability, bound.kind, interval=interval, playthroughs=bound.playthroughs,
            solver=search.config.solver, iterations=search.config.iterations, **units,
        )  # fmt: skip


def find(name: str, game: AnyGame | None, monitor: Monitor | None) -> OwnRunArtifact | None:
    """Returns the artifact of a folder or file, or None unless it names the user's own system."""
    known = os.path.exists(name) and own_system_of(name) is not None
    return OwnRunArtifact(name, game, monitor) if known else None
