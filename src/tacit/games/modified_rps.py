"""Rock-paper-scissors in which Scissors doubles the stakes (ReBeL, Figure 1a)."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.games.base import TERMINAL, GameSize, KnownValue, Moves, SequenceGame

ROCK, PAPER, SCISSORS = range(3)
_NAMES = ("Rock", "Paper", "Scissors")


@dataclass(frozen=True)
class ModifiedRps(SequenceGame):
    """Player 0 picks Rock, Paper or Scissors in secret, then player 1 picks.

    The winner gets 1 point from the loser, 2 when either chose Scissors. The only equilibrium is 0.4 / 0.4 / 0.2. One-ply
    search with state values cannot find it, which is why search needs beliefs.
    """

    name = "modified_rps"

    def actor(self, state: Moves) -> int:
        return len(state) if len(state) < 2 else TERMINAL

    def legal_actions(self, state: Moves) -> Moves:
        return (ROCK, PAPER, SCISSORS)

    def returns(self, state: Moves) -> tuple[float, float]:
        first, second = state
        sign = (0.0, 1.0, -1.0)[(first - second) % 3]
        payoff = sign * (2.0 if SCISSORS in state else 1.0)
        return payoff, -payoff

    def action_name(self, action: int) -> str:
        return _NAMES[action]

    def size(self) -> GameSize:
        return GameSize(histories=13, public_states=5, infostates=2)

    def known_value(self) -> KnownValue:
        return KnownValue(0.0, "symmetric game")
