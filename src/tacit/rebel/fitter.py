"""Fitting a value network to examples: Adam on a Huber loss. On a GPU a step is captured once and replayed."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from tacit.nets.value_net import ValueNet
from tacit.rebel.selfplay import Examples

HUBER_DELTA = 0.1
"""In units of the game's typical return: larger errors count linearly."""
MAX_GRADIENT = 5.0


class Fitter:
    """An optimizer with its network; batches must all have one size.

    Args:
      net: what learns.
      mask: `[C, 2 * H]` 1 where a class has a private state, 0 beyond.
    """

    def __init__(self, net: ValueNet, mask: Tensor) -> None:
        self.net, self._mask = net, mask
        self._rate = torch.tensor(0.0, device=mask.device)
        on_gpu = mask.device.type == "cuda"
        self._optimizer = torch.optim.Adam(net.parameters(), lr=self._rate, capturable=on_gpu, foreach=on_gpu or None)
        self._graph: torch.cuda.CUDAGraph | None = None
        self._batch: Examples | None = None
        self._loss = torch.zeros((), device=mask.device)

    @property
    def learning_rate(self) -> float:
        """The step size of Adam."""
        return float(self._rate)

    @learning_rate.setter
    def learning_rate(self, rate: float) -> None:
        self._rate.fill_(rate)  # in place: a captured step reads it

    def step(self, batch: Examples) -> Tensor:
        """Returns the loss of a batch after one step on it."""
        if self._mask.device.type == "cpu":
            return self._step(batch)
        if self._graph is None or self._batch is None:
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

    def _step(self, batch: Examples) -> Tensor:
        self._optimizer.zero_grad(set_to_none=True)
        loss = self._error(batch)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), MAX_GRADIENT)
        self._optimizer.step()
        return loss.detach()

    def _error(self, batch: Examples) -> Tensor:
        """Returns the mean Huber loss over the private states that have a value."""
        mask = self._mask[batch.public_class] * ~batch.values.isnan()
        found, wanted = self.net(batch.public_class, batch.beliefs), batch.values.nan_to_num(0.0)
        error = functional.huber_loss(found / self.net.scale, wanted / self.net.scale, reduction="none", delta=HUBER_DELTA)
        return (error * mask).sum() / mask.sum() / HUBER_DELTA

    def _capture(self, batch: Examples) -> Tensor:
        """Returns the loss of a first step, made as usual, and captures the next."""
        self._batch = Examples(*(tensor.clone() for tensor in vars(batch).values()))
        aside = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            loss = self._step(self._batch)
        torch.cuda.current_stream().wait_stream(aside)
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph):  # capturing runs nothing
            self._loss = self._step(self._batch)
        return loss
