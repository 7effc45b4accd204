"""Goofspiel with hidden bids: players bid at the same time, and only the winner is announced."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.errors import TacitError
from tacit.games.base import TERMINAL, KnownValue, Moves, SequenceGame


@dataclass(frozen=True)
class Goofspiel(SequenceGame):
    """Each player holds cards 1 to `cards` and bids one of them for each prize, from the highest prize down.

    Player 0 bids in secret, then player 1. Both learn who won the prize, but not the bids; equal bids discard the prize.
    The player with more prize points wins 1 point. The last bids are forced and made automatically. A state is the
    sequence of bids.
    """

    cards: int = 4

    name = "goofspiel"

    def __post_init__(self) -> None:
        if not 2 <= self.cards <= 13:
            raise TacitError(f"goofspiel: cards must be from 2 to 13, not {self.cards}")

    def actor(self, state: Moves) -> int:
        return TERMINAL if len(state) == 2 * self.cards else len(state) % 2

    def legal_actions(self, state: Moves) -> Moves:
        mine = state[len(state) % 2 :: 2]
        return tuple(card for card in range(self.cards) if card not in mine)

    def apply(self, state: Moves, action: int) -> Moves:
        state = (*state, action)
        if len(state) == 2 * self.cards - 2:  # one card left in each hand
            state = (*state, *(next(c for c in range(self.cards) if c not in state[player::2]) for player in (0, 1)))
        return state

    def public_observation(self, state: Moves) -> str:
        if not state or len(state) % 2:
            return ""
        rounds = (
            range(self.cards - 2, self.cards) if len(state) == 2 * self.cards else range(len(state) // 2 - 1, len(state) // 2)
        )
        return " ".join(_announce(state[2 * r], state[2 * r + 1]) for r in rounds)

    def returns(self, state: Moves) -> tuple[float, float]:
        points = 0
        for prize, (first, second) in zip(range(self.cards, 0, -1), zip(state[::2], state[1::2], strict=True), strict=True):
            points += prize * ((first > second) - (first < second))
        payoff = float((points > 0) - (points < 0))
        return payoff, -payoff

    def action_name(self, action: int) -> str:
        return f"bid {action + 1}"

    def known_value(self) -> KnownValue:
        return KnownValue(0.0, "symmetric game")

    def openspiel_twin(self) -> str:
        return f"turn_based_simultaneous_game(game=goofspiel(num_cards={self.cards},points_order=descending,imp_info=True))"


def _announce(first: int, second: int) -> str:
    return "first wins" if first > second else "second wins" if second > first else "tie"
