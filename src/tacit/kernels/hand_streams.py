"""Whole passes over a hold'em tree that store only regrets and averages, shared by all cores.

Each card dealt after the first board starts a part of the tree that is independent of all others. A thread takes one card after
the other, passes reaches down and values back up, and has memory for one board of each street. The cards' values are added to
the first board once all cards are done, in a fixed order, so results do not depend on the number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.compiled import compiled
from tacit.kernels.base import MATCH
from tacit.kernels.card_removal import LANES, NUM_CARDS
from tacit.kernels.hand_blocks import ALL, bring, clear_deals, copy, enter, hand_up, leave, strides, terminals
from tacit.kernels.hand_layout import HandLayout
from tacit.threads import meet, num_threads, run_together

Array = NDArray[Any]
NUMBERS_PER_THREAD = 20_000
"""The fewest numbers worth a thread of their own: below that, synchronising takes longer than it saves."""


ENTER, LEAVE, KEEP, GIVE, MEET = range(5)
"""A thread's duties: compute a board's reaches, compute its values, store the values of its beginnings, add the stored values
to the first board, or wait for the other threads."""


@compiled(nogil=True)
def _stream(  # type: ignore[no-untyped-def]
    member,
    members,
    place,
    mode,
    players,
    tree,
    plan,
    root_reach,
    weights,
    regret,
    average,
    scales,
    reaches,
    values,
    store,
    room,
    steps,
):
    """Runs passes on one thread of a team; the arguments are those of `HandStreams.run`."""
    duties, first_duty, units, root_at, room_at, store_at = plan
    (parent, node_start, _), block_entry, (begin_start, begin_node, _), lanes = tree[0], tree[1][6], tree[3], tree[5]
    one = np.ones(1, reaches[0].dtype)[0]
    mine = room[0][member], room[1][member], room[2][member], room[3][member], room[4][member], room[5]
    spare = room[6][member]
    at = np.zeros((3, 4), np.int64)  # where rows and values are, for a first board, the next board and the one after that
    for level in range(2):
        for kind in range(4):
            at[1 + level, kind] = room_at[member, level, kind]
    for passed in range(len(steps) * len(players)):
        updated, t = players[passed % len(players)], passed // len(players)
        step = steps[t, 0], steps[t, 1], steps[t, 2], steps[t, 3], steps[t, 4], one
        for number in range(first_duty[member], first_duty[member + 1]):
            duty, block, level = duties[number]
            if duty == MEET:
                meet(members, place)
                continue
            if level < 2:
                for kind in range(4):
                    at[0, kind] = root_at[block if level == 0 else parent[block], kind]
            if duty == ENTER:
                bring(block_entry[2 * block], block_entry[2 * block + 2], weights)
            for p in range(2):
                if duty == ENTER:
                    if updated[1 - p] or mode == MATCH:
                        rows = at[level, p], at[max(0, level - 1), p]
                        enter(block, p, rows, tree, root_reach[p], weights, reaches[p], None, (one - one, one))
                    clear_deals(block, p, at[level, 2 + p], tree, values[p])
                elif not updated[p]:
                    continue
                elif duty == LEAVE:
                    if average is not None:
                        bring(block_entry[2 * block + p], block_entry[2 * block + p + 1], average)
                    own, other = (at[level, p], at[level, 2 + p]), (at[level, 1 - p], at[level, 2 + p])
                    terminals(block, p, other, tree, reaches[1 - p], values[p], mine)
                    leave(block, mode, p, own, tree, values[p], reaches[p], weights, None, regret, average, scales, spare, step)
                    if level == 2:
                        hand_up(block, p, ALL, (at[2, 2 + p], at[1, 2 + p]), tree, values[p], values[p], one)
                elif duty == KEEP:
                    stride, there = strides(lanes[p][0][block + 1] - lanes[p][0][block]), store_at[p, block]
                    for begin in range(begin_start[block], begin_start[block + 1]):
                        here = at[1, 2 + p] + (begin_node[begin] - node_start[block]) * stride
                        copy(values[p], here, store[p], there, stride)
                        there += stride
                else:
                    for unit in units:  # each thread takes some beginnings of every board
                        to = -1 - store_at[p, unit], root_at[parent[unit], 2 + p]
                        hand_up(unit, p, (member, members), to, tree, store[p], values[p], one)


def _duties(parent: Array, members: int) -> tuple[Array, Array]:
    """Returns `[D, 3]` all threads' duties in a pass (duty, board, cards since the first board), and where each thread's start.

    The first thread starts and ends with the first boards. The next boards are dealt out in turn, each with all that follow it.
    """
    roots, below = np.flatnonzero(parent < 0).tolist(), np.searchsorted(parent, np.arange(len(parent) + 1))
    units = np.flatnonzero(np.isin(parent, roots)).tolist()
    duties, starts = [], [0]
    for member in range(members):
        mine = [(ENTER, root, 0) for root in roots] if member == 0 else []
        mine.append((MEET, 0, 0))
        for unit in units[member::members]:
            mine.append((ENTER, unit, 1))
            for block in range(below[unit], below[unit + 1]):
                mine += [(ENTER, block, 2), (LEAVE, block, 2)]
            mine += [(LEAVE, unit, 1), (KEEP, unit, 1)]
        mine += [(MEET, 0, 0), (GIVE, 0, 0), (MEET, 0, 0)]
        duties += mine + ([(LEAVE, root, 0) for root in roots] if member == 0 else [])
        starts.append(len(duties))
    return np.array(duties), np.array(starts)


class HandStreams:
    """Passes over a tree without leaves that store reaches and values only for the boards being visited.

    Args:
      layout: the layout of the tree's numbers.
      tables: the tree's tables (`tables_of`).
      dtype: the type of computed numbers; strategies, regrets and averages may have another.
    """

    def __init__(self, layout: HandLayout, tables: Any, dtype: type) -> None:
        blocks, lanes, self._dtype = layout.tree.blocks, layout.lanes, dtype
        parent = blocks.parent
        roots = np.flatnonzero(parent < 0)
        units = np.flatnonzero(np.isin(parent, roots))
        wide_enough = layout.num_entries // NUMBERS_PER_THREAD
        self.members = members = max(1, min(num_threads(), len(units), wide_enough))
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
        store_at = np.zeros((2, len(parent)), np.int64)
        store_at[:, units] = [np.cumsum(part) - part for part in begins]
        self._plan = *_duties(parent, members), units, root_at, room_at, store_at
        self._tables, self._first, self._roots, self._widths = tables, roots, root_at, [lanes[p].width for p in (0, 1)]
        rooms = [(members, rows, LANES) for rows in (widest + 1, widest, NUM_CARDS, 1)]
        most = int(layout.tree.num_actions.max()) * max(int(part.stride.max()) for part in lanes)
        self._room = (
            *(np.zeros(shape, dtype) for shape in rooms), np.zeros((members, LANES), np.int64), LANES * np.arange(LANES),
            np.zeros((members, 2, most), dtype),
        )  # fmt: skip

    def run(
        self,
        mode: int,
        players: list[tuple[bool, bool]],
        root_reach: tuple[Array, Array],
        weights: Array,
        regret: Array | None,
        average: Array | None,
        scales: tuple[Array, Array] | None,
        steps: Array,
    ) -> None:
        """Runs the given passes one after the other in each iteration.

        Args:
          mode: what happens at the decisions of a pass's players.
          players: for each pass whether it is for player 0, and whether it is for player 1.
          root_reach: both players' reaches of the first boards.
          weights: entries: both players' strategies, as weights.
          regret: entries, or None if no regrets are matched.
          average: entries, or None if no regrets are matched.
          scales: the scales of regrets and averages that are integers (see `leave`).
          steps: `[T, 5]` the weights of each iteration.
        """
        run_together(
            self.members, _stream, mode, np.array(players), self._tables, self._plan, root_reach, weights, regret,
            average, scales, self._reaches, self._values, self._store, self._room, steps.astype(self._dtype),
        )  # fmt: skip

    def root_values(self, player: int) -> Array:
        """Returns a player's values of the first boards, one after the other."""
        starts = self._roots[:, 2 + player]
        parts = [self._values[player][starts[root] : starts[root] + self._widths[player][root]] for root in self._first]
        return np.concatenate(parts)
