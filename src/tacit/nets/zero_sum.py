"""Value networks made zero-sum, as DeepStack's are: what one player wins in expectation the other loses.

The expected values of both players at a public belief state are computed under the joint distribution of private states:
beliefs times chance. Half of their sum is subtracted from every private state of both players.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np
import torch
from numba import prange
from torch import Tensor

from tacit.compiled import for_one_and_all

if TYPE_CHECKING:
    from tacit.nets.forward import ForwardPass

FEW = 4_096
"""Up to this many leaves it is not worth waking other threads."""


def zero_sum(values: Tensor, beliefs: Tensor, deals: Tensor) -> Tensor:
    """Returns values whose expectations for the two players sum to zero; unchanged where the beliefs are incompatible.

    Args:
      values: `[n, m, 2 * H]` both players' infostate values at n public states with m beliefs each.
      beliefs: `[n, m, 2 * H]`.
      deals: `[n, H, H]` chance weights of pairs of private states.
    """
    first, second = beliefs.chunk(2, dim=2)
    joint = torch.cat([first * (second @ deals.transpose(1, 2)), second * (first @ deals)], dim=2)  # each player's marginals
    total = joint.sum(2, keepdim=True)  # twice the probability
    surplus = (joint * values).sum(2, keepdim=True)
    return values - torch.where(total > 0, surplus / total.where(total > 0, 1.0), 0.0)


def _take_surplus(values, beliefs, public_class, deals, strips):  # type: ignore[no-untyped-def]
    """Makes values `[2 * H, L]` zero-sum in place; neighbouring leaves of one class are computed as a vector."""
    H, count = deals.shape[1], values.shape[1]
    for strip in prange(strips):
        start, end = strip * count // strips, (strip + 1) * count // strips
        total, surplus = np.zeros(end - start, np.float32), np.zeros(end - start, np.float32)
        first = start
        while first < end:
            last = first
            while last < end and public_class[last] == public_class[first]:
                last += 1
            for i in range(H):
                for j in range(H):
                    chance = deals[public_class[first], i, j]
                    if chance > 0:
                        for leaf in range(first, last):
                            weight = chance * beliefs[i, leaf] * beliefs[H + j, leaf]
                            total[leaf - start] += weight
                            surplus[leaf - start] += weight * (values[i, leaf] + values[H + j, leaf])
            first = last
        for leaf in range(start, end):
            if total[leaf - start] > 0:
                surplus[leaf - start] /= np.float32(2.0) * total[leaf - start]
        for feature in range(2 * H):
            for leaf in range(start, end):
                values[feature, leaf] -= surplus[leaf - start]


_TAKE_SURPLUS = for_one_and_all(_take_surplus)


class ZeroSumPass:
    """A forward pass whose values are made zero-sum (see `ForwardPass`).

    Args:
      inner: the forward pass.
      deals: `[C, H, H]` chance weights at each class, on the device of the pass.
      block: leaves come in blocks of this size, each of one class.
    """

    counterfactual = False

    def __init__(self, inner: ForwardPass, deals: Tensor, block: int = 1) -> None:
        self.inner, self._deals, self._block = inner, deals, block

    def refresh(self) -> None:
        """Copies the network's current weights."""
        self.inner.refresh()

    @torch.inference_mode()
    def evaluate(self, public_class: Any, beliefs: Tensor) -> Tensor:
        """Returns `[2 * H, L]` values of leaves (see `LeafEvaluator`)."""
        values = self.inner.evaluate(public_class, beliefs)
        if values.device.type == "cpu":
            shared = beliefs.shape[1] > FEW and torch.get_num_threads() > 1
            strips = 4 * numba.get_num_threads() if shared else 1
            arrays = (values.numpy(), beliefs.numpy(), public_class.numpy(), self._deals.numpy(), strips)
            _TAKE_SURPLUS[shared](*arrays)
            return values
        rows, given = (part.T.reshape(-1, self._block, part.shape[0]) for part in (values, beliefs))
        return zero_sum(rows, given, self._deals[public_class[:: self._block]]).flatten(0, 1).T.contiguous()
