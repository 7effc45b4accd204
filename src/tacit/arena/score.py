"""The score of a match: mean winnings with a 95 % interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

NORMAL_95 = 1.96
"""Standard errors on either side of a mean that make a 95 % interval."""


@dataclass
class Score:
    """One player's winnings, hand by hand.

    Attributes:
      big_blind: the unit of `mbb_per_hand`.
      hands: how many were counted.
      total: chips won.
    """

    big_blind: int
    hands: int = 0
    total: float = 0.0
    _squares: float = 0.0

    def add(self, winnings: float) -> None:
        """Counts a hand."""
        self.hands += 1
        self.total += winnings
        self._squares += winnings * winnings

    @property
    def mbb_per_hand(self) -> float | None:
        """Thousandths of a big blind won a hand; None before the first."""
        return self._mbb(self.total / self.hands) if self.hands else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """A 95 % interval around it, by the normal approximation; None with fewer than two hands."""
        if self.hands < 2:
            return None
        mean = self.total / self.hands
        variance = max(self._squares - self.hands * mean * mean, 0.0) / (self.hands - 1)
        spread = NORMAL_95 * math.sqrt(variance / self.hands)
        return self._mbb(mean - spread), self._mbb(mean + spread)

    @property
    def brief(self) -> str:
        """The score in a few words, for a line that is redrawn."""
        return "" if self.mbb_per_hand is None else f"{self.mbb_per_hand:+,.0f} mbb/hand"

    def __str__(self) -> str:
        if self.mbb_per_hand is None:
            return "no hands"
        around = "" if self.interval is None else f" (95 % interval {self.interval[0]:+,.0f} to {self.interval[1]:+,.0f})"
        hands = f"{self.hands:,} hand{'' if self.hands == 1 else 's'}"
        return f"{self.total:+,.0f} chips in {hands}: {self.mbb_per_hand:+,.0f} mbb/hand{around}"

    def _mbb(self, chips: float) -> float:
        return 1_000.0 * chips / self.big_blind
