"""What a pass does on one board of hold'em: reaches come in from the board before, values go back to it.

Boards are walked over in two ways. With all reaches at hand, level by level (`numba_hands.py`); or one card after the other, so
that only what lies on the way from the first board is kept (`hand_streams.py`). Numbers of a board lie together: its rows of a
player one after the other from some place on, and likewise the values of its nodes, each a vector over the player's hands.

A strategy is given by weights: what is played is their positive part, in proportion, and all actions alike where nothing is
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
"""Of integers of 16 bits."""
ALL = np.int64(0), np.int64(1)
"""All beginnings of a board. (Literals would have numba compile for them alone.)"""
LINE = 16
"""Numbers that are fetched from memory at once."""
TWO, THREE = width(2), width(3)
"""Numbers of actions that have code of their own."""
ROW = width(8)
"""Hands that are computed at once. Rows are filled up to a multiple of them, with zeros."""

# The kernels make no arrays in their loops, and what they call makes none at all: references need not be counted there.
_inlined = compiled(_nrt=False, inline="always")


@_inlined
def strides(size):  # type: ignore[no-untyped-def]
    """Returns how much room rows of so many hands take."""
    return (size + len(ROW) - 1) // len(ROW) * len(ROW)


@_inlined
def clear(numbers, start, end):  # type: ignore[no-untyped-def]
    """Sets some numbers to 0; numba takes a second to compile the same with a slice."""
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
    """Returns what a weight means: its share of the total, or `even` where there is nothing positive.

    What has all of the total is played always, exactly: values that must be equal stay equal, and regrets 0. So it is divided
    by `divisor` (the total, or 1) and not multiplied with its inverse.
    """
    zero = weight - weight
    return where_greater(total, zero, larger(weight, zero) / divisor, even)


@inner(error_model="numpy")
def _play(actions, stride, at, source, below, weights, reach, average, step):  # type: ignore[no-untyped-def]
    """Fills the rows below a decision of the player's."""
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
    """Fills a player's rows of a board.

    Args:
      block: the board.
      player: whose rows.
      places: where its rows start, and those of the board before.
      tree: tables (`hand_layout.tables_of`).
      root_reach: the rows of first boards, one after the other.
      weights: what is played.
      reach: the rows.
      average: becomes `(1 - share) * average + share` times the reach of each action; None leaves it alone.
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
      places: where the opponent's rows start, and the values.
      tree: tables.
      faced: the opponent's rows.
      values: what is filled.
      room: for vectors.
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
                node = end_node[min(start + t, last - 1)]  # vectors are filled up with the last one
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
    """Fills a node's values and the response where its player takes the best of the children for each hand."""
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
    """Fills a node's values where its player takes the best of the children, and nobody asks which it is."""
    for h in range(0, stride, len(ROW)):
        best = load_at(values, children[0] + h, one, ROW)
        for a in range(1, actions):
            best = larger(load_at(values, children[a] + h, one, ROW), best)
        store_at(values, at + h, best)


@_inlined
def _follow(stride, actions, at, entry, children, values, weights, one):  # type: ignore[no-untyped-def]
    """Fills a node's values where its player follows a strategy."""
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

    Without a strategy (None) what was played is what the regrets say.
    """
    positive, negative, floor, prediction, weight, one = step
    zero, unit, even = splat(one - one, ROW), splat(one, ROW), _even(actions, one)
    keep_positive, keep_negative, lowest = splat(positive, ROW), splat(negative, ROW), splat(floor, ROW)
    ahead, share = splat(prediction, ROW), splat(weight, ROW)
    if strategy is None:  # noqa: SIM108 (numba makes no code for the other case)
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
    """Writes a decision's numbers as integers of 16 bits with a scale of their own."""
    most = spare.dtype.type(LARGEST)
    scales[node] = top / most
    factor = splat(most / top if top > 0 else one - one, ROW)
    for number in range(0, size, len(ROW)):
        store_rounded(numbers, entry + number, load_at(spare, number, one, ROW) * factor)


@inner(error_model="numpy")
def _match_packed(actions, stride, at, node, entry, children, rows, values, regret, average, scales, spare, reach, step):  # type: ignore[no-untyped-def]
    """Does the same as `_match` without a strategy, where regrets and averages are integers times a scale for each decision."""
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
    """Puts fixed play back after a decision, and the value of following it where the others responded.

    Where regrets were matched, values are those of what was played, which was fixed before.
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
    """Lets the values of a board's ends and of what follows it flow up to its beginnings.

    Args:
      block: the board.
      mode: what happens at the player's decisions.
      player: whose values flow.
      places: where the player's rows start, and the values.
      tree: tables.
      values: those of terminal nodes and of deals are there.
      reach: the player's rows.
      weights: entries that are followed.
      strategy: entries: the strategy, or the response; None if nobody asks for it.
      regret: entries: regrets, or the bonus; None where nothing is matched, so that no code is made for it.
      average: entries, or None.
      scales: for each node what integers in `regret` are times, and those in `average`; None where they are no integers.
      spare: `[2, numbers of a decision]` room to make integers from, or None.
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
            if strategy is None:  # noqa: SIM108 (numba makes no code for the other case)
                played = regret
            else:
                played = strategy
            _hold(mode, size, stride, actions, at, entry, below, values, held, held_start[node], played)


@inner()
def bring(start, end, numbers):  # type: ignore[no-untyped-def]
    """Has entries brought near: decisions read them in an order that the machine does not foresee."""
    for entry in range(start, end, LINE):
        prefetch(numbers, entry)


@inner()
def clear_deals(block, player, value_at, tree, values):  # type: ignore[no-untyped-def]
    """Sets the values of nodes where a card comes to zero."""
    node_start, kind, lane_start = tree[0][1], tree[1][0], tree[5][player][0]
    stride = strides(lane_start[block + 1] - lane_start[block])
    for node in range(node_start[block], node_start[block + 1]):
        if kind[node] == DEALS:
            start = value_at + (node - node_start[block]) * stride
            clear(values, start, start + stride)


@inner()
def _add(values, there, index, first, source, here, size, one):  # type: ignore[no-untyped-def]
    """Adds a row to the places of another that indices name."""
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
      begins: the first of its beginnings that are meant, and how many there are to the next (`ALL`).
      places: where the values of its nodes start in `source`, and those of the board before in `values`. Less than 0: `source`
        has values of beginnings alone, from `-1 - places[0]` on.
      tree: tables.
      source: values of this board.
      values: values of the board before.
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
