"""The record of a run: its exploitability at several times."""

from __future__ import annotations

import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

GRID = 48
"""Number of times at which a curve over seeds is drawn."""


class Mark(NamedTuple):
    """The state of a run at one moment.

    Attributes:
      seconds: The time it had worked, without the time spent on evaluation.
      exploitability: Its exploitability, or a bound on it (`Run.kind`).
      work: Iterations or epochs done by then.
    """

    seconds: float
    exploitability: float
    work: int


@dataclass(frozen=True)
class Run:
    """One system with one seed.

    Attributes:
      system: The system's name.
      seed: The seed.
      marks: Its marks in order of time; empty if the system does not fit the game.
      kind: The kind of its figures: `exact`, `upper bound` or `lower bound`.
      unit: What `Mark.work` counts.
      refused: Why the system does not fit the game; None if it does.
    """

    system: str
    seed: int
    marks: tuple[Mark, ...] = ()
    kind: str = "exact"
    unit: str = "iterations"
    refused: str | None = None

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Run:
        """Returns the run that was stored as JSON."""
        return cls(**{**facts, "marks": tuple(Mark(*mark) for mark in facts["marks"])})

    @property
    def final(self) -> Mark | None:
        """The last mark, or None."""
        return self.marks[-1] if self.marks else None

    def at(self, seconds: float) -> float | None:
        """Returns the latest figure at a time, None before the first mark."""
        place = bisect.bisect_right(self.marks, seconds, key=lambda mark: mark.seconds)
        return self.marks[place - 1].exploitability if place else None


def seed_band(runs: Sequence[Run]) -> list[tuple[float, list[float]]]:
    """Returns the figures of all runs of a system at common times.

    At each time, every run counts with its latest figure. A single run keeps its own times. Several runs are compared at `GRID`
    times, equally spaced on a log scale, from the first time at which all have a figure to the last mark of any.
    """
    marked = [run for run in runs if run.marks]
    if len(marked) < 2:
        return [(mark.seconds, [mark.exploitability]) for run in marked for mark in run.marks]
    first = max(run.marks[0].seconds for run in marked)
    last = max(run.marks[-1].seconds for run in marked)
    times = np.geomspace(first, last, GRID).tolist() if 0.0 < first < last else []
    return [(seconds, [figure for run in marked if (figure := run.at(seconds)) is not None]) for seconds in [*times[:-1], last]]
