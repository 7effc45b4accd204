"""Passes over any tree in numba: one row at a time along the links between rows.

Slower than lanes (index maps instead of vectors), but it needs nothing of a game except perfect recall: hidden
actions, private draws during play and phantom games all come here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.compiled import compiled
from tacit.kernels.base import FOLLOW, RESPOND, LeafValues, Numbers
from tacit.kernels.clock import Clock
from tacit.kernels.leaf_rows import PublicTreePasses
from tacit.tree.public_tree import NO_PARENT, NOT_ACTING, Floats, PublicTree

_NO_PARENT, _NOT_ACTING = NO_PARENT, NOT_ACTING
Vector = NDArray[np.float64]


class RowPasses(PublicTreePasses[Vector]):
    """Reach and values are `[R]`, entries are the tree's `[E]` and one more, always 1, for rows that no own action led to."""

    backend = "numba"
    device = "cpu"

    def __init__(self, tree: PublicTree) -> None:
        super().__init__(tree)
        self._payoff = tree.payoff, -tree.payoff
        self._edge_value = np.empty(tree.num_entries + 1)
        self._cfv = [np.zeros(len(rows)) for rows in tree.rows]

    def entries(self, values: Floats) -> Vector:
        return np.concatenate([values, [1.0]])

    def to_numpy(self, entries: Vector) -> Floats:
        return entries[:-1].copy()

    def rows_to_numpy(self, player: int, rows: Vector) -> Floats:
        return rows

    def new_reach(self, player: int) -> Vector:
        rows = self.tree.rows[player]
        reach = np.empty(len(rows))
        reach[: rows.level_start[1]] = rows.root_reach
        return reach

    def walk_down(self, player: int, strategy: Vector, reach: Vector, average: Vector | None, clock: Clock | None) -> None:
        rows = self.tree.rows[player]
        _reach(rows.level_start[1], rows.parent, rows.entry, strategy, reach)
        if average is not None and clock is not None:
            _average(rows.infostate, self.tree.entry_start, strategy, reach, average, clock.share())

    def walk_up(self, mode: int, player: int, faced: Vector, leaves: LeafValues | None, numbers: Numbers, clock: Clock) -> None:
        own_reach, strategy, regret, average = numbers
        cfv, rows = self._ends(player, faced, leaves), self.tree.rows[player]
        links = rows.parent, rows.entry, rows.infostate, self.tree.entry_start
        if mode == FOLLOW:
            _values(*links, strategy, self._edge_value, cfv)
        elif mode == RESPOND:
            _best_response(*links, regret, strategy, self._edge_value, cfv)
        else:
            _update_regrets(*links, own_reach, strategy, regret, average, self._edge_value, cfv, *clock.step)

    def root_cfv(self, player: int) -> Vector:
        return self._cfv[player][: self.tree.rows[player].level_start[1]].copy()

    def row_values(self, player: int) -> Floats:
        return self._cfv[player].copy()

    def set_roots(self, player: int, reach: Vector, roots: Vector) -> None:
        reach[: len(roots)] = roots

    def get_roots(self, player: int, reach: Vector) -> Vector:
        return reach[: self.tree.rows[player].level_start[1]].copy()

    def _ends(self, player: int, opponent_reach: Vector, leaves: LeafValues | None) -> Vector:
        """Returns the player's values, set at terminal rows and leaves, zero elsewhere."""
        cfv = self._cfv[player]
        cfv[:] = 0.0
        own, other = self.tree.payoff_rows[player], self.tree.payoff_rows[1 - player]
        _meet(own, other, self._payoff[player], opponent_reach, cfv)
        if leaves is not None:
            cfv[self._leaf_rows[player]] = self._leaf_cfvs(player, opponent_reach, leaves)
        return cfv


# The kernels. Rows are in breadth-first order: forwards for what flows down, backwards for what flows up.


@compiled()
def _meet(own, other, payoff, opponent_reach, cfv):  # type: ignore[no-untyped-def]
    for pair in range(len(payoff)):
        cfv[own[pair]] += payoff[pair] * opponent_reach[other[pair]]


@compiled()
def _reach(num_roots, parent, entry, strategy, reach):  # type: ignore[no-untyped-def]
    for row in range(num_roots, len(parent)):
        reach[row] = reach[parent[row]] * strategy[entry[row]]


@compiled()
def _average(infostate, entry_start, strategy, reach, average, share):  # type: ignore[no-untyped-def]
    for row in range(len(infostate)):
        if infostate[row] != _NOT_ACTING:
            for entry in range(entry_start[infostate[row]], entry_start[infostate[row] + 1]):
                average[entry] = (1.0 - share) * average[entry] + share * reach[row] * strategy[entry]


@compiled()
def _pass_up(row, parent, entry, edge_value, cfv):  # type: ignore[no-untyped-def]
    """Adds a row's value to the own action that led to it, or to the row above where another moved."""
    if parent[row] == _NO_PARENT:
        return
    if entry[row] < len(edge_value) - 1:
        edge_value[entry[row]] += cfv[row]
    else:
        cfv[parent[row]] += cfv[row]


@compiled()
def _values(parent, entry, infostate, entry_start, strategy, edge_value, cfv):  # type: ignore[no-untyped-def]
    edge_value[:] = 0
    for row in range(len(parent) - 1, -1, -1):
        if infostate[row] != _NOT_ACTING:
            for e in range(entry_start[infostate[row]], entry_start[infostate[row] + 1]):
                cfv[row] += strategy[e] * edge_value[e]
        _pass_up(row, parent, entry, edge_value, cfv)


@compiled()
def _ranked(entry, bonus, edge_value):  # type: ignore[no-untyped-def]
    """Returns what an action counts for where actions are compared; without a bonus this compiles to its value."""
    if bonus is None:
        return edge_value[entry]
    return edge_value[entry] + bonus[entry]


@compiled()
def _best_response(parent, entry, infostate, entry_start, bonus, response, edge_value, cfv):  # type: ignore[no-untyped-def]
    edge_value[:] = 0
    for row in range(len(parent) - 1, -1, -1):
        if infostate[row] != _NOT_ACTING:
            best = first = entry_start[infostate[row]]
            for e in range(first + 1, entry_start[infostate[row] + 1]):
                if _ranked(e, bonus, edge_value) > _ranked(best, bonus, edge_value):
                    best = e
            response[first : entry_start[infostate[row] + 1]] = 0
            response[best] = 1
            cfv[row] += edge_value[best]
        _pass_up(row, parent, entry, edge_value, cfv)


@compiled(error_model="numpy")
def _update_regrets(  # type: ignore[no-untyped-def]
    parent, entry, infostate, entry_start, own_reach, strategy, regret, average, edge_value, cfv,
    positive_discount, negative_discount, floor, prediction, average_weight,
):  # fmt: skip
    edge_value[:] = 0
    for row in range(len(parent) - 1, -1, -1):
        if infostate[row] != _NOT_ACTING:
            first, last = entry_start[infostate[row]], entry_start[infostate[row] + 1]
            for e in range(first, last):
                cfv[row] += strategy[e] * edge_value[e]
            total = 0.0
            for e in range(first, last):
                average[e] += average_weight * own_reach[row] * strategy[e]
                instant = edge_value[e] - cfv[row]
                discount = positive_discount if regret[e] > 0 else negative_discount
                regret[e] = max(regret[e] * discount + instant, floor)
                strategy[e] = max(regret[e] + prediction * instant, 0.0)
                total += strategy[e]
            for e in range(first, last):
                strategy[e] = strategy[e] / total if total > 0 else 1.0 / (last - first)
        _pass_up(row, parent, entry, edge_value, cfv)
