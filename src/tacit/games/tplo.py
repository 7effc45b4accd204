"""Turn pot-limit Omaha: the degree of hidden information is a parameter (Oscarsson et al., "The Cost of Uncertainty")."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from tacit.errors import TacitError
from tacit.games.small_poker import SmallPoker

HAND_SIZES = (1, 2, 3)


@dataclass(frozen=True)
class Tplo(SmallPoker):
    """Three suits of Jack, Queen, King, Ace; both put in 100 of 5,000 chips and get one, two or three cards.

    There are three streets of betting; the second and the third each start with a new board card. The only raise size is the
    pot, capped at all-in: 100, 300, 900, 2700, 5000. All cards of hand and board count: three of a kind beats two pairs, two
    pairs beat a pair, and a pair beats high cards. Equal kinds are compared by the ranks of the three or the pairs, the higher
    pair first, then by the other cards. There are no straights, flushes or full houses.
    """

    cards: int = 1

    name = "tplo"
    ranks = "JQKA"
    suits = "shd"
    num_streets = 3
    ante = 100
    stack = 5_000

    def __post_init__(self) -> None:
        if self.cards not in HAND_SIZES:
            raise TacitError(f"tplo: cards must be 1, 2 or 3, not {self.cards}")

    @property
    def hand_size(self) -> int:
        return self.cards

    def raise_to(self, street: int, num_raises: int, facing: int) -> int | None:
        return min(3 * facing, self.stack) if facing < self.stack else None

    def strength(self, hand: int, board: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Returns the size and number of the largest sets of equal rank (at most two pairs), and the ranks, sets first."""
        count = Counter(card // len(self.suits) for card in (*self.hands[hand], *board))
        most = max(count.values())
        sets = sorted((rank for rank, number in count.items() if number == most), reverse=True)[: 2 if most == 2 else 1]
        if most == 1:
            sets = []
        others = sorted((rank for rank in count.elements() if rank not in sets), reverse=True)
        return (most, len(sets)), (*sets, *others)

    def in_units(self, amount: float) -> dict[str, float]:
        return {"mbb": 1_000 * amount / self.ante}
