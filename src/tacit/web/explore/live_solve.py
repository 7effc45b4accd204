"""`LiveSolve`: one call of `tacit.solve` that runs in slices of time.

The solve has its own thread, which runs only within `run` and is parked otherwise. So a worker can answer other messages
between the slices, and the result of a solve does not depend on how its time was sliced.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from tacit.errors import TacitError
from tacit.games import AnyGame
from tacit.solvers import Point, SolveResult, solve

MOST_SECONDS = 900.0
"""The most time that one solve may take in all; it then ends with the result it has."""


class _ClosedError(Exception):
    """Ends the thread of a solve that has been closed."""


class LiveSolve:
    """A solve that can be paused.

    Args:
      game: The game.
      options: More arguments of `tacit.solve`: `solver`, `iterations`, `target`.
      on_point: Called with every new point of the convergence curve.
      on_compile: Called with the number of histories walked so far.

    Attributes:
      points: The convergence curve so far.
      result: The result, once the solve has ended.
    """

    def __init__(
        self,
        game: AnyGame,
        options: dict[str, Any],
        on_point: Callable[[Point], None] = lambda _: None,
        on_compile: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._game, self._options, self._on_point, self._on_compile = game, options, on_point, on_compile
        self.points: list[Point] = []
        self.result: SolveResult | None = None
        self._error: BaseException | None = None
        self._snapshot: Callable[[], SolveResult] | None = None
        self._taken: SolveResult | None = None
        self._go, self._parked = threading.Event(), threading.Event()
        self._closed = False
        self._spent, self._since, self._slice = 0.0, time.perf_counter(), 0.0
        self._is_cut: Callable[[], bool] = lambda: False
        self._thread = threading.Thread(target=self._work, daemon=True)

    @property
    def is_over(self) -> bool:
        """Whether there is nothing left to run."""
        return self.result is not None or self._error is not None

    def run(self, seconds: float, is_cut: Callable[[], bool] = lambda: False) -> None:
        """Runs the solve for some seconds, or until it ends or is cut.

        Raises:
          TacitError: the solve cannot be done.
        """
        if not self.is_over:
            self._slice, self._since, self._is_cut = seconds, time.perf_counter(), is_cut
            self._parked.clear()
            self._go.set()
            if not self._thread.is_alive():
                self._thread.start()
            self._parked.wait()
            self._taken = None
        if self._error is not None:
            raise self._error

    def reached(self) -> SolveResult | None:
        """Returns the result so far, or None before the first evaluation."""
        if self.result is None and self._taken is None and self._snapshot is not None:
            self._taken = self._snapshot()
        return self.result or self._taken

    def close(self) -> None:
        """Ends the thread."""
        self._closed = True
        self._go.set()

    def _clock(self) -> float:
        """Returns the seconds that the solve has run."""
        return self._spent + (time.perf_counter() - self._since if self._go.is_set() else 0.0)

    def _work(self) -> None:
        try:
            self._go.wait()
            self.result = solve(
                self._game, **self._options, on_compile=self._compiled, on_check=self._checked, should_stop=self._should_stop,
                clock=self._clock,
            )  # fmt: skip
        except _ClosedError:
            pass
        except TacitError as error:
            self._error = error
        except Exception as error:  # raised by a game's own rules; the worker tells the browser
            self._error = error
        self._go.clear()
        self._parked.set()

    def _compiled(self, histories: int) -> None:
        self._on_compile(histories)
        self._rest()

    def _checked(self, point: Point, snapshot: Callable[[], SolveResult]) -> None:
        self._snapshot = snapshot
        self.points.append(point)
        self._on_point(point)

    def _should_stop(self) -> bool:
        self._rest()
        return self._clock() > MOST_SECONDS

    def _rest(self) -> None:
        """Parks the thread if its slice is over."""
        ran = time.perf_counter() - self._since
        if not self._closed and (ran > self._slice or self._is_cut()):
            self._spent += ran
            self._go.clear()
            self._parked.set()
            self._go.wait()
        if self._closed:
            raise _ClosedError
