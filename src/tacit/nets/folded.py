"""A value network's weights with everything folded in that can be computed once, for the fast forward passes."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from tacit.nets.value_net import ValueNet


class Norm(NamedTuple):
    """A LayerNorm of inputs whose mean is zero: `x / rms(x) * scale + shift`, over `[width]`."""

    scale: Tensor
    shift: Tensor


class FoldedWeights(NamedTuple):
    """Weights in which each layer before a LayerNorm has its mean over units subtracted, so that the norm's inputs have mean 0.

    Attributes:
      public: `[C, width]` the encoding of each class plus the first layer's bias.
      first: `[2 * H, width]` the first layer's weights, for beliefs that sum to 1.
      hidden: The weights `[width, width]` and bias `[width]` of each further hidden layer.
      norms: The LayerNorm after the first layer and after each further one.
      last: `[width, 2 * H]` the last layer's weights, in the game's units.
      bias: `[2 * H]` the last layer's bias, in the game's units.
    """

    public: Tensor
    first: Tensor
    hidden: list[tuple[Tensor, Tensor]]
    norms: list[Norm]
    last: Tensor
    bias: Tensor


@torch.no_grad()
def fold(net: ValueNet) -> FoldedWeights:
    """Returns the current weights of a network, folded."""
    layers: list[Any] = list(net.rest)
    norms: list[Any] = [net.first[0], *(layer[1] for layer in layers)]
    (first, bias), encodings = _centred(net.private.weight, net.private.bias), net.public.table()
    return FoldedWeights(
        public=encodings - encodings.mean(1, keepdim=True) + bias,
        first=first * net.num_private_states,
        hidden=[_centred(layer[0].weight, layer[0].bias) for layer in layers],
        norms=[Norm(norm.weight.clone(), norm.bias.clone()) for norm in norms],
        last=net.out.weight.T * net.scale,
        bias=net.out.bias * net.scale,
    )


def _centred(weight: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
    """Returns a linear layer, transposed, with the mean over units subtracted from its outputs."""
    return (weight - weight.mean(0, keepdim=True)).T.contiguous(), bias - bias.mean()
