"""A clock that never goes back, even if the machine's clock does."""

from __future__ import annotations

import math
from collections.abc import Callable


class SteadyClock:
    """The seconds of another clock, whose jumps backwards take no time. Every reading is later than the one before.

    Args:
      clock: the time in seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock, self._last = clock, clock()
        self._seconds = self._last

    def __call__(self) -> float:
        """Returns the seconds."""
        now = self._clock()
        passed = now - self._last
        self._last = now
        self._seconds = max(self._seconds + passed, math.nextafter(self._seconds, math.inf))
        return self._seconds
