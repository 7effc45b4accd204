"""Connect four: a board game without hidden information, far too large to be compiled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from tacit.errors import TacitError
from tacit.games.base import TERMINAL, Game, KnownValue

if TYPE_CHECKING:
    from tacit.games.boards import Boards, Planes

MARKS = "xo"
"""How the players' discs are drawn."""
NO_COLUMN = -1


class Discs(NamedTuple):
    """A position. Bit `column * (rows + 1) + row` of a player's integer is set if it has a disc there; row 0 is the bottom.

    Attributes:
      first: The discs of player 0.
      second: The discs of player 1.
      last: The column of the last move.
    """

    first: int = 0
    second: int = 0
    last: int = NO_COLUMN


@dataclass(frozen=True)
class ConnectFour(Game[Discs]):
    """Players take turns to drop discs into columns, player 0 (x) first; four in a line win 1 point, a full board is a draw.

    Columns are named a, b, c and so on. A line is a row, a column or a diagonal.
    """

    rows: int = 6
    columns: int = 7

    name = "connect_four"

    def __post_init__(self) -> None:
        if not (2 <= self.rows <= 16 and 2 <= self.columns <= 16):
            raise TacitError(f"connect_four: rows and columns must be from 2 to 16, not {self.rows} and {self.columns}")

    def initial_state(self) -> Discs:
        return Discs()

    def actor(self, state: Discs) -> int:
        count = self._count(state)
        if count == self.rows * self.columns or self._has_line(state.second if count % 2 == 0 else state.first):
            return TERMINAL
        return count % 2

    def legal_actions(self, state: Discs) -> tuple[int, ...]:
        taken, top = state.first | state.second, 1 << (self.rows - 1)
        return tuple(column for column in range(self.columns) if not taken & (top << column * (self.rows + 1)))

    def apply(self, state: Discs, action: int) -> Discs:
        taken, shift = state.first | state.second, action * (self.rows + 1)
        disc = (taken + (1 << shift)) & ~taken & (((1 << self.rows) - 1) << shift)  # the lowest free place of the column
        first = taken.bit_count() % 2 == 0
        return Discs(state.first | disc, state.second, action) if first else Discs(state.first, state.second | disc, action)

    def returns(self, state: Discs) -> tuple[float, float]:
        payoff = float(self._has_line(state.first)) - float(self._has_line(state.second))
        return payoff, -payoff

    def public_observation(self, state: Discs) -> str:
        return "" if state.last == NO_COLUMN else self.action_name(state.last)

    def public_key(self, state: Discs) -> tuple[int, int]:
        return state.first, state.second

    def action_name(self, action: int) -> str:
        return "abcdefghijklmnop"[action]

    def drawing(self, state: Discs) -> str:
        lines = [
            " ".join(self._mark(state, 1 << column * (self.rows + 1) + row) for column in range(self.columns))
            for row in reversed(range(self.rows))
        ]
        return "\n".join([*lines, " ".join(self.action_name(column) for column in range(self.columns))])

    def planes(self, state: Discs) -> Planes:
        own, other = (state.first, state.second) if self._count(state) % 2 == 0 else (state.second, state.first)
        places = [[1 << column * (self.rows + 1) + row for column in range(self.columns)] for row in reversed(range(self.rows))]
        return [[[float(bool(discs & place)) for place in line] for line in places] for discs in (own, other)]

    def board_bounds(self) -> tuple[int, int]:
        return self.columns, self.rows * self.columns

    def boards(self) -> Boards | None:
        if self.columns * (self.rows + 1) > 63:
            return None  # the discs must fit into a signed 64-bit integer
        from tacit.games.connect_four_boards import ConnectFourBoards

        return ConnectFourBoards(self.rows, self.columns)

    def known_value(self) -> KnownValue | None:
        usual = (self.rows, self.columns) == (6, 7)
        return KnownValue(1.0, "Allis 1988: the first player wins") if usual else None

    def openspiel_twin(self) -> str | None:
        return "connect_four" if (self.rows, self.columns) == (6, 7) else None

    def _count(self, state: Discs) -> int:
        return (state.first | state.second).bit_count()

    def _has_line(self, discs: int) -> bool:
        for step in (1, self.rows, self.rows + 1, self.rows + 2):  # up, and to the right: down, level, up
            pairs = discs & (discs >> step)
            if pairs & (pairs >> 2 * step):
                return True
        return False

    def _mark(self, state: Discs, place: int) -> str:
        return MARKS[0] if state.first & place else MARKS[1] if state.second & place else "."
