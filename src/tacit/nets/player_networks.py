"""Both players' networks over encoded infostates: `K` kinds each, all of the same shape, with their optimizers' states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.compiled import compiled, inner
from tacit.nets.sparse_mlp import Params, Scratch, Shape, forward, initial_params, make_scratch, make_shape, output


class Networks(NamedTuple):
    """Both players' networks.

    Attributes:
      params: `[2, K, P]`, the weights of each player's network of each kind.
      moments: `[2, K, 2, P]`, the optimizers' running means.
      updates: `[2, K]`, the steps of descent made so far.
      loss: `[2, K]`, the losses of the steps since the sums were last set to zero.
      steps: `[2, K]`, the number of these steps.
      gradient: `[2, P]`, the gradient of a step; zero between steps.
      shape: Where the weights of a network are in `P`.
      scratch: Each player's buffers for one example.
    """

    params: Params
    moments: Params
    updates: NDArray[np.int64]
    loss: NDArray[np.float64]
    steps: NDArray[np.int64]
    gradient: Params
    shape: Shape
    scratch: tuple[Scratch, Scratch]


def make_networks(
    num_inputs: int, hidden: Sequence[int], num_outputs: int, copies: Sequence[int], generator: np.random.Generator
) -> Networks:
    """Returns networks with random weights, different ones for each player.

    Args:
      num_inputs: The length of an encoding.
      hidden: The units of each hidden layer.
      num_outputs: The outputs of a network.
      copies: `[K]`, for each kind the kind whose initial weights it starts from: itself, or an earlier one.
      generator: Draws the weights.
    """
    shape, size = make_shape(num_inputs, hidden, num_outputs)
    kinds = len(copies)
    params = np.zeros((2, kinds, size), np.float32)
    for player in (0, 1):
        for kind, original in enumerate(copies):
            drawn = original == kind
            params[player, kind] = (
                initial_params(num_inputs, hidden, num_outputs, generator) if drawn else params[player, original]
            )
    moments, gradient = np.zeros((2, kinds, 2, size), np.float32), np.zeros((2, size), np.float32)
    updates, steps = (np.zeros((2, kinds), np.int64) for _ in range(2))
    first, second = (make_scratch(num_inputs, hidden, num_outputs) for _ in range(2))
    return Networks(params, moments, updates, np.zeros((2, kinds)), steps, gradient, shape, (first, second))


@compiled()
def best_entry(params, shape, scratch, encodings, table, infostate):  # type: ignore[no-untyped-def]
    """Returns the legal entry with the highest output, and that output."""
    forward(params, shape, encodings, infostate, scratch)
    best, highest = table.entry_start[infostate], np.float32(-np.inf)
    for entry in range(table.entry_start[infostate], table.entry_start[infostate + 1]):
        value = output(params, shape, scratch, table.entry_action[entry])
        if value > highest:
            best, highest = entry, value
    return best, highest


@inner()
def policy(params, shape, scratch, encodings, table, infostate):  # type: ignore[no-untyped-def]
    """Fills the start of `scratch.outputs` with the probabilities of the infostate's entries, in their order."""
    forward(params, shape, encodings, infostate, scratch)
    first, last = table.entry_start[infostate], table.entry_start[infostate + 1]
    highest, total = np.float32(-np.inf), np.float32(0.0)
    for slot in range(last - first):
        score = output(params, shape, scratch, table.entry_action[first + slot])
        scratch.outputs[slot], highest = score, max(highest, score)
    for slot in range(last - first):
        scratch.outputs[slot] = np.exp(scratch.outputs[slot] - highest)
        total += scratch.outputs[slot]
    for slot in range(last - first):
        scratch.outputs[slot] /= total


@compiled()
def strategy_table(networks, kind, greedy, encodings, table, infostate_player):  # type: ignore[no-untyped-def]
    """Returns `[E]` the strategy of both players' networks of a kind.

    With `greedy` an infostate's entry with the highest output gets 1; otherwise entries get the softmax of their outputs.
    """
    strategy = np.zeros(len(table.entry_action))
    for infostate in range(len(infostate_player)):
        params, scratch = networks.params[infostate_player[infostate], kind], networks.scratch[0]
        if greedy:
            strategy[best_entry(params, networks.shape, scratch, encodings, table, infostate)[0]] = 1.0
            continue
        policy(params, networks.shape, scratch, encodings, table, infostate)
        first, last, total = table.entry_start[infostate], table.entry_start[infostate + 1], 0.0
        for slot in range(last - first):
            total += scratch.outputs[slot]
        for slot in range(last - first):
            strategy[first + slot] = scratch.outputs[slot] / total
    return strategy
