"""Lines of progress at growing intervals, and signs of life during long preparations."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

FIRST_PAUSE, LONGEST_PAUSE = 2.0, 60.0
"""Seconds before the first line, and the most between later ones: each pause is twice the one before."""


class Pace:
    """Says when the next line of progress is due.

    Args:
      clock: Returns the time in seconds.
      patience: The first pause in multiples of `FIRST_PAUSE`.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, patience: float = 1.0) -> None:
        self._clock, self._pause = clock, patience * FIRST_PAUSE
        self._start = self._last = clock()

    @property
    def seconds(self) -> float:
        """Seconds since the work began."""
        return self._clock() - self._start

    def due(self) -> bool:
        """Returns whether a line is due; if so, the next pause is longer."""
        now = self._clock()
        if now - self._last < self._pause:
            return False
        self._last, self._pause = now, min(2 * self._pause, LONGEST_PAUSE)
        return True


@contextmanager
def preparation_shown(title: str) -> Iterator[None]:
    """Prints what is being prepared on standard error if it takes longer than a moment, and repeats it now and then.

    A thread prints, so that even the import of a large library does not look stuck.
    """
    from tacit.training.preparing import preparations_told

    done, pace, step = threading.Event(), Pace(), [title]

    def show() -> None:
        while not done.wait(0.1):
            if pace.due():
                sys.stderr.write(f"{step[0]} ({pace.seconds:.0f} s) ...\n")

    def listen(what: str, share: float | None) -> None:
        step[0] = what if share is None else f"{what}, {share:.0%}"

    thread = threading.Thread(target=show, daemon=True)
    thread.start()
    try:
        with preparations_told(listen):
            yield
    finally:
        done.set()
        thread.join()
