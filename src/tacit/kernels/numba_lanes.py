"""Passes over a lane layout in numba: a node is one vector, an edge a few instructions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.compiled import compiled, inner
from tacit.games.base import TERMINAL
from tacit.kernels.base import FOLLOW, RESPOND, LeafValues, Numbers, span_of
from tacit.kernels.clock import Clock
from tacit.kernels.leaf_rows import PublicTreePasses
from tacit.kernels.simd import load, splat, store, where_greater, width
from tacit.threads import meet, num_threads, run_together
from tacit.tree.lanes import LaneLayout
from tacit.tree.parts import divide
from tacit.tree.public_tree import LEAF, Floats, PublicTree

_TERMINAL, _LEAF = TERMINAL, LEAF
Rows = NDArray[np.float64]


class LanePasses(PublicTreePasses[Rows]):
    """Passes with one vector per node: reach and values are `[N, H]`, entries are `[M, H]` over edges."""

    backend = "numba"
    device = "cpu"

    def __init__(self, tree: PublicTree, layout: LaneLayout) -> None:
        super().__init__(tree)
        self.span = span_of(tree.num_entries)
        self._layout = layout
        self._shape = (width(layout.num_lanes), layout.edge_start, layout.child_start, layout.actor)
        self._cfv = np.zeros((len(layout.actor), layout.num_lanes))
        transposed = np.ascontiguousarray(layout.payoffs.transpose(0, 2, 1))
        # For each traverser, a matrix row holds the payoffs of the traverser's lanes against one lane of the opponent.
        self._payoffs = tuple(p.reshape(-1, layout.num_lanes) for p in (transposed, -layout.payoffs))
        self._num_nodes, self._num_edges = len(layout.actor), int(layout.edge_start[-1])
        self._other_cfv: Rows | None = None
        self._parts = divide(layout, num_threads())

    def entries(self, values: Floats) -> Rows:
        entries = np.zeros(self._num_edges * self._layout.num_lanes)
        entries[self._layout.entry_position] = values
        return entries.reshape(self._num_edges, -1)

    def to_numpy(self, entries: Rows) -> Floats:
        return entries.ravel()[self._layout.entry_position]

    def rows_to_numpy(self, player: int, rows: Rows) -> Floats:
        return rows.ravel()[self._layout.row_position[player]]

    def new_reach(self, player: int) -> Rows:
        reach = np.empty((self._num_nodes, self._layout.num_lanes))
        reach[: self.tree.require_nodes().num_roots] = 0.0  # lanes without a private state
        self.set_roots(player, reach, self.tree.rows[player].root_reach)
        return reach

    def walk_down(self, player: int, strategy: Rows, reach: Rows, average: Rows | None, clock: Clock | None) -> None:
        if average is None or clock is None:
            _reach(*self._shape, player, strategy, reach, 0, self._num_nodes)
        else:
            _reach_and_average(*self._shape, player, strategy, reach, average, clock.share())

    def walk_up(self, mode: int, player: int, faced: Rows, leaves: LeafValues | None, numbers: Numbers, clock: Clock) -> None:
        own_reach, strategy, regret, average = numbers
        ends = self._ends(player, faced, leaves)
        if mode == FOLLOW:
            _values(*self._shape, player, *ends, strategy, self._cfv)
        elif mode == RESPOND:
            _best_response(*self._shape, player, *ends, regret, strategy, self._cfv)
        else:
            whole = 0, self._num_nodes
            _update_regrets(*self._shape, player, *ends, own_reach, strategy, regret, average, self._cfv, *clock.step, *whole)

    def repeat(
        self, strategy: Rows, regret: Rows, average: Rows, reaches: Sequence[Rows], steps: Floats, alternating: bool
    ) -> None:
        other = np.zeros_like(self._cfv) if self._other_cfv is None else self._other_cfv
        self._other_cfv = other
        self._cfv[self._leaf_nodes] = other[self._leaf_nodes] = 0.0
        ends, parts = (self._layout.payoff_index, self._payoffs, tuple(reaches)), self._parts
        numbers, values = (strategy, regret, average), (other, self._cfv)  # the last pass is player 1's
        run_together(
            len(parts.ranges), _repeat, self._shape, (parts.top, parts.ranges), *ends, numbers, values, steps, alternating
        )

    def root_cfv(self, player: int) -> Rows:
        return self._cfv.ravel()[self._root_position(player)]

    def row_values(self, player: int) -> Floats:
        return self.rows_to_numpy(player, self._cfv)

    def set_roots(self, player: int, reach: Rows, roots: Rows) -> None:
        reach.ravel()[self._root_position(player)] = roots

    def get_roots(self, player: int, reach: Rows) -> Rows:
        return reach.ravel()[self._root_position(player)]

    def _root_position(self, player: int) -> NDArray[np.int64]:
        return self._layout.row_position[player][: self.tree.rows[player].level_start[1]]

    def _ends(self, player: int, opponent_reach: Rows, leaves: LeafValues | None) -> tuple[Any, ...]:
        """Returns the arguments that value terminal nodes; also writes the values of leaves."""
        if len(self._leaf_nodes):
            self._cfv[self._leaf_nodes] = 0.0
        if leaves is not None:
            at_leaves = self._layout.row_position[player][self._leaf_rows[player]]
            self._cfv.ravel()[at_leaves] = self._leaf_cfvs(player, opponent_reach, leaves)
        return self._layout.payoff_index, self._payoffs[player], opponent_reach


# The kernels. `lanes` is `width(H)`; arrays over nodes are `[N, H]`, over edges `[M, H]`, payoffs `[K * H, H]`. Arguments are
# passed one by one, because numba takes microseconds to unpack a tuple; kernels called once per many iterations take tuples.


@inner()
def _terminal_value(lanes, node, payoff_index, payoffs, opponent_reach):  # type: ignore[no-untyped-def]
    value = splat(0.0, lanes)
    first = payoff_index[node] * len(lanes)
    for lane in range(len(lanes)):
        value += load(payoffs, first + lane, lanes) * splat(opponent_reach[node, lane], lanes)
    return value


@inner()
def _edge_value(lanes, edge, child_start, cfv):  # type: ignore[no-untyped-def]
    value = load(cfv, child_start[edge], lanes)
    for child in range(child_start[edge] + 1, child_start[edge + 1]):
        value += load(cfv, child, lanes)
    return value


@inner()
def _passive_value(lanes, node, edge_start, child_start, cfv):  # type: ignore[no-untyped-def]
    value = splat(0.0, lanes)
    for child in range(child_start[edge_start[node]], child_start[edge_start[node + 1]]):
        value += load(cfv, child, lanes)
    return value


@inner()
def _strategy_value(lanes, node, edge_start, child_start, strategy, cfv):  # type: ignore[no-untyped-def]
    value = splat(0.0, lanes)
    for edge in range(edge_start[node], edge_start[node + 1]):
        value += load(strategy, edge, lanes) * _edge_value(lanes, edge, child_start, cfv)
    return value


@compiled()
def _reach(lanes, edge_start, child_start, actor, player, strategy, reach, first, last):  # type: ignore[no-untyped-def]
    for node in range(first, last):
        here = load(reach, node, lanes)
        for edge in range(edge_start[node], edge_start[node + 1]):
            below = here * load(strategy, edge, lanes) if actor[node] == player else here
            for child in range(child_start[edge], child_start[edge + 1]):
                store(reach, child, below)


@compiled()
def _reach_and_average(lanes, edge_start, child_start, actor, player, strategy, reach, average, share):  # type: ignore[no-untyped-def]
    keep, take = splat(1.0 - share, lanes), splat(share, lanes)
    for node in range(len(actor)):
        here = load(reach, node, lanes)
        if actor[node] == player:
            for edge in range(edge_start[node], edge_start[node + 1]):
                below = here * load(strategy, edge, lanes)
                store(average, edge, keep * load(average, edge, lanes) + take * below)
                for child in range(child_start[edge], child_start[edge + 1]):
                    store(reach, child, below)
        else:
            for child in range(child_start[edge_start[node]], child_start[edge_start[node + 1]]):
                store(reach, child, here)


@compiled()
def _values(  # type: ignore[no-untyped-def]
    lanes, edge_start, child_start, actor, player, payoff_index, payoffs, opponent_reach, strategy, cfv
):
    for node in range(len(actor) - 1, -1, -1):
        if actor[node] == _TERMINAL:
            store(cfv, node, _terminal_value(lanes, node, payoff_index, payoffs, opponent_reach))
        elif actor[node] == player:
            store(cfv, node, _strategy_value(lanes, node, edge_start, child_start, strategy, cfv))
        elif actor[node] != _LEAF:
            store(cfv, node, _passive_value(lanes, node, edge_start, child_start, cfv))


@inner()
def _ranked(lanes, edge, bonus, value):  # type: ignore[no-untyped-def]
    """Returns an action's value for comparison, including its bonus; without a bonus this compiles to nothing."""
    if bonus is None:
        return value
    return value + load(bonus, edge, lanes)


@compiled()
def _best_response(  # type: ignore[no-untyped-def]
    lanes, edge_start, child_start, actor, player, payoff_index, payoffs, opponent_reach, bonus, response, cfv
):
    zero, one = splat(0.0, lanes), splat(1.0, lanes)
    for node in range(len(actor) - 1, -1, -1):
        if actor[node] == _TERMINAL:
            store(cfv, node, _terminal_value(lanes, node, payoff_index, payoffs, opponent_reach))
        elif actor[node] == player:
            first = edge_start[node]
            best, choice = _edge_value(lanes, first, child_start, cfv), zero
            top = _ranked(lanes, first, bonus, best)
            for edge in range(first + 1, edge_start[node + 1]):
                value = _edge_value(lanes, edge, child_start, cfv)
                ranked = _ranked(lanes, edge, bonus, value)
                choice = where_greater(ranked, top, splat(float(edge - first), lanes), choice)
                best = where_greater(ranked, top, value, best)
                top = where_greater(ranked, top, ranked, top)
            for edge in range(first, edge_start[node + 1]):
                index = splat(float(edge - first), lanes)
                not_above = where_greater(index, choice, zero, one)
                store(response, edge, where_greater(choice, index, zero, not_above))
            store(cfv, node, best)
        elif actor[node] != _LEAF:
            store(cfv, node, _passive_value(lanes, node, edge_start, child_start, cfv))


@compiled(error_model="numpy")
def _update_regrets(  # type: ignore[no-untyped-def]
    lanes, edge_start, child_start, actor, player, payoff_index, payoffs, opponent_reach, own_reach, strategy, regret, average,
    cfv, positive_discount, negative_discount, floor, prediction, average_weight, start, end,
):  # fmt: skip
    zero, one = splat(0.0, lanes), splat(1.0, lanes)
    keep_positive, keep_negative = splat(positive_discount, lanes), splat(negative_discount, lanes)
    lowest, predicted = splat(floor, lanes), splat(prediction, lanes)
    for node in range(end - 1, start - 1, -1):
        if actor[node] == _TERMINAL:
            store(cfv, node, _terminal_value(lanes, node, payoff_index, payoffs, opponent_reach))
        elif actor[node] == player:
            first, last = edge_start[node], edge_start[node + 1]
            value = _strategy_value(lanes, node, edge_start, child_start, strategy, cfv)
            weight = load(own_reach, node, lanes) * splat(average_weight, lanes)
            total = zero
            for edge in range(first, last):
                instant = _edge_value(lanes, edge, child_start, cfv) - value
                old = load(regret, edge, lanes)
                new = old * where_greater(old, zero, keep_positive, keep_negative) + instant
                new = where_greater(new, lowest, new, lowest)
                store(regret, edge, new)
                store(average, edge, load(average, edge, lanes) + weight * load(strategy, edge, lanes))
                wanted = new + predicted * instant
                wanted = where_greater(wanted, zero, wanted, zero)
                store(strategy, edge, wanted)
                total += wanted
            scale = one / where_greater(total, zero, total, one)
            uniform = splat(1.0 / (last - first), lanes)
            for edge in range(first, last):
                store(strategy, edge, where_greater(total, zero, load(strategy, edge, lanes) * scale, uniform))
            store(cfv, node, value)
        elif actor[node] != _LEAF:
            store(cfv, node, _passive_value(lanes, node, edge_start, child_start, cfv))


@compiled(nogil=True)
def _repeat(member, members, place, shape, parts, payoff_index, payoffs, reaches, numbers, cfv, steps, alternating):  # type: ignore[no-untyped-def]
    top, ranges = parts
    mine, strategy = ranges[member], numbers[0]
    for t in range(len(steps)):
        step = steps[t, 0], steps[t, 1], steps[t, 2], steps[t, 3], steps[t, 4]
        for turn in range(2):
            for p in range(2):
                if p == turn or not alternating:
                    q = 1 - p
                    for level in range(len(mine) - 1, -1, -1):
                        first, last = mine[level]
                        _update_regrets(
                            *shape, p, payoff_index, payoffs[p], reaches[q], reaches[p], *numbers, cfv[p], *step, first, last
                        )
            meet(members, place)
            for p in range(2):
                if member == 0 and (p == turn or not alternating):
                    q = 1 - p
                    _update_regrets(
                        *shape, p, payoff_index, payoffs[p], reaches[q], reaches[p], *numbers, cfv[p], *step, 0, top
                    )
            for p in range(2):
                if member == 0 and (p == turn or not alternating):
                    _reach(*shape, p, strategy, reaches[p], 0, top)
            meet(members, place)
            for p in range(2):
                if p == turn or not alternating:
                    for level in range(len(mine)):
                        _reach(*shape, p, strategy, reaches[p], mine[level, 0], mine[level, 1])
            if not alternating:
                break
