"""Compiled normalisation of action weights, hand by hand: a tree of hold'em has tens of millions of them."""

from __future__ import annotations

import numpy as np

from tacit.compiled import compiled


@compiled(error_model="numpy")
def take_shares(weights, offset, num_actions, width):  # type: ignore[no-untyped-def]
    """Divides weights by their sum over the actions, in place; shares are even where the sum is zero.

    Args:
      weights: `[E]`; each decision has all hands of its first action, then all hands of the next.
      offset: `[D]` the start of each decision in `weights`.
      num_actions: `[D]` the number of actions of each decision.
      width: `[D]` the number of hands at each decision.
    """
    totals = np.empty(width.max(), weights.dtype)
    for d in range(len(offset)):
        size, first, end = width[d], offset[d], offset[d] + num_actions[d] * width[d]
        total, even = totals[:size], weights.dtype.type(1.0 / num_actions[d])
        total[:] = 0
        for at in range(first, end, size):
            part = weights[at : at + size]
            for h in range(size):
                total[h] += part[h]
        for at in range(first, end, size):
            part = weights[at : at + size]
            for h in range(size):
                part[h] = part[h] / total[h] if total[h] > 0 else even
