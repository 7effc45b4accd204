"""Passes over hold'em trees on the CPU, board after board, so that a board's numbers stay in the cache."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from tacit.compiled import compiled
from tacit.kernels.base import FOLLOW, MATCH, RESPOND, LeafValues, Numbers, span_of
from tacit.kernels.card_removal import LANES, NUM_CARDS
from tacit.kernels.clock import Clock
from tacit.kernels.hand_blocks import ALL, LARGEST, clear_deals, enter, hand_up, leave, terminals
from tacit.kernels.hand_layout import lay_out, tables_of
from tacit.kernels.hand_leaves import HandTreePasses, RunOuts
from tacit.kernels.hand_streams import HandStreams
from tacit.tree.base import Floats
from tacit.tree.hand_tree import FULL_BOARD, RUNS_OUT, HandTree

Array = NDArray[Any]
PACKED_BITS = 16


@compiled()
def _down(player, places, tree, root_reach, weights, reach, average, step):  # type: ignore[no-untyped-def]
    """Fills a player's reaches on all boards."""
    parent = tree[0][0]
    for block in range(len(parent)):
        at = places[block], places[max(0, parent[block])]
        enter(block, player, at, tree, root_reach, weights, reach, average, step)


@compiled()
def _up(mode, player, places, tree, faced, values, numbers, step, room):  # type: ignore[no-untyped-def]
    """Computes a player's values on all boards, from the last boards up."""
    parent = tree[0][0]
    reach_at, value_at = places
    for block in range(len(parent)):
        clear_deals(block, player, value_at[block], tree, values)
    for block in range(len(parent) - 1, -1, -1):
        terminals(block, player, (reach_at[1 - player][block], value_at[block]), tree, faced, values, room)
        leave(block, mode, player, (reach_at[player][block], value_at[block]), tree, values, *numbers, None, None, step)
        if parent[block] >= 0:
            hand_up(block, player, ALL, (value_at[block], value_at[parent[block]]), tree, values, values, step[-1])


@compiled()
def _copy_rows(block, ours, theirs, lane_start, shared, source, target, into_tree):  # type: ignore[no-untyped-def]
    """Copies a player's rows between its own lanes, starting at `ours`, and the tree's lanes, starting at `theirs`."""
    for row in range(len(block)):
        for lane in range(lane_start[block[row]], lane_start[block[row] + 1]):
            here, there = ours[row] + lane - lane_start[block[row]], theirs[row] + shared[lane]
            if into_tree:
                target[there] = source[here]
            else:
                target[here] = source[there]


class Packed(NamedTuple):
    """Entries as 16-bit integers.

    Attributes:
      numbers: The integers, in the layout of the passes.
      scale: `[N]` the factor for each decision's integers.
    """

    numbers: NDArray[np.int16]
    scale: NDArray[np.float32]


class HandPasses(HandTreePasses[Array]):
    """Passes over a hold'em tree in numba; each player has lanes for its own hands (`HandLayout`).

    Args:
      tree: the tree.
      dtype: the type of all numbers: float32 for speed, float64 to check it.
      keep: whether all nodes' values are available after a pass; if not, full boards share their memory.
      bits: the width of regrets and averages: 32, or 16 to solve in half the memory (lean passes only).
    """

    backend, device = "numba", "cpu"

    def __init__(self, tree: HandTree, dtype: type = np.float32, *, keep: bool = False, bits: int = 32) -> None:
        self._none: Array = np.zeros(0, dtype)
        self.dtype, self._layout = dtype, lay_out(tree)
        layout, lanes, blocks = self._layout, self._layout.lanes, tree.blocks
        rows = [layout.num_rows[player] * lanes[player].stride for player in (0, 1)]
        self._row_at: tuple[Array, Array] = (np.cumsum(rows[0]) - rows[0], np.cumsum(rows[1]) - rows[1])
        shares = np.array([len(board) == FULL_BOARD and not keep for board in blocks.board]) & (blocks.parent >= 0)
        nodes = np.diff(blocks.node_start)
        self._value_at: list[Array] = []
        room = 0
        for player in (0, 1):
            sizes = nodes * lanes[player].stride
            own = np.where(shares, 0, sizes)
            self._value_at.append(np.where(shares, own.sum(), np.cumsum(own) - own))
            room = max(room, int((self._value_at[player] + sizes).max()))
        super().__init__(tree, torch.from_numpy(self._none).dtype)
        self.lean = not tree.leaf_betting and not (tree.kind == RUNS_OUT).any()
        self.span = span_of(layout.num_entries) if self.lean else 0
        self._packs = bits == PACKED_BITS
        widest = max(int(part.width.max()) for part in lanes)
        self._values: Array = np.zeros(room + widest, dtype)  # the last row is a spare
        self._room: tuple[Array, ...] = (
            np.zeros((widest + 1, LANES), dtype), np.zeros((widest, LANES), dtype), np.zeros((NUM_CARDS, LANES), dtype),
            np.zeros((1, LANES), dtype), np.zeros(LANES, np.int64), LANES * np.arange(LANES),
        )  # fmt: skip
        self._tables = tables_of(layout, dtype)
        self._run_outs = RunOuts(self, self._none.dtype.name)

    def lanes(self, player: int, block: int) -> Array:
        return self._layout.places(player, block)

    def row_starts(self, player: int, nodes: Array) -> NDArray[np.int64]:
        layout, block = self._layout, self.tree.block[nodes]
        rows = self.tree.reach_row[player][nodes] - layout.first_row[player][block]
        starts: NDArray[np.int64] = self._row_at[player][block] + rows * layout.lanes[player].stride[block]
        return starts

    def value_starts(self, player: int, nodes: Array) -> NDArray[np.int64]:
        block = self.tree.block[nodes]
        within = (nodes - self.tree.blocks.node_start[block]) * self._layout.lanes[player].stride[block]
        starts: NDArray[np.int64] = self._value_at[player][block] + within
        return starts

    def entries(self, values: Floats) -> Any:
        entries = self.weights(np.asarray(values, self.dtype))
        return self._pack(entries) if self._packs else entries

    def weights(self, values: Floats) -> Array:
        entries: Array = np.zeros(self._layout.num_entries, values.dtype)
        self._copy(values, entries, False)
        return entries

    def _pack(self, entries: Array) -> Packed:
        """Returns entries as integers."""
        nodes, sizes = self._order
        scale = np.zeros(len(self.tree), np.float32)
        scale[nodes] = np.maximum.reduceat(np.abs(entries), self._layout.node_entry[nodes]) / LARGEST
        by_entry = np.repeat(scale[nodes], sizes)
        numbers = np.rint(np.divide(entries, by_entry, out=np.zeros_like(entries), where=by_entry > 0)).astype(np.int16)
        return Packed(numbers, scale)

    @cached_property
    def _order(self) -> tuple[Array, Array]:
        """Decisions in the order of their entries, and how many each has."""
        starts = self._layout.node_entry[self.tree.decisions]
        order = np.argsort(starts)
        return self.tree.decisions[order], np.diff(starts[order], append=self._layout.num_entries)

    def to_numpy(self, entries: Array) -> Floats:
        if isinstance(entries, Packed):
            nodes, sizes = self._order
            entries = entries.numbers * np.repeat(entries.scale[nodes], sizes)
        values: Floats = np.zeros(self.tree.num_entries, entries.dtype)  # not float64: there are many of them
        self._copy(entries, values, True)
        return values

    def zeros(self) -> Any:
        if self._packs:
            return Packed(np.zeros(self._layout.num_entries, np.int16), np.zeros(len(self.tree), np.float32))
        return np.zeros(self._layout.num_entries, self.dtype)

    def new_regrets(self) -> Any:
        held = self.tree.held
        return self.entries(held.put(np.zeros(self.tree.num_entries))) if len(held.entry) else self.zeros()

    def rows_to_numpy(self, player: int, rows: Array) -> Floats:
        tree, layout, block = self.tree, self._layout, self.tree.row_block[player]
        lanes, within = layout.lanes[player], np.arange(len(block)) - layout.first_row[player][block]
        spread, starts = np.zeros(int(tree.row_offset[player][-1])), self._row_at[player][block] + within * lanes.stride[block]
        _copy_rows(block, starts, tree.row_offset[player], lanes.start, lanes.shared, rows, spread, True)
        return spread

    def new_reach(self, player: int) -> Array:
        return np.empty(int((self._layout.num_rows[player] * self._layout.lanes[player].stride).sum()), self.dtype)

    def walk_down(self, player: int, strategy: Array, reach: Array, average: Array | None, clock: Clock | None) -> None:
        step = self.dtype(0.0 if clock is None else clock.share()), self.dtype(1.0)
        _down(player, self._row_at[player], self._tables, self._root_reach[player], strategy, reach, average, step)

    def walk_up(self, mode: int, player: int, faced: Array, leaves: LeafValues | None, numbers: Numbers, clock: Clock) -> None:
        own_reach, strategy, regret, average = (self._none if part is None else part for part in numbers)
        self._fill_ends(player, faced, leaves)
        weights = tuple(self.dtype(number) for number in (*clock.step, 1.0))
        _up(
            mode, player, (self._row_at, self._value_at[player]), self._tables, faced, self._values,
            (own_reach, strategy, strategy, regret, average), weights, self._room,
        )  # fmt: skip

    def repeat(
        self, strategy: Array, regret: Array, average: Array, reaches: Sequence[Array], steps: Floats, alternating: bool
    ) -> None:
        players = [(True, False), (False, True)] if alternating else [(True, True)]
        scales = None
        if isinstance(regret, Packed):
            scales, regret, average = (regret.scale, average.scale), regret.numbers, average.numbers
        self._streams.run(MATCH, players, self._root_reach, regret, regret, average, scales, steps)

    def played_values(self, player: int, weights: Array, respond: bool) -> Floats:
        """Returns a player's root values if both play `weights`, or if it plays a best response to the opponent."""
        mode, players = RESPOND if respond else FOLLOW, [(player == 0, player == 1)]
        numbers = weights.numbers if isinstance(weights, Packed) else weights  # shares do not depend on the scale
        self._streams.run(mode, players, self._root_reach, numbers, None, None, None, np.ones((1, 5)))
        return self._spread_roots(player, self._streams.root_values(player))

    def move(self, rows: Array, other: Array, weight: float) -> None:
        rows += self.dtype(weight) * (other - rows)

    def root_cfv(self, player: int) -> Array:
        tree, widths = self.tree, self._layout.lanes[player].width
        starts = self.value_starts(player, tree.roots)
        parts = [self._values[start : start + widths[b]] for start, b in zip(starts, tree.block[tree.roots], strict=True)]
        return self._spread_roots(player, np.concatenate(parts))

    def roots(self, values: Floats) -> Array:
        return np.asarray(values, self.dtype)

    def set_roots(self, player: int, reach: Array, roots: Array) -> None:
        self._root_reach[player][:] = roots[self._root_lanes[player]]

    def get_roots(self, player: int, reach: Array) -> Array:
        return self._spread_roots(player, self._root_reach[player])

    def _spread_roots(self, player: int, numbers: Array) -> Array:
        """Returns numbers of the player's lanes at the roots, spread over the tree's lanes."""
        spread: Array = np.zeros(len(self.tree.root_reach[player]), self.dtype)
        spread[self._root_lanes[player]] = numbers
        return spread

    @cached_property
    def _root_lanes(self) -> tuple[Array, Array]:
        """For each player which of the tree's lanes at the roots, root by root, are its own."""
        blocks = self.tree.block[self.tree.roots]
        lanes = np.concatenate([np.arange(*self.tree.blocks.lane_start[block : block + 2]) for block in blocks])
        return np.flatnonzero(self.tree.own[0][lanes]), np.flatnonzero(self.tree.own[1][lanes])

    @cached_property
    def _root_reach(self) -> tuple[Array, Array]:
        """For each player the root reach from which downward passes start."""
        parts: list[Array] = [self.tree.root_reach[p][self._root_lanes[p]].astype(self.dtype) for p in (0, 1)]
        return parts[0], parts[1]

    @cached_property
    def _streams(self) -> HandStreams:
        return HandStreams(self._layout, self._tables, self.dtype)

    def _copy(self, source: Array, target: Array, into_tree: bool) -> None:
        """Copies entries between the tree's order and the order of these lanes."""
        tree, layout, node = self.tree, self._layout, self.tree.entry_node
        for player in (0, 1):
            lanes, mine = layout.lanes[player], np.flatnonzero(tree.actor[node] == player)
            block = tree.block[node[mine]]
            starts = layout.node_entry[node[mine]] + (mine - tree.first_entry[node[mine]]) * lanes.stride[block]
            _copy_rows(block, starts, tree.entry_offset[mine], lanes.start, lanes.shared, source, target, into_tree)
