"""External-sampling MCCFR (Lanctot et al. 2009) over an abstract game, in compiled code, on all cores.

An iteration deals the cards once, then each player in turn is the traverser: all of its actions are tried, while the opponent's
are sampled from its current strategy. Regrets are updated at the traverser's nodes, averages at the opponent's: nodes are
visited in proportion to the opponent's own reach, so its strategies there are simply added up.

Weights are linear (Linear CFR, Brown & Sandholm 2019), by epochs: before epoch t all sums are multiplied by (t - 1) / t, so an
iteration of epoch t counts t times as much as one of the first.

Where we differ: both traversals of an iteration share one deal. Threads write to the same arrays without locks; an update that
another thread overwrites is lost, which is rare and costs only one sample. With one thread, runs can be repeated exactly.
With imperfect recall (buckets forget earlier streets) no theorem says that averages converge in the abstract game; in practice
they do (Waugh et al. 2009). With `ALL` buckets there is perfect recall and the theorem holds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tacit.blueprint.betting_tree import FOLD_END, LANES, SHOWDOWN_END, WIDTH
from tacit.blueprint.deals import BATCH, deal, make_deals
from tacit.compiled import compiled, inner
from tacit.games.betting import MAX_ACTIONS
from tacit.kernels.simd import count_at_most, larger, last, load_at, prefetch, running, splat, store_at, width
from tacit.random_numbers import uniform

FIRST_BIT = np.array([0, *((bits & -bits).bit_length() - 1 for bits in range(1, 2**MAX_ACTIONS))], np.uint8)
"""`[512]` the index of the lowest bit in a set of actions."""


_FOUR = width(LANES)


class Room(NamedTuple):
    """The stack of a traversal: the traverser's decisions on the current path. Each thread has its own.

    Attributes:
      frames: `[depth, 3]` int64, the node, the action being tried there, and the actions still to be tried, as bits.
      values: `[depth * 12]` float32, the values of actions to the traverser; undefined where there is no action.
      bounds: `[12]` float32, cumulative sums of the opponent's positive regrets over actions.
    """

    frames: Any
    values: Any
    bounds: Any


@compiled(_nrt=False, inline="always")
def draw_action(bounds, count, streams, stream):  # type: ignore[no-untyped-def]
    """Returns an action drawn in proportion to the steps of `bounds` `[12]`, which are constant after the last action."""
    drawn, action = np.float32(uniform(streams, stream)) * bounds[count - 1], 0
    for block in range((count + LANES - 1) // LANES):
        # No branch, since it could not be predicted.
        action += count_at_most(load_at(bounds, LANES * block, np.float32(0.0), _FOUR), drawn)
    return min(action, count - 1)


@compiled(_nrt=False, inline="always")
def play(sums, first, count, bounds, streams, stream):  # type: ignore[no-untyped-def]
    """Returns an action drawn by regret matching, and adds the probability of each action to the averages."""
    none = np.float32(0.0)
    total, zero = np.float32(0.0), splat(np.float32(0.0), _FOUR)
    for block in range((count + LANES - 1) // LANES):
        positive = larger(load_at(sums, 2 * LANES * (first + block), none, _FOUR), zero)
        upto = running(positive) + splat(total, _FOUR)
        store_at(bounds, LANES * block, upto)
        total = last(upto)
    if total > 0.0:
        scale = splat(np.float32(1.0) / total, _FOUR)
        for block in range((count + LANES - 1) // LANES):
            place = 2 * LANES * (first + block)
            positive = larger(load_at(sums, place, none, _FOUR), zero)
            store_at(sums, place + LANES, load_at(sums, place + LANES, none, _FOUR) + positive * scale)
    else:
        share = np.float32(1.0) / np.float32(count)
        for action in range(LANES * ((count + LANES - 1) // LANES)):
            place = 2 * LANES * (first + action // LANES) + LANES + action % LANES
            sums[place] += share if action < count else none
            bounds[action] = min(action + 1, count)
    return draw_action(bounds, count, streams, stream)


@inner(_nrt=False)
def traverse(nodes, sums, begin, factor, traverser, streams, room):  # type: ignore[no-untyped-def]
    """Returns the number of decisions visited; updates the traverser's regrets and the opponent's averages for one deal.

    Args:
      nodes: `[N]` of `NODE`, with memory for twelve more behind them.
      sums: `[2 E]` float32, four regrets and four averages for each block.
      begin: `[2, 4]` int64, the offset in blocks of each player's bucket on each street, counted from bucket 0.
      factor: `[4]` float32, the factor that turns an end's payoff into the traverser's, by the kind of node.
      traverser: 0 or 1.
      streams: `[1]` the random stream.
      room: `Room`.
    """
    frames, values, bounds = room
    node, depth, visited = np.int64(0), -1, 0
    opponent = 1 - traverser
    while True:
        # Descend to the traverser's next decision or to an end of the game.
        while nodes[node].kind == opponent:
            first = nodes[node].first_block + begin[opponent, nodes[node].street]
            action = play(sums, first, np.int64(nodes[node].num_actions), bounds, streams, 0)
            node = np.int64(nodes[node].first_child) + action
            visited += 1
        if nodes[node].kind == traverser:
            depth += 1
            visited += 1
            frames[depth, 0] = node
            left = np.int64(nodes[node].decisions)
            prefetch(sums, 2 * LANES * (nodes[node].first_block + begin[traverser, nodes[node].street]))
            # Children that are ends are valued at once; decisions get their values later.
            child = np.int64(nodes[node].first_child)
            for block in range((np.int64(nodes[node].num_actions) + LANES - 1) // LANES):
                for lane in range(LANES):
                    near = child + LANES * block + lane
                    values[WIDTH * depth + LANES * block + lane] = nodes[near].payoff * factor[nodes[near].kind]
                    prefetch(sums, 2 * LANES * (nodes[near].first_block + begin[nodes[near].kind & 1, nodes[near].street]))
        else:
            if depth < 0:
                return visited
            values[WIDTH * depth + frames[depth, 1]] = nodes[node].payoff * factor[nodes[node].kind]
            left = frames[depth, 2]
        # Go on to the next action that leads to a decision; if there is none left, go up.
        while left == 0:
            node = frames[depth, 0]
            first = nodes[node].first_block + begin[traverser, nodes[node].street]
            value = update_regrets(sums, first, np.int64(nodes[node].num_actions), values, WIDTH * depth)
            depth -= 1
            if depth < 0:
                return visited
            values[WIDTH * depth + frames[depth, 1]] = value
            left = frames[depth, 2]
        action = np.int64(FIRST_BIT[left])
        frames[depth, 1], frames[depth, 2] = action, left & (left - 1)
        node = np.int64(nodes[frames[depth, 0]].first_child) + action


@compiled(_nrt=False, inline="always")
def update_regrets(sums, first, count, values, row):  # type: ignore[no-untyped-def]
    """Returns the value of the strategy; adds to regrets how much more each action is worth (`values` from `row` on)."""
    none = np.float32(0.0)
    total, weighted, zero = np.float32(0.0), np.float32(0.0), splat(np.float32(0.0), _FOUR)
    for block in range((count + LANES - 1) // LANES):
        positive = larger(load_at(sums, 2 * LANES * (first + block), none, _FOUR), zero)
        total += last(running(positive))
        weighted += last(running(positive * load_at(values, row + LANES * block, none, _FOUR)))
    if total == 0.0:
        total, weighted = np.float32(count), none
        for action in range(count):
            weighted += values[row + action]
    value = weighted / total
    for block in range((count + LANES - 1) // LANES):
        place = 2 * LANES * (first + block)
        gained = load_at(values, row + LANES * block, none, _FOUR) - splat(value, _FOUR)
        store_at(sums, place, load_at(sums, place, none, _FOUR) + gained)
    return value


@compiled(nogil=True)
def run_iterations(member, members, place, count, nodes, depth, first_street, tables, sums, streams, visited):  # type: ignore[no-untyped-def]
    """Runs one thread's share of `count` iterations; adds the decisions it visits to `visited` `[members]`."""
    deals, begin = make_deals(), np.zeros((2, 4), np.int64)
    stream, factor = streams[member : member + 1].copy(), np.zeros(4, np.float32)
    room = Room(np.zeros((depth, 3), np.int64), np.zeros(depth * WIDTH, np.float32), np.zeros(WIDTH, np.float32))
    total, left = 0, len(range(member, count, members))
    while left > 0:
        some = min(left, BATCH)
        deal(tables, first_street, stream, 0, deals, some)
        left -= some
        for n in range(some):
            for player in range(2):
                for street in range(4):
                    begin[player, street] = deals.bucket[n, player, street] * nodes.stride[player, street]
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
    """Fills in the average strategy `[E]`; the current one at nodes that a player's own strategy never reached."""
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
                for action in range(count):
                    shares[action] = max(sums[2 * LANES * (first + action // LANES) + action % LANES], np.float32(0.0))
                    total += shares[action]
            for action in range(count):
                shares[action] = shares[action] / total if total > 0.0 else np.float32(1.0) / np.float32(count)
