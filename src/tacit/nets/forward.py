"""The fastest forward pass of a value network on its device, which search uses at leaves."""

from __future__ import annotations

from typing import Any, Protocol

import torch
from torch import Tensor

from tacit.kernels.base import LeafEvaluator
from tacit.nets.numba_mlp import NumbaValueNet
from tacit.nets.value_net import PrivateValues, ValueNet
from tacit.nets.zero_sum import ZeroSumPass

FUSED_WIDTHS = (16, 32, 64, 128, 256, 512)
"""The layer widths that the GPU kernels support, with two hidden layers or more."""
FUSED_WEIGHTS = 1 << 16
"""The most weights in the first or last layer that fit into shared memory, with private states padded to a power of two."""


class ForwardPass(LeafEvaluator, Protocol):
    """A way to evaluate a network, which may keep a copy of its weights."""

    def refresh(self) -> None:
        """Copies the network's current weights; call it after training steps."""
        ...


class PlainPass:
    """A network's layers computed by torch, without the zero-sum correction (see `ForwardPass`)."""

    counterfactual = False

    def __init__(self, net: PrivateValues) -> None:
        self._net = net

    def refresh(self) -> None:
        """Does nothing: the weights are the network's own."""

    @torch.inference_mode()
    def evaluate(self, public_class: Any, beliefs: Tensor) -> Tensor:
        """Returns `[2 * H, L]` values of leaves (see `LeafEvaluator`)."""
        return (self._net.outputs(public_class, beliefs.T) * self._net.scale).T.contiguous()


def forward_pass(net: PrivateValues) -> ForwardPass:
    """Returns the forward pass of a network, on the device of its weights."""
    if net.scale.device.type == "cpu":
        return _made_zero_sum(net, NumbaValueNet(net) if isinstance(net, ValueNet) else PlainPass(net), 1)
    from tacit.nets.triton_mlp import MOST_LEAVES, FusedValueNet

    if not isinstance(net, ValueNet):
        return _made_zero_sum(net, PlainPass(net), MOST_LEAVES)
    width, padded = net.out.in_features, 1 << (2 * net.num_private_states - 1).bit_length()
    fused = len(net.rest) and width in FUSED_WIDTHS and padded * width <= FUSED_WEIGHTS
    return _made_zero_sum(net, FusedValueNet(net) if fused else PlainPass(net), MOST_LEAVES)


def _made_zero_sum(net: PrivateValues, fast: ForwardPass, block: int) -> ForwardPass:
    return fast if net.deals is None else ZeroSumPass(fast, net.deals, block)
