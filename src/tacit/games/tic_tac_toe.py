"""Noughts and crosses: a game without hidden information, where every public state holds one history."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.games.base import TERMINAL, GameSize, KnownValue, Moves, SequenceGame

if TYPE_CHECKING:
    from tacit.games.boards import Planes

_LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))


@dataclass(frozen=True)
class TicTacToe(SequenceGame):
    """Three in a row wins 1 point; player 0 (x) starts. Squares are numbered 0 to 8 row by row.

    A state is the sequence of squares taken. Perfect play draws.
    """

    name = "tic_tac_toe"

    def actor(self, state: Moves) -> int:
        return TERMINAL if len(state) == 9 or _last_mover_won(state) else len(state) % 2

    def legal_actions(self, state: Moves) -> Moves:
        return tuple(square for square in range(9) if square not in state)

    def public_observation(self, state: Moves) -> str:
        return self.action_name(state[-1]) if state else ""

    def public_key(self, state: Moves) -> tuple[frozenset[int], frozenset[int]]:
        return frozenset(state[::2]), frozenset(state[1::2])  # the board

    def returns(self, state: Moves) -> tuple[float, float]:
        if not _last_mover_won(state):
            return 0.0, 0.0
        payoff = 1.0 if len(state) % 2 == 1 else -1.0
        return payoff, -payoff

    def action_name(self, action: int) -> str:
        return f"{'abc'[action % 3]}{3 - action // 3}"

    def drawing(self, state: Moves) -> str:
        marks = ["xo"[state.index(square) % 2] if square in state else "." for square in range(9)]
        return "\n".join([*(f"{3 - row} {' '.join(marks[3 * row : 3 * row + 3])}" for row in range(3)), "  a b c"])

    def planes(self, state: Moves) -> Planes:
        own, other = state[len(state) % 2 :: 2], state[1 - len(state) % 2 :: 2]
        return [[[float(3 * row + column in marks) for column in range(3)] for row in range(3)] for marks in (own, other)]

    def board_bounds(self) -> tuple[int, int]:
        return 9, 9

    def size(self) -> GameSize:
        # 549,946 histories in all, 255,168 of them ended: each is its own public state.
        return GameSize(histories=549_946, public_states=549_946, infostates=294_778)

    def known_value(self) -> KnownValue:
        return KnownValue(0.0, "perfect play draws")

    def openspiel_twin(self) -> str:
        return "tic_tac_toe"


def _last_mover_won(state: Moves) -> bool:
    mine = state[-1::-2]
    return any(all(square in mine for square in line) for line in _LINES)
