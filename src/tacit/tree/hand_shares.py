"""Weights of actions as probabilities, hand by hand, compiled: a tree of hold'em has tens of millions of them."""

from __future__ import annotations

import numpy as np

from tacit.compiled import compiled


@compiled(error_model="numpy")
def take_shares(weights, offset, num_actions, width):  # type: ignore[no-untyped-def]
    """Divides weights by their sum over the actions, where they lie; even shares where that is zero.

    Args:
      weights: `[E]` for each decision all hands of the first action, then of the next.
      offset: `[D]` where each decision's begin.
      num_actions: `[D]`.
      width: `[D]` hands at each.
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
