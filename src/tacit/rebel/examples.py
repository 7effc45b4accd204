"""What networks learn from: examples that searches make."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

STEPS = 255
"""Probabilities are kept as multiples of 1 / 255, in a byte each."""


@dataclass
class ValueExamples:
    """Public belief states and what search found them to be worth.

    Attributes:
      public_class: `[B]`.
      beliefs: `[B, 2 * H]` both players' normalised reaches.
      values: `[B, 2 * H]` both players' infostate values, NaN where a private state is impossible.
    """

    public_class: Tensor
    beliefs: Tensor
    values: Tensor


@dataclass
class PolicyExamples:
    """Public belief states and what search found should be played there.

    Attributes:
      public_class: `[B]`.
      beliefs: `[B, 2 * H]`.
      policy: `[B, H, A]` probabilities of the acting player's actions, quantised.
    """

    public_class: Tensor
    beliefs: Tensor
    policy: Tensor


def quantise(probabilities: Tensor) -> Tensor:
    """Returns probabilities as bytes."""
    return (probabilities * STEPS).round().to(torch.uint8)


def unquantise(quantised: Tensor) -> Tensor:
    """Returns bytes as probabilities, each off by at most half a step."""
    return quantised.float() / STEPS
