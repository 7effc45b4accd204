"""The expansion phase on the CPU: a walk down each tree, and the copying of a step below the leaf that it reaches.

A walk follows one history. It starts with a pair of private states drawn from the beliefs at the root. At a decision it takes
the action of PUCT or one drawn from the current strategy of the actor's private state, each half the time; chance moves by its
true odds given both private states.

`t` are the tables of steps (`StepTables`), `f` is the forest (`Forest`).
"""

from __future__ import annotations

import numpy as np

from tacit.compiled import compiled
from tacit.random_numbers import uniform
from tacit.search.growing.forest import CLOSED, NEW, NO_NODE, VALUED
from tacit.search.growing.steps import NO_OWN_ACTION, NO_STEP
from tacit.tree.public_tree import NO_PARENT
from tacit.tree.source import NO_CLASS

# No kernel allocates arrays, so none needs reference counting: with some forty arrays it would take most of the time.
_compiled = compiled(_nrt=False)
_inlined = compiled(_nrt=False, inline="always")
NOTHING = -1
"""Target of a walk that reached the end of the game."""
BEST_PRIOR = -1
"""Action of a walk that reached a leaf: if actions are opened one at a time, it stands for the one of the highest prior."""


@_inlined
def _draw_root(t, f, b):  # type: ignore[no-untyped-def]
    """Returns both players' rows at the root, drawn from the beliefs there, or from chance if these exclude each other."""
    state = f.state[b, 0]
    first, end = t.pair_start[state], t.pair_start[state + 1]
    total = 0.0
    for pair in range(first, end):
        total += t.pair_chance[pair] * f.reach[b, 0, t.pair_row[0][pair]] * f.reach[b, 1, t.pair_row[1][pair]]
    left, chosen = uniform(f.random, b) * (total if total > 0.0 else t.state_chance[state]), end - 1
    for pair in range(first, end):
        weight = t.pair_chance[pair]
        if total > 0.0:
            weight *= f.reach[b, 0, t.pair_row[0][pair]] * f.reach[b, 1, t.pair_row[1][pair]]
        if weight > 0.0:
            chosen = pair  # the last possible one if rounding leaves something
            left -= weight
            if left < 0.0:
                break
    return t.pair_row[0][chosen], t.pair_row[1][chosen]


@_inlined
def _grows(t, f, b, node, player, entry):  # type: ignore[no-untyped-def]
    """Returns whether anything below an action can still be opened."""
    if f.opened[b, entry] == CLOSED:
        return True
    k, local = f.step[b, node], entry - f.node_entry[b, node]
    for state in range(t.state_start[k] + 1, t.state_start[k + 1]):
        child = f.link[b, f.node_link[b, node] + state - t.state_start[k] - 1]
        if child != NO_NODE and f.live[b, child] > 0:
            for row in range(t.first_row[player][state], t.first_row[player][state] + t.num_rows[player][state]):
                if t.row_entry[player][row] == local:
                    return True
    return False


@_inlined
def _puct(t, f, b, node, player, h, first, end, exploration):  # type: ignore[no-untyped-def]
    """Returns the entry that PUCT chooses: the best value plus prior times the square root of all visits over own visits.

    Values are infostate values in units of `bound`; an action without one has the value of its infostate. Actions below which
    nothing can be opened are passed over, unless there are no others.
    """
    state, likelihood, visits, other = f.state[b, node], 0.0, 0, 1 - player
    for pair in range(t.pair_start[state], t.pair_start[state + 1]):
        if t.pair_row[player][pair] == h:
            faced = f.faced[b, other, f.node_row[b, other, node] + t.pair_row[other][pair]]
            likelihood += f.scale[b, node] * t.pair_chance[pair] * faced
    unit = 1.0 / (likelihood * f.bound[b]) if likelihood > 0.0 and f.bound[b] > 0.0 else 0.0
    for e in range(first, end):
        visits += f.visits[b, e]
    best, most = first, -np.inf
    for e in range(first, end):
        if not _grows(t, f, b, node, player, e):
            continue
        value = f.edge_value[b, e] if f.opened[b, e] == VALUED else f.cfv[b, player, f.node_row[b, player, node] + h]
        score = unit * value + exploration * f.prior[b, e] * np.sqrt(1.0 + visits) / (1.0 + f.visits[b, e])
        if score > most:
            best, most = e, score
    return best


@_inlined
def _draw_action(f, b, first, end):  # type: ignore[no-untyped-def]
    """Returns an entry drawn from the current strategy."""
    left, chosen = uniform(f.random, b), first
    for e in range(first, end):
        if f.strategy[b, e] > 0.0:
            chosen = e
            left -= f.strategy[b, e]
            if left < 0.0:
                break
    return chosen


@_inlined
def _follows(t, state, pair, rows, actor, entry):  # type: ignore[no-untyped-def]
    """Returns whether a pair at a child descends from the given rows of the step's root by the given entry."""
    first = t.first_row[0][state] + t.pair_row[0][pair]
    second = t.first_row[1][state] + t.pair_row[1][pair]
    own = t.row_entry[0][first] if actor == 0 else t.row_entry[1][second]
    return own == entry and t.row_parent[0][first] == rows[0] and t.row_parent[1][second] == rows[1]


@_inlined
def _draw_child(t, f, b, k, rows, entry):  # type: ignore[no-untyped-def]
    """Returns the child that an action leads to, counted from 0, and both rows there: chance draws by its true odds."""
    actor, first, total = t.actor[k], t.state_start[k] + 1, 0.0
    for state in range(first, t.state_start[k + 1]):
        for pair in range(t.pair_start[state], t.pair_start[state + 1]):
            if _follows(t, state, pair, rows, actor, entry):
                total += t.pair_chance[pair]
    left, child, below = uniform(f.random, b) * total, 0, rows
    for state in range(first, t.state_start[k + 1]):
        for pair in range(t.pair_start[state], t.pair_start[state + 1]):
            if left >= 0.0 and _follows(t, state, pair, rows, actor, entry) and t.pair_chance[pair] > 0.0:
                child, below = state - first, (t.pair_row[0][pair], t.pair_row[1][pair])
                left -= t.pair_chance[pair]
    return child, below


@_compiled
def walk(t, f, exploration, puct_share, target, action):  # type: ignore[no-untyped-def]
    """Walks down each tree once.

    Args:
      t: the steps.
      f: the trees; visits are counted.
      exploration: the constant of PUCT.
      puct_share: how often PUCT chooses instead of the current strategy.
      target: `[B]` receives the node to open, or `NOTHING`.
      action: `[B]` receives the closed action that was chosen there, counted within the node's entries, or `BEST_PRIOR`.
    """
    for b in range(len(f.num_nodes)):
        node, rows = 0, _draw_root(t, f, b)
        target[b], action[b] = NOTHING, BEST_PRIOR
        while f.live[b, 0] > 0 and t.state_class[f.state[b, node]] != NO_CLASS:
            k = f.step[b, node]
            if k == NO_STEP:
                target[b] = node
                break
            actor = t.actor[k]
            h, offset = rows[actor], f.node_entry[b, node]
            first = offset + t.first_entry[t.action_start[k] + h]
            end = offset + t.first_entry[t.action_start[k] + h + 1]
            if uniform(f.random, b) < puct_share:
                entry = _puct(t, f, b, node, actor, h, first, end, exploration)
            else:
                entry = _draw_action(f, b, first, end)
            f.visits[b, entry] += 1
            if f.opened[b, entry] == CLOSED:
                target[b], action[b] = node, entry - offset
                break
            child, rows = _draw_child(t, f, b, k, rows, entry - offset)
            node = f.link[b, f.node_link[b, node] + child]


@_compiled
def begin(t, f, target):  # type: ignore[no-untyped-def]
    """Gives the leaves among the targets `[B]` their step, links and entries, all closed, with uniform priors."""
    for b in range(len(target)):
        node = target[b]
        if node == NOTHING or f.step[b, node] != NO_STEP:
            continue
        state = f.state[b, node]
        k = t.step_of_class[t.state_class[state]]
        f.step[b, node], f.node_entry[b, node], f.node_link[b, node] = k, f.num_entries[b], f.num_links[b]
        for _ in range(t.state_start[k + 1] - t.state_start[k] - 1):
            f.link[b, f.num_links[b]] = NO_NODE
            f.num_links[b] += 1
        for h in range(t.num_rows[t.actor[k]][state]):
            count = t.first_entry[t.action_start[k] + h + 1] - t.first_entry[t.action_start[k] + h]
            for _ in range(count):
                f.prior[b, f.num_entries[b]] = 1.0 / count
                f.num_entries[b] += 1


@_inlined
def _add_child(t, f, b, parent, state):  # type: ignore[no-untyped-def]
    """Adds a child of an open node, with its rows; `state` is the child in the node's step."""
    node, above = f.num_nodes[b], f.state[b, parent]
    f.num_nodes[b] += 1
    f.parent[b, node], f.state[b, node], f.step[b, node] = parent, state, NO_STEP
    f.scale[b, node] = f.scale[b, parent] * t.state_chance[above]
    f.live[b, node] = t.state_class[state] != NO_CLASS
    f.link[b, f.node_link[b, parent] + state - t.state_start[f.step[b, parent]] - 1] = node
    for player in range(2):
        f.node_row[b, player, node] = f.num_rows[b, player]
        for row in range(t.first_row[player][state], t.first_row[player][state] + t.num_rows[player][state]):
            new, entry, share = f.num_rows[b, player], t.row_entry[player][row], 1.0
            f.num_rows[b, player] += 1
            f.row_parent[b, player, new] = f.node_row[b, player, parent] + t.row_parent[player][row]
            f.row_entry[b, player, new] = NO_OWN_ACTION
            if entry != NO_OWN_ACTION:
                f.row_entry[b, player, new] = f.node_entry[b, parent] + entry
                share = f.strategy[b, f.node_entry[b, parent] + entry]
            f.reach[b, player, new] = share * f.reach[b, player, f.row_parent[b, player, new]]
    if t.state_class[state] == NO_CLASS:
        for pair in range(t.pair_start[state], t.pair_start[state + 1]):
            if t.pair_chance[pair] > 0.0:
                f.bound[b] = max(f.bound[b], abs(t.pair_payoff[pair] / t.pair_chance[pair]))


@_inlined
def _best_closed(f, b, first, end):  # type: ignore[no-untyped-def]
    best = first
    for e in range(first, end):
        if f.opened[b, e] == CLOSED and (f.opened[b, best] != CLOSED or f.prior[b, e] > f.prior[b, best]):
            best = e
    return best


@_compiled
def extend(t, f, target, action, whole):  # type: ignore[no-untyped-def]
    """Adds children to the targets: all of them or, if nothing is hidden and not `whole`, those of one action.

    The strategy of a newly opened node is uniform over its open actions. An action that joins others is not played before the
    next regret matching.
    """
    for b in range(len(target)):
        node = target[b]
        if node == NOTHING:
            continue
        k, offset = f.step[b, node], f.node_entry[b, node]
        actor, one, chosen = t.actor[k], t.known[k] and not whole, -1
        gained = -1  # the opened leaf, or closed action, no longer counts
        for h in range(t.num_rows[actor][f.state[b, node]]):
            first = offset + t.first_entry[t.action_start[k] + h]
            end = offset + t.first_entry[t.action_start[k] + h + 1]
            if one:
                chosen = _best_closed(f, b, first, end) if action[b] == BEST_PRIOR else offset + action[b]
                f.opened[b, chosen] = NEW
                if action[b] == BEST_PRIOR:
                    f.strategy[b, chosen] = 1.0
                    gained += end - first - 1
            else:
                for e in range(first, end):
                    f.opened[b, e], f.strategy[b, e] = NEW, 1.0 / (end - first)
        for state in range(t.state_start[k] + 1, t.state_start[k + 1]):
            if not one or t.row_entry[actor][t.first_row[actor][state]] == chosen - offset:
                _add_child(t, f, b, node, state)
                gained += t.state_class[state] != NO_CLASS
        while node != NO_PARENT:
            f.live[b, node] += gained
            node = f.parent[b, node]
