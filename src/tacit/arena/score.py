"""The score of a match in big blinds: mean winnings with a 95 % interval."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tacit.tally import Tally


@dataclass
class Score:
    """One player's winnings, hand by hand.

    Attributes:
      big_blind: the big blind in chips; its thousandths are the unit of the mean.
      total: the chips won so far.
    """

    big_blind: int
    total: float = 0.0
    _mbb: Tally = field(default_factory=Tally)

    def add(self, winnings: float) -> None:
        """Counts a hand."""
        self.total += winnings
        self._mbb.add(1_000.0 * winnings / self.big_blind)

    @property
    def hands(self) -> int:
        """The number of hands counted."""
        return self._mbb.count

    def as_dict(self) -> dict[str, Any]:
        """Returns the score as the fields of a JSON object; the mean is None before the first hand."""
        mean = self._mbb.mean if self.hands else None
        return {
            "hands": self.hands, "total": int(self.total), "mbb_per_hand": mean, "interval": self._mbb.interval,
            "kind": "sampled",
        }  # fmt: skip

    @property
    def brief(self) -> str:
        """The score in short, for a progress line."""
        return f"{self._mbb.mean:+,.0f} mbb/hand" if self.hands else ""

    def __str__(self) -> str:
        if not self.hands:
            return "no hands"
        interval = self._mbb.interval
        around = "" if interval is None else f" (95 % interval {interval[0]:+,.0f} to {interval[1]:+,.0f})"
        hands = f"{self.hands:,} hand{'' if self.hands == 1 else 's'}"
        return f"{self.total:+,.0f} chips in {hands}: {self.brief}{around}"
