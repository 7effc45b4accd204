"""The search passes on the CPU: loops over the rows of a class's search tree, each step for all games of a group.

All numbers are float32 in the layout of `Batch`: number `offset + index * size + game`. `own` and `other` are the players. A
step handles the games in vectors of `LANES`, the last of which may be only partly filled (`_get` and `_put`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from torch import Tensor

from tacit.compiled import compiled
from tacit.kernels.base import MATCH, RESPOND, LeafValues
from tacit.kernels.clock import Clock
from tacit.kernels.simd import larger, load_some, splat, store_some, where_greater, width
from tacit.search.batch import Batch
from tacit.tree.search_space import SearchSpace

LANES = 16
"""Games in a vector."""
_VECTOR = width(LANES)
_F = np.float32
# The passes allocate no arrays, so they need no reference counting, which alone took a quarter of the regret update.
_compiled = compiled(_nrt=False)
_inlined = compiled(_nrt=False, inline="always")


@_inlined
def _get(numbers, start, count):  # type: ignore[no-untyped-def]
    return load_some(numbers, start, count, _VECTOR)


@_inlined
def _put(numbers, start, count, lanes):  # type: ignore[no-untyped-def]
    store_some(numbers, start, count, lanes)


@_inlined
def _all(number):  # type: ignore[no-untyped-def]
    return splat(_F(number), _VECTOR)


@_compiled
def reach_down(  # type: ignore[no-untyped-def]
    group_class, group_size, row_offset, entry_offset, row_start, num_roots, parent, entry, strategy, reach
):
    """Fills in a player's reach below the roots, which are already set."""
    for k in range(len(group_class)):
        c, n = group_class[k], group_size[k]
        table, base, entries = row_start[c], row_offset[k], entry_offset[k]
        for row in range(num_roots[c], row_start[c + 1] - table):
            here, above, action = base + row * n, base + parent[table + row] * n, entry[table + row]
            for game in range(0, n, LANES):
                reached = _get(reach, above + game, n - game)
                if action >= 0:
                    reached = reached * _get(strategy, entries + action * n + game, n - game)
                _put(reach, here + game, n - game, reached)


@_compiled
def leaf_beliefs(groups, row_offset, leaf_offset, tables, num_roots, reach, beliefs, leaves, first_feature):  # type: ignore[no-untyped-def]
    """Writes a player's normalised reach at every leaf into `beliefs` `[features, leaves]` from row `first_feature` on."""
    (group_class, group_size), (leaf_start, leaf_class, leaf_row) = groups, tables
    for k in range(len(group_class)):
        c, n = group_class[k], group_size[k]
        for leaf in range(leaf_start[c], leaf_start[c + 1]):
            target = first_feature * leaves + leaf_offset[k] + (leaf - leaf_start[c]) * n
            count, base = num_roots[leaf_class[leaf]], row_offset[k] + leaf_row[leaf] * n
            for game in range(0, n, LANES):
                total = _all(0.0)
                for state in range(count):
                    total = total + _get(reach, base + state * n + game, n - game)
                for state in range(count):
                    share = _get(reach, base + state * n + game, n - game) / total
                    share = where_greater(total, _all(1e-20), share, _all(1.0 / count))
                    _put(beliefs, target + state * leaves + game, n - game, share)


@_inlined
def _outcome(n, row, here, other_base, first_leaf, ends, other_reach, worths, cfv):  # type: ignore[no-untyped-def]
    """Sets the values of a terminal or leaf row: the sum over its meetings, times a leaf's value unless that is `weighted`."""
    leaf, state, meeting_start, meeting_row, meeting_weight = ends
    values, leaves, first_output, weighted = worths
    at_leaf = leaf[row] >= 0
    worth = (first_output + state[row]) * leaves + first_leaf + leaf[row] * n
    for game in range(0, n, LANES):
        if at_leaf and weighted:
            value = _get(values, worth + game, n - game)
        else:
            value = _all(0.0)
            for meeting in range(meeting_start[row], meeting_start[row + 1]):
                theirs = _get(other_reach, other_base + meeting_row[meeting] * n + game, n - game)
                value = value + _all(meeting_weight[meeting]) * theirs
            if at_leaf:
                value = value * _get(values, worth + game, n - game)
        _put(cfv, here + game, n - game, value)


@_inlined
def _pass_up(row, table, n, base, entries, parent, entry, opens, edge_value, cfv):  # type: ignore[no-untyped-def]
    """Adds a row's values to the player's own action that led to it, or to the row above if somebody else moved."""
    above, action, here = parent[table + row], entry[table + row], base + row * n
    if above < 0:
        return
    for game in range(0, n, LANES):
        value = _get(cfv, here + game, n - game)
        if action < 0:
            target = base + above * n + game
            _put(cfv, target, n - game, value if opens[table + row] else _get(cfv, target, n - game) + value)
        else:
            target = entries + action * n + game
            _put(edge_value, target, n - game, value if opens[table + row] else _get(edge_value, target, n - game) + value)


@_inlined
def _match(n, game, first, count, value, own_reach, here, strategy, regret, average, edge_value, step):  # type: ignore[no-untyped-def]
    """Updates regrets, average and strategy of one infostate whose value is known, in up to `LANES` games."""
    positive_discount, negative_discount, floor, prediction, average_weight = step
    zero, left, total = _all(0.0), n - game, _all(0.0)
    weight = _all(average_weight) * _get(own_reach, here + game, left)
    for e in range(first, first + count * n, n):
        old, chance, instant = _get(regret, e, left), _get(strategy, e, left), _get(edge_value, e, left) - value
        discount = where_greater(old, zero, _all(positive_discount), _all(negative_discount))
        new = larger(old * discount + instant, _all(floor))
        wanted = larger(new + _all(prediction) * instant, zero)
        _put(average, e, left, _get(average, e, left) + weight * chance)
        _put(regret, e, left, new)
        _put(strategy, e, left, wanted)
        total = total + wanted
    for e in range(first, first + count * n, n):  # a division, so that a total divided by itself is exactly 1
        share = where_greater(total, zero, _get(strategy, e, left) / total, _all(1.0 / count))
        _put(strategy, e, left, share)


@_inlined
def _respond(n, first, count, here, strategy, edge_value, cfv):  # type: ignore[no-untyped-def]
    """Replaces the strategy of one infostate by its best action, the first of equally good ones."""
    for game in range(n):
        best = 0
        for action in range(1, count):
            if edge_value[first + action * n + game] > edge_value[first + best * n + game]:
                best = action
        for action in range(count):
            strategy[first + action * n + game] = 1.0 if action == best else 0.0
        cfv[here + game] = edge_value[first + best * n + game]


@_compiled
def answer(  # type: ignore[no-untyped-def]
    mode, group_class, group_size, own_offset, other_offset, entry_offset, leaf_offset,
    row_start, parent, entry, first_entry, num_actions, opens, ends,
    other_reach, worths, own_reach, strategy, regret, average, edge_value, cfv, step,
):  # fmt: skip
    """Passes values up; `mode` says what happens at the player's decisions: nothing, regret matching, or a best response."""
    meeting_start = ends[2]
    for k in range(len(group_class)):
        c, n = group_class[k], group_size[k]
        table, base, entries = row_start[c], own_offset[k], entry_offset[k]
        for row in range(row_start[c + 1] - table - 1, -1, -1):
            here, count = base + row * n, num_actions[table + row]
            if meeting_start[table + row] < meeting_start[table + row + 1]:
                _outcome(n, table + row, here, other_offset[k], leaf_offset[k], ends, other_reach, worths, cfv)
            elif count > 0 and mode == RESPOND:
                _respond(n, entries + first_entry[table + row] * n, count, here, strategy, edge_value, cfv)
            elif count > 0:
                for game in range(0, n, LANES):
                    left, first = n - game, entries + first_entry[table + row] * n + game
                    value = _all(0.0)
                    for e in range(first, first + count * n, n):
                        value = value + _get(strategy, e, left) * _get(edge_value, e, left)
                    _put(cfv, here + game, left, value)
                    if mode == MATCH:
                        _match(n, game, first, count, value, own_reach, here, strategy, regret, average, edge_value, step)
            _pass_up(row, table, n, base, entries, parent, entry, opens, edge_value, cfv)


@_compiled
def move_average(  # type: ignore[no-untyped-def]
    group_class, group_size, row_offset, entry_offset, row_start, first_entry, num_actions, reach, strategy, average, share
):
    """Moves a player's average a share of the way towards its own reach times strategy."""
    for k in range(len(group_class)):
        c, n = group_class[k], group_size[k]
        table, base, entries = row_start[c], row_offset[k], entry_offset[k]
        for row in range(row_start[c + 1] - table):
            first, actions = entries + first_entry[table + row] * n, num_actions[table + row]
            for game in range(0, n, LANES):
                weights = _all(share) * _get(reach, base + row * n + game, n - game)
                for e in range(first + game, first + game + actions * n, n):
                    kept = _all(1.0 - share) * _get(average, e, n - game)
                    _put(average, e, n - game, kept + weights * _get(strategy, e, n - game))


@_compiled
def take_samples(group_class, group_size, game_offset, entry_offset, entry_start, sample_iteration, iteration, source, target):  # type: ignore[no-untyped-def]
    """Copies all entries of the games that sample this iteration."""
    for k in range(len(group_class)):
        c, n = group_class[k], group_size[k]
        for game in range(n):
            if sample_iteration[game_offset[k] + game] == iteration:
                for entry in range(entry_start[c + 1] - entry_start[c]):
                    place = entry_offset[k] + entry * n + game
                    target[place] = source[place]


class NumbaKernels:
    """The passes on CPU tensors (see `GroupKernels`)."""

    device = "cpu"
    alignment = 1

    def __init__(self, space: SearchSpace) -> None:
        self._tables = space.tables

    def reach_down(self, batch: Batch, player: int, strategy: Tensor, reach: Tensor) -> None:
        t = self._tables.players[player]
        reach_down(
            batch.group_class, batch.group_size, batch.row_offset[player], batch.entry_offset,
            t.row_start, t.num_roots, t.parent, t.entry, strategy.numpy(), reach.numpy(),
        )  # fmt: skip

    def leaf_beliefs(self, batch: Batch, player: int, reach: Tensor, beliefs: Tensor) -> None:
        t, H = self._tables, beliefs.shape[0] // 2
        leaf_beliefs(
            (batch.group_class, batch.group_size), batch.row_offset[player], batch.leaf_offset,
            (t.leaf_start, t.leaf_class, t.leaf_row[player]), t.players[player].num_roots, reach.numpy(),
            beliefs.view(-1).numpy(), beliefs.shape[1], player * H,
        )  # fmt: skip

    def answer(
        self,
        batch: Batch,
        player: int,
        mode: int,
        faced: Tensor,
        leaves: LeafValues,
        numbers: tuple[Tensor, ...],
        clock: Clock,
        keep: bool = False,
    ) -> None:
        del keep  # the values of all rows are kept anyway
        step = tuple(np.float32(weight) for weight in clock.step)
        values = leaves.values.contiguous()
        worths = (values.view(-1).numpy(), values.shape[1], player * (values.shape[0] // 2), leaves.counterfactual)
        answer(mode, *self._walk(batch, player), faced.numpy(), worths, *(array.numpy() for array in numbers), step)

    def move_average(self, batch: Batch, player: int, reach: Tensor, strategy: Tensor, average: Tensor, clock: Clock) -> None:
        t = self._tables.players[player]
        move_average(
            batch.group_class, batch.group_size, batch.row_offset[player], batch.entry_offset, t.row_start, t.first_entry,
            t.num_actions, reach.numpy(), strategy.numpy(), average.numpy(), np.float32(clock.share()),
        )  # fmt: skip

    def take_samples(self, batch: Batch, sample_iteration: Tensor, clock: Clock, source: Tensor, target: Tensor) -> None:
        take_samples(
            batch.group_class, batch.group_size, batch.game_offset, batch.entry_offset, self._tables.entry_start,
            sample_iteration.numpy(), clock.iteration, source.numpy(), target.numpy(),
        )  # fmt: skip

    def _walk(self, b: Batch, player: int) -> tuple[Any, ...]:
        t = self._tables.players[player]
        return (
            b.group_class, b.group_size, b.row_offset[player], b.row_offset[1 - player], b.entry_offset, b.leaf_offset,
            t.row_start, t.parent, t.entry, t.first_entry, t.num_actions, t.opens,
            (t.leaf, t.state, t.meeting_start, t.meeting_row, t.meeting_weight),
        )  # fmt: skip
