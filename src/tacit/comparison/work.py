"""Runs one system for a given time, and records its exploitability on the way.

The clock starts when the system is ready: the game compiled, kernels loaded, networks made. Training counts, and so do the few
dozen checks of a solver; evaluating a trained system does not. Evaluation takes no longer than training, so a system that is
costly to evaluate gets fewer marks.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tacit.artifacts.searches import solve_by_search
from tacit.artifacts.systems import find_system
from tacit.comparison.entrants import SOLVERS
from tacit.comparison.marks import Mark, Run
from tacit.errors import DivergedError, TacitError
from tacit.games import AnyGame
from tacit.solvers import solve
from tacit.solvers.result import Point
from tacit.training.settings import find_preset
from tacit.tree.subgame import usual_depth

FIRST_MARK = 1 / 64
"""The share of the time after which a system that trains is evaluated for the first time."""
MARK_GROWTH = 1.3
"""The factor by which the training time grows before the next evaluation."""
WITHOUT_END = 1_000_000_000
"""Epochs of a run that ends by the clock."""
FIRST_SEARCH = 2
"""Iterations of the shortest search."""


def run_system(
    name: str,
    game: AnyGame,
    seconds: float,
    *,
    seed: int = 0,
    preset: str = "cpu",
    settings: Mapping[str, str] | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Run:
    """Runs a system on a game for some time, in this process.

    Args:
      name: one of `SYSTEMS`, or `FILE.py:SYSTEM`.
      game: the game.
      seconds: how long the system works.
      seed: seed for everything random.
      preset: the settings of systems that train.
      settings: changes to the preset.
      clock: returns the time in seconds.

    Returns:
      The run. Its `refused` says why a system does not fit the game.
    """
    settings = settings or {}
    try:
        if name in SOLVERS or name == "continuations":
            if settings:
                raise TacitError(f"{name} has no settings: --set is for systems that train")
            return _solve(name, game, seconds, seed, clock) if name in SOLVERS else _search(game, seconds)
        return _train(name, game, seconds, seed, preset, settings, clock)
    except DivergedError as error:
        return Run(name, seed, refused=f"diverged: {error}")
    except TacitError as error:
        return Run(name, seed, refused=str(error))


def _solve(name: str, game: AnyGame, seconds: float, seed: int, clock: Callable[[], float]) -> Run:
    """Returns the run of a solver of whole games."""
    if name != "lp":
        solve(game, solver=name, iterations=2, seed=seed)  # loads the kernels
    marks: list[Mark] = []

    def note(point: Point, _result: Any) -> None:
        marks.append(Mark(point.seconds, point.exploitability, point.iteration))

    result = solve(game, solver=name, time_limit=seconds, seed=seed, on_check=note, clock=clock)
    if name == "lp":
        marks.append(Mark(result.seconds, result.exploitability, 1))
    return Run(name, seed, tuple(marks), unit="solve" if name == "lp" else "iterations")


def _search(game: AnyGame, seconds: float) -> Run:
    """Returns the run of search without training, with twice as many iterations at each mark.

    Each mark is a new search of the whole game, so its time is that of this search alone.
    """
    depth, iterations = usual_depth(game), FIRST_SEARCH

    def search(count: int) -> Mark:
        result = solve_by_search(game, depth=depth, leaf="continuations", iterations=count)
        return Mark(result.seconds, result.exploitability, count)

    search(1)  # loads the kernels
    marks = [search(iterations)]
    while 2.0 * marks[-1].seconds <= seconds:
        iterations *= 2
        marks.append(search(iterations))
    return Run("continuations", 0, tuple(marks))


def _train(
    name: str,
    game: AnyGame,
    seconds: float,
    seed: int,
    preset: str,
    settings: Mapping[str, str],
    clock: Callable[[], float],
) -> Run:
    """Returns the run of a system that trains, with its schedules fitted to the time."""
    system = find_system(name, game)
    marks: list[Mark] = []
    config = find_preset(system.presets, preset).with_settings({**settings, "seed": str(seed)})
    if "smoke" in system.presets:  # loads the kernels, and fails at once if the system reports no exploitability
        trial = system.trainer(game, system.presets["smoke"].with_settings(_shape(settings)), "cpu")
        _require_figure(name, game, trial.judged(trial.run_epoch(clock), lambda _: None))
    trainer = system.trainer(game, config, "cpu")
    trainer.config = replace(trainer.config, epochs=WITHOUT_END)
    trainer.finish_by = seconds
    kind, next_mark = "exact", seconds * FIRST_MARK
    while trainer.seconds < seconds:
        metrics = trainer.run_epoch(clock)  # adds the time of the epoch to `trainer.seconds`
        if trainer.seconds >= min(next_mark, seconds):
            began = clock()
            judged = _require_figure(name, game, trainer.judged(metrics, lambda _: None))
            kind = getattr(judged, "kind", None) or kind
            marks.append(Mark(trainer.seconds, judged.exploitability, trainer.epoch))
            next_mark = max(trainer.seconds * MARK_GROWTH, trainer.seconds + clock() - began)
    return Run(name, seed, tuple(marks), kind, "epochs")


def _shape(settings: Mapping[str, str]) -> dict[str, str]:
    """Returns the settings that determine the searches, which the trial with the smallest preset needs as well."""
    return {key: value for key, value in settings.items() if key in ("depth", "solver")}


def _require_figure(name: str, game: AnyGame, metrics: Any) -> Any:
    """Returns the metrics if they have an exploitability.

    Raises:
      TacitError: they have none.
    """
    if getattr(metrics, "exploitability", None) is None:
        raise TacitError(
            f"{name} cannot be evaluated by exploitability on {game}: train it, then use tacit evaluate or tacit match"
        )
    return metrics
