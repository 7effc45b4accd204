"""The value network's forward pass on a CPU: a thread takes a few leaves at a time through all layers, in its cache.

Products are of bfloat16 with float32 sums if the processor has instructions for them, else of float32; the first layer,
LayerNorm and GeLU are always float32. (torch's products between numba's passes are slower than either alone: each library has
its own threads, and those waiting for work take cores from those that have some.)
"""

from __future__ import annotations

import numba
import numpy as np
import torch
from numba import prange
from torch import Tensor

from tacit.compiled import compiled, for_one_and_all, inner
from tacit.kernels.simd import larger, load, splat, store, where_greater
from tacit.kernels.tiles import HAS_PAIRS, LANES, ONE_VECTOR, PANEL, ROWS, VECTOR, lane_sum, pack, product, store_rounded
from tacit.nets.folded import fold
from tacit.nets.value_net import ValueNet

FEW = 256
"""Up to this many leaves it is not worth waking other threads."""
STRIPS = 8
"""Parts per thread: small parts limit the tail when one thread stalls."""

_F = np.float32


@compiled(inline="always")
def _min(x, y):  # type: ignore[no-untyped-def]
    return where_greater(x, y, y, x)


@compiled(inline="always")
def _fine_gelu(y):  # type: ignore[no-untyped-def]
    """Returns GeLU by tanh, and tanh by a ratio of polynomials (relative error below 1e-6)."""
    half, limit = splat(_F(0.5), VECTOR), splat(_F(7.9), VECTOR)
    u = y * (splat(_F(0.7978845608), VECTOR) + splat(_F(0.0356774081), VECTOR) * (y * y))
    u = _min(larger(u, splat(_F(-7.9), VECTOR)), limit)
    x = u * u
    above = splat(_F(-2.76076847742355e-16), VECTOR) * x + splat(_F(2.00018790482477e-13), VECTOR)
    above = above * x + splat(_F(-8.60467152213735e-11), VECTOR)
    above = above * x + splat(_F(5.12229709037114e-08), VECTOR)
    above = above * x + splat(_F(1.48572235717979e-05), VECTOR)
    above = above * x + splat(_F(6.37261928875436e-04), VECTOR)
    above = above * x + splat(_F(4.89352455891786e-03), VECTOR)
    below = splat(_F(1.19825839466702e-06), VECTOR) * x + splat(_F(1.18534705686654e-04), VECTOR)
    below = below * x + splat(_F(2.26843463243900e-03), VECTOR)
    below = below * x + splat(_F(4.89352518554385e-03), VECTOR)
    return half * y + half * y * (u * above / below)


@compiled(inline="always")
def _coarse_gelu(y):  # type: ignore[no-untyped-def]
    """Returns GeLU to 1.1e-4, for units that are rounded to bfloat16 anyway.

    Its difference from the positive part of y depends on |y| alone and vanishes for large |y|: the polynomial is the minimax
    one of degree 7 up to 3.8.
    """
    zero = splat(_F(0.0), VECTOR)
    size = _min(larger(y, zero - y), splat(_F(3.8), VECTOR))
    lack = splat(_F(7.022276774e-04), VECTOR) * size + splat(_F(-1.065357269e-02), VECTOR)
    lack = lack * size + splat(_F(6.111949595e-02), VECTOR)
    lack = lack * size + splat(_F(-1.486557692e-01), VECTOR)
    lack = lack * size + splat(_F(5.405586445e-02), VECTOR)
    lack = lack * size + splat(_F(3.837857101e-01), VECTOR)
    lack = lack * size + splat(_F(-4.991889502e-01), VECTOR)
    lack = lack * size + splat(_F(9.387233448e-05), VECTOR)
    return larger(y, zero) + lack


@inner()
def _norm_gelu(sums, scale, shift, width, factors, units):  # type: ignore[no-untyped-def]
    """Fills `units` `[ROWS, padded]` with `gelu(norm(sums))`; each row has `width` numbers, then zeros."""
    vectors = sums.shape[1] // LANES
    for i in range(ROWS):  # all rows first: the processor overlaps their long dependency chains
        even, odd = splat(_F(0.0), VECTOR), splat(_F(0.0), VECTOR)
        for v in range(i * vectors, (i + 1) * vectors, 2):
            x, y = load(sums, v, VECTOR), load(sums, v + 1, VECTOR)
            even, odd = even + x * x, odd + y * y
        factors[i] = _F(1.0) / np.sqrt(lane_sum(even + odd) / _F(width) + _F(1e-5))
    for i in range(ROWS):
        factor = splat(factors[i], VECTOR)
        if units.itemsize == 2:
            for v in range(vectors):
                y = load(sums, i * vectors + v, VECTOR) * factor * load(scale, v, VECTOR) + load(shift, v, VECTOR)
                store_rounded(units, i * vectors + v, _coarse_gelu(y))
        else:
            for v in range(vectors):
                y = load(sums, i * vectors + v, VECTOR) * factor * load(scale, v, VECTOR) + load(shift, v, VECTOR)
                store_rounded(units, i * vectors + v, _fine_gelu(y))


@inner()
def _copy_row(source, row, target, i):  # type: ignore[no-untyped-def]
    vectors = target.shape[1] // LANES
    for v in range(vectors):
        store(target, i * vectors + v, load(source, row * vectors + v, VECTOR))


def _forward(beliefs, public_class, public, first, hidden, bias, norms, last, last_bias, width, scratch, values):  # type: ignore[no-untyped-def]
    """Fills values `[2 * H, leaves]`; each strip of leaves has its own part of `scratch`."""
    all_inputs, all_sums, all_factors, all_units, all_outputs = scratch
    strips, features = len(all_sums), len(beliefs)
    blocks = -(-beliefs.shape[1] // ROWS)
    for strip in prange(strips):
        inputs, sums, factors = all_inputs[strip], all_sums[strip], all_factors[strip]
        units, outputs = all_units[strip], all_outputs[strip]
        paired = units.view(hidden.dtype)
        for block in range(strip * blocks // strips, (strip + 1) * blocks // strips):
            start = block * ROWS
            size = min(ROWS, beliefs.shape[1] - start)
            for i in range(size):
                for feature in range(features):
                    inputs[i, feature] = beliefs[feature, start + i]
                _copy_row(public, public_class[start + i], sums, i)
            for p in range(len(first)):
                product(inputs, first, p, sums, sums, PANEL)
            _norm_gelu(sums, norms[0, 0], norms[0, 1], width, factors, units)
            for layer in range(len(hidden)):
                for p in range(hidden.shape[1]):
                    product(paired, hidden[layer], p, bias[layer], sums, PANEL)
                _norm_gelu(sums, norms[layer + 1, 0], norms[layer + 1, 1], width, factors, units)
            for p in range(len(last)):
                product(paired, last, p, last_bias, outputs, ONE_VECTOR)
            for feature in range(features):
                for i in range(size):
                    values[feature, start + i] = outputs[i, feature]


_FORWARD = for_one_and_all(_forward)


class NumbaValueNet:
    """A `ValueNet` with its weights folded and packed; call `refresh` after training steps.

    Args:
      net: the network.
      pairs: whether hidden products are of bfloat16.
    """

    counterfactual = False

    def __init__(self, net: ValueNet, pairs: bool = HAS_PAIRS) -> None:
        self.net = net
        self._pairs = pairs
        self.refresh()

    @torch.no_grad()
    def refresh(self) -> None:
        """Copies the network's current weights."""
        w = fold(self.net)
        self._width = width = w.first.shape[1]
        self._padded = padded = -(-width // 32) * 32

        def filled(rows: Tensor, size: int = padded) -> Tensor:
            return torch.nn.functional.pad(rows, (0, size - rows.shape[-1]))

        def lengthened(weight: Tensor) -> Tensor:
            return torch.nn.functional.pad(weight, (0, 0, 0, padded - width))

        hidden = [pack(lengthened(filled(weight)), self._pairs, PANEL) for weight, _ in w.hidden]
        last = pack(lengthened(w.last), self._pairs, ONE_VECTOR)
        self._outputs = len(last) * LANES
        self._weights = (
            filled(w.public).numpy(),
            pack(filled(w.first), False, PANEL),
            np.stack(hidden) if hidden else np.empty((0, 1, 1, 1), last.dtype),
            torch.stack([filled(bias) for _, bias in w.hidden]).numpy() if hidden else np.empty((0, padded), np.float32),
            torch.stack([filled(torch.stack(norm)) for norm in w.norms]).numpy(),
            last,
            filled(w.bias, self._outputs).numpy(),
            width,
        )

    @torch.inference_mode()
    def evaluate(self, public_class: Tensor, beliefs: Tensor) -> Tensor:
        """Returns `[2 * H, L]` values of leaves (see `LeafEvaluator`)."""
        features, count = beliefs.shape
        shared = count > FEW and torch.get_num_threads() > 1
        strips = STRIPS * numba.get_num_threads() if shared else 1
        values, kind = torch.empty_like(beliefs), torch.uint16 if self._pairs else torch.float32
        scratch = (
            torch.zeros(strips, ROWS, features),
            torch.zeros(strips, ROWS, self._padded),
            torch.empty(strips, LANES),
            torch.empty(strips, ROWS, self._padded, dtype=kind),
            torch.empty(strips, ROWS, self._outputs),
        )  # torch aligns memory to cache lines
        arrays = tuple(part.numpy() for part in scratch)
        _FORWARD[shared](beliefs.numpy(), public_class.numpy(), *self._weights, arrays, values.numpy())
        return values
