"""The value network's forward pass as one GPU kernel: beliefs in, values out, nothing in between touches memory.

A program keeps all weights and takes block after block of leaves through the layers: matrix products in bf16 with float32
sums, LayerNorm and GeLU in float32. Two hidden layers of a power-of-two width, at least 16 and at most 256.

What can be computed once is: weights are centred, so that LayerNorm finds means of zero, and the leaves of a block share
their public state, so that its embedding is one row, added like a bias.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from tacit.nets.folded import fold
from tacit.nets.value_net import ValueNet

BLOCK, WARPS, PROGRAMS_PER_PROCESSOR = 64, 4, 1
"""The fastest of those measured on an H200."""
WIDE_FEATURES, WIDE_BLOCK = 64, 32
"""With so many features, weights leave room for only so many leaves in shared memory."""


@triton.jit
def _tanh(x):  # type: ignore[no-untyped-def]
    return tl.inline_asm_elementwise("tanh.approx.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1)


@triton.jit  # type: ignore[untyped-decorator]
def _norm_gelu(x, scale, shift, WIDTH: tl.constexpr):  # type: ignore[no-untyped-def]
    """LayerNorm of rows whose mean is zero, then GeLU."""
    y = x * tl.rsqrt(tl.sum(x * x, 1) / WIDTH + 1e-5)[:, None] * scale[None, :] + shift[None, :]
    half = 0.5 * y
    return half + half * _tanh(y * (0.7978845608 + 0.0356774081 * y * y))


@triton.jit  # type: ignore[untyped-decorator]
def _mlp_kernel(  # type: ignore[no-untyped-def]
    beliefs, leaf_class, num_leaves, public, w1, scale1, shift1, w2, b2, scale2, shift2, w3, b3, values,
    FEATURES: tl.constexpr, PADDED: tl.constexpr, WIDTH: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    feature, unit = tl.arange(0, PADDED), tl.arange(0, WIDTH)
    # Weights are loaded once; a program then takes block after block of leaves through them.
    first = tl.load(w1 + feature[:, None] * WIDTH + unit[None, :])
    second = tl.load(w2 + unit[:, None] * WIDTH + unit[None, :])
    third = tl.load(w3 + unit[:, None] * PADDED + feature[None, :])
    s1, t1, s2, t2 = tl.load(scale1 + unit), tl.load(shift1 + unit), tl.load(scale2 + unit), tl.load(shift2 + unit)
    c2, c3 = tl.load(b2 + unit), tl.load(b3 + feature)
    inside = (feature < FEATURES)[None, :]
    for block in range(tl.program_id(0), num_leaves // BLOCK, tl.num_programs(0)):
        leaf = block * BLOCK + tl.arange(0, BLOCK)[:, None]
        place = feature[None, :] * tl.multiple_of(num_leaves, BLOCK) + leaf
        x = tl.load(beliefs + place, mask=inside & (leaf >= 0), other=0.0).to(tl.bfloat16)
        kind = tl.load(leaf_class + block * BLOCK)
        hidden = tl.dot(x, first) + tl.load(public + kind * WIDTH + unit)[None, :]
        hidden = _norm_gelu(hidden, s1, t1, WIDTH)
        hidden = tl.dot(hidden.to(tl.bfloat16), second) + c2[None, :]
        hidden = _norm_gelu(hidden, s2, t2, WIDTH)
        out = tl.dot(hidden.to(tl.bfloat16), third) + c3[None, :]
        tl.store(values + place, out, mask=inside & (leaf >= 0))


class FusedValueNet:
    """A `ValueNet` with its weights laid out for the kernel; `refresh` after training steps."""

    counterfactual = False

    def __init__(self, net: ValueNet) -> None:
        self.net = net
        self.features = 2 * net.num_private_states
        self.padded = max(16, triton.next_power_of_2(self.features))
        self._weights: list[Tensor] = []
        self._processors = torch.cuda.get_device_properties(net.out.weight.device).multi_processor_count
        self.refresh()

    @torch.no_grad()
    def refresh(self) -> None:
        """Takes over the network's present weights, in place so that captured graphs see them."""
        w, pad = fold(self.net), self.padded - self.features
        (middle, bias), (first_norm, second_norm) = w.hidden[0], w.norms
        new = (
            w.public,
            torch.nn.functional.pad(w.first, (0, 0, 0, pad)).bfloat16(),
            *first_norm,
            middle.bfloat16(),
            bias,
            *second_norm,
            torch.nn.functional.pad(w.last, (0, pad)).bfloat16(),
            torch.nn.functional.pad(w.bias, (0, pad)),
        )  # as `_mlp_kernel` takes them
        if self._weights:
            for kept, tensor in zip(self._weights, new, strict=True):
                kept.copy_(tensor)
        else:
            self._weights = [tensor.detach().clone().contiguous() for tensor in new]

    def evaluate(self, public_class: Tensor, beliefs: Tensor) -> Tensor:
        """Returns `[2 * H, L]` values of leaves (see `LeafEvaluator`), which come in blocks of 64 of the same class."""
        count = beliefs.shape[1]
        values = torch.empty_like(beliefs)
        block = BLOCK if self.padded < WIDE_FEATURES else WIDE_BLOCK
        programs = min(triton.cdiv(count, block), PROGRAMS_PER_PROCESSOR * self._processors)
        _mlp_kernel[(programs,)](
            beliefs, public_class, count, *self._weights, values, FEATURES=self.features, PADDED=self.padded,
            WIDTH=self.net.out.in_features, BLOCK=block, num_warps=WARPS,
        )  # fmt: skip
        return values
