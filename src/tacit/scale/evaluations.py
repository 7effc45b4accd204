"""`tacit.evaluate`: measures the quality of anything that opens, in this process or with a crew."""

from __future__ import annotations

from typing import Any

from tacit.artifacts import Openable, open
from tacit.artifacts.base import Evaluation, Monitor
from tacit.games import AnyGame
from tacit.processes import HERE
from tacit.scale.hands import find_workers


def evaluate(
    name: Openable,
    metric: str | None = None,
    game: AnyGame | str | None = None,
    *,
    workers: int = 1,
    engine: str | None = None,
    ray_address: str | None = None,
    monitor: Monitor | None = None,
    **options: Any,
) -> Evaluation:
    """Returns the quality of something: `open(name, game).evaluate(metric, ...)`.

    Args:
      name: anything that `tacit.open` accepts.
      metric: `exploitability`, `best-response`, `network-error`, `lbr`, ...; None uses the first of its `metrics`.
      game: the game or its name, if `name` does not imply it.
      workers: processes that share the work, each on one thread, if the metric allows it; figures are the same.
      engine: where the workers run: `local`, on this machine, or `ray`.
      ray_address: the address of the cluster.
      monitor: receives progress.
      **options: options of the metric, like `playthroughs=256` or `iterations=512`.

    Raises:
      TacitError: nothing has that name, it has no such metric, or the metric has no such option.
    """
    crew = find_workers(workers, engine, ray_address)
    if crew is not HERE:
        options["workers"] = crew
    return open(name, game, monitor).evaluate(metric, **options)
