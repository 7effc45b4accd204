"""External-sampling MCCFR (Lanctot et al. 2009) over an abstract game, in compiled code, on all cores.

An iteration deals the cards once, then each player in turn is the traverser: all of its actions are tried, the opponent's are
drawn from its current strategy. Regrets are updated at the traverser's nodes, averages at the opponent's: the opponent comes
to a node as often as its own strategy does, so what it plays there is simply added up.

Weights are linear (Linear CFR, Brown & Sandholm 2019), by epochs: before epoch t all sums are multiplied by (t - 1) / t, so an
iteration of epoch t counts t times as much as one of the first.

Where we differ: both traversals of an iteration share one deal. Threads write to the same arrays without locks; an update that
another thread overwrites is lost, which is rare and only makes a sample less. With one thread a run is the same every time.
With imperfect recall (buckets forget earlier streets) no theorem says that averages converge in the abstract game; in practice
they do (Waugh et al. 2009). With `ALL` buckets there is perfect recall and the theorem holds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tacit.blueprint.deals import deal
from tacit.compiled import compiled, inner
from tacit.games.betting import MAX_ACTIONS
from tacit.random_numbers import uniform


class Room(NamedTuple):
    """Where a traversal keeps what it knows of the traverser's decisions on the way; each thread has its own.

    Attributes:
      frames: `[depth, 2]` int64, the node, and which action is being tried there.
      values: `[depth, 9]` float32, what actions are worth to the traverser.
      strategies: `[depth, 9]` float32, what it plays.
      opponents: `[9]` float32, what the opponent plays.
    """

    frames: Any
    values: Any
    strategies: Any
    opponents: Any


@compiled(_nrt=False, inline="always")
def match_regrets(regret, first, count, strategy):  # type: ignore[no-untyped-def]
    """Fills in `strategy` `[count]` in proportion to the positive ones of some regrets; uniform where there is none."""
    total = np.float32(0.0)
    for action in range(count):
        strategy[action] = max(regret[first + action], np.float32(0.0))
        total += strategy[action]
    if total > 0.0:
        scale = np.float32(1.0) / total
        for action in range(count):
            strategy[action] *= scale
    else:
        for action in range(count):
            strategy[action] = np.float32(1.0) / np.float32(count)


@compiled(_nrt=False, inline="always")
def draw_action(strategy, count, streams, stream):  # type: ignore[no-untyped-def]
    """Returns an action of a strategy `[count]`."""
    left = uniform(streams, stream)
    for action in range(count - 1):
        left -= strategy[action]
        if left < 0.0:
            return action
    return count - 1


@inner(_nrt=False)
def traverse(nodes, regret, average, begin, winner, traverser, streams, stream, room):  # type: ignore[no-untyped-def]
    """Updates the traverser's regrets and the opponent's averages for one deal; returns how many nodes were visited.

    Args:
      nodes: `[N]` of `NODE`.
      regret: `[E]` float32.
      average: `[E]` float32.
      begin: `[2, 4]` int64, where the entries of each player's bucket on each street begin, counted from bucket 0.
      winner: 1.0, -1.0 or 0.0, by who has the better hand.
      traverser: 0 or 1.
      streams: random streams, of which
      stream: is drawn from.
      room: `Room`.
    """
    frames, values, strategies, opponents = room
    node, depth, visited = np.int64(0), -1, 0
    sign = np.float32(1.0 if traverser == 0 else -1.0)
    while True:
        # Down to the traverser's next decision or to an end of the game.
        while nodes[node].kind == 1 - traverser:
            count = np.int64(nodes[node].num_actions)
            first = nodes[node].first_entry + begin[1 - traverser, nodes[node].street]
            match_regrets(regret, first, count, opponents)
            for action in range(count):
                average[first + action] += opponents[action]
            node = np.int64(nodes[node].first_child) + draw_action(opponents, count, streams, stream)
            visited += 1
        visited += 1
        if nodes[node].kind == traverser:
            depth += 1
            first = nodes[node].first_entry + begin[traverser, nodes[node].street]
            match_regrets(regret, first, np.int64(nodes[node].num_actions), strategies[depth])
            frames[depth, 0] = node
            action = 0
        else:
            value = sign * (nodes[node].fold_payoff + winner * nodes[node].showdown_payoff)
            if depth < 0:
                return visited
            action = frames[depth, 1]
            values[depth, action] = value
            action += 1
        # On to the next action that leads to a decision, up where there is none.
        while True:
            node = frames[depth, 0]
            count, child = np.int64(nodes[node].num_actions), np.int64(nodes[node].first_child)
            while action < count and nodes[child + action].kind > 1:
                end = child + action
                values[depth, action] = sign * (nodes[end].fold_payoff + winner * nodes[end].showdown_payoff)
                action += 1
                visited += 1
            if action < count:
                frames[depth, 1] = action
                node = child + action
                break
            value = np.float32(0.0)
            for action in range(count):
                value += strategies[depth, action] * values[depth, action]
            first = nodes[node].first_entry + begin[traverser, nodes[node].street]
            for action in range(count):
                regret[first + action] += values[depth, action] - value
            depth -= 1
            if depth < 0:
                return visited
            action = frames[depth, 1]
            values[depth, action] = value
            action += 1


@compiled(nogil=True)
def run_iterations(member, members, place, count, nodes, depth, first_street, tables, regret, average, streams, visited):  # type: ignore[no-untyped-def]
    """Runs the share of one thread of `count` iterations; adds to `visited` `[members]` the nodes it came to."""
    board, bucket, begin = np.empty(5, np.int64), np.zeros((2, 4), np.int64), np.zeros((2, 4), np.int64)
    room = Room(
        np.zeros((depth, 2), np.int64),
        np.zeros((depth, MAX_ACTIONS), np.float32),
        np.zeros((depth, MAX_ACTIONS), np.float32),
        np.zeros(MAX_ACTIONS, np.float32),
    )
    total = 0
    for _ in range(member, count, members):
        winner = np.float32(deal(tables, first_street, streams, member, board, bucket))
        begin[:] = bucket * nodes.stride
        for traverser in range(2):
            total += traverse(nodes.node, regret, average, begin, winner, traverser, streams, member, room)
    visited[member] += total


@compiled(nogil=True)
def discount(member, members, place, factor, regret, average):  # type: ignore[no-untyped-def]
    """Multiplies all regrets and averages by a factor."""
    for entry in range(member * len(regret) // members, (member + 1) * len(regret) // members):
        regret[entry] *= factor
        average[entry] *= factor


@compiled(nogil=True)
def average_strategy(member, members, place, nodes, num_buckets, regret, average, strategy):  # type: ignore[no-untyped-def]
    """Fills in the average strategy `[E]`; the present one where a player never came by its own strategy."""
    for number in range(member, len(nodes.node), members):
        node = nodes.node[number]
        count = np.int64(node.num_actions)
        for bucket in range(num_buckets[node.street] if count else 0):
            first = node.first_entry + bucket * nodes.stride[node.kind, node.street]
            total = np.float32(0.0)
            for action in range(count):
                total += average[first + action]
            if total > 0.0:
                for action in range(count):
                    strategy[first + action] = average[first + action] / total
            else:
                match_regrets(regret, first, count, strategy[first : first + count])
