"""Fitting a network to examples by Adam. On a GPU a step is captured once and replayed."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

MAX_GRADIENT = 5.0


class Fitter:
    """An optimizer with its network; batches must all have one size.

    Args:
      net: what learns.
      loss: of a batch, which is an object whose attributes are tensors.
      device: of everything.
    """

    def __init__(self, net: nn.Module, loss: Callable[[Any], Tensor], device: torch.device) -> None:
        self.net, self._error, self._device = net, loss, device
        self._rate = torch.tensor(0.0, device=device)
        on_gpu = device.type == "cuda"
        self._optimizer = torch.optim.Adam(net.parameters(), lr=self._rate, capturable=on_gpu, foreach=on_gpu or None)
        self._graph: torch.cuda.CUDAGraph | None = None
        self._batch: Any = None
        self._loss = torch.zeros((), device=device)

    @property
    def learning_rate(self) -> float:
        """The step size of Adam."""
        return float(self._rate)

    @learning_rate.setter
    def learning_rate(self, rate: float) -> None:
        self._rate.fill_(rate)  # in place: a captured step reads it

    def step(self, batch: Any) -> Tensor:
        """Returns the loss of a batch after one step on it."""
        if self._device.type == "cpu":
            return self._step(batch)
        if self._graph is None:
            return self._capture(batch)
        for kept, new in zip(vars(self._batch).values(), vars(batch).values(), strict=True):
            kept.copy_(new)
        self._graph.replay()
        return self._loss

    def state(self) -> dict[str, Tensor]:
        """Returns everything of the optimizer there is to restore."""
        states = self._optimizer.state_dict()["state"]
        return {f"{index}.{name}": tensor for index, state in states.items() for name, tensor in state.items()}

    def restore(self, state: dict[str, Tensor]) -> None:
        """Continues from a saved state."""
        by_parameter: dict[int, dict[str, Any]] = {}
        for name, tensor in state.items():
            index, key = name.split(".", 1)
            by_parameter.setdefault(int(index), {})[key] = tensor
        groups = self._optimizer.state_dict()["param_groups"]
        self._optimizer.load_state_dict({"state": by_parameter, "param_groups": groups})
        for group in self._optimizer.param_groups:
            group["lr"] = self._rate
        self._graph = None

    def _step(self, batch: Any) -> Tensor:
        self._optimizer.zero_grad(set_to_none=True)
        loss = self._error(batch)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), MAX_GRADIENT)
        self._optimizer.step()
        return loss.detach()

    def _capture(self, batch: Any) -> Tensor:
        """Returns the loss of a first step, made as usual, and captures the next."""
        self._batch = copy.deepcopy(batch)
        aside = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            loss = self._step(self._batch)
        torch.cuda.current_stream().wait_stream(aside)
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph):  # capturing runs nothing
            self._loss = self._step(self._batch)
        return loss
