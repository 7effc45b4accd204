"""Timing on noisy machines: the best of several windows."""

from __future__ import annotations

import time
from collections.abc import Callable


def best_seconds(work: Callable[[], object], window: float, repeats: int = 3) -> float:
    """Returns the seconds of one call of `work`: the best of `repeats` windows of about `window` seconds each."""
    work()  # compiles and warms the caches
    best = float("inf")
    for _ in range(repeats):
        calls, start = 0, time.perf_counter()
        while True:
            work()
            calls += 1
            elapsed = time.perf_counter() - start
            if elapsed >= window:
                break
        best = min(best, elapsed / calls)
    return best
