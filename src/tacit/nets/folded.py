"""A value network's weights with everything folded in that can be computed once: what the fast forward passes use."""

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
    """Weights whose layers before a LayerNorm have their mean over units taken off, so that the norm finds means of zero.

    Attributes:
      public: `[C, width]` the encoding of each class with the first layer's bias.
      first: `[2 * H, width]` for beliefs that sum to 1.
      hidden: for each further layer its weights `[width, width]` and bias `[width]`.
      norms: one after each of these.
      last: `[width, 2 * H]` and
      bias: `[2 * H]`, in the game's units.
    """

    public: Tensor
    first: Tensor
    hidden: list[tuple[Tensor, Tensor]]
    norms: list[Norm]
    last: Tensor
    bias: Tensor


@torch.no_grad()
def fold(net: ValueNet) -> FoldedWeights:
    """Returns the present weights of a network, folded."""
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
    """Returns a linear layer, transposed, whose outputs have the mean over units taken off."""
    return (weight - weight.mean(0, keepdim=True)).T.contiguous(), bias - bias.mean()
