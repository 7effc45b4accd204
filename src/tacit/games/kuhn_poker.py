"""Kuhn poker (Kuhn 1950): three cards, one bet."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.games.base import GameSize, KnownValue
from tacit.games.one_card_poker import OneCardPoker


@dataclass(frozen=True)
class KuhnPoker(OneCardPoker):
    """Jack, Queen, King; both ante 1 and get a card; one bet of 1 may be made, and called or folded to."""

    name = "kuhn_poker"
    ranks = "JQK"
    suits = " "
    num_streets = 1
    ante = 1

    def raise_to(self, street: int, num_raises: int, facing: int) -> int | None:
        return facing + 1 if num_raises == 0 else None

    def size(self) -> GameSize:
        return GameSize(histories=54, public_states=9, infostates=12)

    def known_value(self) -> KnownValue:
        return KnownValue(-1 / 18, "Kuhn 1950")

    def openspiel_twin(self) -> str:
        return "kuhn_poker"
