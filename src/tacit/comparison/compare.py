"""`tacit.compare`: every system that fits a game, with equal time on equal cores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from tacit.artifacts.base import Monitor
from tacit.comparison.entrants import DETERMINISTIC, choose_entrants
from tacit.comparison.kept import KeptRuns
from tacit.comparison.marks import Run
from tacit.comparison.plan import ComparisonPlan
from tacit.comparison.result import Comparison
from tacit.errors import TacitError
from tacit.games import AnyGame, game_source, load_game
from tacit.processes import num_cores
from tacit.scale.hands import find_workers
from tacit.scale.orders import PATIENCE

SEARCHERS = ("rebel", "sog", "deepstack")
"""Systems with a setting `depth`: by default, all of them search to the same depth."""


def compare(
    game: AnyGame | str,
    *,
    seconds: float = 60.0,
    systems: Iterable[str] = (),
    seeds: int = 1,
    seed: int = 0,
    preset: str = "cpu",
    settings: Mapping[str, Mapping[str, str]] | None = None,
    folder: str | Path | None = None,
    workers: int | None = None,
    engine: str | None = None,
    ray_address: str | None = None,
    on_run: Callable[[Run], None] = lambda _: None,
    monitor: Monitor | None = None,
) -> Comparison:
    """Returns the exploitability of each system over time, with equal time on one core each.

    A run's clock starts once its game is compiled and its kernels are loaded. Time spent on evaluation does not count.

    Args:
      game: the game, or its name.
      seconds: how long each system works.
      systems: names of systems or of their families (`tabular`, `sampling`, `learning`, `search`), or `FILE.py:SYSTEM`;
        by default all built-in systems.
      seeds: number of runs of each system in which something is random.
      seed: the seed of the first of these runs.
      preset: the settings of systems that train.
      settings: changes to the preset, by system.
      folder: where finished runs are kept; runs already kept there are not repeated. None keeps nothing.
      workers: runs at the same time, each on its own core; None takes one for each core.
      engine: where the workers run: `local` (this machine) or `ray`.
      ray_address: address of the Ray cluster.
      on_run: called with every finished run.
      monitor: receives the progress.

    Raises:
      TacitError: there is no such system, or no system fits the game.
    """
    rules = load_game(game) if isinstance(game, str) else game
    if not 0.0 < seconds < float("inf") or seeds < 1:
        raise TacitError("a comparison needs a positive time and at least one seed")
    chosen = choose_entrants(systems)
    for name in settings or {}:
        if name not in chosen:
            raise TacitError(f"settings of {name}, which does not take part: choose from {', '.join(chosen)}")
    plan = ComparisonPlan(game_source(rules) or str(rules), seconds, preset, _with_depth(rules, chosen, settings or {}))
    kept = KeptRuns(folder, plan)
    wanted = [(name, seed + number) for name in chosen for number in range(1 if name in DETERMINISTIC else seeds)]
    runs = {key: run for key in wanted if (run := kept.find(*key)) is not None}
    missing = [key for key in wanted if key not in runs]
    if runs and missing:
        (monitor or Monitor()).say(f"{len(runs)} of {len(wanted)} runs are done")
    show = partial((monitor or Monitor()).step, f"comparing on {rules}", total=len(wanted), unit="runs")
    show(len(runs), note=f"{seconds:g} s each")
    num_workers = min(workers or num_cores(), max(1, len(missing)))
    for run in _made(plan, missing, num_workers, engine, ray_address):
        runs[run.system, run.seed] = run
        kept.add(run)
        on_run(run)
        show(len(runs), note=f"{run.system} is done")
    comparison = Comparison(str(rules), seconds, preset, tuple(runs[key] for key in wanted))
    if not comparison.standings():
        raise TacitError(f"no system fits {rules}: {next(iter(comparison.refused().values()))}")
    return comparison


def _with_depth(game: AnyGame, chosen: Iterable[str], settings: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    """Returns all settings by system, with a depth added for those that search."""
    from tacit.games.boards import is_board
    from tacit.tree.subgame import usual_depth

    full = {name: dict(settings.get(name, {})) for name in chosen}
    if game.tree_layout != "hands" and not is_board(game):
        for name in set(SEARCHERS) & set(full):
            full[name].setdefault("depth", str(usual_depth(game)))
    return {name: changes for name, changes in full.items() if changes}


def _made(
    plan: ComparisonPlan, wanted: list[tuple[str, int]], workers: int, engine: str | None, ray_address: str | None
) -> Iterator[Run]:
    """Yields the wanted runs in the order in which they finish."""
    if not wanted:
        return
    orders: list[dict[str, Any]] = [{"system": name, "seed": seed} for name, seed in wanted]
    crew = find_workers(workers, engine or "local", ray_address, PATIENCE + 3.0 * plan.seconds)
    with crew.on(plan, workers) as hands:
        for _, (_, facts) in hands.answers(orders):
            yield Run.of(facts["run"])
