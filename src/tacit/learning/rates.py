"""Learning rates over a run."""

from __future__ import annotations

import math

LEAST = 0.01
"""The share of the learning rate that is left at the end of a cosine decay."""


def cosine_decay(done: float) -> float:
    """Returns the factor of the learning rate after a share `done` of a run: from 1 down to `LEAST`."""
    return LEAST + (1.0 - LEAST) * 0.5 * (1.0 + math.cos(math.pi * min(1.0, done)))
