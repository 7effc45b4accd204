"""The networks of both players: action values, their target copy, and the average policy, with what their optimizers keep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.compiled import compiled, inner
from tacit.nfsp.tabular.network import Params, Scratch, Shape, forward, initial_params, make_scratch, make_shape, output

Q, TARGET, POLICY = range(3)
"""Which network of a player."""


class Networks(NamedTuple):
    """Both players' networks.

    Attributes:
      params: `[2, 3, P]` of each player's `Q`, `TARGET` and `POLICY`.
      moments: `[2, 3, 2, P]` what the optimizers keep; a target has none.
      updates: `[2, 3]` steps of descent made; of a target, how often it was refitted.
      loss: `[2, 3]` summed over the steps since somebody set it to zero.
      steps: `[2, 3]` the number of these steps.
      gradient: `[2, P]` room for a step's gradient, zero between steps.
      shape: of all networks.
      scratch: for each player, room for an example.
    """

    params: Params
    moments: Params
    updates: NDArray[np.int64]
    loss: NDArray[np.float64]
    steps: NDArray[np.int64]
    gradient: Params
    shape: Shape
    scratch: tuple[Scratch, Scratch]


def make_networks(num_inputs: int, hidden: Sequence[int], num_outputs: int, generator: np.random.Generator) -> Networks:
    """Returns networks with random weights, different ones for each player; a target begins as its player's Q network."""
    shape, size = make_shape(num_inputs, hidden, num_outputs)
    params = np.zeros((2, 3, size), np.float32)
    for player in (0, 1):
        for kind in (Q, POLICY):
            params[player, kind] = initial_params(num_inputs, hidden, num_outputs, generator)
        params[player, TARGET] = params[player, Q]
    moments, gradient = np.zeros((2, 3, 2, size), np.float32), np.zeros((2, size), np.float32)
    updates, steps = (np.zeros((2, 3), np.int64) for _ in range(2))
    first, second = (make_scratch(num_inputs, hidden, num_outputs) for _ in range(2))
    return Networks(params, moments, updates, np.zeros((2, 3)), steps, gradient, shape, (first, second))


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
    """Fills `scratch.outputs` with the probabilities of the infostate's entries, in their order; others have none."""
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
    """Returns `[E]` what both players' networks of a kind (`Q` or `POLICY`) do.

    With `greedy` that is 1 at each infostate's entry with the highest output, else the probabilities of all its entries.
    """
    found = np.zeros(len(table.entry_action))
    for infostate in range(len(infostate_player)):
        params, scratch = networks.params[infostate_player[infostate], kind], networks.scratch[0]
        if greedy:
            found[best_entry(params, networks.shape, scratch, encodings, table, infostate)[0]] = 1.0
            continue
        policy(params, networks.shape, scratch, encodings, table, infostate)
        first, last, total = table.entry_start[infostate], table.entry_start[infostate + 1], 0.0
        for slot in range(last - first):
            total += scratch.outputs[slot]
        for slot in range(last - first):
            found[first + slot] = scratch.outputs[slot] / total
    return found
