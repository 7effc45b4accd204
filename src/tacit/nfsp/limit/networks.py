"""The action values and average policies of both players: four fully connected networks as one batch of matrices.

All four have the same shape, so one batched product serves them all, and so does one backward pass, which is written out by
hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor

from tacit.games.limit_batch import NUM_ACTIONS
from tacit.nfsp.limit.encoding import NUM_BITS
from tacit.nfsp.strategies import AVERAGE, BEST_RESPONSE

Q, POLICY = 0, 1
"""The kinds of a player's networks; the index of a network is `2 * player + kind`."""
NUM_NETWORKS = 4
_BETAS = 0.9, 0.999


class Layer(NamedTuple):
    """A layer of some networks.

    Attributes:
      weight: `[N, inputs, outputs]`.
      bias: `[N, 1, outputs]`.
    """

    weight: Tensor
    bias: Tensor


Layers = list[Layer]


def make_layers(hidden: Sequence[int], generator: torch.Generator) -> Layers:
    """Returns the layers of four different networks with the usual random weights, uniform within ±1 / sqrt(inputs)."""
    device, sizes = generator.device, [NUM_BITS, *hidden, NUM_ACTIONS]
    layers = []
    for before, after in pairwise(sizes):
        bound = before**-0.5
        weight, bias = (
            torch.rand(NUM_NETWORKS, rows, after, generator=generator, device=device) * (2 * bound) - bound
            for rows in (before, 1)
        )
        layers.append(Layer(weight, bias))
    return layers


def named_weights(layers: Layers, prefix: str = "") -> dict[str, Tensor]:
    """Returns the tensors of layers by name."""
    return {f"{prefix}{place}.{name}": part for place, layer in enumerate(layers) for name, part in layer._asdict().items()}


def choose(layers: Layers, networks: slice) -> Layers:
    """Returns some of the networks, as views of the same memory."""
    return [Layer(layer.weight[networks], layer.bias[networks]) for layer in layers]


def forward(layers: Layers, inputs: Tensor) -> list[Tensor]:
    """Returns the inputs of each layer, `[N, B, ...]` from `inputs` `[N, B, 288]` on, and last the outputs `[N, B, 3]`."""
    values = [inputs]
    for layer in layers[:-1]:
        values.append(torch.baddbmm(layer.bias, values[-1], layer.weight).relu_())
    values.append(torch.baddbmm(layers[-1].bias, values[-1], layers[-1].weight))
    return values


def backward(layers: Layers, values: list[Tensor], errors: Tensor) -> Iterator[tuple[Layer, Tensor, Tensor]]:
    """Yields the layers from last to first, each with its inputs and the errors of its outputs.

    The caller may change a layer once it has been yielded. Shapes are `[N, B, inputs]` and `[N, B, outputs]`.

    Args:
      layers: the layers of the networks.
      values: the result of a `forward` pass.
      errors: `[N, B, 3]` the derivatives of the loss by the outputs.
    """
    for layer, taken in zip(reversed(layers), reversed(values[:-1]), strict=True):
        below = errors
        if taken is not values[0]:
            below = torch.ops.aten.threshold_backward(torch.bmm(errors, layer.weight.mT), taken, 0.0)
        yield layer, taken, errors
        errors = below


class Sgd:
    """Steps down the gradient without momentum, as in the paper."""

    moments: ClassVar[Layers] = []

    def descend(self, layers: Layers, values: list[Tensor], errors: Tensor, rates: Tensor, updates: Tensor) -> None:
        """Updates the weights in place (see `Adam.descend`); a gradient's product and its step are one operation."""
        del updates
        for layer, taken, slopes in backward(layers, values, errors * -rates):
            layer.weight.baddbmm_(taken.mT, slopes)
            layer.bias.add_(slopes.sum(1, keepdim=True))


class Adam:
    """Adam's steps, from running means of gradients and of their squares (Kingma & Ba 2015).

    Attributes:
      moments: for each layer `[2, N, ...]`, both running means.
    """

    def __init__(self, layers: Layers) -> None:
        self.moments = [Layer(*(torch.stack((torch.zeros_like(part),) * 2) for part in layer)) for layer in layers]

    def descend(self, layers: Layers, values: list[Tensor], errors: Tensor, rates: Tensor, updates: Tensor) -> None:
        """Updates the weights in place.

        Args:
          layers: the layers of the networks.
          values: the result of a `forward` pass.
          errors: `[N, B, 3]` the derivatives of the loss by the outputs; 0 for a network that has not begun to learn, which
            then does not change.
          rates: `[N, 1, 1]` the learning rates.
          updates: `[2, N / 2]` int64, the steps so far including this one; 0 for a network that has not begun to learn.
        """
        steps = updates.clamp(min=1).float().view(-1, 1, 1)
        mean_part, square_part = (1.0 - beta**steps for beta in _BETAS)
        above = backward(layers, values, errors)
        for (layer, taken, wrong), moments in zip(above, reversed(self.moments), strict=True):
            gradient = Layer(torch.bmm(taken.mT, wrong), wrong.sum(1, keepdim=True))
            for weights, slope, (mean, square) in zip(layer, gradient, moments, strict=True):
                mean.lerp_(slope, 1.0 - _BETAS[0])
                square.mul_(_BETAS[1]).addcmul_(slope, slope, value=1.0 - _BETAS[1])
                weights.sub_(rates * (mean / mean_part) / ((square / square_part).sqrt() + 1e-8))


def policy(scores: Tensor, legal: Tensor) -> Tensor:
    """Returns `[..., 3]` the softmax of scores `[..., 3]` over the legal actions."""
    return scores.masked_fill(~legal, -torch.inf).softmax(-1)


def greedy(scores: Tensor, legal: Tensor) -> Tensor:
    """Returns `[...]` the legal action with the highest score."""
    return scores.masked_fill(~legal, -torch.inf).argmax(-1)


def best_value(scores: Tensor, legal: Tensor) -> Tensor:
    """Returns `[...]` the highest score of a legal action; 0 where none is legal because the hand is over."""
    highest = scores.masked_fill(~legal, -torch.inf).amax(-1)
    return torch.where(legal.any(-1), highest, 0.0)


def strategy_probabilities(layers: Layers, strategy: str, player: int, inputs: Tensor, legal: Tensor) -> Tensor:
    """Returns `[B, 3]` the probabilities of a player's actions under one of `STRATEGIES`.

    Args:
      layers: the layers of all four networks.
      strategy: the name of the strategy.
      player: the player to act.
      inputs: `[B, 288]` the player's infostates.
      legal: `[B, 3]` or `[3]` bool.
    """
    network = 2 * player + (Q if strategy == BEST_RESPONSE else POLICY)
    scores = forward(choose(layers, slice(network, network + 1)), inputs[None])[-1][0]
    if strategy == AVERAGE:
        return policy(scores, legal)
    return torch.nn.functional.one_hot(greedy(scores, legal), NUM_ACTIONS).float()
