"""The replay buffer: the latest examples, sampled uniformly. What does not fit into memory goes to files."""

from __future__ import annotations

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np
import torch
from torch import Tensor

from tacit.learning.spill import SpilledRows
from tacit.nets.checkpoint import PART_BYTES

E = TypeVar("E")

AT_ONCE = 16_384
"""Examples that are moved to a device at once: many batches."""


class ReplayBuffer(Generic[E]):
    """The latest `capacity` examples on a device.

    Examples have places, and the newest take the places of the oldest. So samples do not depend on where examples are stored:
    all in memory, or the older ones in files (`learning/spill.py`).

    Args:
      kind: a dataclass of tensors whose rows are examples.
      capacity: examples kept.
      device: where examples are stored.
      memory: the bytes that examples may take before older ones go to files; on a GPU none do.

    Attributes:
      spills_beside: A checkpoint beside which these files are stored. If it is None at the first example, all stay in memory.
    """

    def __init__(self, kind: type[E], capacity: int, device: str = "cpu", memory: float = math.inf) -> None:
        self.capacity = capacity
        self.added = 0
        self.spills_beside: Path | None = None
        self._kind, self._device, self._memory = kind, device, memory
        self._size = 0
        self._next = 0
        self._parts: dict[str, Tensor] = {}  # made when the first examples show their shapes
        self._rows = capacity  # the most in memory
        self._span = 1  # rows of a file
        self._files: SpilledRows | None = None
        self._names: list[str] = []  # of the files that belong to a state to be restored

    def __len__(self) -> int:
        return self._size

    @property
    def spilled(self) -> list[str]:
        """The names of the files that hold the older examples, oldest first. Set them before restoring a state."""
        return self._names if self._files is None else self._files.names

    @spilled.setter
    def spilled(self, names: list[str]) -> None:
        self._names = names

    def add(self, examples: E) -> None:
        """Adds examples, overwriting the oldest ones."""
        new = vars(examples)
        self._make_room(new)
        count = len(next(iter(new.values())))
        self._next = (self._next + count) % self.capacity
        self._size = min(self._size + count, self.capacity)
        self.added += count
        if self._files is not None:
            self._append(self._files, new)
            return
        kept = min(count, self.capacity)  # if more than fit, the last ones
        self._put({name: new[name][count - kept :] for name in self._parts}, self._places(kept))

    def drop_oldest_half(self) -> None:
        """Forgets the older half."""
        kept = self._size - self._size // 2
        index = self._places(kept)
        self._size, self._next = kept, kept % self.capacity
        if self._files is not None:
            self._files.forget_before(self.added - kept)
            return
        for part in self._parts.values():
            part[:kept] = part[index].clone()

    def sample(self, count: int, generator: torch.Generator) -> E:
        """Returns `count` examples drawn uniformly with replacement."""
        index = torch.randint(self._size, (count,), generator=generator, device=self._device)
        return self._kind(**self._gather(index, self._device))

    def batches(self, steps: int, count: int, generator: torch.Generator, device: str) -> Iterator[E]:
        """Yields `steps` batches of `count` examples on a device, drawn uniformly with replacement.

        Many batches are gathered at once, and the next ones while these are learnt from: examples in the host's memory are on
        their way to a GPU before they are asked for. Nothing may be added meanwhile.
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

    def state(self) -> dict[str, Tensor]:
        """Returns everything that `restore` needs, except what is in the `spilled` files."""
        counters = [self.added, self._size, self._next]
        if self._files is None:
            rows = {name: part[: self._size].cpu().contiguous() for name, part in self._parts.items()}
        else:
            counters.append(self._files.end)
            rows = self._in_memory(self._files.end, self.added)
        return {"counters": torch.tensor(counters), **rows}

    def restore(self, state: dict[str, Tensor]) -> None:
        """Continues from a saved state and the `spilled` files."""
        self.added, self._size, self._next, *spilled = (int(x) for x in state["counters"])
        rows = {name: part for name, part in state.items() if name != "counters"}
        if not self._size:
            return
        self._make_room(rows, spills=bool(spilled))  # a state that was all in memory stays there
        if self._files is not None:
            self._files.adopt(self._names, spilled[0])
            self._append(self._files, rows)
        elif spilled:  # on a GPU now
            self._put(self._fetched(rows, spilled[0]), self._places(self._size))
            self._names = []
        else:
            self._put(rows, torch.arange(self._size, device=self._device))

    def _places(self, count: int) -> Tensor:
        """Returns the places of the latest examples, oldest first."""
        return (self._next - count + torch.arange(count, device=self._device)) % self.capacity

    def _put(self, rows: dict[str, Tensor], index: Tensor) -> None:
        """Writes rows into memory."""
        for name, part in self._parts.items():
            part[index] = rows[name].to(part)

    def _append(self, files: SpilledRows, rows: dict[str, Tensor]) -> None:
        """Puts the latest rows into memory, and moves the oldest ones from there to files as room is needed."""
        first = self.added - len(next(iter(rows.values())))
        for start in range(first, self.added, self._span):
            end = min(start + self._span, self.added)
            while end - files.end > self._rows:
                files.write(self._in_memory(files.end, files.end + self._span))
            some = {name: part[start - first : end - first] for name, part in rows.items()}
            self._put(some, torch.arange(start, end) % self._rows)
        files.forget_before(self.added - self._size)

    def _in_memory(self, first: int, end: int) -> dict[str, Tensor]:
        """Returns the rows from number `first` up to `end`, all of which must be in memory."""
        index = torch.arange(first, end) % self._rows
        return {name: part[index] for name, part in self._parts.items()}

    def _fetched(self, rows: dict[str, Tensor], end: int) -> dict[str, Tensor]:
        """Returns the rows of a state, together with the earlier ones in its files."""
        assert self.spills_beside is not None
        files = SpilledRows(self.spills_beside)
        files.adopt(self._names, end)
        numbers = np.arange(self.added - self._size, end)
        older = {name: part.new_empty(len(numbers), *part.shape[1:]) for name, part in rows.items()}
        files.gather(numbers, np.arange(len(numbers)), older)
        return {name: torch.cat([older[name], part]) for name, part in rows.items()}

    def _gather(self, index: Tensor, device: str) -> dict[str, Tensor]:
        """Returns the examples at some places, in pinned memory if they go to a GPU."""
        index, pins = index.to(self._device), self._device == "cpu" and torch.device(device).type == "cuda"
        gathered = {
            name: torch.empty(len(index), *part.shape[1:], dtype=part.dtype, device=self._device, pin_memory=pins)
            for name, part in self._parts.items()
        }
        if self._files is None:
            for name, part in self._parts.items():
                torch.index_select(part, 0, index, out=gathered[name])
            return gathered
        numbers = self.added - 1 - (self._next - 1 - index) % self.capacity
        here = numbers >= self._files.end
        for name, part in self._parts.items():
            gathered[name][here] = part[numbers[here] % self._rows]
        away = (~here).nonzero()[:, 0]
        self._files.gather(numbers[away].numpy(), away.numpy(), gathered)
        return gathered

    def _make_room(self, like: dict[str, Tensor], spills: bool = True) -> None:
        if self._parts:
            return
        shown = [(field.name, like[field.name]) for field in fields(self._kind)]  # type: ignore[arg-type]
        row_bytes = sum(part.element_size() * math.prod(part.shape[1:]) for _, part in shown)
        fits = self.capacity * row_bytes <= self._memory or torch.device(self._device).type != "cpu"
        if spills and not fits and self.spills_beside is not None:
            self._rows = max(2, int(self._memory / row_bytes))
            self._span = max(1, min(PART_BYTES // row_bytes, self._rows // 2))
            self._files = SpilledRows(self.spills_beside)
        # Not filled: the system allocates memory only when rows are written.
        self._parts = {name: part.new_empty(self._rows, *part.shape[1:], device=self._device) for name, part in shown}
