"""How long the searches of a decision may take, and how large they may be for that."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from tacit.solvers.driver import Driver
from tacit.tree.subgame import ROUND, TWO_ROUNDS, Depth

MAX_ENTRIES: dict[Depth, int] = {None: 5_000_000, TWO_ROUNDS: 3_000_000, ROUND: 400_000}
"""Numbers of a strategy that are searched where only iterations are counted, by depth; with more, the menu is cut down."""
FIRST_RATES: dict[str, dict[Depth, float]] = {
    "cpu": {None: 1e8, TWO_ROUNDS: 3e6, ROUND: 6e6},
    "cuda": {None: 1e8, ROUND: 6e7},
}
"""Numbers of a strategy updated in a second, by device and depth, until it is measured: those of one core, and a guess."""
WANTED_ITERATIONS = 100
"""A menu is as large as allows so many iterations in time."""
ON_THE_WAY = 0.75
"""The share of the time left that a search takes after which another one may have to follow for the same decision."""
KEPT_BACK = 0.05
"""The share of a decision's time that is left for what follows the last iteration."""
LEAST_ITERATIONS = 24
"""Of every search, late or not: an average of fewer is close to uniform play, which bets whole stacks."""
CHECKS = 8
"""How often the clock is looked at in what is left of a search, at least."""


class Watcher(NamedTuple):
    """Somebody who waits for searches that are limited by time.

    Attributes:
      is_cut: Returns whether the search should end now with what it has.
      progress: Hears which share of the decision's time is over, 0 to 1.
    """

    is_cut: Callable[[], bool] = lambda: False
    progress: Callable[[float], None] = lambda _: None


_watcher = ContextVar("watcher", default=Watcher())  # noqa: B039, it cannot be changed


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Has searches by time within a `with` block report how far they are, and end early when they are told to."""
    before = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(before)


class TimeBudget:
    """Time for the searches of one decision after the other.

    Without a limit searches are as long as their iterations say, and the same every time.

    Args:
      seconds: for each decision; None for no limit.
      clock: the time in seconds.
      device: where searches run.
    """

    def __init__(self, seconds: float | None, clock: Callable[[], float] = time.perf_counter, device: str = "cpu") -> None:
        self._seconds, self._clock = seconds, clock
        self._rates = dict(FIRST_RATES[device.partition(":")[0]])
        self._began = self._deadline = 0.0

    def start_decision(self) -> None:
        """Counts from now on."""
        self._began = self._clock()
        self._deadline = self._began + (1.0 - KEPT_BACK) * (self._seconds or 0.0)

    def max_entries(self, depth: Depth, iterations: int) -> int:
        """Returns how many numbers a strategy may have, of a search of so many iterations at most."""
        if self._seconds is None:
            return MAX_ENTRIES[depth]
        return int(self._rates[depth] * self._seconds * ON_THE_WAY / min(iterations, WANTED_ITERATIONS))

    def num_iterations(self, num_entries: int, depth: Depth, iterations: int) -> int:
        """Returns how many iterations of a search there will probably be time for, at most those that are wanted."""
        if self._seconds is None:
            return iterations
        left = max(0.0, self._deadline - self._clock())
        return min(iterations, max(LEAST_ITERATIONS, int(self._rates[depth] * left / num_entries)))

    def run(self, driver: Driver, iterations: int, num_entries: int, depth: Depth, is_last: bool) -> None:
        """Runs iterations until they are done, time is up or a watcher cuts it short; at least `LEAST_ITERATIONS`, if as many.

        Args:
          driver: the search.
          iterations: at most.
          num_entries: numbers of its strategy, for the measured rate.
          depth: how far it goes.
          is_last: whether no other search of the decision follows.
        """
        if self._seconds is None:
            driver.run(iterations)
            return
        began = self._clock()
        deadline = self._deadline if is_last else began + ON_THE_WAY * (self._deadline - began)
        driver.clock.reserve(iterations)  # a captured iteration stays valid
        done, step, each, watcher = 0, 1, 0.0, _watcher.get()
        while done < iterations and (done < LEAST_ITERATIONS or (self._clock() + each <= deadline and not watcher.is_cut())):
            before = self._clock()
            driver.run(step)
            _finish(driver.passes)
            each = (self._clock() - before) / step
            done += step
            watcher.progress(min(1.0, (self._clock() - self._began) / max(self._deadline - self._began, 1e-9)))
            step = max(1, min(iterations - done, int((deadline - self._clock()) / max(each, 1e-9) / CHECKS)))
        if done > 1:  # the first iterations may compile and capture: the latest ones tell
            self._rates[depth] = 0.5 * (self._rates[depth] + num_entries / max(each, 1e-9))


def _finish(passes: Any) -> None:
    """Waits until a device has done what it was told."""
    if passes.device != "cpu":
        import torch

        torch.cuda.synchronize()
