"""Time limits for the searches of a decision, and the size of search that fits into them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from tacit.solvers.driver import Driver
from tacit.tree.subgame import ROUND, TWO_ROUNDS, Depth

MAX_ENTRIES: dict[Depth, int] = {None: 5_000_000, TWO_ROUNDS: 3_000_000, ROUND: 400_000}
"""The largest strategy to search without a time limit, in entries, by depth; the bet menu is cut down until it fits."""
FIRST_RATES: dict[str, dict[Depth, float]] = {
    "cpu": {None: 1e8, TWO_ROUNDS: 3e6, ROUND: 6e6},
    "cuda": {None: 1e8, ROUND: 6e7},
}
"""Initial estimates of strategy entries updated per second, by device and depth, replaced by measurements.

The CPU's are of one core, the GPU's a guess."""
WANTED_ITERATIONS = 100
"""The bet menu is the largest that leaves time for this many iterations."""
ON_THE_WAY = 0.75
"""The share of the remaining time that a search may take if the same decision may need another search after it."""
KEPT_BACK = 0.05
"""The share of a decision's time that is reserved for the work after the last iteration."""
LEAST_ITERATIONS = 24
"""The minimum for every search, even a late one: the average of fewer is close to uniform play, which bets whole stacks."""
CHECKS = 8
"""The minimum number of times that the rest of a search looks at the clock."""


class Watcher(NamedTuple):
    """Callbacks of a caller that waits for searches with a time limit.

    Attributes:
      is_cut: Returns whether the search should stop now and return what it has.
      progress: Called with the share of the decision's time that has passed, 0 to 1.
    """

    is_cut: Callable[[], bool] = lambda: False
    progress: Callable[[float], None] = lambda _: None


_watcher = ContextVar("watcher", default=Watcher())  # noqa: B039, a Watcher is immutable


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Within the `with` block, searches with a time limit report to `watcher`, which may also stop them early."""
    before = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(before)


class TimeBudget:
    """The time limit of each decision, shared by all its searches.

    Without a limit every search runs all its iterations, so results can be repeated exactly.

    Args:
      seconds: the limit of each decision; None for no limit.
      clock: returns the time in seconds.
      device: where searches run.
    """

    def __init__(self, seconds: float | None, clock: Callable[[], float] = time.perf_counter, device: str = "cpu") -> None:
        self._seconds, self._clock = seconds, clock
        self._rates = dict(FIRST_RATES[device.partition(":")[0]])
        self._began = self._deadline = 0.0

    def start_decision(self) -> None:
        """Starts the clock of a new decision."""
        self._began = self._clock()
        self._deadline = self._began + (1.0 - KEPT_BACK) * (self._seconds or 0.0)

    def max_entries(self, depth: Depth, iterations: int) -> int:
        """Returns the largest number of strategy entries for a search of at most this many iterations."""
        if self._seconds is None:
            return MAX_ENTRIES[depth]
        return int(self._rates[depth] * self._seconds * ON_THE_WAY / min(iterations, WANTED_ITERATIONS))

    def num_iterations(self, num_entries: int, depth: Depth, iterations: int) -> int:
        """Returns how many iterations will probably fit into the remaining time, at most `iterations`."""
        if self._seconds is None:
            return iterations
        left = max(0.0, self._deadline - self._clock())
        return min(iterations, max(LEAST_ITERATIONS, int(self._rates[depth] * left / num_entries)))

    def run(self, driver: Driver, iterations: int, num_entries: int, depth: Depth, is_last: bool) -> None:
        """Runs a search until its iterations are done, time is up or a watcher stops it.

        Args:
          driver: the search.
          iterations: how many to run at most; at least `LEAST_ITERATIONS` of them always run.
          num_entries: the entries of its strategy, for the measured rate.
          depth: how far it looks ahead.
          is_last: whether this is the decision's last search.
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
        if done > 1:  # the first iterations may include compilation and graph capture, so only the latest are measured
            self._rates[depth] = 0.5 * (self._rates[depth] + num_entries / max(each, 1e-9))


def _finish(passes: Any) -> None:
    """Waits until the device has finished its queued work."""
    if passes.device != "cpu":
        import torch

        torch.cuda.synchronize()
