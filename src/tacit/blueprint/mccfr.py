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

from tacit.blueprint.betting_tree import FOLD_END, LANES, SHOWDOWN_END, WIDTH
from tacit.blueprint.deals import BATCH, deal, make_deals
from tacit.compiled import compiled, inner
from tacit.kernels.simd import prefetch
from tacit.random_numbers import uniform


class Room(NamedTuple):
    """Where a traversal keeps what it knows of the traverser's decisions on the way; each thread has its own.

    Attributes:
      frames: `[depth, 2]` int64, the node, and which action is being tried there.
      values: `[depth, 12]` float32, what actions are worth to the traverser; anything where there is no action.
      strategy: `[12]` float32, the opponent's positive regrets, 0 where there is no action.
    """

    frames: Any
    values: Any
    strategy: Any


@compiled(_nrt=False, inline="always")
def positive_regrets(sums, first, count, strategy):  # type: ignore[no-untyped-def]
    """Fills in `strategy` `[12]` with positive regrets, ones where there is none; returns their sum."""
    total = np.float32(0.0)
    for block in range((count + LANES - 1) // LANES):
        for lane in range(LANES):
            share = max(sums[2 * LANES * (first + block) + lane], np.float32(0.0))
            strategy[LANES * block + lane] = share
            total += share
    if total > 0.0:
        return total
    for action in range(count):
        strategy[action] = np.float32(1.0)
    return np.float32(count)


@compiled(_nrt=False, inline="always")
def draw_action(strategy, total, count, streams, stream):  # type: ignore[no-untyped-def]
    """Returns an action in proportion to `strategy` `[12]`, whose first `count` numbers add up to `total`, the others are 0."""
    left, action = uniform(streams, stream) * total, 0
    for block in range((count + LANES - 1) // LANES):
        for lane in range(LANES):
            left -= strategy[LANES * block + lane]
            action += left >= 0.0  # no branch: nobody could predict it
    return min(action, count - 1)


@inner(_nrt=False)
def traverse(nodes, sums, begin, factor, traverser, streams, room):  # type: ignore[no-untyped-def]
    """Updates the traverser's regrets and the opponent's averages for one deal; returns how many nodes were visited.

    Args:
      nodes: `[N]` of `NODE`.
      sums: `[2 E]` float32, four regrets and four averages for each block.
      begin: `[2, 4]` int64, where the blocks of each player's bucket on each street begin, counted from bucket 0.
      factor: `[4]` float32, what the payoff of an end is multiplied by for the traverser, by the kind of node.
      traverser: 0 or 1.
      streams: `[1]` the random stream.
      room: `Room`.
    """
    frames, values, strategy = room
    node, depth, visited = np.int64(0), -1, 0
    opponent = 1 - traverser
    while True:
        # Down to the traverser's next decision or to an end of the game.
        while nodes[node].kind == opponent:
            count = np.int64(nodes[node].num_actions)
            first = nodes[node].first_block + begin[opponent, nodes[node].street]
            total = positive_regrets(sums, first, count, strategy)
            node = np.int64(nodes[node].first_child) + draw_action(strategy, total, count, streams, 0)
            add_strategy(sums, first, count, strategy, np.float32(1.0) / total)
            visited += 1
        visited += 1
        if nodes[node].kind == traverser:
            depth += 1
            frames[depth, 0] = node
            prefetch(sums, 2 * LANES * (nodes[node].first_block + begin[traverser, nodes[node].street]))
            for child in range(nodes[node].first_child, nodes[node].first_child + nodes[node].num_actions):
                prefetch(sums, 2 * LANES * (nodes[child].first_block + begin[nodes[child].kind & 1, nodes[child].street]))
            action = 0
        else:
            value = nodes[node].payoff * factor[nodes[node].kind]
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
                values[depth, action] = nodes[child + action].payoff * factor[nodes[child + action].kind]
                action += 1
                visited += 1
            if action < count:
                frames[depth, 1] = action
                node = child + action
                break
            value = update_regrets(sums, nodes[node].first_block + begin[traverser, nodes[node].street], count, values[depth])
            depth -= 1
            if depth < 0:
                return visited
            action = frames[depth, 1]
            values[depth, action] = value
            action += 1


@compiled(_nrt=False, inline="always")
def add_strategy(sums, first, count, strategy, scale):  # type: ignore[no-untyped-def]
    """Adds `strategy` `[12]` times a scale to averages."""
    for block in range((count + LANES - 1) // LANES):
        for lane in range(LANES):
            sums[2 * LANES * (first + block) + LANES + lane] += strategy[LANES * block + lane] * scale


@compiled(_nrt=False, inline="always")
def update_regrets(sums, first, count, values):  # type: ignore[no-untyped-def]
    """Adds to regrets what actions were worth, `values` `[12]`, beyond the strategy; returns what that was worth."""
    total, weighted = np.float32(0.0), np.float32(0.0)
    for block in range((count + LANES - 1) // LANES):
        for lane in range(LANES):
            share = max(sums[2 * LANES * (first + block) + lane], np.float32(0.0))
            total += share
            weighted += share * values[LANES * block + lane]
    if total == 0.0:
        total = np.float32(count)
        for action in range(count):
            weighted += values[action]
    value = weighted / total
    for block in range((count + LANES - 1) // LANES):
        for lane in range(LANES):
            sums[2 * LANES * (first + block) + lane] += values[LANES * block + lane] - value
    return value


@compiled(nogil=True)
def run_iterations(member, members, place, count, nodes, depth, first_street, tables, sums, streams, visited):  # type: ignore[no-untyped-def]
    """Runs the share of one thread of `count` iterations; adds to `visited` `[members]` the nodes it came to."""
    deals, begin = make_deals(), np.zeros((2, 4), np.int64)
    stream, factor = streams[member : member + 1].copy(), np.zeros(4, np.float32)
    room = Room(np.zeros((depth, 2), np.int64), np.zeros((depth, WIDTH), np.float32), np.zeros(WIDTH, np.float32))
    total, left = 0, len(range(member, count, members))
    while left > 0:
        some = min(left, BATCH)
        deal(tables, first_street, stream, 0, deals, some)
        left -= some
        for n in range(some):
            begin[:] = deals.bucket[n] * nodes.stride
            for traverser in range(2):
                sign = np.float32(1.0 if traverser == 0 else -1.0)
                factor[FOLD_END], factor[SHOWDOWN_END] = sign, sign * deals.winner[n]
                total += traverse(nodes.node, sums, begin, factor, traverser, stream, room)
    visited[member] += total
    streams[member] = stream[0]


@compiled(nogil=True)
def discount(member, members, place, factor, sums):  # type: ignore[no-untyped-def]
    """Multiplies all regrets and averages `[2 E]` by a factor."""
    for entry in range(member * len(sums) // members, (member + 1) * len(sums) // members):
        sums[entry] *= factor


@compiled(nogil=True)
def average_strategy(member, members, place, nodes, num_buckets, sums, strategy):  # type: ignore[no-untyped-def]
    """Fills in the average strategy `[E]`; the present one where a player never came by its own strategy."""
    for number in range(member, len(nodes.node), members):
        node = nodes.node[number]
        count = np.int64(node.num_actions)
        for bucket in range(num_buckets[node.street] if count else 0):
            first = node.first_block + bucket * nodes.stride[node.kind, node.street]
            shares = strategy[LANES * first : LANES * first + count]
            total = np.float32(0.0)
            for action in range(count):
                block, lane = divmod(action, LANES)
                shares[action] = sums[2 * LANES * (first + block) + LANES + lane]
                total += shares[action]
            if total == 0.0:
                total = positive_regrets(sums, first, count, strategy[LANES * first :])
            for action in range(count):
                shares[action] /= total
