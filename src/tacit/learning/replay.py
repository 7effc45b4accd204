"""The replay buffer: a circle of examples, sampled uniformly."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from typing import Generic, TypeVar

import torch
from torch import Tensor

E = TypeVar("E")

AT_ONCE = 16_384
"""Examples that are brought together to a device, many batches of them."""


class ReplayBuffer(Generic[E]):
    """The latest `capacity` examples on a device.

    Args:
      kind: a dataclass of tensors whose rows are examples.
      capacity: examples kept.
      device: where.
    """

    def __init__(self, kind: type[E], capacity: int, device: str = "cpu") -> None:
        self.capacity = capacity
        self.added = 0
        self._kind, self._device = kind, device
        self._size = 0
        self._next = 0
        self._parts: dict[str, Tensor] = {}  # made when the first examples show their shapes

    def __len__(self) -> int:
        return self._size

    def add(self, examples: E) -> None:
        """Adds examples, overwriting the oldest ones."""
        new = vars(examples)
        self._make_room(new)
        count = len(next(iter(new.values())))
        kept = min(count, self.capacity)  # of more than fit, the last
        index = (self._next + count - kept + torch.arange(kept, device=self._device)) % self.capacity
        for name, part in self._parts.items():
            part[index] = new[name][count - kept :].to(part)
        self._next = (self._next + count) % self.capacity
        self._size = min(self._size + count, self.capacity)
        self.added += count

    def drop_oldest_half(self) -> None:
        """Forgets the older half."""
        kept = self._size - self._size // 2
        index = (self._next - kept + torch.arange(kept, device=self._device)) % self.capacity
        for part in self._parts.values():
            part[:kept] = part[index].clone()
        self._size, self._next = kept, kept % self.capacity

    def sample(self, count: int, generator: torch.Generator) -> E:
        """Returns `count` examples drawn uniformly with replacement."""
        index = torch.randint(self._size, (count,), generator=generator, device=self._device)
        return self._kind(**{name: part[index] for name, part in self._parts.items()})

    def batches(self, steps: int, count: int, generator: torch.Generator, device: str) -> Iterator[E]:
        """Yields `steps` batches of `count` examples on a device, drawn uniformly with replacement.

        Many batches are gathered at once, and while they are learnt from the next ones are: examples that lie in the host's
        memory are on their way to a GPU before they are asked for. Nothing may be added meanwhile.
        """
        chunk = max(1, AT_ONCE // count)
        rows = [
            torch.randint(self._size, (min(chunk, steps - first) * count,), generator=generator, device=generator.device)
            for first in range(0, steps, chunk)
        ]
        with ThreadPoolExecutor(1) as worker:
            pending = worker.submit(self._gather, rows[0], device)
            for number, index in enumerate(rows):
                parts = {name: part.to(device, non_blocking=True) for name, part in pending.result().items()}
                if number + 1 < len(rows):
                    pending = worker.submit(self._gather, rows[number + 1], device)
                for first in range(0, len(index), count):
                    yield self._kind(**{name: part[first : first + count] for name, part in parts.items()})

    def _gather(self, index: Tensor, device: str) -> dict[str, Tensor]:
        """Returns some rows, in memory that a GPU can copy from by itself where they go to one."""
        index, pins = index.to(self._device), self._device == "cpu" and torch.device(device).type == "cuda"
        gathered = {}
        for name, part in self._parts.items():
            out = torch.empty(len(index), *part.shape[1:], dtype=part.dtype, device=self._device, pin_memory=pins)
            gathered[name] = torch.index_select(part, 0, index, out=out)
        return gathered

    def state(self) -> dict[str, Tensor]:
        """Returns everything there is to restore."""
        counters = torch.tensor([self.added, self._size, self._next])
        return {"counters": counters, **{name: part[: self._size].cpu().contiguous() for name, part in self._parts.items()}}

    def restore(self, state: dict[str, Tensor]) -> None:
        """Continues from a saved state."""
        self.added, self._size, self._next = (int(x) for x in state["counters"])
        if self._size:
            self._make_room(state)
        for name, part in self._parts.items():
            part[: self._size] = state[name].to(part)

    def _make_room(self, like: dict[str, Tensor]) -> None:
        if not self._parts:
            shown = [(field.name, like[field.name]) for field in fields(self._kind)]  # type: ignore[arg-type]
            # Not filled: the system gives memory when rows are written.
            self._parts = {name: part.new_empty(self.capacity, *part.shape[1:], device=self._device) for name, part in shown}
