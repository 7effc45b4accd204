"""A step of learning for each network: Q-learning from transitions, and imitation of a player's best responses (Algorithm 1).

A batch is first counted: how often each entry was drawn, and the sum of its target values. The gradient of the mean over
the batch is then computed once for each infostate in it, however often it was drawn, so large batches are cheap. The value of
a following infostate is computed once between two refits of the target network.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.compiled import compiled, inner
from tacit.nets.descent import descend
from tacit.nets.player_networks import best_entry, policy
from tacit.nets.sparse_mlp import backward, forward, output
from tacit.nfsp.tabular.memory import GAME_OVER, latest
from tacit.nfsp.tabular.networks import POLICY, TARGET, Q
from tacit.random_numbers import below

NEVER = -1
"""Marks a value that has not been computed yet."""


class Batches(NamedTuple):
    """Buffers for the counts of a batch, for each player; all zero between steps, except for cached target values.

    Attributes:
      counts: `[2, E]` how often an entry was drawn.
      wanted: `[2, E]` the sum of its target values.
      drawn: `[2, S]` whether an infostate was drawn.
      infostates: `[2, S]` the infostates that were drawn, at the beginning.
      ahead: `[2, S]` the highest target value of a legal action.
      refits: `[2, S]` how often the target network had been refitted when `ahead` was computed, or `NEVER`.
      entry, following, reward: `[2, batch]` the drawn items, copied first, so that loads from all over a large memory
        overlap.
    """

    counts: NDArray[np.float32]
    wanted: NDArray[np.float32]
    drawn: NDArray[np.bool_]
    infostates: NDArray[np.int32]
    ahead: NDArray[np.float32]
    refits: NDArray[np.int64]
    entry: NDArray[np.int32]
    following: NDArray[np.int32]
    reward: NDArray[np.float32]


def make_batches(num_infostates: int, num_entries: int, batch_size: int) -> Batches:
    """Returns buffers for the batches of a game."""
    count, wanted = (np.zeros((2, num_entries), np.float32) for _ in range(2))
    drawn, infostates = np.zeros((2, num_infostates), np.bool_), np.zeros((2, num_infostates), np.int32)
    ahead, refits = np.zeros((2, num_infostates), np.float32), np.full((2, num_infostates), NEVER, np.int64)
    items = np.zeros((2, batch_size), np.int32), np.zeros((2, batch_size), np.int32), np.zeros((2, batch_size), np.float32)
    return Batches(count, wanted, drawn, infostates, ahead, refits, *items)


@compiled()
def learn_values(networks, player, memory, batches, encodings, table, settings, rate, streams, stream):  # type: ignore[no-untyped-def]
    """Makes a step on the mean of `(reward + max Q'(following, legal action) - Q)^2` over a batch drawn with replacement.

    The batch comes from the latest `share` of all transitions so far. The target network Q' is refitted every `refit_every`
    steps.
    """
    batch_size = settings.batch_size
    params, target = networks.params[player, Q], networks.params[player, TARGET]
    shape, scratch, gradient = networks.shape, networks.scratch[player], networks.gradient[player]
    count, wanted = batches.counts[player], batches.wanted[player]
    ahead, refits, now = batches.ahead[player], batches.refits[player], networks.updates[player, TARGET]
    offered, capacity, squares, distinct = memory.offered[player], memory.entry.shape[1], 0.0, 0
    size = latest(offered, capacity, settings.share)
    for i in range(batch_size):
        item = (offered - 1 - below(streams, stream, size)) % capacity
        batches.entry[player, i], batches.reward[player, i] = memory.entry[player, item], memory.reward[player, item]
        batches.following[player, i] = memory.following[player, item]
    for i in range(batch_size):
        entry, following, value = batches.entry[player, i], batches.following[player, i], batches.reward[player, i]
        if following != GAME_OVER:
            if refits[following] != now:
                ahead[following] = best_entry(target, shape, scratch, encodings, table, following)[1]
                refits[following] = now
            value += ahead[following]
        distinct = _draw(batches, player, table, entry, distinct)
        wanted[entry] += value
        squares += value * value
    mean = np.float32(1.0) / np.float32(batch_size)
    loss = squares
    for i in range(distinct):
        infostate = batches.infostates[player, i]
        first, last = table.entry_start[infostate], table.entry_start[infostate + 1]
        forward(params, shape, encodings, infostate, scratch)
        for entry in range(first, last):
            action = table.entry_action[entry]
            scratch.output_errors[action] = 0.0
            if count[entry] > 0.0:
                value = output(params, shape, scratch, action)
                loss += value * (count[entry] * value - np.float32(2.0) * wanted[entry])
                scratch.output_errors[action] = np.float32(2.0) * mean * (count[entry] * value - wanted[entry])
        backward(params, shape, scratch, table.entry_action[first:last], gradient)
        count[first:last], wanted[first:last], batches.drawn[player, infostate] = 0.0, 0.0, False
    descend(settings.optimizer, params, gradient, networks.moments[player, Q], rate, networks.updates[player, Q])
    _note(networks, player, Q, loss / batch_size)
    if networks.updates[player, Q] % settings.refit_every == 0:
        target[:] = params
        networks.updates[player, TARGET] += 1


@compiled()
def learn_policy(networks, player, memory, batches, encodings, table, settings, rate, streams, stream):  # type: ignore[no-untyped-def]
    """Makes a step on the mean of `-log policy(action)` over a batch drawn with replacement."""
    batch_size = settings.batch_size
    params, shape = networks.params[player, POLICY], networks.shape
    scratch, gradient, count = networks.scratch[player], networks.gradient[player], batches.counts[player]
    size, loss, distinct = min(memory.offered[player], memory.entry.shape[1]), 0.0, 0
    for i in range(batch_size):
        batches.entry[player, i] = memory.entry[player, below(streams, stream, size)]
    for i in range(batch_size):
        distinct = _draw(batches, player, table, batches.entry[player, i], distinct)
    mean = np.float32(1.0) / np.float32(batch_size)
    for i in range(distinct):
        infostate = batches.infostates[player, i]
        first, last = table.entry_start[infostate], table.entry_start[infostate + 1]
        policy(params, shape, scratch, encodings, table, infostate)
        total = np.float32(0.0)
        for entry in range(first, last):
            total += count[entry]
        for entry in range(first, last):
            probability = scratch.outputs[entry - first]
            if count[entry] > 0.0:
                loss -= count[entry] * np.log(probability)
            scratch.output_errors[table.entry_action[entry]] = mean * (total * probability - count[entry])
        backward(params, shape, scratch, table.entry_action[first:last], gradient)
        count[first:last], batches.drawn[player, infostate] = 0.0, False
    moments, updates = networks.moments[player, POLICY], networks.updates[player, POLICY]
    descend(settings.policy_optimizer, params, gradient, moments, rate, updates)
    _note(networks, player, POLICY, loss / batch_size)


@inner()
def _draw(batches, player, table, entry, distinct):  # type: ignore[no-untyped-def]
    """Returns the number of distinct infostates drawn, after counting an entry."""
    batches.counts[player, entry] += np.float32(1.0)
    infostate = table.entry_infostate[entry]
    if not batches.drawn[player, infostate]:
        batches.drawn[player, infostate] = True
        batches.infostates[player, distinct] = infostate
        distinct += 1
    return distinct


@inner()
def _note(networks, player, kind, loss):  # type: ignore[no-untyped-def]
    networks.updates[player, kind] += 1
    networks.loss[player, kind] += loss
    networks.steps[player, kind] += 1
