"""Memories of samples: a reservoir (Vitter 1985) for each player, a uniform sample of everything ever offered."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.compiled import compiled
from tacit.random_numbers import below


class Samples(NamedTuple):
    """Both players' samples: advantages or probabilities of the actions at an infostate.

    Attributes:
      infostate: `[2, C]`, the infostate of the sample.
      iteration: `[2, C]`, the iteration of CFR that the sample comes from, from 1.
      values: `[2, C, A]`, in the order of the infostate's entries; values after the last entry are meaningless.
      offered: `[2]`, the samples offered so far.
    """

    infostate: NDArray[np.int32]
    iteration: NDArray[np.int32]
    values: NDArray[np.float32]
    offered: NDArray[np.int64]


def make_samples(capacity: int, num_actions: int) -> Samples:
    """Returns empty memories for infostates of at most `num_actions` actions."""
    infostate, iteration = (np.zeros((2, capacity), np.int32) for _ in range(2))
    return Samples(infostate, iteration, np.zeros((2, capacity, num_actions), np.float32), np.zeros(2, np.int64))


@compiled(_nrt=False, inline="always")
def offer(samples, player, infostate, iteration, values, first, count, streams, stream):  # type: ignore[no-untyped-def]
    """Offers the sample `values[first : first + count]` to a player's reservoir."""
    offered, capacity = samples.offered[player], samples.infostate.shape[1]
    samples.offered[player] += 1
    slot = offered if offered < capacity else below(streams, stream, offered + 1)
    if slot < capacity:
        samples.infostate[player, slot], samples.iteration[player, slot] = infostate, iteration
        for action in range(count):
            samples.values[player, slot, action] = values[first + action]
