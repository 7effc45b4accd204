"""The search passes on the CPU: loops over the rows of a class's search tree, every step on all games of a group.

All numbers are float32 in the layout of `Batch`: number `offset + index * size + game`. `own` and `other` are the players.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from torch import Tensor

from tacit.search.batch import Batch
from tacit.search.numbers import Clock, SearchNumbers
from tacit.search.tables import SearchSpace


@njit(cache=True)
def reach_down(  # type: ignore[no-untyped-def]
    group_class, group_size, row_offset, entry_offset, row_start, num_roots, parent, entry, strategy, reach
):
    """Fills a player's reach below the roots, which are set."""
    for k in range(len(group_class)):
        c, n = group_class[k], group_size[k]
        table, base, entries = row_start[c], row_offset[k], entry_offset[k]
        for row in range(num_roots[c], row_start[c + 1] - table):
            here, above, action = base + row * n, base + parent[table + row] * n, entry[table + row]
            if action < 0:
                for game in range(n):
                    reach[here + game] = reach[above + game]
            else:
                taken = entries + action * n
                for game in range(n):
                    reach[here + game] = reach[above + game] * strategy[taken + game]


@njit(cache=True)
def leaf_beliefs(  # type: ignore[no-untyped-def]
    group_class, group_size, row_offset, leaf_offset, leaf_start, leaf_class, leaf_row, num_roots, reach, beliefs, first_feature
):
    """Writes a player's normalised reach at every leaf into `beliefs` `[features, leaves]` from row `first_feature` on."""
    for k in range(len(group_class)):
        c, n = group_class[k], group_size[k]
        for leaf in range(leaf_start[c], leaf_start[c + 1]):
            column = leaf_offset[k] + (leaf - leaf_start[c]) * n
            count, base = num_roots[leaf_class[leaf]], row_offset[k] + leaf_row[leaf] * n
            for game in range(n):
                total = 0.0
                for state in range(count):
                    total += reach[base + state * n + game]
                scale = 1.0 / total if total > 1e-20 else 0.0
                spare = 0.0 if total > 1e-20 else 1.0 / count
                for state in range(count):
                    beliefs[first_feature + state, column + game] = reach[base + state * n + game] * scale + spare


@njit(cache=True)
def _outcome(  # type: ignore[no-untyped-def]
    n, k, row, table, base, other_base, leaf_offset, leaf, state, meetings, other_reach, values, first_output, weighted, cfv
):
    """Sets the values of a terminal or leaf row: what it meets, times what a leaf is worth if not `weighted` already."""
    meeting_start, meeting_row, meeting_weight = meetings
    here = base + row * n
    if weighted and leaf[table + row] >= 0:
        column, output = leaf_offset[k] + leaf[table + row] * n, first_output + state[table + row]
        cfv[here : here + n] = values[output, column : column + n]
        return
    cfv[here : here + n] = 0.0
    for meeting in range(meeting_start[table + row], meeting_start[table + row + 1]):
        theirs, weight = other_base + meeting_row[meeting] * n, meeting_weight[meeting]
        for game in range(n):
            cfv[here + game] += weight * other_reach[theirs + game]
    if leaf[table + row] >= 0:
        column, output = leaf_offset[k] + leaf[table + row] * n, first_output + state[table + row]
        for game in range(n):
            cfv[here + game] *= values[output, column + game]


@njit(cache=True)
def _pass_up(row, table, n, base, entries, parent, entry, opens, edge_value, cfv, root_sum, weight):  # type: ignore[no-untyped-def]
    """Adds a row's values to the own action that led to it, to the row above where another moved, or to the sums at a root."""
    above, action, here = parent[table + row], entry[table + row], base + row * n
    if above < 0:
        for game in range(n):
            root_sum[here + game] += weight * cfv[here + game]
        return
    if action < 0:
        target = base + above * n
        if opens[table + row]:
            cfv[target : target + n] = cfv[here : here + n]
        else:
            for game in range(n):
                cfv[target + game] += cfv[here + game]
    else:
        target = entries + action * n
        if opens[table + row]:
            edge_value[target : target + n] = cfv[here : here + n]
        else:
            for game in range(n):
                edge_value[target + game] += cfv[here + game]


@njit(cache=True)
def update_regrets(  # type: ignore[no-untyped-def]
    group_class, group_size, own_offset, other_offset, entry_offset, leaf_offset,
    row_start, parent, entry, first_entry, num_actions, opens, leaf, state, meetings,
    other_reach, values, first_output, weighted, own_reach, strategy, regret, average, edge_value, cfv, root_sum,
    positive_discount, negative_discount, floor, prediction, average_weight,
):  # fmt: skip
    """Regret matching for one player: values flow up, regrets, average and strategy are updated where they lie."""
    for k in range(len(group_class)):
        c, n = group_class[k], group_size[k]
        table, base, entries = row_start[c], own_offset[k], entry_offset[k]
        for row in range(row_start[c + 1] - table - 1, -1, -1):
            here, count = base + row * n, num_actions[table + row]
            if meetings[0][table + row] < meetings[0][table + row + 1]:
                _outcome(
                    n, k, row, table, base, other_offset[k], leaf_offset, leaf, state, meetings,
                    other_reach, values, first_output, weighted, cfv,
                )  # fmt: skip
            elif count > 0:
                first = entries + first_entry[table + row] * n
                for game in range(n):
                    value = 0.0
                    for action in range(count):
                        value += strategy[first + action * n + game] * edge_value[first + action * n + game]
                    cfv[here + game] = value
                    weight, total = average_weight * own_reach[here + game], 0.0
                    for action in range(count):
                        e = first + action * n + game
                        instant = edge_value[e] - value
                        old = regret[e]
                        new = max(old * (positive_discount if old > 0 else negative_discount) + instant, floor)
                        average[e] += weight * strategy[e]
                        regret[e] = new
                        wanted = max(new + prediction * instant, 0.0)
                        strategy[e] = wanted
                        total += wanted
                    scale = 1.0 / total if total > 0.0 else 0.0
                    spare = 0.0 if total > 0.0 else 1.0 / count
                    for action in range(count):
                        e = first + action * n + game
                        strategy[e] = strategy[e] * scale + spare
            _pass_up(row, table, n, base, entries, parent, entry, opens, edge_value, cfv, root_sum, average_weight)


@njit(cache=True)
def best_response(  # type: ignore[no-untyped-def]
    group_class, group_size, own_offset, other_offset, entry_offset, leaf_offset,
    row_start, parent, entry, first_entry, num_actions, opens, leaf, state, meetings,
    other_reach, values, first_output, weighted, strategy, edge_value, cfv, root_sum, average_weight,
):  # fmt: skip
    """Replaces one player's strategy by a best response."""
    for k in range(len(group_class)):
        c, n = group_class[k], group_size[k]
        table, base, entries = row_start[c], own_offset[k], entry_offset[k]
        for row in range(row_start[c + 1] - table - 1, -1, -1):
            count = num_actions[table + row]
            if meetings[0][table + row] < meetings[0][table + row + 1]:
                _outcome(
                    n, k, row, table, base, other_offset[k], leaf_offset, leaf, state, meetings,
                    other_reach, values, first_output, weighted, cfv,
                )  # fmt: skip
            elif count > 0:
                first = entries + first_entry[table + row] * n
                for game in range(n):
                    best = 0
                    for action in range(1, count):
                        if edge_value[first + action * n + game] > edge_value[first + best * n + game]:
                            best = action
                    for action in range(count):
                        strategy[first + action * n + game] = 1.0 if action == best else 0.0
                    cfv[base + row * n + game] = edge_value[first + best * n + game]
            _pass_up(row, table, n, base, entries, parent, entry, opens, edge_value, cfv, root_sum, average_weight)


@njit(cache=True)
def add_to_average(  # type: ignore[no-untyped-def]
    group_class, group_size, row_offset, entry_offset, row_start, first_entry, num_actions, reach, strategy, average, weight
):
    """Adds weight times own reach times strategy to a player's average."""
    for k in range(len(group_class)):
        c, n = group_class[k], group_size[k]
        table, base, entries = row_start[c], row_offset[k], entry_offset[k]
        for row in range(row_start[c + 1] - table):
            first = entries + first_entry[table + row] * n
            for action in range(num_actions[table + row]):
                for game in range(n):
                    e = first + action * n + game
                    average[e] += weight * reach[base + row * n + game] * strategy[e]


@njit(cache=True)
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
    """The passes on CPU tensors (see `SearchKernels`)."""

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
            batch.group_class, batch.group_size, batch.row_offset[player], batch.leaf_offset, t.leaf_start, t.leaf_class,
            t.leaf_row[player], t.players[player].num_roots, reach.numpy(), beliefs.numpy(), player * H,
        )  # fmt: skip

    def update_regrets(self, s: SearchNumbers, player: int, values: Tensor, clock: Clock, weighted: bool = False) -> None:
        step = (np.float32(weight) for weight in clock.steps[clock.iteration - 1].tolist())
        update_regrets(
            *self._walk(s.batch, player), s.reach[1 - player].numpy(), values.numpy(), player * (values.shape[0] // 2),
            weighted, s.reach[player].numpy(), s.strategy.numpy(), s.regret.numpy(), s.average.numpy(), s.edge_value.numpy(),
            s.cfv[player].numpy(), s.root_sum[player].numpy(), *step,
        )  # fmt: skip

    def best_response(self, s: SearchNumbers, player: int, faced: Tensor, values: Tensor, clock: Clock) -> None:
        weight = np.float32(clock.steps[clock.iteration - 1, -1])
        best_response(
            *self._walk(s.batch, player), faced.numpy(), values.numpy(), player * (values.shape[0] // 2), False,
            s.strategy.numpy(), s.edge_value.numpy(), s.cfv[player].numpy(), s.root_sum[player].numpy(), weight,
        )  # fmt: skip

    def add_to_average(self, s: SearchNumbers, player: int, clock: Clock) -> None:
        t, b = self._tables.players[player], s.batch
        weight = np.float32(clock.steps[clock.iteration - 1, -1])
        add_to_average(
            b.group_class, b.group_size, b.row_offset[player], b.entry_offset, t.row_start, t.first_entry, t.num_actions,
            s.reach[player].numpy(), s.strategy.numpy(), s.average.numpy(), weight,
        )  # fmt: skip

    def take_samples(self, s: SearchNumbers, clock: Clock, source: Tensor, target: Tensor) -> None:
        b = s.batch
        take_samples(
            b.group_class, b.group_size, b.game_offset, b.entry_offset, self._tables.entry_start,
            s.sample_iteration.numpy(), clock.iteration, source.numpy(), target.numpy(),
        )  # fmt: skip

    def _walk(self, b: Batch, player: int) -> tuple[Any, ...]:
        t = self._tables.players[player]
        return (
            b.group_class, b.group_size, b.row_offset[player], b.row_offset[1 - player], b.entry_offset, b.leaf_offset,
            t.row_start, t.parent, t.entry, t.first_entry, t.num_actions, t.opens, t.leaf, t.state,
            (t.meeting_start, t.meeting_row, t.meeting_weight),
        )  # fmt: skip
