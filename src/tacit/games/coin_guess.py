"""Guess a coin that the other player has seen: the smallest game whose value is not linear in the beliefs (ReBeL, Figure 6)."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.errors import TacitError
from tacit.games.base import CHANCE, TERMINAL, GameSize, KnownValue, Moves, SequenceGame

HEADS, TAILS = range(2)
_NAMES = ("heads", "tails")


@dataclass(frozen=True)
class CoinGuess(SequenceGame):
    """A coin falls heads with probability `p`; player 0 sees it, player 1 guesses.

    A right guess costs player 0 one point, a wrong one nothing. The value is -max(p, 1 - p): concave in the belief p.
    """

    p: float = 0.5

    name = "coin_guess"

    def __post_init__(self) -> None:
        if not 0.0 <= self.p <= 1.0:
            raise TacitError(f"coin_guess: p must be a probability between 0 and 1, not {self.p}")

    def actor(self, state: Moves) -> int:
        return (CHANCE, 1, TERMINAL)[len(state)]

    def legal_actions(self, state: Moves) -> Moves:
        return (HEADS, TAILS)

    def chance_outcomes(self, state: Moves) -> tuple[tuple[int, float], ...]:
        return tuple((side, chance) for side, chance in ((HEADS, self.p), (TAILS, 1.0 - self.p)) if chance > 0.0)

    def public_observation(self, state: Moves) -> str:
        return _NAMES[state[1]] if len(state) == 2 else ""

    def private_observation(self, state: Moves, player: int) -> str:
        return _NAMES[state[0]] if len(state) == 1 and player == 0 else ""

    def returns(self, state: Moves) -> tuple[float, float]:
        payoff = -1.0 if state[0] == state[1] else 0.0
        return payoff, -payoff

    def action_name(self, action: int) -> str:
        return _NAMES[action]

    def size(self) -> GameSize:
        return GameSize(histories=6, public_states=3, infostates=1)

    def known_value(self) -> KnownValue:
        return KnownValue(-max(self.p, 1.0 - self.p), "the better guess wins max(p, 1 - p)")
