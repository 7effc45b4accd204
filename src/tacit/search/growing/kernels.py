"""The regret phase on the CPU: reaches flow down, values flow up, regrets are matched, tree by tree in float64.

`t` are the tables of steps (`StepTables`), `f` is the forest (`Forest`).
"""

from __future__ import annotations

import numpy as np

from tacit.compiled import compiled
from tacit.search.growing.forest import CLOSED, VALUED
from tacit.search.growing.steps import NO_OWN_ACTION, NO_STEP
from tacit.tree.public_tree import NO_PARENT
from tacit.tree.source import NO_CLASS

# No kernel allocates arrays, so none needs reference counting: with some forty arrays it would take most of the time.
_compiled = compiled(_nrt=False)
_inlined = compiled(_nrt=False, inline="always")
NO_REACH = 1e-20
"""A total reach that counts as zero: any private state may be held then."""


@_compiled
def reach_down(f, player):  # type: ignore[no-untyped-def]
    """Fills in a player's reach below the roots, which are already set."""
    for b in range(len(f.num_nodes)):
        for row in range(f.num_rows[b, player]):
            above, entry = f.row_parent[b, player, row], f.row_entry[b, player, row]
            if above != NO_PARENT:
                share = 1.0 if entry == NO_OWN_ACTION else f.strategy[b, entry]
                f.reach[b, player, row] = share * f.reach[b, player, above]


@_inlined
def _is_leaf(t, f, b, node):  # type: ignore[no-untyped-def]
    return f.step[b, node] == NO_STEP and t.state_class[f.state[b, node]] != NO_CLASS


@_compiled
def find_leaves(t, f, tree, leaf):  # type: ignore[no-untyped-def]
    """Writes the leaves that need a value into `tree` and `leaf` `[L]`, as far as there is room, and returns their number.

    A leaf where both private states are known needs a value only once.
    """
    count = 0
    for b in range(len(f.num_nodes)):
        for node in range(f.num_nodes[b]):
            if _is_leaf(t, f, b, node) and not f.leaf_asked[b, node]:
                if count < len(tree):
                    tree[count], leaf[count] = b, node
                count += 1
    return count


@_compiled
def beliefs_at(t, f, tree, node, past, present, beliefs):  # type: ignore[no-untyped-def]
    """Writes both players' beliefs at nodes `[L]` into `beliefs` `[2 * H, L]`, which must be zero before.

    A player's belief is its normalised reach: the sum over updates times `past`, plus the current one times `present` `[2]`.
    If that is zero, it is the current reach alone; if that is zero as well, it is uniform.
    """
    H = beliefs.shape[0] // 2
    for i in range(len(tree)):
        b, n = tree[i], node[i]
        for player in range(2):
            first, count, total, now = f.node_row[b, player, n], t.num_rows[player][f.state[b, n]], 0.0, 0.0
            for row in range(first, first + count):
                total += past * f.reach_sum[b, player, row] + present[player] * f.reach[b, player, row]
                now += f.reach[b, player, row]
            before, latest = past, present[player]
            if total <= NO_REACH:
                total, before, latest = now, 0.0, 1.0
            for h in range(count):
                reached = before * f.reach_sum[b, player, first + h] + latest * f.reach[b, player, first + h]
                beliefs[player * H + h, i] = reached / total if total > NO_REACH else 1.0 / count


@_compiled
def set_leaf_values(t, f, tree, leaf, values):  # type: ignore[no-untyped-def]
    """Stores the infostate values `[2 * H, L]` of leaves."""
    H = values.shape[0] // 2
    for i in range(len(tree)):
        b, node = tree[i], leaf[i]
        state = f.state[b, node]
        f.leaf_asked[b, node] = t.num_rows[0][state] == 1 and t.num_rows[1][state] == 1
        for player in range(2):
            for h in range(t.num_rows[player][state]):
                value = np.float64(values[player * H + h, i])
                f.leaf_value[b, player, f.node_row[b, player, node] + h] = value
                f.bound[b] = max(f.bound[b], abs(value))


@_inlined
def _end(t, f, b, node, player, averages, update_weight):  # type: ignore[no-untyped-def]
    """Sets a player's counterfactual values at a terminal node or a leaf.

    With `averages`, a leaf's value against the sum of the opponent's reaches, minus the same at the previous update, is the
    latest reach's share, provided the strategies below the leaf stay the same (modified CFR-AVE; ReBeL, appendix E).
    """
    state, scale, other = f.state[b, node], f.scale[b, node], 1 - player
    own_row, other_row = f.node_row[b, player, node], f.node_row[b, other, node]
    over = t.state_class[state] == NO_CLASS
    sign = scale if player == 0 else -scale
    for pair in range(t.pair_start[state], t.pair_start[state + 1]):
        weight = sign * t.pair_payoff[pair] if over else scale * t.pair_chance[pair]
        row = other_row + t.pair_row[other][pair]
        faced = f.reach_sum[b, other, row] if averages and not over else f.reach[b, other, row]
        f.cfv[b, player, own_row + t.pair_row[player][pair]] += weight * faced
    if not over:
        for row in range(own_row, own_row + t.num_rows[player][state]):
            f.cfv[b, player, row] *= f.leaf_value[b, player, row]
            if averages:
                before, f.leaf_sum[b, player, row] = f.leaf_sum[b, player, row], f.cfv[b, player, row]
                f.cfv[b, player, row] = (f.leaf_sum[b, player, row] - before) / update_weight


@_inlined
def _match(f, b, row, player, first, end, step):  # type: ignore[no-untyped-def]
    """Updates one infostate, whose actions have values: its value, average, regrets and strategy."""
    positive_discount, negative_discount, floor, prediction, average_weight = step
    value = 0.0
    for e in range(first, end):
        value += f.strategy[b, e] * f.edge_value[b, e]
    f.cfv[b, player, row] = value
    weight, total, count = average_weight * f.reach[b, player, row], 0.0, 0
    for e in range(first, end):
        f.average[b, e] += weight * f.strategy[b, e]
        if f.opened[b, e] != CLOSED:
            f.opened[b, e] = VALUED
            instant, old = f.edge_value[b, e] - value, f.regret[b, e]
            f.regret[b, e] = max(old * (positive_discount if old > 0.0 else negative_discount) + instant, floor)
            f.strategy[b, e] = max(f.regret[b, e] + prediction * instant, 0.0)
            total += f.strategy[b, e]
            count += 1
    for e in range(first, end):
        if f.opened[b, e] != CLOSED:
            f.strategy[b, e] = f.strategy[b, e] / total if total > 0.0 else 1.0 / count


@_compiled
def answer(t, f, player, step, averages):  # type: ignore[no-untyped-def]
    """Passes a player's values up against the opponent's reach, and matches its regrets on the way.

    Closed actions have no value and no regret: regrets are matched among the others. `step` is a `RegretStep` as a tuple;
    `averages` says whether leaves were valued at average strategies.
    """
    other, weight = 1 - player, step[4]
    for b in range(len(f.num_nodes)):
        for row in range(f.num_rows[b, other]):
            f.faced[b, other, row] = f.reach[b, other, row]
            f.reach_sum[b, other, row] += weight * f.reach[b, other, row]
        for row in range(f.num_rows[b, player]):
            f.cfv[b, player, row] = 0.0
        for node in range(f.num_nodes[b]):
            k, first = f.step[b, node], f.node_entry[b, node]
            if k != NO_STEP and t.actor[k] == player:
                for e in range(first, first + t.first_entry[t.action_start[k] + t.num_rows[player][f.state[b, node]]]):
                    f.edge_value[b, e] = 0.0
        for node in range(f.num_nodes[b] - 1, -1, -1):
            state, k, own_row = f.state[b, node], f.step[b, node], f.node_row[b, player, node]
            if k == NO_STEP:
                _end(t, f, b, node, player, averages, weight)
            elif t.actor[k] == player:
                first, entries = f.node_entry[b, node], t.action_start[k]
                for h in range(t.num_rows[player][state]):
                    here, after = first + t.first_entry[entries + h], first + t.first_entry[entries + h + 1]
                    _match(f, b, own_row + h, player, here, after, step)
            for row in range(own_row, own_row + t.num_rows[player][state]):
                value, above, entry = f.cfv[b, player, row], f.row_parent[b, player, row], f.row_entry[b, player, row]
                f.cfv_sum[b, player, row] += weight * value
                if entry != NO_OWN_ACTION:
                    f.edge_value[b, entry] += value
                elif above != NO_PARENT:
                    f.cfv[b, player, above] += value
