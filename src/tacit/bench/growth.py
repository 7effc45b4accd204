"""`tacit bench growth`: how time and memory grow with each size of a solve or search, beside how they should.

On a log-log plot, a cost that follows a power of a size is a straight line. Its slope is that power: 1 for linear, 2 for
quadratic, 0 for constant, -1 if doubling the size halves the cost. It is fitted by least squares.

Time is the shortest of many calls, on one thread unless threads are what grows. Memory is the bytes of all arrays that a solve
holds between calls: tree, strategies, regrets, reaches, values; for searches, what a batch adds to the tables of the game.
Arrays that are freed again, such as those of building the tree, Python's own objects, and compiled code are not counted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from tacit.bench.growth_cases import QUESTIONS, Question
from tacit.threads import at_most, one_thread

TOLERANCE = 0.15
"""A slope this close to the expected one counts as expected."""
QUICK = 2
"""Number of sizes of each question in a quick run."""
SHAPES = {-1: "inverse", 0: "constant", 1: "linear", 2: "quadratic"}
"""Slopes in words."""


@dataclass(frozen=True)
class Trend:
    """A cost at several sizes.

    Attributes:
      sizes: The sizes.
      costs: The cost at each.
      expected: The slope that it should have.
    """

    sizes: Sequence[int]
    costs: Sequence[float]
    expected: int

    @property
    def line(self) -> tuple[float, float] | None:
        """The slope and the constant of the line through the logarithms; None if there is only one size."""
        return power_law(self.sizes, self.costs)

    @property
    def slope(self) -> float | None:
        """The fitted slope."""
        return None if self.line is None else self.line[0]

    @property
    def slopes(self) -> str:
        """The fitted slope and, in brackets, the expected one."""
        return "-" if self.slope is None else f"{round(self.slope, 2) + 0.0:.2f} ({self.expected})"  # + 0.0: no -0.00

    @property
    def words(self) -> str:
        """The growth in words: the expected shape, or how it differs."""
        shape = SHAPES[self.expected]
        if self.slope is None:
            return "one size only"
        if abs(self.slope - self.expected) <= TOLERANCE:
            return shape
        if self.expected == 0:
            return "not constant"
        return f"{'flatter' if abs(self.slope) < abs(self.expected) else 'steeper'} than {shape}"


@dataclass(frozen=True)
class CostGrowth:
    """How cost grows with one size.

    Attributes:
      name: What grows.
      counted: The unit of the sizes.
      work: What was timed.
      seconds: The seconds of a call, or of one of its iterations.
      num_bytes: The bytes of the arrays that are held.
    """

    name: str
    counted: str
    work: str
    seconds: Trend
    num_bytes: Trend

    def report(self) -> dict[str, Any]:
        """Returns all figures for `--json`."""
        trends = {
            name: {unit: trend.costs, "slope": trend.slope, "expected": trend.expected, "words": trend.words}
            for name, unit, trend in (("time", "seconds", self.seconds), ("memory", "bytes", self.num_bytes))
        }
        return {"name": self.name, "counted": self.counted, "work": self.work, "sizes": self.seconds.sizes, **trends}


def count_cases(quick: bool) -> int:
    """Returns how many times `measure` calls `watch`."""
    return sum(len(_sizes(question, quick)) for question in QUESTIONS)


def measure(window: float, quick: bool, watch: Callable[[str], None] = lambda _: None) -> list[CostGrowth]:
    """Returns how cost grows with every size.

    Args:
      window: seconds for each measurement; long calls are made at least three times.
      quick: whether to measure only the two smallest sizes.
      watch: called with the name of each measurement before it starts.
    """
    growths = []
    for question in QUESTIONS:
        sizes, seconds, num_bytes = [], [], []
        for number in _sizes(question, quick):
            watch(f"{question.name}: {number:,}")
            with one_thread(), at_most(1):
                case = question.make(number)
                holder = case.call()
                sizes.append(case.size)
                num_bytes.append(float(array_bytes(holder, case.shared)))
                seconds.append(shortest_seconds(case.call, window) / case.iterations)
        times, memory = Trend(sizes, seconds, question.time), Trend(sizes, num_bytes, question.memory)
        growths.append(CostGrowth(question.name, question.counted, question.work, times, memory))
    return growths


def _sizes(question: Question, quick: bool) -> tuple[int, ...]:
    return question.sizes()[: QUICK if quick else None]


def power_law(sizes: Sequence[float], costs: Sequence[float]) -> tuple[float, float] | None:
    """Returns slope and constant of the least-squares line through the logarithms; None for fewer than two sizes."""
    if len(set(sizes)) < 2:
        return None
    slope, constant = np.polyfit(np.log(sizes), np.log(costs), 1)
    return float(slope), float(constant)


def shortest_seconds(call: Callable[[], object], window: float, least: int = 3) -> float:
    """Returns the seconds of the shortest call, of all that fit into a window but at least `least`.

    Other work on the machine can only lengthen a call, so the shortest says most about the call itself.
    """
    best, calls, end = float("inf"), 0, time.perf_counter() + window
    while calls < least or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        best, calls = min(best, time.perf_counter() - start), calls + 1
    return best


def array_bytes(holder: object, shared: object = None) -> int:
    """Returns the bytes of all arrays and tensors that an object holds, counting each block of memory once.

    Args:
      holder: any object; containers and our own objects are searched.
      shared: an object whose arrays are not counted.
    """
    excluded = _blocks(shared)
    return sum(size for address, size in _blocks(holder).items() if address not in excluded)


def _blocks(holder: object) -> dict[int, int]:
    """Returns the bytes of every block of memory by address; a view counts as the whole block behind it."""
    blocks: dict[int, int] = {}
    seen: set[int] = set()
    waiting: list[Any] = [holder]
    while waiting:
        here = waiting.pop()
        if id(here) in seen:
            continue
        seen.add(id(here))
        if isinstance(here, np.ndarray):
            while isinstance(here.base, np.ndarray):
                here = here.base
            blocks[here.ctypes.data] = max(here.nbytes, blocks.get(here.ctypes.data, 0))
        elif isinstance(here, torch.Tensor):
            memory = here.untyped_storage()
            blocks[memory.data_ptr()] = max(memory.nbytes(), blocks.get(memory.data_ptr(), 0))
        elif isinstance(here, dict):
            waiting.extend(here.values())
        elif isinstance(here, list | tuple | set):
            waiting.extend(here)
        elif type(here).__module__.partition(".")[0] in ("tacit", "torch"):
            waiting.extend(getattr(here, "__dict__", {}).values())
            waiting.extend(getattr(here, name, None) for name in getattr(here, "__slots__", ()))
    return blocks
