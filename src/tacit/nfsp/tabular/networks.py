"""The networks of NFSP: action values, their target copy, and the average policy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacit.nets.player_networks import Networks
from tacit.nets.player_networks import make_networks as make_player_networks

Q, TARGET, POLICY = range(3)
"""The index of each of a player's networks. `updates` of a `TARGET` counts how often it was refitted."""


def make_networks(num_inputs: int, hidden: Sequence[int], num_outputs: int, generator: np.random.Generator) -> Networks:
    """Returns networks with random weights; a target starts as a copy of its player's `Q`."""
    return make_player_networks(num_inputs, hidden, num_outputs, (Q, Q, POLICY), generator)
