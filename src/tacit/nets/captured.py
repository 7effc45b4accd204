"""A training step recorded once as a CUDA graph and replayed, so that no time is lost between its many small kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

B = TypeVar("B")

WARM_UP = 3
"""How many steps run normally before one is recorded: kernels compile, and the optimizer allocates its state."""


class CapturedStep(Generic[B]):
    """Runs a training step by replaying it. All batches must have the same shapes.

    The step must not look at the values of tensors: no shapes that depend on data, no copies from the host. Weights,
    gradients and the optimizer's state must stay where they are; make a new `CapturedStep` after replacing any of them.

    Args:
      step: takes a batch, updates weights in place and returns the loss.
    """

    def __init__(self, step: Callable[[B], Tensor]) -> None:
        self._step, self._steps = step, 0
        self._graph: torch.cuda.CUDAGraph | None = None
        self._batch: Any = None
        self._loss: Tensor | None = None

    def __call__(self, batch: B) -> Tensor:
        """Returns the loss of one step; the next call overwrites it."""
        self._steps += 1
        if self._steps <= WARM_UP:
            return self._on_side_stream(batch)
        if self._graph is None:
            self._capture(batch)
        for field in fields(self._batch):
            getattr(self._batch, field.name).copy_(getattr(batch, field.name))
        assert self._graph is not None
        assert self._loss is not None
        self._graph.replay()
        return self._loss

    def _on_side_stream(self, batch: B) -> Tensor:
        """Returns the loss of a step that is not recorded. Graphs require a warm-up on a stream other than the default one."""
        side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            loss = self._step(batch)
        torch.cuda.current_stream().wait_stream(side)
        return loss

    def _capture(self, batch: B) -> None:
        """Records a step without running it."""
        names = [field.name for field in fields(batch)]  # type: ignore[arg-type]
        self._batch = type(batch)(**{name: getattr(batch, name).clone() for name in names})
        self._graph = torch.cuda.CUDAGraph()
        # Other threads gather the next batches meanwhile; their use of the device must not count as an error.
        with torch.cuda.graph(self._graph, capture_error_mode="thread_local"):
            self._loss = self._step(self._batch)
