"""The value network's forward pass on a CPU: matrix products by torch, everything between them in one pass over each row."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from numba import njit, prange
from torch import Tensor

from tacit.nets.folded import fold
from tacit.nets.value_net import ValueNet

CHUNK = 8_192
"""Rows at a time: eight megabytes of hidden units at width 256."""
FEW = 512
"""Rows that are not worth waking other threads for."""


@njit(cache=True, fastmath=True, inline="always")
def _gelu(y):  # type: ignore[no-untyped-def]
    """GeLU by tanh, and tanh by a ratio of polynomials (relative error below 1e-6): straight code that vectorises."""
    u = y * (np.float32(0.7978845608) + np.float32(0.0356774081) * y * y)
    u = min(max(u, np.float32(-7.9)), np.float32(7.9))
    x = u * u
    above = np.float32(-2.76076847742355e-16) * x + np.float32(2.00018790482477e-13)
    above = above * x + np.float32(-8.60467152213735e-11)
    above = above * x + np.float32(5.12229709037114e-08)
    above = above * x + np.float32(1.48572235717979e-05)
    above = above * x + np.float32(6.37261928875436e-04)
    above = above * x + np.float32(4.89352455891786e-03)
    below = np.float32(1.19825839466702e-06) * x + np.float32(1.18534705686654e-04)
    below = below * x + np.float32(2.26843463243900e-03)
    below = below * x + np.float32(4.89352518554385e-03)
    return np.float32(0.5) * y * (np.float32(1.0) + u * above / below)


def _norm_gelu(rows, bias, scale, shift):  # type: ignore[no-untyped-def]
    """Replaces each row `x` of `[n, width]` by `gelu(norm(x + bias))`."""
    width = rows.shape[1]
    for i in prange(rows.shape[0]):
        row = rows[i]
        square = np.float32(0.0)
        for u in range(width):
            row[u] += bias[u]
            square += row[u] * row[u]
        factor = np.float32(1.0) / np.sqrt(square / np.float32(width) + np.float32(1e-5))
        for u in range(width):
            row[u] = _gelu(row[u] * factor * scale[u] + shift[u])


def _first_layer(beliefs, start, public_class, public, weights, scale, shift, rows):  # type: ignore[no-untyped-def]
    """Fills rows `[n, width]` with the first hidden layer of the leaves from column `start` on."""
    width = rows.shape[1]
    for i in prange(rows.shape[0]):
        row, embedding = rows[i], public[public_class[start + i]]
        for u in range(width):
            row[u] = embedding[u]
        for feature in range(weights.shape[0]):
            belief = beliefs[feature, start + i]
            for u in range(width):
                row[u] += belief * weights[feature, u]
        square = np.float32(0.0)
        for u in range(width):
            square += row[u] * row[u]
        factor = np.float32(1.0) / np.sqrt(square / np.float32(width) + np.float32(1e-5))
        for u in range(width):
            row[u] = _gelu(row[u] * factor * scale[u] + shift[u])


# One pass on the calling thread, one on all.
_FIRST_LAYER = [njit(cache=True, fastmath=True, parallel=shared)(_first_layer) for shared in (False, True)]
_NORM_GELU = [njit(cache=True, fastmath=True, parallel=shared)(_norm_gelu) for shared in (False, True)]


class NumbaValueNet:
    """A `ValueNet` with its weights folded; `refresh` after training steps."""

    def __init__(self, net: ValueNet) -> None:
        self.net = net
        self.refresh()

    def refresh(self) -> None:
        """Takes over the network's present weights."""
        self._weights = fold(self.net)

    @torch.inference_mode()
    def evaluate(self, public_class: Tensor, beliefs: Tensor) -> Tensor:
        """Returns `[2 * H, L]` values of leaves (see `LeafEvaluator`)."""
        w, values, count = self._weights, torch.empty_like(beliefs), beliefs.shape[1]
        width, shared = w.first.shape[1], count > FEW and torch.get_num_threads() > 1
        here, there = torch.empty(min(count, CHUNK), width), torch.empty(min(count, CHUNK), width)
        for first in range(0, count, CHUNK):
            size = min(CHUNK, count - first)
            rows, spare = here[:size], there[:size]
            _FIRST_LAYER[shared](
                beliefs.numpy(), first, public_class.numpy(), w.public.numpy(), w.first.numpy(),
                w.norms[0].scale.numpy(), w.norms[0].shift.numpy(), rows.numpy(),
            )  # fmt: skip
            for (weight, bias), norm in zip(w.hidden, w.norms[1:], strict=True):
                torch.mm(rows, weight, out=spare)
                rows, spare = spare, rows
                _NORM_GELU[shared](rows.numpy(), bias.numpy(), norm.scale.numpy(), norm.shift.numpy())
            values[:, first : first + size] = torch.addmm(w.bias[:, None], w.last.T, rows.T)
        return values


@contextmanager
def one_thread() -> Iterator[None]:
    """Has torch compute on the calling thread alone."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
