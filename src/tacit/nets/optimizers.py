"""The state of an optimizer as named tensors, so that it can be saved in a file with everything else."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def optimizer_state(optimizer: torch.optim.Optimizer, compact: bool = False) -> dict[str, Tensor]:
    """Returns the tensors that an optimizer keeps for each parameter, by the parameter's number and the tensor's name.

    Args:
      optimizer: the optimizer.
      compact: whether means of gradients and of their squares are kept to three digits, at half the size: they are noisy, and
        bfloat16 has the range of float32, which squares need.
    """
    moments = optimizer.state_dict()["state"]
    tensors = {f"{index}.{name}": tensor for index, state in moments.items() for name, tensor in state.items()}
    return {name: tensor.bfloat16() if compact and tensor.dim() else tensor for name, tensor in tensors.items()}


def restore_optimizer(optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    """Restores an `optimizer_state`; learning rates and other options stay as they are."""
    moments: dict[int, dict[str, Any]] = {}
    for name, tensor in tensors.items():
        index, key = name.split(".", 1)
        moments.setdefault(int(index), {})[key] = tensor
    optimizer.load_state_dict({"state": moments, "param_groups": optimizer.state_dict()["param_groups"]})
