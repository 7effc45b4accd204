"""How networks learn from samples, and the strategy that follows from their advantages.

A batch is summed by infostate before anything is computed: an output has one gradient for each infostate that was drawn,
however often that was. Samples of iteration t have weight t (Linear CFR), divided by the mean weight so that steps do not grow.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.compiled import compiled
from tacit.nets.descent import ADAM, clip_norm, descend
from tacit.nets.player_networks import policy
from tacit.nets.sparse_mlp import backward, forward, output
from tacit.random_numbers import below

ADVANTAGE, POLICY = range(2)
"""The index of each of a player's networks."""


class BatchSums(NamedTuple):
    """Buffers for a batch; all weights and sums are zero between steps.

    Attributes:
      weight: `[S]`, the weights of the samples drawn at an infostate.
      wanted: `[E]`, their weighted values.
      infostates: `[S]`, the infostates that were drawn, at the front.
    """

    weight: NDArray[np.float32]
    wanted: NDArray[np.float32]
    infostates: NDArray[np.int32]


def make_batch_sums(num_infostates: int, num_entries: int) -> BatchSums:
    """Returns buffers for the batches of a game."""
    weight, wanted = (np.zeros(count, np.float32) for count in (num_infostates, num_entries))
    return BatchSums(weight, wanted, np.zeros(num_infostates, np.int32))


@compiled(nogil=True)
def learn(  # type: ignore[no-untyped-def]
    kind, player, steps, batch_size, rate, clip, iteration, networks, gradient, scratch, samples, batch,
    encodings, table, streams, stream,
):  # fmt: skip
    """Makes steps of Adam on a player's network, and records their losses.

    `ADVANTAGE` descends the squared error of all legal actions, `POLICY` the cross entropy. Batches are drawn with replacement.

    Args:
      kind: `ADVANTAGE` or `POLICY`.
      player: The owner of the network.
      steps: The number of steps.
      batch_size: Samples in a step.
      rate: The learning rate.
      clip: The largest norm of a gradient.
      iteration: The current iteration of CFR, which is the weight of the latest samples.
      networks: `Networks`.
      gradient: `[P]`, zero; a buffer for the gradient.
      scratch: Scratch space for one example.
      samples: `Samples`.
      batch: `BatchSums`.
      encodings: The encodings of all infostates.
      table: `WalkTable`.
      streams: The random streams.
      stream: The stream to draw from.
    """
    params, shape = networks.params[player, kind], networks.shape
    weight, wanted, one = batch.weight, batch.wanted, np.float32(1.0)
    size = min(samples.offered[player], samples.infostate.shape[1])
    scale = np.float32(2.0 / (iteration + 1.0))  # the mean over iterations is 1
    for _ in range(steps):
        distinct, squares, total, loss = 0, np.float32(0.0), np.float32(0.0), 0.0
        for _ in range(batch_size):
            item = below(streams, stream, size)
            infostate, share = samples.infostate[player, item], scale * np.float32(samples.iteration[player, item])
            if weight[infostate] == 0.0:
                batch.infostates[distinct] = infostate
                distinct += 1
            weight[infostate] += share
            total += share
            first = table.entry_start[infostate]
            for entry in range(first, table.entry_start[infostate + 1]):
                value = samples.values[player, item, entry - first]
                wanted[entry] += share * value
                if kind == ADVANTAGE:
                    squares += share * value * value
        mean = one / np.float32(batch_size)
        loss = float(squares)
        for i in range(distinct):
            infostate = batch.infostates[i]
            first, last = table.entry_start[infostate], table.entry_start[infostate + 1]
            if kind == POLICY:
                policy(params, shape, scratch, encodings, table, infostate)
            else:
                forward(params, shape, encodings, infostate, scratch)
            for entry in range(first, last):
                action = table.entry_action[entry]
                if kind == POLICY:
                    probability = scratch.outputs[entry - first]
                    loss -= wanted[entry] * np.log(max(probability, np.float32(1e-30)))
                    scratch.output_errors[action] = mean * (weight[infostate] * probability - wanted[entry])
                else:
                    value = output(params, shape, scratch, action)
                    loss += value * (weight[infostate] * value - np.float32(2.0) * wanted[entry])
                    scratch.output_errors[action] = np.float32(2.0) * mean * (weight[infostate] * value - wanted[entry])
            backward(params, shape, scratch, table.entry_action[first:last], gradient)
            weight[infostate], wanted[first:last] = 0.0, 0.0
        clip_norm(gradient, clip)
        descend(ADAM, params, gradient, networks.moments[player, kind], rate, networks.updates[player, kind])
        networks.updates[player, kind] += 1
        networks.loss[player, kind] += loss / total
        networks.steps[player, kind] += 1


@compiled(nogil=True)
def match_advantages(networks, player, scratch, encodings, table, infostate_player, strategy):  # type: ignore[no-untyped-def]
    """Fills a player's part of `strategy` `[E]` by regret matching on its advantages.

    If no advantage is positive, the action with the largest one is played: the paper found that better than a uniform choice
    (section 5.2).
    """
    params, shape = networks.params[player, ADVANTAGE], networks.shape
    for infostate in range(len(infostate_player)):
        if infostate_player[infostate] != player:
            continue
        forward(params, shape, encodings, infostate, scratch)
        first, last = table.entry_start[infostate], table.entry_start[infostate + 1]
        total, best, largest = 0.0, first, -np.inf
        for entry in range(first, last):
            advantage = float(output(params, shape, scratch, table.entry_action[entry]))
            strategy[entry] = max(advantage, 0.0)
            total += strategy[entry]
            if advantage > largest:
                best, largest = entry, advantage
        for entry in range(first, last):
            strategy[entry] = strategy[entry] / total if total > 0.0 else (1.0 if entry == best else 0.0)
