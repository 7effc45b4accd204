"""Checks of the values that the users' own leaf evaluators return."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tacit.errors import TacitError
from tacit.kernels.base import DecidingEvaluator, LeafEvaluator


class CheckedLeaves:
    """Another evaluator, whose values must have the shape of the beliefs and be finite (see `LeafEvaluator`).

    Args:
      inner: the evaluator. Without an attribute `counterfactual` its values are infostate values.
      name: its name in error messages.
    """

    def __init__(self, inner: LeafEvaluator, name: str) -> None:
        self.inner, self.name = inner, name
        self.counterfactual = bool(getattr(inner, "counterfactual", False))
        if isinstance(inner, DecidingEvaluator):
            self.begin = inner.begin

    @torch.no_grad()
    def evaluate(self, states: Any, beliefs: Tensor) -> Tensor:
        """Returns the evaluator's values `[2 * H, L]`.

        Raises:
          TacitError: the values have another shape, or are not all finite.
        """
        values = torch.as_tensor(self.inner.evaluate(states, beliefs))
        if values.shape != beliefs.shape:
            got, wanted = list(values.shape), list(beliefs.shape)
            raise TacitError(
                f"{self.name}.evaluate() gives values of shape {got} for beliefs of shape {wanted}: they must agree"
            )
        if values.device.type == "cpu" and not bool(values.isfinite().all()):  # on a GPU this would wait for it
            raise TacitError(f"{self.name}.evaluate() gives values that are not finite numbers")
        return values.to(beliefs).contiguous()
