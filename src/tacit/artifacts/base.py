"""The contract of everything a user can name: its game, its agent, its strategy, and its metrics."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.agents.base import Agent
from tacit.agents.options import DEFAULT_OPTIONS, SearchOptions, option_name
from tacit.errors import TacitError
from tacit.games import AnyGame, recall_game
from tacit.html import card, facts

if TYPE_CHECKING:
    from tacit.agents.hand_policy import HandPolicy
    from tacit.evaluation import Quality, StrategyViews
    from tacit.kernels.base import LeafEvaluator
    from tacit.tree.base import Strategy
    from tacit.tree.search_space import SearchSpace

ANYWHERE = ("seed",)
"""Options of `evaluate` that every metric accepts: if nothing is random, the seed has no effect."""


@dataclass(frozen=True, repr=False)
class Evaluation:
    """One figure about an agent.

    Attributes:
      game: The game's name with its parameters.
      agent: The name under which the agent was opened.
      metric: What was measured.
      figure: The result: a number, or for `win-rates` a table of them.
      kind: `exact`, `sampled`, `upper bound` or `lower bound`.
      details: Further figures, ready for JSON.
      interval: The 95 % interval of a sampled figure.
      playthroughs: How many policies of search were averaged, None without search.
      seconds: How long the evaluation took.
    """

    game: str
    agent: str
    metric: str
    figure: Any
    kind: str
    details: dict[str, Any]
    interval: tuple[float, float] | None = None
    playthroughs: int | None = None
    seconds: float = 0.0

    def __repr__(self) -> str:
        figure = f"{self.figure:.6g}" if isinstance(self.figure, float) else str(self.figure)
        around = "" if self.interval is None else f" (95 % interval {self.interval[0]:.4g} to {self.interval[1]:.4g})"
        return f"<Evaluation of {self.agent} on {self.game}: {self.metric} {figure}{around}, {self.kind}>"

    def _repr_html_(self) -> str:
        around = None if self.interval is None else f"{self.interval[0]:.4g} to {self.interval[1]:.4g}"
        figures = {
            "game": self.game, self.metric: self.figure, "kind": self.kind, "95 % interval": around,
            "playthroughs": self.playthroughs, "seconds": self.seconds,
        }  # fmt: skip
        return card(f"{self.metric} of {self.agent}", facts(figures))

    def as_dict(self) -> dict[str, Any]:
        """Returns the result ready for JSON, with the figure under the metric's name."""
        return {
            "game": self.game, "agent": self.agent, "metric": self.metric, self.metric.replace("-", "_"): self.figure,
            "kind": self.kind, "interval": self.interval, "playthroughs": self.playthroughs, **self.details,
            "seconds": self.seconds,
        }  # fmt: skip


class Monitor:
    """Receives the progress of slow work; this base class ignores it."""

    def step(self, what: str, done: int, total: int | None = None, unit: str = "", note: str = "") -> None:
        """Receives that `done` of `total` units of the work `what` are done."""

    def say(self, line: str) -> None:
        """Receives a line that the user should read."""


class Artifact(ABC):
    """The thing that a name stands for, such as a bot, a trained network or a saved solve.

    Attributes:
      name: The name the user gave.
      given: The game it was trained on, or that the user named; None if neither is known yet.
      monitor: Receives the progress of slow work.
      search_options: The names of the `SearchOptions` that its agents use.
    """

    search_options: tuple[str, ...] = ()

    def __init__(self, name: str, game: AnyGame | None = None, monitor: Monitor | None = None) -> None:
        self.name, self.given, self.monitor = name, game, monitor or Monitor()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}{'' if self.given is None else f' on {self.given}'}>"

    @property
    def game(self) -> AnyGame:
        """The game it plays."""
        if self.given is None:
            raise TacitError(f"{self.name} plays more than one game: name one, like --game no_limit_holdem")
        return self.given

    @abstractmethod
    def make_agent(self, generator: np.random.Generator, options: SearchOptions) -> Agent:
        """Returns its agent. The caller has checked that the given options are among `search_options`."""

    @abstractmethod
    def measures(self) -> dict[str, Callable[..., Evaluation]]:
        """Returns its metrics by name, the default first. A metric's keyword arguments are its options."""

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of its metrics, the default first."""
        return tuple(self.measures())

    def agent(self, generator: np.random.Generator, options: SearchOptions = DEFAULT_OPTIONS) -> Agent:
        """Returns its agent, whose moves are drawn from the generator.

        Raises:
          TacitError: it cannot play its game, or an option has no effect on it.
        """
        refuse_unused(options, self)
        self.monitor.step(f"loading {self.name}", 0, note="compiling the game")
        return self.make_agent(generator, options)

    def policy(self) -> HandPolicy:
        """Returns its strategy for every hold'em hand; raises a `TacitError` if that is not known."""
        raise TacitError(f"the strategy of {self.name} for every hand is not known")

    def strategy(self) -> Strategy:
        """Returns its strategy as a table of probabilities; raises a `TacitError` if it has none."""
        raise TacitError(
            f"{self.name} does not play by a table: give a file of tacit solve --save, or a run that learns tables"
        )

    def views(self) -> StrategyViews:
        """Returns views of its table at the points of its game; raises a `TacitError` if it has no table."""
        from tacit.evaluation import StrategyViews

        return StrategyViews(self.strategy())

    def figures(self) -> dict[str, Any]:
        """Returns the facts known about it without measuring, ready for JSON."""
        return {"game": str(self.game), "agent": self.name}

    def openspiel_policy(self) -> Any:
        """Returns its strategy as a `pyspiel.TabularPolicy`, for OpenSpiel's own evaluators and agents.

        Raises:
          TacitError: it has no table, or OpenSpiel does not have its game.
        """
        from tacit.solvers.openspiel import openspiel_policy
        from tacit.tree.strategy import RowStrategy

        strategy = self.strategy()
        if not isinstance(strategy, RowStrategy):
            raise TacitError(f"{self.game} is too large for a table of OpenSpiel")
        return openspiel_policy(strategy)

    def leaf(self, space: SearchSpace, device: str = "cpu") -> LeafEvaluator:
        """Returns its value network as an evaluator of leaves in `space`; raises a `TacitError` if it has none."""
        raise TacitError(f"{self.name} has no value network: give a run of rebel or sog, its network or pretrained:NAME")

    def on(self, game: AnyGame) -> Artifact:
        """Returns the artifact of the same name for another game."""
        return type(self)(self.name, game, self.monitor)

    def evaluate(
        self, metric: str | None = None, *, clock: Callable[[], float] = time.perf_counter, **options: Any
    ) -> Evaluation:
        """Returns its evaluation by a metric.

        Args:
          metric: one of `metrics`; None takes the first.
          clock: returns the time in seconds.
          **options: the metric's options, like `playthroughs=256`.

        Raises:
          TacitError: it has no such metric, or the metric has no such option.
        """
        began = clock()
        if isinstance(options.get("workers"), int):
            raise TacitError("an open agent is measured in this process: tacit.evaluate(NAME, workers=N) shares the work")
        self.monitor.step(f"loading {self.name}", 0, note="compiling the game")
        known = self.measures()
        if not known:
            raise TacitError(f"{self.name} cannot be measured on {self.game}: see how it plays with `tacit match`")
        measure = known.get(metric or next(iter(known)))
        if measure is None:
            raise TacitError(f"unknown metric {metric!r} for {self.name}: choose one of {', '.join(known)}")
        taken = {name: value for name, value in options.items() if name in signature(measure).parameters}
        for name in sorted(options.keys() - taken.keys() - set(ANYWHERE)):
            raise TacitError(f"{option_name(name)} has no effect on the {metric or next(iter(known))} of {self.name}")
        return replace(measure(**taken), seconds=clock() - began)

    def evaluation(
        self, metric: str, figure: Any, kind: str, interval: Any = None, playthroughs: int | None = None, **details: Any
    ) -> Evaluation:
        """Returns an `Evaluation` of this artifact."""
        return Evaluation(str(self.game), self.name, metric, figure, kind, details, interval, playthroughs)


def quality_figures(game: AnyGame, quality: Quality) -> dict[str, Any]:
    """Returns the figures reported beside an exploitability, ready for JSON."""
    known, figure = game.known_value(), quality.exploitability
    return {
        **{f"exploitability_{unit}": part for unit, part in game.in_units(figure).items()}, "nash_conv": quality.nash_conv,
        "value": quality.value, "known_value": known and known.value, "best_response_values": quality.best_response_values,
    }  # fmt: skip


def refuse_unused(options: SearchOptions, *artifacts: Artifact) -> None:
    """Raises a `TacitError` if an option is given that none of the artifacts uses."""
    unused = [option_name(name) for name in options.given() if not any(name in part.search_options for part in artifacts)]
    if unused:
        names = " and ".join(dict.fromkeys(artifact.name for artifact in artifacts))
        raise TacitError(f"{', '.join(unused)} cannot be used with {names}: it would have no effect")


def trained_game(name: str, trained_on: str, given: AnyGame | None, source: str | None = None) -> AnyGame:
    """Returns the game that an artifact was trained on.

    Args:
      name: the artifact's name, as the user gave it.
      trained_on: the name of the game it was trained on.
      given: the game that the user named, if any.
      source: the game's `FILE.py:CLASS` if the user wrote it (`game_source`).

    Raises:
      TacitError: the user named another game, or the game cannot be found.
    """
    if given is not None and str(given) != trained_on:
        raise TacitError(f"{name} was trained on {trained_on}, not on {given}")
    try:
        return given or recall_game(trained_on, source, name)
    except TacitError as error:
        hint = "for a game of your own add --game FILE.py:CLASS"
        raise TacitError(f"{name} was trained on {trained_on}: {error}; {hint}") from None
