"""The score of a match in big blinds: mean winnings with a 95 % interval."""

from __future__ import annotations

from dataclasses import dataclass, field

from tacit.tally import Tally


@dataclass
class Score:
    """One player's winnings, hand by hand.

    Attributes:
      big_blind: the unit of `mbb_per_hand`.
      total: chips won.
    """

    big_blind: int
    total: float = 0.0
    _tally: Tally = field(default_factory=Tally)

    def add(self, winnings: float) -> None:
        """Counts a hand."""
        self.total += winnings
        self._tally.add(winnings)

    @property
    def hands(self) -> int:
        """How many were counted."""
        return self._tally.count

    @property
    def mbb_per_hand(self) -> float | None:
        """Thousandths of a big blind won a hand; None before the first."""
        return self._mbb(self._tally.mean) if self.hands else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """A 95 % interval around it, by the normal approximation; None with fewer than two hands."""
        found = self._tally.interval
        return None if found is None else (self._mbb(found[0]), self._mbb(found[1]))

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
