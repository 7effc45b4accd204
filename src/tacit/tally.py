"""Means with their 95 % intervals, and the verdict on who is better."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

NORMAL_95 = 1.959964
"""Half the width of a mean's 95 % interval, in standard errors, when the standard error is known."""
LEAST_SAMPLES = 30
"""With fewer samples no winner is declared: the error of their mean need not be normal."""


def errors_95(count: int) -> float:
    """Returns half the width of a mean's 95 % interval, in estimated standard errors.

    The standard error is estimated from the same numbers, so this is Student's t: 12.7 for two, 2.05 for thirty.

    Args:
      count: how many numbers the mean averages, at least two.
    """
    from scipy.special import stdtrit

    return float(stdtrit(count - 1, 0.975))


class WinRate(NamedTuple):
    """Winnings per hand, in thousandths of a big blind.

    Attributes:
      mbb: The mean.
      half: Half the width of the mean's 95 % interval.
    """

    mbb: float
    half: float


def win_rate(won: NDArray[np.float64]) -> WinRate:
    """Returns the win rate over deals; `won` is `[D]`, at least two, the big blinds per hand won in each deal."""
    error = float(won.std(ddof=1)) / math.sqrt(len(won))
    return WinRate(1_000.0 * float(won.mean()), 1_000.0 * errors_95(len(won)) * error)


@dataclass
class Tally:
    """A running mean and variance (Welford 1962)."""

    count: int = 0
    mean: float = 0.0
    _squares: float = 0.0

    def add(self, number: float) -> None:
        """Adds one number."""
        self.count += 1
        off = number - self.mean
        self.mean += off / self.count
        self._squares += off * (number - self.mean)

    @property
    def deviation(self) -> float | None:
        """The standard deviation of the numbers; None for fewer than two."""
        return math.sqrt(self._squares / (self.count - 1)) if self.count > 1 else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the mean; None for fewer than two numbers."""
        if self.deviation is None:
            return None
        half = errors_95(self.count) * self.deviation / math.sqrt(self.count)
        return self.mean - half, self.mean + half

    def verdict(self, hands_each: int) -> str:
        """Returns who wins (`A` if the mean is above 0), or how many more hands it takes to tell.

        Args:
          hands_each: how many hands were played per number.
        """
        interval = self.interval
        if interval is not None and self.count >= LEAST_SAMPLES and (interval[0] > 0 or interval[1] < 0):
            return "A wins" if interval[0] > 0 else "B wins"
        needed = LEAST_SAMPLES
        if self.mean and self.deviation:
            needed = max(needed, math.ceil((NORMAL_95 * self.deviation / self.mean) ** 2))
        more = hands_each * (needed - self.count)
        if more <= 0:  # every hand so far was a draw
            return "too few hands to tell: no difference so far"
        return f"too few hands to tell: about {_two_digits(more):,} more needed"


def _two_digits(number: int) -> int:
    """Returns a number rounded up to two digits: more would be false precision."""
    unit: int = 10 ** max(0, len(str(number)) - 2)
    return -(-number // unit) * unit
