"""`tacit.evaluate`: how good something is, in this process or by a crew."""

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
    """Returns how good something is: `open(name, game).evaluate(metric, ...)`.

    Args:
      name: whatever `tacit.open` knows.
      metric: `exploitability`, `best-response`, `network-error`, `lbr`, ...; None takes the first of its `metrics`.
      game: the game, or its name, where the name alone does not tell it.
      workers: processes that work on it, each on one thread, for metrics that can be shared; figures are the same.
      engine: where they are: `local`, on this machine, or `ray`.
      ray_address: of the cluster.
      monitor: hears how far it is.
      **options: the metric's, like `playthroughs=256` or `iterations=512`.

    Raises:
      TacitError: nothing has that name, it has no such metric, or the metric no such option.
    """
    found = find_workers(workers, engine, ray_address)
    if found is not HERE:
        options["workers"] = found
    return open(name, game, monitor).evaluate(metric, **options)
