"""The passes over trees of hold'em on the CPU: block after block of the board, so that a board's numbers stay in the cache."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from tacit.compiled import compiled
from tacit.kernels.base import MATCH, RESPOND, LeafValues, Numbers
from tacit.kernels.card_removal import LANES, NUM_CARDS, VECTOR, fold_values, showdown_values, turn
from tacit.kernels.clock import Clock
from tacit.kernels.hand_leaves import HandTreePasses, RunOuts
from tacit.kernels.simd import larger, load_some, splat, store_some, where_greater
from tacit.tree.base import Floats
from tacit.tree.hand_tree import DEALS, DECIDES, FOLDS, FULL_BOARD, SHOWS, HandTree

Array = NDArray[Any]

# The passes make no arrays in their loops, and what they call makes none at all: references need not be counted there.
_inlined = compiled(_nrt=False, inline="always")


@compiled()
def _reach(  # type: ignore[no-untyped-def]
    row_parent, row_entry, row_block, row_offset, entry_offset, lane_start, above, root_reach, strategy, reach, average, share
):
    """Fills a player's reach: the row above times the own action, or where a card came the row above in other lanes.

    `average`, if there is one, becomes `(1 - share) * average + share` times the reach of each action.
    """
    take, averages = splat(share, VECTOR), len(average) > 0
    roots = 0  # lanes of those that came before
    for row in range(len(row_parent)):
        here, entry = row_offset[row], row_entry[row]
        size = row_offset[row + 1] - here
        if row_parent[row] < 0:
            reach[here : here + size] = root_reach[roots : roots + size]
            roots += size
            continue
        before = row_offset[row_parent[row]]
        if entry >= 0:
            played = entry_offset[entry]
            for h in range(0, size, LANES):
                left = size - h
                reached = load_some(reach, before + h, left, VECTOR) * load_some(strategy, played + h, left, VECTOR)
                store_some(reach, here + h, left, reached)
                if averages:
                    mean = load_some(average, played + h, left, VECTOR)
                    store_some(average, played + h, left, mean - take * mean + take * reached)
        else:
            lanes = lane_start[row_block[row]]
            for h in range(size):
                reach[here + h] = reach[before + above[lanes + h]]


@compiled()
def _terminals(block, tables, opponent_row, row_offset, reach, sign, values, value_offset, room):  # type: ignore[no-untyped-def]
    """Fills the values of a block's folds and showdowns."""
    lane_start, cards, tie, terminal_start, num_folds, terminal_node, amount = tables
    reaches, found, by_card, chips, offsets, dense = room
    lanes, size = lane_start[block], lane_start[block + 1] - lane_start[block]
    hand_cards, hand_tie = cards[lanes : lanes + size], tie[lanes : lanes + size]
    folds_end = terminal_start[block] + num_folds[block]
    spare = len(values) - len(reaches)
    for folds in (True, False):
        first, last = (terminal_start[block], folds_end) if folds else (folds_end, terminal_start[block + 1])
        for start in range(first, last, LANES):
            for t in range(LANES):
                node = terminal_node[min(start + t, last - 1)]  # vectors are filled up with the last one
                offsets[t] = row_offset[opponent_row[node]]
                chips[0, t] = sign * amount[node] if folds else amount[node]
            turn(reach, offsets, 1, reaches.reshape(-1), dense, LANES, size)
            if folds:
                fold_values(reaches, hand_cards, size, chips, by_card, found)
            else:
                showdown_values(reaches, hand_cards, hand_tie, size, chips, by_card, found)
            for t in range(LANES):
                offsets[t] = value_offset[terminal_node[start + t]] if start + t < last else spare
            turn(found.reshape(-1), dense, LANES, values, offsets, 1, size)


@_inlined
def _respond(size, actions, at, children, entries, values, response, bonus):  # type: ignore[no-untyped-def]
    """Fills a node's values and the response where its player takes the best of the children for each hand."""
    prefers = len(bonus) > 0
    for h in range(size):
        best, chosen = values[children[0] + h], 0
        if prefers:
            best += bonus[entries[0] + h]
        for a in range(1, actions):
            ranked = values[children[a] + h]
            if prefers:
                ranked += bonus[entries[a] + h]
            if ranked > best:
                best, chosen = ranked, a
        values[at + h] = values[children[chosen] + h]
        for a in range(actions):
            response[entries[a] + h] = 1 if a == chosen else 0


@_inlined
def _follow(size, actions, at, children, entries, values, strategy):  # type: ignore[no-untyped-def]
    """Fills a node's values where its player follows a strategy."""
    for h in range(0, size, LANES):
        left = size - h
        value = load_some(values, children[0] + h, left, VECTOR) * load_some(strategy, entries[0] + h, left, VECTOR)
        for a in range(1, actions):
            value += load_some(values, children[a] + h, left, VECTOR) * load_some(strategy, entries[a] + h, left, VECTOR)
        store_some(values, at + h, left, value)


@_inlined
def _match_regrets(size, actions, at, children, entries, rows, values, strategy, regret, average, reach, step):  # type: ignore[no-untyped-def]
    """Updates regrets, average and strategy at a node whose values are known."""
    positive, negative, floor, prediction, weight, unit = step
    zero = splat(unit - unit, VECTOR)
    keep_positive, keep_negative, lowest = splat(positive, VECTOR), splat(negative, VECTOR), splat(floor, VECTOR)
    ahead, share = splat(prediction, VECTOR), splat(weight, VECTOR)
    number = unit  # of actions, in the arrays' type
    for _ in range(1, actions):
        number += unit
    one, even = splat(unit, VECTOR), splat(unit / number, VECTOR)
    for h in range(0, size, LANES):
        left = size - h
        value, total = load_some(values, at + h, left, VECTOR), zero
        for a in range(actions):
            entry = entries[a] + h
            instant = load_some(values, children[a] + h, left, VECTOR) - value
            old = load_some(regret, entry, left, VECTOR)
            new = larger(old * where_greater(old, zero, keep_positive, keep_negative) + instant, lowest)
            store_some(regret, entry, left, new)
            wish = larger(new + ahead * instant, zero)
            store_some(strategy, entry, left, wish)
            total = total + wish
            played = load_some(reach, rows[a] + h, left, VECTOR)
            store_some(average, entry, left, load_some(average, entry, left, VECTOR) + share * played)
        factor = one / where_greater(total, zero, total, one)
        for a in range(actions):
            wish = load_some(strategy, entries[a] + h, left, VECTOR)
            store_some(strategy, entries[a] + h, left, where_greater(total, zero, wish * factor, even))


@compiled()
def _up(mode, player, nodes, blocks, tables, offsets, reaches, arrays, step, room):  # type: ignore[no-untyped-def]
    """One pass upwards for a player: fills the values of all nodes, and what the mode says at its decisions."""
    kind, actor, node_block, parent, first_entry, num_actions, first_child, child, own_row, opponent_row = nodes
    node_start, lane_start, above, copy_start, copy_above = blocks
    entry_offset, value_offset, own_offset, opponent_offset = offsets
    opponent_reach, own_reach = reaches
    values, strategy, regret, average = arrays
    below, entries, rows = np.empty(64, np.int64), np.empty(64, np.int64), np.empty(64, np.int64)
    sign = 1 if player == 0 else -1
    for node in range(len(kind)):
        if kind[node] == DEALS:
            size = lane_start[node_block[node] + 1] - lane_start[node_block[node]]
            values[value_offset[node] : value_offset[node] + size] = 0
    for block in range(len(node_start) - 2, -1, -1):
        lanes, size = lane_start[block], lane_start[block + 1] - lane_start[block]
        _terminals(block, tables, opponent_row, opponent_offset, opponent_reach, sign, values, value_offset, room)
        for node in range(node_start[block + 1] - 1, node_start[block] - 1, -1):
            at = value_offset[node]
            if kind[node] == DECIDES:
                actions = num_actions[node]
                for a in range(actions):
                    below[a] = value_offset[child[first_child[node] + a]]
                if actor[node] != player:
                    for h in range(0, size, LANES):
                        value = load_some(values, below[0] + h, size - h, VECTOR)
                        for a in range(1, actions):
                            value += load_some(values, below[a] + h, size - h, VECTOR)
                        store_some(values, at + h, size - h, value)
                else:
                    for a in range(actions):
                        entries[a] = entry_offset[first_entry[node] + a]
                        rows[a] = own_offset[own_row[child[first_child[node] + a]]]
                    if mode == RESPOND:
                        _respond(size, actions, at, below, entries, values, strategy, regret)
                    else:
                        _follow(size, actions, at, below, entries, values, strategy)
                    if mode == MATCH:
                        _match_regrets(
                            size, actions, at, below, entries, rows, values, strategy, regret, average, own_reach, step
                        )
            if 0 <= parent[node] < node_start[block]:
                target = value_offset[parent[node]]
                for h in range(size):
                    values[target + above[lanes + h]] += values[at + h]
                for copy in range(copy_start[block], copy_start[block + 1], size):
                    for h in range(size):
                        values[target + copy_above[copy + h]] += values[at + h]


class HandPasses(HandTreePasses[Array]):
    """Passes over a tree of hold'em by numba; reaches are over its rows, the rest over its entries.

    Args:
      tree: the tree.
      dtype: of all numbers: float32 for speed, float64 to check it.
      keep: whether the values of all nodes can be asked after a pass, or full boards share their room.
    """

    backend, device = "numba", "cpu"

    def __init__(self, tree: HandTree, dtype: type = np.float32, *, keep: bool = False) -> None:
        self._none: Array = np.zeros(0, dtype)
        super().__init__(tree, _value_offsets(tree, keep), torch.from_numpy(self._none).dtype)
        self.dtype = dtype
        t, blocks = tree, tree.blocks
        widths = np.diff(blocks.lane_start)
        terminal = np.flatnonzero((t.kind == FOLDS) | (t.kind == SHOWS))
        order = terminal[np.lexsort((terminal, t.kind[terminal] == SHOWS, t.block[terminal]))]
        counts, folds = (np.bincount(t.block[of], minlength=len(widths)) for of in (order, np.flatnonzero(t.kind == FOLDS)))
        self._blocks = (blocks.node_start, blocks.lane_start, blocks.above, blocks.copy_start, blocks.copy_above)
        self._tables: tuple[Array, ...] = (
            blocks.lane_start, blocks.cards, blocks.tie, np.concatenate([[0], np.cumsum(counts)]), folds, order,
            t.amount.astype(dtype),
        )  # fmt: skip
        room = int(widths.max())
        self._values: Array = np.zeros(int(max(self._value_offset + widths[t.block])) + room, dtype)  # the last row is a spare
        self._room: tuple[Array, ...] = (
            np.zeros((room, LANES), dtype), np.zeros((room, LANES), dtype), np.zeros((NUM_CARDS, LANES), dtype),
            np.zeros((1, LANES), dtype), np.zeros(LANES, np.int64), LANES * np.arange(LANES),
        )  # fmt: skip
        self._run_outs = RunOuts(tree, self._value_offset, self._none.dtype.name)

    def entries(self, values: Floats) -> Array:
        return values.astype(self.dtype)

    def to_numpy(self, entries: Array) -> Floats:
        return entries.copy()  # in the same type: there are many of them

    def rows_to_numpy(self, player: int, rows: Array) -> Floats:
        return rows.astype(np.float64)

    def new_reach(self, player: int) -> Array:
        return np.empty(int(self.tree.row_offset[player][-1]), self.dtype)

    def walk_down(self, player: int, strategy: Array, reach: Array, average: Array | None, clock: Clock | None) -> None:
        t, share = self.tree, 0.0 if clock is None else clock.share()
        _reach(
            t.row_parent[player], t.row_entry[player], t.row_block[player], t.row_offset[player], t.entry_offset,
            t.blocks.lane_start, t.blocks.above, self._root_reach[player], strategy, reach,
            self._none if average is None else average, self.dtype(share),
        )  # fmt: skip

    def walk_up(self, mode: int, player: int, faced: Array, leaves: LeafValues | None, numbers: Numbers, clock: Clock) -> None:
        t, (own_reach, *arrays) = self.tree, (self._none if part is None else part for part in numbers)
        self._fill_ends(player, faced, leaves)
        nodes = (
            t.kind, t.actor, t.block, t.parent, t.first_entry, t.num_actions, t.first_child, t.child,
            t.reach_row[player], t.reach_row[1 - player],
        )  # fmt: skip
        offsets = (t.entry_offset, self._value_offset, t.row_offset[player], t.row_offset[1 - player])
        weights = tuple(self.dtype(number) for number in (*clock.step, 1.0))
        _up(
            mode, player, nodes, self._blocks, self._tables, offsets, (faced, own_reach), (self._values, *arrays), weights,
            self._room,
        )  # fmt: skip

    def move(self, rows: Array, other: Array, weight: float) -> None:
        rows += self.dtype(weight) * (other - rows)

    def root_cfv(self, player: int) -> Array:
        t = self.tree
        starts, widths = self._value_offset[t.roots], [t.blocks.width(block) for block in t.block[t.roots]]
        return np.concatenate([self._values[start : start + width] for start, width in zip(starts, widths, strict=True)])

    def set_roots(self, player: int, reach: Array, roots: Array) -> None:
        self._root_reach[player][:] = roots

    def get_roots(self, player: int, reach: Array) -> Array:
        return self._root_reach[player].copy()

    @cached_property
    def _root_reach(self) -> tuple[Array, Array]:
        """For each player the reach of the roots that passes downwards start from."""
        first, second = self.tree.root_reach
        return first.astype(self.dtype), second.astype(self.dtype)


def _value_offsets(tree: HandTree, keep: bool) -> NDArray[np.int64]:
    """Returns `[N]` where each node's values lie. Full boards share room unless kept: each is done with before the next."""
    blocks = tree.blocks
    widths = np.diff(blocks.lane_start)
    sizes = np.diff(blocks.node_start) * widths
    shares = np.array([len(board) == FULL_BOARD and not keep for board in blocks.board]) & (blocks.parent >= 0)
    own = np.where(shares, 0, sizes)
    start = np.where(shares, own.sum(), np.cumsum(own) - own)
    within = np.arange(len(tree)) - blocks.node_start[tree.block]
    offsets: NDArray[np.int64] = start[tree.block] + within * widths[tree.block]
    return offsets
