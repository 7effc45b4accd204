"""The value network's forward pass on a CPU: matrix products by torch, everything between them in one pass over each row.

Rows are taken in chunks that stay in a core's cache, every thread its own share. A chunk's products run on one thread: they are
too small to share, and threads that wait for each other cost more than they save.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import torch
from numba import njit
from torch import Tensor

from tacit.nets.folded import fold
from tacit.nets.value_net import ValueNet

CHUNK = 1_024
"""Rows at a time: a megabyte of hidden units at width 256."""


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


@njit(cache=True, fastmath=True, nogil=True)
def _norm_gelu(rows, bias, scale, shift):  # type: ignore[no-untyped-def]
    """Replaces each row `x` of `[n, width]` by `gelu(norm(x + bias))`."""
    width = rows.shape[1]
    for i in range(rows.shape[0]):
        row = rows[i]
        square = np.float32(0.0)
        for u in range(width):
            row[u] += bias[u]
            square += row[u] * row[u]
        factor = np.float32(1.0) / np.sqrt(square / np.float32(width) + np.float32(1e-5))
        for u in range(width):
            row[u] = _gelu(row[u] * factor * scale[u] + shift[u])


@njit(cache=True, fastmath=True, nogil=True)
def _first_layer(beliefs, start, public_class, public, weights, scale, shift, rows):  # type: ignore[no-untyped-def]
    """Fills rows `[n, width]` with the first hidden layer of the leaves from column `start` on."""
    width = rows.shape[1]
    for i in range(rows.shape[0]):
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


class NumbaValueNet:
    """A `ValueNet` with its weights folded; `refresh` after training steps."""

    def __init__(self, net: ValueNet) -> None:
        self.net = net
        self._pool = ThreadPoolExecutor(torch.get_num_threads())
        self.refresh()

    def refresh(self) -> None:
        """Takes over the network's present weights."""
        self._weights = fold(self.net)

    @torch.inference_mode()
    def evaluate(self, public_class: Tensor, beliefs: Tensor) -> Tensor:
        """Returns `[2 * H, L]` values of leaves (see `LeafEvaluator`)."""
        values = torch.empty_like(beliefs)
        count = beliefs.shape[1]
        share = max(CHUNK, -(-count // (torch.get_num_threads() * CHUNK)) * CHUNK)
        parts = [(start, min(start + share, count)) for start in range(0, count, share)]
        with one_thread():
            others = [self._pool.submit(self._evaluate, public_class, beliefs, values, *part) for part in parts[1:]]
            self._evaluate(public_class, beliefs, values, *parts[0])
            for other in others:
                other.result()
        return values

    @torch.inference_mode()
    def _evaluate(self, public_class: Tensor, beliefs: Tensor, values: Tensor, start: int, end: int) -> None:
        """Fills the columns from `start` to `end`."""
        w = self._weights
        width = w.first.shape[1]
        here, there = torch.empty(CHUNK, width), torch.empty(CHUNK, width)
        for first in range(start, end, CHUNK):
            size = min(CHUNK, end - first)
            rows, spare = here[:size], there[:size]
            _first_layer(
                beliefs.numpy(), first, public_class.numpy(), w.public.numpy(), w.first.numpy(),
                w.norms[0].scale.numpy(), w.norms[0].shift.numpy(), rows.numpy(),
            )  # fmt: skip
            for (weight, bias), norm in zip(w.hidden, w.norms[1:], strict=True):
                torch.mm(rows, weight, out=spare)
                rows, spare = spare, rows
                _norm_gelu(rows.numpy(), bias.numpy(), norm.scale.numpy(), norm.shift.numpy())
            values[:, first : first + size] = torch.addmm(w.bias[:, None], w.last.T, rows.T)


@contextmanager
def one_thread() -> Iterator[None]:
    """Has torch compute on the calling thread alone."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
