"""Pot-limit Leduc: Leduc's cards with pot-size bets and short stacks."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.games.base import GameSize, KnownValue
from tacit.games.one_card_poker import OneCardPoker


@dataclass(frozen=True)
class PotLimitLeduc(OneCardPoker):
    """Leduc's six cards; both ante 300 of 1,200 chips; the one bet or raise is the pot, capped at all-in (300, 900, 1200)."""

    name = "pot_limit_leduc"
    ranks = "JQK"
    suits = "sh"
    num_streets = 2
    ante = 300
    stack = 1200

    def raise_to(self, street: int, num_raises: int, facing: int) -> int | None:
        return min(3 * facing, self.stack) if facing < self.stack else None

    def size(self) -> GameSize:
        return GameSize(histories=4_500, public_states=220, infostates=456)

    def known_value(self) -> KnownValue:
        return KnownValue(-11.66, "independent sequence-form solve, to two digits")
