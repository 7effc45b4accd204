"""The value network's forward pass on a GPU: an input kernel, matrix products, an output kernel.

cuBLAS computes the products of hidden layers, nearly all of the arithmetic. One kernel goes from beliefs to the first layer,
one runs between products, and one goes from the last product to values, so that LayerNorm and GeLU need no memory pass of their
own. Numbers between kernels are float16, which rounds eight times finer than bfloat16 and has enough range after a LayerNorm;
sums, LayerNorm and GeLU are float32.

Some work is done once, in advance: weights are centred, so that LayerNorm's inputs have mean 0. The leaves of a block share
their public state, so its embedding is one row, added like a bias.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from tacit.nets.folded import fold
from tacit.nets.value_net import ValueNet

MOST_LEAVES, UNITS, WARPS = 64, 8_192, 4
"""Leaves of the same class come in blocks of `MOST_LEAVES`. A program computes as many of them as make `UNITS` hidden units,
which stay in registers, on `WARPS` warps: the fastest choice measured on an H200."""


@triton.jit
def _tanh(x):  # type: ignore[no-untyped-def]
    return tl.inline_asm_elementwise("tanh.approx.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1)


@triton.jit  # type: ignore[untyped-decorator]
def _norm_gelu(x, scale, shift, WIDTH: tl.constexpr):  # type: ignore[no-untyped-def]
    """Returns LayerNorm of rows whose mean is zero, then GeLU."""
    y = x * tl.rsqrt(tl.sum(x * x, 1) / WIDTH + 1e-5)[:, None] * scale[None, :] + shift[None, :]
    half = 0.5 * y
    return half + half * _tanh(y * (0.7978845608 + 0.0356774081 * y * y))


@triton.jit  # type: ignore[untyped-decorator]
def _enter_kernel(  # type: ignore[no-untyped-def]
    beliefs, leaf_class, num_leaves, public, weight, scale, shift, hidden,
    FEATURES: tl.constexpr, PADDED: tl.constexpr, WIDTH: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Computes the first hidden layer `[L, WIDTH]` from beliefs `[FEATURES, L]`."""
    feature, unit, first = tl.arange(0, PADDED), tl.arange(0, WIDTH), tl.program_id(0) * BLOCK
    leaf = first + tl.arange(0, BLOCK)[:, None]
    place = feature[None, :] * tl.multiple_of(num_leaves, BLOCK) + leaf
    x = tl.load(beliefs + place, mask=(feature < FEATURES)[None, :] & (leaf >= 0), other=0.0).to(tl.float16)
    kind = tl.load(leaf_class + first)
    h = tl.dot(x, tl.load(weight + feature[:, None] * WIDTH + unit[None, :])) + tl.load(public + kind * WIDTH + unit)[None, :]
    h = _norm_gelu(h, tl.load(scale + unit), tl.load(shift + unit), WIDTH)
    tl.store(hidden + leaf.to(tl.int64) * WIDTH + unit[None, :], h.to(tl.float16))


@triton.jit  # type: ignore[untyped-decorator]
def _between_kernel(hidden, bias, scale, shift, WIDTH: tl.constexpr, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    """Computes the next hidden layer from a product `[L, WIDTH]`, in place."""
    unit = tl.arange(0, WIDTH)
    place = (tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)[:, None]) * WIDTH + unit[None, :]
    h = tl.load(hidden + place).to(tl.float32) + tl.load(bias + unit)[None, :]
    tl.store(hidden + place, _norm_gelu(h, tl.load(scale + unit), tl.load(shift + unit), WIDTH).to(tl.float16))


@triton.jit  # type: ignore[untyped-decorator]
def _leave_kernel(  # type: ignore[no-untyped-def]
    hidden, num_leaves, bias, scale, shift, weight, last_bias, values,
    FEATURES: tl.constexpr, PADDED: tl.constexpr, WIDTH: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Computes values `[FEATURES, L]` from the last product `[L, WIDTH]`."""
    feature, unit = tl.arange(0, PADDED), tl.arange(0, WIDTH)
    leaf = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]
    h = tl.load(hidden + leaf.to(tl.int64) * WIDTH + unit[None, :]).to(tl.float32) + tl.load(bias + unit)[None, :]
    h = _norm_gelu(h, tl.load(scale + unit), tl.load(shift + unit), WIDTH).to(tl.float16)
    out = tl.dot(h, tl.load(weight + unit[:, None] * PADDED + feature[None, :])) + tl.load(last_bias + feature)[None, :]
    place = feature[None, :] * tl.multiple_of(num_leaves, BLOCK) + leaf
    tl.store(values + place, out, mask=(feature < FEATURES)[None, :] & (leaf >= 0))


class FusedValueNet:
    """A `ValueNet` of two hidden layers or more with weights laid out for the kernels; call `refresh` after training steps."""

    counterfactual = False

    def __init__(self, net: ValueNet) -> None:
        self.net = net
        self.features, self.width = 2 * net.num_private_states, net.out.in_features
        self.padded = max(16, triton.next_power_of_2(self.features))
        self._weights: list[Tensor] = []
        self.refresh()

    @torch.no_grad()
    def refresh(self) -> None:
        """Copies the network's current weights, in place so that captured graphs see them."""
        w, pad = fold(self.net), self.padded - self.features
        new = [w.public, torch.nn.functional.pad(w.first, (0, 0, 0, pad)).half(), *w.norms[0]]
        for (product, bias), norm in zip(w.hidden, w.norms[1:], strict=True):
            new += [product.half(), bias, *norm]
        new += [torch.nn.functional.pad(w.last, (0, pad)).half(), torch.nn.functional.pad(w.bias, (0, pad))]
        if self._weights:
            for kept, tensor in zip(self._weights, new, strict=True):
                kept.copy_(tensor)
        else:
            self._weights = [tensor.detach().clone().contiguous() for tensor in new]

    def evaluate(self, public_class: Tensor, beliefs: Tensor) -> Tensor:
        """Returns `[2 * H, L]` values of leaves (see `LeafEvaluator`), which come in blocks of 64 of the same class."""
        count, values = beliefs.shape[1], torch.empty_like(beliefs)
        block = min(MOST_LEAVES, UNITS // self.width)
        grid, rows = (count // block,), {"WIDTH": self.width, "BLOCK": block, "num_warps": WARPS}
        sides = {"FEATURES": self.features, "PADDED": self.padded, **rows}
        hidden = torch.empty(count, self.width, dtype=torch.float16, device=beliefs.device)
        _enter_kernel[grid](beliefs, public_class, count, *self._weights[:4], hidden, **sides)
        *middle, product, bias, scale, shift, last, last_bias = self._weights[4:]
        for layer in range(0, len(middle), 4):
            hidden = hidden @ middle[layer]
            _between_kernel[grid](hidden, *middle[layer + 1 : layer + 4], **rows)
        _leave_kernel[grid](hidden @ product, count, bias, scale, shift, last, last_bias, values, **sides)
        return values
