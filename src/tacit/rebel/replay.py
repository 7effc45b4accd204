"""The replay buffer: a circle of examples, sampled uniformly."""

from __future__ import annotations

import torch
from torch import Tensor

from tacit.rebel.selfplay import Examples


class ReplayBuffer:
    """The latest `capacity` examples on a device."""

    def __init__(self, capacity: int, num_features: int, device: str = "cpu") -> None:
        self.capacity = capacity
        self.added = 0
        self._size = 0
        self._next = 0
        self._class = torch.zeros(capacity, dtype=torch.int32, device=device)
        self._beliefs = torch.zeros(capacity, num_features, device=device)
        self._values = torch.zeros(capacity, num_features, device=device)

    def __len__(self) -> int:
        return self._size

    def add(self, examples: Examples) -> None:
        """Adds examples, overwriting the oldest ones."""
        count = len(examples.public_class)
        index = (self._next + torch.arange(count, device=self._class.device)) % self.capacity
        self._class[index] = examples.public_class.to(self._class)
        self._beliefs[index] = examples.beliefs.to(self._beliefs)
        self._values[index] = examples.values.to(self._values)
        self._next = (self._next + count) % self.capacity
        self._size = min(self._size + count, self.capacity)
        self.added += count

    def drop_oldest_half(self) -> None:
        """Forgets the older half."""
        kept = self._size - self._size // 2
        index = (self._next - kept + torch.arange(kept, device=self._class.device)) % self.capacity
        for numbers in (self._class, self._beliefs, self._values):
            numbers[:kept] = numbers[index].clone()
        self._size, self._next = kept, kept % self.capacity

    def sample(self, count: int, generator: torch.Generator) -> Examples:
        """Returns `count` examples drawn uniformly with replacement."""
        index = torch.randint(self._size, (count,), generator=generator, device=self._class.device)
        return Examples(self._class[index].long(), self._beliefs[index], self._values[index])

    def state(self) -> dict[str, Tensor]:
        """Returns everything there is to restore."""
        counters = torch.tensor([self.added, self._size, self._next])
        parts = {"class": self._class, "beliefs": self._beliefs, "values": self._values}
        return {"counters": counters, **{name: part[: self._size].cpu().contiguous() for name, part in parts.items()}}

    def restore(self, state: dict[str, Tensor]) -> None:
        """Continues from a saved state."""
        self.added, self._size, self._next = (int(x) for x in state["counters"])
        for name, part in (("class", self._class), ("beliefs", self._beliefs), ("values", self._values)):
            part[: self._size] = state[name].to(part)
