"""The contract of what a user can name: its game, what plays it, what it plays, and how good that is."""

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
"""Options of `evaluate` that every metric takes: where nothing is random, any seed gives the same."""


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
      playthroughs: How many policies of search were averaged, None where there is no search.
      seconds: How long it took.
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
        """Returns the result ready for JSON, the figure under the metric's name."""
        return {
            "game": self.game, "agent": self.agent, "metric": self.metric, self.metric.replace("-", "_"): self.figure,
            "kind": self.kind, "interval": self.interval, "playthroughs": self.playthroughs, **self.details,
            "seconds": self.seconds,
        }  # fmt: skip


class Monitor:
    """Hears how far slow work is; this one does not listen."""

    def step(self, what: str, done: int, total: int | None = None, unit: str = "", note: str = "") -> None:
        """Hears that `done` of `total` units of some work are done."""

    def say(self, line: str) -> None:
        """Hears something that the user should read."""


class Artifact(ABC):
    """What a name stands for.

    Attributes:
      name: What the user called it.
      given: The game it was trained on or the user named; None where neither is known yet.
      monitor: Hears how far slow work is.
      search_options: The names of the `SearchOptions` that its agents use.
    """

    search_options: tuple[str, ...] = ()

    def __init__(self, name: str, game: AnyGame | None = None, monitor: Monitor | None = None) -> None:
        self.name, self.given, self.monitor = name, game, monitor or Monitor()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}{'' if self.given is None else f' on {self.given}'}>"

    @property
    def game(self) -> AnyGame:
        """What it plays."""
        if self.given is None:
            raise TacitError(f"{self.name} plays more than one game: name one, like --game no_limit_holdem")
        return self.given

    @abstractmethod
    def make_agent(self, generator: np.random.Generator, options: SearchOptions) -> Agent:
        """Returns a player; all options that are given are among `search_options`."""

    @abstractmethod
    def measures(self) -> dict[str, Callable[..., Evaluation]]:
        """Returns its metrics by name, the default first. The keyword arguments of a metric are its options."""

    @property
    def metrics(self) -> tuple[str, ...]:
        """What can be measured of it, the default first."""
        return tuple(self.measures())

    def agent(self, generator: np.random.Generator, options: SearchOptions = DEFAULT_OPTIONS) -> Agent:
        """Returns a player whose moves the generator draws.

        Raises:
          TacitError: it cannot play its game, or an option has no effect on it.
        """
        refuse_unused(options, self)
        self.monitor.step(f"loading {self.name}", 0, note="compiling the game")
        return self.make_agent(generator, options)

    def policy(self) -> HandPolicy:
        """Returns what it plays with every hand of hold'em; raises a `TacitError` where that is not known."""
        raise TacitError(f"what {self.name} does with every hand is not known")

    def strategy(self) -> Strategy:
        """Returns the table of probabilities it plays by; raises a `TacitError` where there is none."""
        raise TacitError(
            f"{self.name} does not play by a table: give a file of tacit solve --save, or a run that learns tables"
        )

    def views(self) -> StrategyViews:
        """Returns the points of its game as its table plays them; raises a `TacitError` where there is no table."""
        from tacit.evaluation import StrategyViews

        return StrategyViews(self.strategy())

    def figures(self) -> dict[str, Any]:
        """Returns what is known about it without measuring, ready for JSON."""
        return {"game": str(self.game), "agent": self.name}

    def openspiel_policy(self) -> Any:
        """Returns what it plays as a `pyspiel.TabularPolicy`, for OpenSpiel's own evaluators and agents.

        Raises:
          TacitError: it does not play by a table, or OpenSpiel does not have its game.
        """
        from tacit.solvers.openspiel import openspiel_policy
        from tacit.tree.strategy import RowStrategy

        strategy = self.strategy()
        if not isinstance(strategy, RowStrategy):
            raise TacitError(f"{self.game} is too large for a table of OpenSpiel")
        return openspiel_policy(strategy)

    def leaf(self, space: SearchSpace, device: str = "cpu") -> LeafEvaluator:
        """Returns its value network, to value leaves of searches in a game; raises a `TacitError` where there is none."""
        raise TacitError(f"{self.name} has no value network: give a run of rebel or sog, its network or pretrained:NAME")

    def on(self, game: AnyGame) -> Artifact:
        """Returns what the same name stands for in a game."""
        return type(self)(self.name, game, self.monitor)

    def evaluate(
        self, metric: str | None = None, *, clock: Callable[[], float] = time.perf_counter, **options: Any
    ) -> Evaluation:
        """Returns what a metric says of it.

        Args:
          metric: one of `metrics`; None takes the first.
          clock: the time in seconds.
          **options: the metric's, like `playthroughs=256`.

        Raises:
          TacitError: it has no such metric, or the metric no such option.
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
        """Returns a result about it."""
        return Evaluation(str(self.game), self.name, metric, figure, kind, details, interval, playthroughs)


def quality_figures(game: AnyGame, quality: Quality) -> dict[str, Any]:
    """Returns what is told beside an exploitability, ready for JSON."""
    known, figure = game.known_value(), quality.exploitability
    return {
        **{f"exploitability_{unit}": part for unit, part in game.in_units(figure).items()}, "nash_conv": quality.nash_conv,
        "value": quality.value, "known_value": known and known.value, "best_response_values": quality.best_response_values,
    }  # fmt: skip


def refuse_unused(options: SearchOptions, *artifacts: Artifact) -> None:
    """Raises a `TacitError` if an option is given that none of the artifacts uses."""
    unused = [option_name(name) for name in options.given() if not any(name in one.search_options for one in artifacts)]
    if unused:
        names = " and ".join(dict.fromkeys(one.name for one in artifacts))
        raise TacitError(f"{', '.join(unused)} cannot be used with {names}: it would have no effect")


def trained_game(name: str, trained_on: str, given: AnyGame | None, source: str | None = None) -> AnyGame:
    """Returns the game something was trained on.

    Args:
      name: what the user called it.
      trained_on: its game.
      given: the game that the user named.
      source: where the game is found, if it is in a file of one's own (`game_source`).

    Raises:
      TacitError: the user named another game, or it is not found.
    """
    if given is not None and str(given) != trained_on:
        raise TacitError(f"{name} was trained on {trained_on}, not on {given}")
    try:
        return given or recall_game(trained_on, source, name)
    except TacitError as error:
        hint = "for a game of your own add --game FILE.py:CLASS"
        raise TacitError(f"{name} was trained on {trained_on}: {error}; {hint}") from None
