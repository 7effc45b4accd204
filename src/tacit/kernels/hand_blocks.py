"""One board's part of a pass over hold'em: reaches come in from the previous board, values go back to it.

Passes visit boards in two ways: level by level with all reaches stored (`numba_hands.py`), or card by card, keeping only the
boards on the path from the first one (`hand_streams.py`). The numbers of a board are contiguous: a player's rows one after the
other, and likewise the values of its nodes, each a vector over the player's hands. A board's *beginnings* are the nodes where
its betting starts.

A strategy is given by weights: actions are played in proportion to the weights' positive part, and uniformly where none is
positive. Regrets are such weights, and so are averages and strategies themselves.
"""

from __future__ import annotations

import numpy as np

from tacit.compiled import compiled, inner
from tacit.kernels.base import FOLLOW, MATCH, RESPOND
from tacit.kernels.card_removal import LANES, fold_values, showdown_values, turn
from tacit.kernels.simd import (
    gather_at,
    larger,
    largest,
    load_at,
    prefetch,
    scatter_add_at,
    splat,
    store_at,
    store_rounded,
    times,
    where_greater,
    width,
)
from tacit.tree.hand_tree import DEALS, DECIDES

MOST_ACTIONS = 64
LARGEST = 32_767
"""The largest integer of 16 bits."""
ALL = np.int64(0), np.int64(1)
"""All beginnings of a board. (numba would compile a version of its own for literals.)"""
LINE = 16
"""How many numbers memory delivers at once, a cache line."""
TWO, THREE = width(2), width(3)
"""Numbers of actions with specialised code."""
ROW = width(8)
"""How many hands are computed at once. Rows are padded with zeros to a multiple of it."""

# The kernels allocate no arrays in their loops, and the functions they call allocate none at all: no reference counting needed.
_inlined = compiled(_nrt=False, inline="always")


@_inlined
def strides(size):  # type: ignore[no-untyped-def]
    """Returns the padded length of a row of `size` hands."""
    return (size + len(ROW) - 1) // len(ROW) * len(ROW)


@_inlined
def clear(numbers, start, end):  # type: ignore[no-untyped-def]
    """Sets some numbers to 0; with a slice this would take numba a second to compile."""
    for place in range(start, end):
        numbers[place] = 0


@_inlined
def copy(source, start, target, end, size):  # type: ignore[no-untyped-def]
    """Copies some numbers."""
    for place in range(size):
        target[end + place] = source[start + place]


@_inlined
def _total(weights, at, stride, actions, one):  # type: ignore[no-untyped-def]
    """Returns the sum of the positive parts of some hands' weights over all actions."""
    zero = splat(one - one, ROW)
    total = larger(load_at(weights, at, one, ROW), zero)
    for a in range(1, times(actions)):
        total += larger(load_at(weights, at + a * stride, one, ROW), zero)
    return total


@_inlined
def _even(actions, one):  # type: ignore[no-untyped-def]
    """Returns `1 / actions` in the type of `one`."""
    number = one
    for _ in range(1, times(actions)):
        number += one
    return splat(one / number, ROW)


@_inlined
def _share(weight, total, divisor, even):  # type: ignore[no-untyped-def]
    """Returns the probability of an action: its share of the total, or `even` where no weight is positive.

    An action with all of the total gets exactly 1, so that values that must be equal stay equal and their regrets 0. That is
    why the weight is divided by `divisor` (the total, or 1) and not multiplied by its inverse.
    """
    zero = weight - weight
    return where_greater(total, zero, larger(weight, zero) / divisor, even)


@inner(error_model="numpy")
def _play(actions, stride, at, source, below, weights, reach, average, step):  # type: ignore[no-untyped-def]
    """Fills the reach rows below one of the player's decisions."""
    share, one = step
    take, unit, zero, even = splat(share, ROW), splat(one, ROW), splat(one - one, ROW), _even(actions, one)
    for h in range(0, stride, len(ROW)):
        reached = load_at(reach, source + h, one, ROW)
        total = _total(weights, at + h, stride, actions, one)
        divisor = where_greater(total, zero, total, unit)
        for a in range(times(actions)):
            entry = at + a * stride + h
            played = reached * _share(load_at(weights, entry, one, ROW), total, divisor, even)
            store_at(reach, below[a] + h, played)
            if average is not None:
                mean = load_at(average, entry, one, ROW)
                store_at(average, entry, mean - take * mean + take * played)


@inner(error_model="numpy")
def enter(block, player, places, tree, root_reach, weights, reach, average, step):  # type: ignore[no-untyped-def]
    """Fills a player's reach rows on a board.

    Args:
      block: the board.
      player: whose rows.
      places: where its rows start, and where those of the previous board start.
      tree: tables (`hand_layout.tables_of`).
      root_reach: the rows of first boards, one after the other.
      weights: the strategy, as weights.
      reach: the rows to fill.
      average: becomes `(1 - share) * average + share` times the reach of each action; None for no update.
      step: the share, and 1 in the type of the numbers.
    """
    here, before = places
    (parent, node_start, root_start), nodes, _, _, rows, lanes = tree
    _, actor, num_actions, first_child, child, node_entry, _, _ = nodes
    node_row, row_parent, first_row, num_begins = rows[player]
    lane_start, above = lanes[player][0], lanes[player][2]
    first, size = lane_start[block], lane_start[block + 1] - lane_start[block]
    stride = strides(size)
    for begin in range(num_begins[block]):
        target = here + begin * stride
        if parent[block] < 0:
            start = root_start[player][block]
            copy(root_reach, start, reach, target, size)
        else:
            wide = strides(lane_start[parent[block] + 1] - lane_start[parent[block]])
            source = before + (row_parent[first_row[block] + begin] - first_row[parent[block]]) * wide
            for h in range(0, stride, len(ROW)):
                store_at(reach, target + h, gather_at(reach, source, above, first + h, ROW))
        clear(reach, target + size, target + stride)
    below = np.empty(MOST_ACTIONS, np.int64)
    for node in range(node_start[block], node_start[block + 1]):
        if actor[node] != player:
            continue
        actions, at = num_actions[node], node_entry[node]
        source = here + (node_row[node] - first_row[block]) * stride
        for a in range(actions):
            below[a] = here + (node_row[child[first_child[node] + a]] - first_row[block]) * stride
        if actions == 2:
            _play(TWO, stride, at, source, below, weights, reach, average, step)
        elif actions == 3:
            _play(THREE, stride, at, source, below, weights, reach, average, step)
        else:
            _play(actions, stride, at, source, below, weights, reach, average, step)


@inner()
def terminals(block, player, places, tree, faced, values, room):  # type: ignore[no-untyped-def]
    """Fills the values of a board's folds and showdowns, `LANES` of them at once.

    Args:
      block: the board.
      player: whose values.
      places: where the opponent's rows start, and where the values start.
      tree: tables.
      faced: the opponent's rows.
      values: the values to fill.
      room: scratch for vectors.
    """
    reach_at, value_at = places
    (_, node_start, _), _, (end_start, num_folds, end_node, amount), _, rows, lanes = tree
    node_row, _, first_row, _ = rows[1 - player]
    lane_start, cards, _, _, _, same, weaker, beaten = lanes[player]
    other = lanes[1 - player]
    reaches, found, by_card, chips, offsets, dense = room
    mine, size = lane_start[block], lane_start[block + 1] - lane_start[block]
    theirs, met = other[0][block], other[0][block + 1] - other[0][block]
    hand_cards, other_cards = cards[mine : mine + size], other[1][theirs : theirs + met]
    stride, wide = strides(size), strides(met)
    folds_end = end_start[block] + num_folds[block]
    spare = len(values) - len(found)
    for folds in (True, False):
        first, last = (end_start[block], folds_end) if folds else (folds_end, end_start[block + 1])
        for start in range(first, last, LANES):
            for t in range(LANES):
                node = end_node[min(start + t, last - 1)]  # the last node pads the vectors
                offsets[t] = reach_at + (node_row[node] - first_row[block]) * wide
                chips[0, t] = -amount[node] if folds and player == 1 else amount[node]
            turn(faced, offsets, 1, reaches.reshape(-1), dense, LANES, met)
            if folds:
                clear(reaches.reshape(-1), met * LANES, met * LANES + LANES)
                fold_values(reaches, other_cards, same[mine : mine + size], hand_cards, chips, by_card, found)
            else:
                ranks = weaker[mine : mine + size], beaten[mine : mine + size]
                showdown_values(reaches, other_cards, ranks, hand_cards, chips, by_card, found)
            for t in range(LANES):
                offsets[t] = spare
                if start + t < last:
                    offsets[t] = value_at + (end_node[start + t] - node_start[block]) * stride
                    clear(values, offsets[t] + size, offsets[t] + stride)
            turn(found.reshape(-1), dense, LANES, values, offsets, 1, size)


@_inlined
def _respond(size, stride, actions, at, entry, children, values, response, bonus):  # type: ignore[no-untyped-def]
    """Fills a node's values and the response when its player takes the best child for each hand."""
    for h in range(size):
        best, chosen = values[children[0] + h], 0
        if len(bonus):
            best += bonus[entry + h]
        for a in range(1, actions):
            ranked = values[children[a] + h]
            if len(bonus):
                ranked += bonus[entry + a * stride + h]
            if ranked > best:
                best, chosen = ranked, a
        values[at + h] = values[children[chosen] + h]
        for a in range(actions):
            response[entry + a * stride + h] = 1 if a == chosen else 0
    clear(values, at + size, at + stride)


@_inlined
def _best(stride, actions, at, children, values, one):  # type: ignore[no-untyped-def]
    """Fills a node's values when its player takes the best child, without recording which one."""
    for h in range(0, stride, len(ROW)):
        best = load_at(values, children[0] + h, one, ROW)
        for a in range(1, actions):
            best = larger(load_at(values, children[a] + h, one, ROW), best)
        store_at(values, at + h, best)


@_inlined
def _follow(stride, actions, at, entry, children, values, weights, one):  # type: ignore[no-untyped-def]
    """Fills a node's values when its player follows a strategy."""
    zero, unit, even = splat(one - one, ROW), splat(one, ROW), _even(actions, one)
    for h in range(0, stride, len(ROW)):
        total = _total(weights, entry + h, stride, actions, one)
        divisor, value = where_greater(total, zero, total, unit), zero
        for a in range(times(actions)):
            played = _share(load_at(weights, entry + a * stride + h, one, ROW), total, divisor, even)
            value += load_at(values, children[a] + h, one, ROW) * played
        store_at(values, at + h, value)


@inner(error_model="numpy")
def _match(actions, stride, at, entry, children, rows, values, strategy, regret, average, reach, step):  # type: ignore[no-untyped-def]
    """Fills a node's values, and updates regrets, average and strategy there.

    If `strategy` is None, the strategy follows from the regrets.
    """
    positive, negative, floor, prediction, weight, one = step
    zero, unit, even = splat(one - one, ROW), splat(one, ROW), _even(actions, one)
    keep_positive, keep_negative, lowest = splat(positive, ROW), splat(negative, ROW), splat(floor, ROW)
    ahead, share = splat(prediction, ROW), splat(weight, ROW)
    if strategy is None:  # noqa: SIM108 (numba prunes the other branch)
        weights = regret
    else:
        weights = strategy
    for h in range(0, stride, len(ROW)):
        total = _total(weights, entry + h, stride, actions, one)
        divisor, value = where_greater(total, zero, total, unit), zero
        for a in range(times(actions)):
            played = _share(load_at(weights, entry + a * stride + h, one, ROW), total, divisor, even)
            value += load_at(values, children[a] + h, one, ROW) * played
        store_at(values, at + h, value)
        total = zero
        for a in range(times(actions)):
            here = entry + a * stride + h
            instant = load_at(values, children[a] + h, one, ROW) - value
            old = load_at(regret, here, one, ROW)
            new = larger(old * where_greater(old, zero, keep_positive, keep_negative) + instant, lowest)
            store_at(regret, here, new)
            played = load_at(reach, rows[a] + h, one, ROW)
            store_at(average, here, load_at(average, here, one, ROW) + share * played)
            if strategy is not None:
                wish = larger(new + ahead * instant, zero)
                store_at(strategy, here, wish)
                total = total + wish
        if strategy is not None:
            divisor = where_greater(total, zero, total, unit)
            for a in range(times(actions)):
                here = entry + a * stride + h
                store_at(strategy, here, _share(load_at(strategy, here, one, ROW), total, divisor, even))


@inner(error_model="numpy")
def _pack(numbers, scales, node, entry, spare, size, top, one):  # type: ignore[no-untyped-def]
    """Writes a decision's numbers as 16-bit integers with a scale of the decision's own."""
    most = spare.dtype.type(LARGEST)
    scales[node] = top / most
    factor = splat(most / top if top > 0 else one - one, ROW)
    for number in range(0, size, len(ROW)):
        store_rounded(numbers, entry + number, load_at(spare, number, one, ROW) * factor)


@inner(error_model="numpy")
def _match_packed(actions, stride, at, node, entry, children, rows, values, regret, average, scales, spare, reach, step):  # type: ignore[no-untyped-def]
    """Does the same as `_match` without a strategy, for regrets and averages stored as integers with a scale per decision."""
    positive, negative, floor, _, weight, one = step
    zero, unit, even = splat(one - one, ROW), splat(one, ROW), _even(actions, one)
    keep_positive, keep_negative, lowest = splat(positive, ROW), splat(negative, ROW), splat(floor, ROW)
    share, regret_scale, average_scale = splat(weight, ROW), splat(scales[0][node], ROW), splat(scales[1][node], ROW)
    top_regret, top_average = zero, zero
    for h in range(0, stride, len(ROW)):
        total = _total(regret, entry + h, stride, actions, one)
        divisor, value = where_greater(total, zero, total, unit), zero
        for a in range(actions):
            played = _share(load_at(regret, entry + a * stride + h, one, ROW), total, divisor, even)
            value += load_at(values, children[a] + h, one, ROW) * played
        store_at(values, at + h, value)
        for a in range(actions):
            there = a * stride + h
            old = load_at(regret, entry + there, one, ROW) * regret_scale
            instant = load_at(values, children[a] + h, one, ROW) - value
            new = larger(old * where_greater(old, zero, keep_positive, keep_negative) + instant, lowest)
            store_at(spare[0], there, new)
            top_regret = larger(top_regret, larger(new, zero - new))
            mean = load_at(average, entry + there, one, ROW) * average_scale + share * load_at(reach, rows[a] + h, one, ROW)
            store_at(spare[1], there, mean)
            top_average = larger(top_average, mean)
    _pack(regret, scales[0], node, entry, spare[0], actions * stride, largest(top_regret), one)
    _pack(average, scales[1], node, entry, spare[1], actions * stride, largest(top_average), one)


@inner()
def _hold(mode, size, stride, actions, at, entry, children, values, shares, start, played):  # type: ignore[no-untyped-def]
    """Restores the play of hands whose play is fixed, and the value of following it where the other hands responded.

    Where regrets were matched, values already are those of the fixed play.
    """
    for h in range(size):
        if shares[start + h] >= 0:
            if mode == RESPOND:
                value = values[children[0] + h] * shares[start + h]
                for a in range(1, actions):
                    value += values[children[a] + h] * shares[start + a * stride + h]
                values[at + h] = value
            if played is not None:
                for a in range(actions):
                    played[entry + a * stride + h] = shares[start + a * stride + h]


@inner(error_model="numpy")
def leave(block, mode, player, places, tree, values, reach, weights, strategy, regret, average, scales, spare, step):  # type: ignore[no-untyped-def]
    """Computes a board's values from its terminal nodes and deals up to its beginnings.

    Args:
      block: the board.
      mode: what happens at the player's decisions.
      player: whose values are computed.
      places: where the player's rows start, and where the values start.
      tree: tables.
      values: already has the values of terminal nodes and of deals.
      reach: the player's rows.
      weights: entries: the strategy to follow.
      strategy: entries: the strategy, or the response; None if it is not needed.
      regret: entries: regrets, or the bonus; None if no regrets are matched, so that numba makes no code for that.
      average: entries, or None.
      scales: each node's factor for the integers in `regret` and for those in `average`; None if these are not integers.
      spare: `[2, numbers of a decision]` scratch for the numbers before they become integers, or None.
      step: the weights of an update (`RegretStep`), and 1; in the type of the numbers.
    """
    row_at, value_at = places
    (_, node_start, _), nodes, _, _, rows, lanes = tree
    kind, actor, num_actions, first_child, child, node_entry, _, (held_start, held) = nodes
    node_row, _, first_row, _ = rows[player]
    lane_start = lanes[player][0]
    one = step[-1]
    size = lane_start[block + 1] - lane_start[block]
    stride = strides(size)
    below, action_row = np.empty(MOST_ACTIONS, np.int64), np.empty(MOST_ACTIONS, np.int64)
    for node in range(node_start[block + 1] - 1, node_start[block] - 1, -1):
        if kind[node] != DECIDES:
            continue
        at, actions, first = value_at + (node - node_start[block]) * stride, num_actions[node], first_child[node]
        entry = node_entry[node]
        for a in range(actions):
            below[a] = value_at + (child[first + a] - node_start[block]) * stride
        if actor[node] != player:
            for h in range(0, stride, len(ROW)):
                value = load_at(values, below[0] + h, one, ROW)
                for a in range(1, actions):
                    value += load_at(values, below[a] + h, one, ROW)
                store_at(values, at + h, value)
        elif mode == RESPOND:
            if strategy is None:
                _best(stride, actions, at, below, values, one)
            else:
                _respond(size, stride, actions, at, entry, below, values, strategy, regret)
        elif mode == MATCH:
            if regret is not None:
                for a in range(actions):
                    action_row[a] = row_at + (node_row[child[first + a]] - first_row[block]) * stride
                if scales is None:
                    if actions == 2:
                        _match(TWO, stride, at, entry, below, action_row, values, strategy, regret, average, reach, step)
                    elif actions == 3:
                        _match(THREE, stride, at, entry, below, action_row, values, strategy, regret, average, reach, step)
                    else:
                        _match(actions, stride, at, entry, below, action_row, values, strategy, regret, average, reach, step)
                else:
                    _match_packed(
                        actions, stride, at, node, entry, below, action_row, values, regret, average, scales, spare, reach, step
                    )
        else:
            _follow(stride, actions, at, entry, below, values, weights, one)
        if held_start[node] >= 0 and actor[node] == player and mode != FOLLOW:
            if strategy is None:  # noqa: SIM108 (numba prunes the other branch)
                played = regret
            else:
                played = strategy
            _hold(mode, size, stride, actions, at, entry, below, values, held, held_start[node], played)


@inner()
def bring(start, end, numbers):  # type: ignore[no-untyped-def]
    """Prefetches entries: decisions read them in an order that the hardware does not predict."""
    for entry in range(start, end, LINE):
        prefetch(numbers, entry)


@inner()
def clear_deals(block, player, value_at, tree, values):  # type: ignore[no-untyped-def]
    """Clears the values of nodes where a card is dealt."""
    node_start, kind, lane_start = tree[0][1], tree[1][0], tree[5][player][0]
    stride = strides(lane_start[block + 1] - lane_start[block])
    for node in range(node_start[block], node_start[block + 1]):
        if kind[node] == DEALS:
            start = value_at + (node - node_start[block]) * stride
            clear(values, start, start + stride)


@inner()
def _add(values, there, index, first, source, here, size, one):  # type: ignore[no-untyped-def]
    """Adds a row to another one at the places given by `index`."""
    whole = size - size % len(ROW)
    for h in range(0, whole, len(ROW)):
        scatter_add_at(values, there, index, first + h, load_at(source, here + h, one, ROW))
    for h in range(whole, size):
        values[there + index[first + h]] += source[here + h]


@inner()
def hand_up(block, player, begins, places, tree, source, values, one):  # type: ignore[no-untyped-def]
    """Adds the values of some beginnings of a board to those of the deals that led there.

    Args:
      block: the board.
      player: whose values.
      begins: the first beginning to add, and the step to the next (`ALL` adds all).
      places: where the values of its nodes start in `source`, and those of the previous board in `values`. If the first is
        negative, `source` has values of beginnings alone, from `-1 - places[0]` on.
      tree: tables.
      source: values of this board.
      values: values of the previous board.
      one: 1 in the type of the values.
    """
    first, target = places
    (parent, node_start, _), _, _, (begin_start, begin_node, begin_deal), _, lanes = tree
    lane_start, _, above, copy_start, copy_above = lanes[player][:5]
    lane, size = lane_start[block], lane_start[block + 1] - lane_start[block]
    stride, wide = strides(size), strides(lane_start[parent[block] + 1] - lane_start[parent[block]])
    for number in range(begins[0], begin_start[block + 1] - begin_start[block], begins[1]):
        begin = begin_start[block] + number
        here = first + (begin_node[begin] - node_start[block]) * stride if first >= 0 else -1 - first + number * stride
        there = target + (begin_deal[begin] - node_start[parent[block]]) * wide
        _add(values, there, above, lane, source, here, size, one)
        for copy in range(copy_start[block], copy_start[block + 1], max(1, size)):
            _add(values, there, copy_above, copy, source, here, size, one)
