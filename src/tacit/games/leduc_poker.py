"""Leduc poker (Southey et al. 2005): six cards, two streets, fixed raises."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.games.base import GameSize, KnownValue
from tacit.games.one_card_poker import OneCardPoker


@dataclass(frozen=True)
class LeducPoker(OneCardPoker):
    """Two suits of Jack, Queen, King; both ante 1; raises of 2, then of 4 after the board card; two raises a street."""

    name = "leduc_poker"
    ranks = "JQK"
    suits = "sh"
    num_streets = 2
    ante = 1

    def raise_to(self, street: int, num_raises: int, facing: int) -> int | None:
        return facing + (2, 4)[street] if num_raises < 2 else None

    def size(self) -> GameSize:
        return GameSize(histories=9_300, public_states=460, infostates=936)

    def known_value(self) -> KnownValue:
        return KnownValue(-0.085606424078, "OpenSpiel's sequence-form LP")

    def openspiel_twin(self) -> str:
        return "leduc_poker"
