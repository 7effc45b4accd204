"""Poker with one private card each: Kuhn's (1950), Leduc (Southey et al. 2005) and pot-limit Leduc."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.games.base import KnownValue
from tacit.games.small_poker import SmallPoker


class OneCardPoker(SmallPoker):
    """Poker with hands of one card: a pair with the board wins, then the higher rank."""

    def strength(self, hand: int, board: tuple[int, ...]) -> int:
        rank = hand // len(self.suits)
        paired = any(card // len(self.suits) == rank for card in board)
        return rank + (len(self.ranks) if paired else 0)


@dataclass(frozen=True)
class KuhnPoker(OneCardPoker):
    """Jack, Queen, King; both ante 1 and get a card; one bet of 1 may be made, and called or folded to."""

    name = "kuhn_poker"
    suits = " "
    num_streets = 1

    def raise_to(self, street: int, num_raises: int, facing: int) -> int | None:
        return facing + 1 if num_raises == 0 else None

    def known_value(self) -> KnownValue:
        return KnownValue(-1 / 18, "Kuhn 1950")

    def openspiel_twin(self) -> str:
        return "kuhn_poker"


@dataclass(frozen=True)
class LeducPoker(OneCardPoker):
    """Two suits of Jack, Queen, King; both ante 1; raises of 2, then of 4 after the board card; two raises a street."""

    name = "leduc_poker"

    def raise_to(self, street: int, num_raises: int, facing: int) -> int | None:
        return facing + (2, 4)[street] if num_raises < 2 else None

    def known_value(self) -> KnownValue:
        return KnownValue(-0.085606424078, "OpenSpiel's sequence-form LP")

    def openspiel_twin(self) -> str:
        return "leduc_poker"


@dataclass(frozen=True)
class PotLimitLeduc(OneCardPoker):
    """Leduc's six cards; both ante 300 of 1,200 chips; the only raise size is the pot, capped at all-in (300, 900, 1200)."""

    name = "pot_limit_leduc"
    ante = 300
    stack = 1200

    def raise_to(self, street: int, num_raises: int, facing: int) -> int | None:
        return min(3 * facing, self.stack) if facing < self.stack else None

    def in_units(self, amount: float) -> dict[str, float]:
        return {"mbb": 1_000 * amount / self.ante}  # the ante counts as the blind

    def known_value(self) -> KnownValue:
        return KnownValue(-11.66, "independent sequence-form solve, to two digits")
