"""Passes over any tree in numba, along each player's own sequences of actions (`tree/sequences.py`).

They require nothing of a game except perfect recall, so games with hidden actions, private draws during play and phantom games
use them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tacit.compiled import compiled, inner
from tacit.kernels.base import FOLLOW, RESPOND, LeafValues, Numbers, span_of
from tacit.kernels.clock import Clock
from tacit.kernels.leaf_rows import PublicTreePasses
from tacit.kernels.simd import gather, load, scatter_add, splat, store, where_greater, width
from tacit.threads import meet, num_threads, run_together
from tacit.tree.public_tree import Floats, PublicTree
from tacit.tree.sequences import LANES, sequence_layout

_LANES = width(LANES)
PAIRS_PER_THREAD = 5_000
"""With fewer rows of pairs per thread, synchronising takes longer than the pairs (measured)."""
Blocks = NDArray[np.float64]


class RowPasses(PublicTreePasses[Blocks]):
    """Passes over sequences: reach and values are `[Q, LANES]` over a player's sequences, entries `[M, LANES]` over blocks."""

    backend = "numba"
    device = "cpu"

    def __init__(self, tree: PublicTree) -> None:
        super().__init__(tree)
        self.span = span_of(tree.num_entries)
        self._layout = layout = sequence_layout(tree)
        self._shape = tuple((layout.block_start, layout.above, *player.blocks, player.shift) for player in layout.players)
        self._pairs = tuple((p.pairs.own, p.pairs.start, p.pairs.other, p.pairs.payoff) for p in layout.players)
        self._values = tuple(np.zeros((player.num_rows, LANES)) for player in layout.players)
        self._decided = np.zeros(layout.above.shape)  # the value of each infostate
        self._parts = self.divide(num_threads())

    def divide(self, threads: int) -> NDArray[np.int64]:
        """Returns `[2, threads + 1]` the first block of pairs of each thread; all threads get about as many pairs.

        There are fewer threads if there are few pairs.
        """
        pairs = [start for _, start, _, _ in self._pairs]
        threads = max(1, min(threads, int(min(start[-1] for start in pairs)) // PAIRS_PER_THREAD))
        return np.stack([np.searchsorted(start, start[-1] * np.arange(threads + 1) / threads) for start in pairs])

    def entries(self, values: Floats) -> Blocks:
        entries = np.zeros((int(self._layout.block_start[-1]), LANES))
        entries.ravel()[self._layout.entry_position] = values
        return entries

    def to_numpy(self, entries: Blocks) -> Floats:
        return entries.ravel()[self._layout.entry_position]

    def rows_to_numpy(self, player: int, rows: Blocks) -> Floats:
        return rows.ravel()[self._layout.players[player].of_row]

    def new_reach(self, player: int) -> Blocks:
        reach = np.zeros_like(self._values[player])  # empty lanes have no reach
        self.set_roots(player, reach, self.tree.rows[player].root_reach)
        return reach

    def walk_down(self, player: int, strategy: Blocks, reach: Blocks, average: Blocks | None, clock: Clock | None) -> None:
        if average is None or clock is None:
            _reach(*self._shape[player], strategy, reach)
        else:
            _reach_and_average(*self._shape[player], strategy, reach, average, clock.share())

    def walk_up(self, mode: int, player: int, faced: Blocks, leaves: LeafValues | None, numbers: Numbers, clock: Clock) -> None:
        own_reach, strategy, regret, average = numbers
        values = self._values[player]
        values.fill(0.0)
        self._faced, self._leaves = faced, leaves
        if leaves is not None:
            at_leaves = self._layout.players[player].of_row[self._leaf_rows[player]]
            values.ravel()[:] = np.bincount(at_leaves, self._leaf_cfvs(player, faced, leaves), values.size)
        ends = *self._shape[player], *self._pairs[player], faced
        if mode == FOLLOW:
            _follow(*ends, strategy, values, self._decided)
        elif mode == RESPOND:
            _best_response(*ends, regret, strategy, values, self._decided)
        else:
            _add_ends(*self._pairs[player], faced, values, 0, len(self._pairs[player][0]))
            shape = self._shape[player]
            _update_regrets(*shape, own_reach, strategy, regret, average, values, self._decided, *clock.step)

    def repeat(
        self, strategy: Blocks, regret: Blocks, average: Blocks, reaches: Sequence[Blocks], steps: Floats, alternating: bool
    ) -> None:
        tables = self._shape, self._pairs, self._parts, tuple(reaches), (strategy, regret, average), self._values
        run_together(self._parts.shape[1] - 1, _repeat, *tables, self._decided, steps, alternating)

    def root_cfv(self, player: int) -> Blocks:
        return self.get_roots(player, self._values[player])

    def row_values(self, player: int) -> Floats:
        tree, rows = self.tree, self.tree.rows[player]
        own, other = tree.payoff_rows[player], tree.payoff_rows[1 - player]
        paid = (1 - 2 * player) * tree.payoff * self.rows_to_numpy(1 - player, self._faced)[other]
        cfv: Floats = np.bincount(own, paid, len(rows)).astype(np.float64)
        if self._leaves is not None:
            cfv[self._leaf_rows[player]] = self._leaf_cfvs(player, self._faced, self._leaves)
        mine = np.flatnonzero(tree.infostate_player == player)
        cfv[tree.infostate_row[mine]] = self._decided.ravel()[self._layout.infostate_position[mine]]
        for start, end in zip(rows.level_start[-2:0:-1], rows.level_start[:1:-1], strict=True):
            waited = np.flatnonzero(rows.entry[start:end] == tree.num_entries) + start  # somebody else acted
            np.add.at(cfv, rows.parent[waited], cfv[waited])
        return cfv

    def set_roots(self, player: int, reach: Blocks, roots: Blocks) -> None:
        reach.ravel()[: len(roots)] = roots

    def get_roots(self, player: int, reach: Blocks) -> Blocks:
        return reach.ravel()[: self.tree.rows[player].level_start[1]].copy()


# The kernels. Blocks are in the order of decisions: downward passes go forwards, upward passes backwards. `values` are over
# sequences and hold those of leaves when an upward pass starts. Arguments are passed one by one, because numba takes
# microseconds to unpack a tuple; kernels called once per many iterations take tuples.


@compiled()
def _add_ends(own, pair_start, other, payoff, faced, values, first_block, end_block):  # type: ignore[no-untyped-def]
    for block in range(first_block, end_block):
        total = splat(0.0, _LANES)
        for pair in range(pair_start[block], pair_start[block + 1]):
            total += load(payoff, pair, _LANES) * gather(faced, other, pair, _LANES)
        scatter_add(values, own, block, total)


@inner()
def _strategy_value(first, last, shift, strategy, values):  # type: ignore[no-untyped-def]
    value = splat(0.0, _LANES)
    for row in range(first, last):
        value += load(strategy, row, _LANES) * load(values, row + shift, _LANES)
    return value


@compiled()
def _reach(block_start, above, first_block, end_block, shift, strategy, reach):  # type: ignore[no-untyped-def]
    for block in range(first_block, end_block):
        here = gather(reach, above, block, _LANES)
        for row in range(block_start[block], block_start[block + 1]):
            store(reach, row + shift, here * load(strategy, row, _LANES))


@compiled()
def _reach_and_average(block_start, above, first_block, end_block, shift, strategy, reach, average, share):  # type: ignore[no-untyped-def]
    keep, take = splat(1.0 - share, _LANES), splat(share, _LANES)
    for block in range(first_block, end_block):
        here = gather(reach, above, block, _LANES)
        for row in range(block_start[block], block_start[block + 1]):
            below = here * load(strategy, row, _LANES)
            store(reach, row + shift, below)
            store(average, row, keep * load(average, row, _LANES) + take * below)


@compiled()
def _follow(  # type: ignore[no-untyped-def]
    block_start, above, first_block, end_block, shift, own, pair_start, other, payoff, faced, strategy, values, decided
):
    _add_ends(own, pair_start, other, payoff, faced, values, 0, len(own))
    for block in range(end_block - 1, first_block - 1, -1):
        value = _strategy_value(block_start[block], block_start[block + 1], shift, strategy, values)
        store(decided, block, value)
        scatter_add(values, above, block, value)


@inner()
def _ranked(row, bonus, value):  # type: ignore[no-untyped-def]
    """Returns an action's value for comparison, including its bonus; without a bonus this compiles to nothing."""
    if bonus is None:
        return value
    return value + load(bonus, row, _LANES)


@compiled()
def _best_response(  # type: ignore[no-untyped-def]
    block_start, above, first_block, end_block, shift, own, pair_start, other, payoff, faced, bonus, response, values, decided
):
    zero, one = splat(0.0, _LANES), splat(1.0, _LANES)
    _add_ends(own, pair_start, other, payoff, faced, values, 0, len(own))
    for block in range(end_block - 1, first_block - 1, -1):
        first = block_start[block]
        best, choice = load(values, first + shift, _LANES), zero
        top = _ranked(first, bonus, best)
        for row in range(first + 1, block_start[block + 1]):
            value = load(values, row + shift, _LANES)
            ranked = _ranked(row, bonus, value)
            choice = where_greater(ranked, top, splat(float(row - first), _LANES), choice)
            best = where_greater(ranked, top, value, best)
            top = where_greater(ranked, top, ranked, top)
        for row in range(first, block_start[block + 1]):
            index = splat(float(row - first), _LANES)
            not_above = where_greater(index, choice, zero, one)
            store(response, row, where_greater(choice, index, zero, not_above))
        store(decided, block, best)
        scatter_add(values, above, block, best)


@compiled(error_model="numpy")
def _update_regrets(  # type: ignore[no-untyped-def]
    block_start, above, first_block, end_block, shift, own_reach, strategy, regret, average, values, decided,
    positive_discount, negative_discount, floor, prediction, average_weight,
):  # fmt: skip
    """Updates regrets, averages and the strategy after the values of terminal nodes were added."""
    zero, one = splat(0.0, _LANES), splat(1.0, _LANES)
    keep_positive, keep_negative = splat(positive_discount, _LANES), splat(negative_discount, _LANES)
    lowest, predicted = splat(floor, _LANES), splat(prediction, _LANES)
    for block in range(end_block - 1, first_block - 1, -1):
        first, last = block_start[block], block_start[block + 1]
        value = _strategy_value(first, last, shift, strategy, values)
        weight = gather(own_reach, above, block, _LANES) * splat(average_weight, _LANES)
        total = zero
        for row in range(first, last):
            instant = load(values, row + shift, _LANES) - value
            old = load(regret, row, _LANES)
            new = old * where_greater(old, zero, keep_positive, keep_negative) + instant
            new = where_greater(new, lowest, new, lowest)
            store(regret, row, new)
            store(average, row, load(average, row, _LANES) + weight * load(strategy, row, _LANES))
            wanted = new + predicted * instant
            wanted = where_greater(wanted, zero, wanted, zero)
            store(strategy, row, wanted)
            total += wanted
        scale = one / where_greater(total, zero, total, one)
        uniform = splat(1.0 / (last - first), _LANES)
        for row in range(first, last):
            store(strategy, row, where_greater(total, zero, load(strategy, row, _LANES) * scale, uniform))
        store(decided, block, value)
        scatter_add(values, above, block, value)


@compiled(nogil=True)
def _repeat(member, members, place, shapes, pairs, parts, reaches, numbers, values, decided, steps, alternating):  # type: ignore[no-untyped-def]
    """Runs iterations: all threads share the pairs, each sequence's going to one thread; the first thread does the rest."""
    strategy = numbers[0]
    for t in range(len(steps)):
        step = steps[t, 0], steps[t, 1], steps[t, 2], steps[t, 3], steps[t, 4]
        for turn in range(2):
            for p in range(2):
                if member == 0 and (p == turn or not alternating):
                    values[p][:] = 0.0
            meet(members, place)
            for p in range(2):
                if p == turn or not alternating:
                    _add_ends(*pairs[p], reaches[1 - p], values[p], parts[p, member], parts[p, member + 1])
            meet(members, place)
            for p in range(2):
                if member == 0 and (p == turn or not alternating):
                    _update_regrets(*shapes[p], reaches[p], *numbers, values[p], decided, *step)
            for p in range(2):
                if member == 0 and (p == turn or not alternating):
                    _reach(*shapes[p], strategy, reaches[p])
            if not alternating:
                break
