"""The fastest forward pass of a value network that its device has: what search asks at its leaves."""

from __future__ import annotations

from typing import Protocol

from tacit.kernels.base import LeafEvaluator
from tacit.nets.numba_mlp import NumbaValueNet
from tacit.nets.value_net import ValueNet
from tacit.nets.zero_sum import ZeroSumPass

FUSED_WIDTHS = (16, 32, 64, 128, 256, 512)
"""Hidden units that the GPU kernels take, in two layers or more."""


class ForwardPass(LeafEvaluator, Protocol):
    """A way to evaluate a network; it keeps weights of its own."""

    def refresh(self) -> None:
        """Takes over the network's present weights, after training steps."""
        ...


def forward_pass(net: ValueNet) -> ForwardPass:
    """Returns the forward pass of a network, on the device of its weights."""
    if net.out.weight.device.type == "cpu":
        return _made_zero_sum(net, NumbaValueNet(net), 1)
    if len(net.rest) and net.out.in_features in FUSED_WIDTHS:
        from tacit.nets.triton_mlp import MOST_LEAVES, FusedValueNet

        return _made_zero_sum(net, FusedValueNet(net), MOST_LEAVES)
    return net


def _made_zero_sum(net: ValueNet, fast: ForwardPass, block: int) -> ForwardPass:
    return fast if net.deals is None else ZeroSumPass(fast, net.deals, block)
