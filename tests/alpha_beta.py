"""Exact values of connect four positions by alpha-beta, independent of the package: the referee for endgames."""

from __future__ import annotations

Board = tuple[int, int]
"""The discs of the player to move, then the other player's."""


class Solver:
    """Solves positions on a board of `rows` x `columns` and remembers the solved ones."""

    def __init__(self, rows: int = 6, columns: int = 7) -> None:
        self.height, self.columns, self.rows = rows + 1, columns, rows
        self.order = sorted(range(columns), key=lambda column: abs(2 * column - columns + 1))
        self.full = rows * columns
        self._known: dict[Board, tuple[int, int]] = {}

    def moves(self, mine: int, other: int) -> list[tuple[int, int]]:
        """Returns the columns that are not full, central ones first, each with the disc that would land there."""
        taken = mine | other
        found = []
        for column in self.order:
            bottom = 1 << column * self.height
            disc = (taken + bottom) & ~taken & (((1 << self.rows) - 1) * bottom)
            if disc:
                found.append((column, disc))
        return found

    def wins(self, discs: int) -> bool:
        for step in (1, self.height - 1, self.height, self.height + 1):
            two = discs & discs >> step
            if two & two >> 2 * step:
                return True
        return False

    def value(self, mine: int, other: int, low: int = -1, high: int = 1) -> int:
        """Returns what the player to move gets with perfect play: 1, 0 or -1. The game must not be over."""
        if (mine | other).bit_count() == self.full:
            return 0
        known_low, known_high = self._known.get((mine, other), (-1, 1))
        if known_low >= high or known_low == known_high:
            return known_low
        if known_high <= low:
            return known_high
        low, high = max(low, known_low), min(high, known_high)
        moves, best, bound = self.moves(mine, other), -1, low
        if any(self.wins(mine | disc) for _, disc in moves):
            best = 1
        else:
            for _, disc in moves:
                best = max(best, -self.value(other, mine | disc, -high, -bound))
                bound = max(bound, best)
                if bound >= high:
                    break
        if best <= low:
            self._known[mine, other] = known_low, best
        elif best >= high:
            self._known[mine, other] = best, known_high
        else:
            self._known[mine, other] = best, best
        return best

    def values(self, mine: int, other: int) -> dict[int, int]:
        """Returns what each legal column gets."""
        return {
            column: 1 if self.wins(mine | disc) else -self.value(other, mine | disc) for column, disc in self.moves(mine, other)
        }

    def best(self, mine: int, other: int) -> set[int]:
        """Returns the columns that keep the value of the position."""
        values = self.values(mine, other)
        return {column for column, value in values.items() if value == max(values.values())}
