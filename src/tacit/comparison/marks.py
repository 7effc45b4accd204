"""What a run leaves behind: how exploitable it was at which time."""

from __future__ import annotations

import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

GRID = 48
"""Times at which a curve over seeds is drawn."""


class Mark(NamedTuple):
    """A run at one moment.

    Attributes:
      seconds: The time that it had worked, without the time that judging took.
      exploitability: The figure.
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
      marks: Where it stood, in order of time; empty if the system does not fit the game.
      kind: `exact`, `upper bound` or `lower bound`: what its figures are.
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
        """Returns the run that JSON holds."""
        return cls(**{**facts, "marks": tuple(Mark(*mark) for mark in facts["marks"])})

    @property
    def final(self) -> Mark | None:
        """The last mark, None where there is none."""
        return self.marks[-1] if self.marks else None

    def at(self, seconds: float) -> float | None:
        """Returns the latest figure at a time, None before the first one."""
        place = bisect.bisect_right(self.marks, seconds, key=lambda mark: mark.seconds)
        return self.marks[place - 1].exploitability if place else None


def seed_band(runs: Sequence[Run]) -> list[tuple[float, list[float]]]:
    """Returns the figures of all runs of a system at common times.

    Each run counts with its latest figure at a time. A single run keeps its own times; several are compared at `GRID` times,
    equally spaced on a log scale, from when all of them have a figure to their last mark.
    """
    marked = [run for run in runs if run.marks]
    if len(marked) < 2:
        return [(mark.seconds, [mark.exploitability]) for run in marked for mark in run.marks]
    first = max(run.marks[0].seconds for run in marked)
    last = max(run.marks[-1].seconds for run in marked)
    times = np.geomspace(first, last, GRID).tolist() if 0.0 < first < last else []
    return [(seconds, [figure for run in marked if (figure := run.at(seconds)) is not None]) for seconds in [*times[:-1], last]]
