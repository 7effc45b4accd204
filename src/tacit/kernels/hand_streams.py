"""Whole passes over a tree of hold'em that keep nothing but regrets and averages, shared by all cores.

Every card after the first board opens a part of the tree that no other part needs to know about. A thread takes one card after
the other: it lets reaches flow down there, values up again, and has room for one board of each street. What a card is worth is
added to the first board once all cards are done, in their order: so results do not depend on the number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.compiled import compiled
from tacit.kernels.base import MATCH
from tacit.kernels.card_removal import LANES, NUM_CARDS
from tacit.kernels.hand_blocks import ALL, bring, clear_deals, enter, hand_up, leave, strides, terminals
from tacit.kernels.hand_layout import HandLayout
from tacit.threads import meet, num_threads, run_together

Array = NDArray[Any]
NUMBERS_PER_THREAD = 20_000
"""A tree with fewer numbers for each thread is computed by one: meeting the others takes longer."""


@compiled()
def _enter(block, needed, at, before, tree, root_reach, weights, reaches, values):  # type: ignore[no-untyped-def]
    """Fills the rows of those players whose reach is needed on a board, and clears its deals.

    `at` and `before` say where both players' rows and then both players' values start, on the board and on the one before.
    """
    one = np.ones(1, reaches[0].dtype)[0]
    for p in range(2):
        if needed[p]:
            enter(block, p, (at[p], before[p]), tree, root_reach[p], weights, reaches[p], None, (one - one, one))
        clear_deals(block, p, at[2 + p], tree, values[p])


@compiled()
def _leave(block, mode, p, at, tree, weights, regret, average, reaches, values, step, room):  # type: ignore[no-untyped-def]
    """Lets a player's values flow up over a board, once those of what follows it were handed up."""
    terminals(block, p, (at[1 - p], at[2 + p]), tree, reaches[1 - p], values[p], room)
    leave(block, mode, p, (at[p], at[2 + p]), tree, values[p], reaches[p], weights, None, regret, average, step)


@compiled(nogil=True)
def _stream(  # type: ignore[no-untyped-def]
    member, members, place, mode, players, tree, plan, root_reach, weights, regret, average, reaches, values, store, room, steps
):
    """Runs passes on one thread of a team; the arguments are those of `HandStreams.run`."""
    roots, units, below, root_at, room_at, store_at = plan
    (parent, node_start, _), block_entry, (begin_start, begin_node, _), lanes = tree[0], tree[1][6], tree[3], tree[5]
    one = np.ones(1, reaches[0].dtype)[0]
    mine = room[0][member], room[1][member], room[2][member], room[3][member], room[4][member], room[5]
    unit_at, block_at = room_at[member, 0], room_at[member, 1]
    for t in range(len(steps)):
        step = steps[t, 0], steps[t, 1], steps[t, 2], steps[t, 3], steps[t, 4], one
        for turn in range(len(players)):
            updated = players[turn]
            needed = updated[1] or mode == MATCH, updated[0] or mode == MATCH
            if member == 0:
                for root in roots:
                    _enter(root, needed, root_at[root], root_at[root], tree, root_reach, weights, reaches, values)
            meet(members, place)
            for number in range(member, len(units), members):
                unit = units[number]
                _enter(unit, needed, unit_at, root_at[parent[unit]], tree, root_reach, weights, reaches, values)
                for block in range(below[unit], below[unit + 1]):
                    bring(block_entry[2 * block], block_entry[2 * block + 2], weights)
                    _enter(block, needed, block_at, unit_at, tree, root_reach, weights, reaches, values)
                    for p in range(2):
                        if updated[p]:
                            if average is not None:
                                bring(block_entry[2 * block + p], block_entry[2 * block + p + 1], average)
                            _leave(block, mode, p, block_at, tree, weights, regret, average, reaches, values, step, mine)
                            hand_up(block, p, ALL, (block_at[2 + p], unit_at[2 + p]), tree, values[p], values[p], one)
                for p in range(2):
                    if updated[p]:
                        _leave(unit, mode, p, unit_at, tree, weights, regret, average, reaches, values, step, mine)
                        stride, there = strides(lanes[p][0][unit + 1] - lanes[p][0][unit]), store_at[p, number]
                        for begin in range(begin_start[unit], begin_start[unit + 1]):
                            here = unit_at[2 + p] + (begin_node[begin] - node_start[unit]) * stride
                            store[p][there : there + stride] = values[p][here : here + stride]
                            there += stride
            meet(members, place)
            for p in range(2):
                if updated[p]:
                    for number in range(len(units)):  # everyone hands up some of the beginnings
                        to = -1 - store_at[p, number], root_at[parent[units[number]], 2 + p]
                        hand_up(units[number], p, (member, members), to, tree, store[p], values[p], one)
            meet(members, place)
            for p in range(2):
                if member == 0 and updated[p]:
                    for root in roots:
                        _leave(root, mode, p, root_at[root], tree, weights, regret, average, reaches, values, step, mine)


class HandStreams:
    """Passes over a tree without leaves that keep reaches and values only on the way.

    Args:
      layout: of the tree's numbers.
      tables: of the tree (`tables_of`).
      dtype: of all that is computed; strategies, regrets and averages may have another.
    """

    def __init__(self, layout: HandLayout, tables: Any, dtype: type) -> None:
        blocks, lanes, self._dtype = layout.tree.blocks, layout.lanes, dtype
        parent = blocks.parent
        roots = np.flatnonzero(parent < 0)
        units = np.flatnonzero(np.isin(parent, roots))
        wide_enough = layout.num_entries // NUMBERS_PER_THREAD
        self.members = members = max(1, min(num_threads(), len(units), wide_enough))
        below = np.searchsorted(parent, np.arange(len(parent) + 1))  # those after a board lie together
        num_nodes = np.diff(blocks.node_start)
        sizes = [layout.num_rows[p] * lanes[p].stride for p in (0, 1)] + [num_nodes * lanes[p].stride for p in (0, 1)]
        streets = roots, units, np.flatnonzero(~np.isin(parent, roots) & (parent >= 0))
        root_at, room_at = np.zeros((len(parent), 4), np.int64), np.zeros((members, 2, 4), np.int64)
        total: list[int] = []
        for kind, size in enumerate(sizes):
            root_at[roots, kind] = np.cumsum(size[roots]) - size[roots]
            used = int(size[roots].sum())
            for member in range(members):
                for street in (0, 1):
                    room_at[member, street, kind] = used
                    used += int(size[streets[1 + street]].max(initial=0))
            total.append(used)
        widest = max(int(part.width.max()) for part in lanes)
        begins = [layout.num_begins[units] * lanes[p].stride[units] for p in (0, 1)]
        self._reaches: tuple[Array, ...] = tuple(np.zeros(total[p], dtype) for p in (0, 1))
        self._values: tuple[Array, ...] = tuple(
            np.zeros(total[2 + p] + widest, dtype) for p in (0, 1)
        )  # the last row is a spare
        self._store: tuple[Array, ...] = tuple(np.zeros(int(part.sum()), dtype) for part in begins)
        store_at = np.array([np.cumsum(part) - part for part in begins])
        self._plan = roots, units, below, root_at, room_at, store_at
        self._tables, self._roots, self._widths = tables, root_at, [lanes[p].width for p in (0, 1)]
        rooms = [(members, rows, LANES) for rows in (widest + 1, widest, NUM_CARDS, 1)]
        self._room = (
            *(np.zeros(shape, dtype) for shape in rooms), np.zeros((members, LANES), np.int64), LANES * np.arange(LANES),
        )  # fmt: skip

    def run(
        self,
        mode: int,
        players: list[tuple[bool, bool]],
        root_reach: tuple[Array, Array],
        weights: Array,
        regret: Array | None,
        average: Array | None,
        steps: Array,
    ) -> None:
        """Runs passes for some players, one after the other, in each of some iterations.

        Args:
          mode: what happens at their decisions.
          players: for each pass whether it is for player 0, and for player 1.
          root_reach: reaches of the first boards.
          weights: entries: what both play.
          regret: entries, or None where nothing is matched, and
          average: likewise.
          steps: `[T, 5]` the weights of each iteration.
        """
        run_together(
            self.members, _stream, mode, np.array(players), self._tables, self._plan, root_reach, weights, regret,
            average, self._reaches, self._values, self._store, self._room, steps.astype(self._dtype),
        )  # fmt: skip

    def root_values(self, player: int) -> Array:
        """Returns a player's values of the first boards, one after the other."""
        starts = self._roots[:, 2 + player]
        parts = [self._values[player][starts[root] : starts[root] + self._widths[player][root]] for root in self._plan[0]]
        return np.concatenate(parts)
