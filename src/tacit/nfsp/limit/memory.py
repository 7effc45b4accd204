"""Memories of both players on a device: items are packed into bytes, and come in batches of a fixed size.

What is in a batch but not offered, or not kept, is written to a row behind the last one that nobody reads: so shapes stay fixed
and nothing waits for the device.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from tacit.games.limit_batch import NUM_ACTIONS
from tacit.nfsp.limit.encoding import NUM_BYTES

TRANSITION = ("bits", "action", "reward", "following", "legal")
"""What an owner did and what followed: its infostate and action, what it got before its next decision (in units of reward), its
infostate then and the legal actions there, none where the hand was over."""
BEHAVIOUR = ("bits", "action", "legal")
"""What a player did while it followed its best response: its infostate, its action and the legal actions."""
_SHAPES = {"bits": (NUM_BYTES,), "following": (NUM_BYTES,)}


class PackedMemory:
    """Items of both players: the latest ones, or an exponentially averaged reservoir.

    Attributes:
      columns: by name `[2, capacity + 1, ...]`, a row for each item of a player: infostates as 36 bytes, legal actions as the
        bits of one, rewards in float32.
      offered: `[2]` int64, items that came so far.
      capacity: most items of a player.
    """

    def __init__(self, names: Sequence[str], capacity: int, device: str) -> None:
        dtypes = {"reward": torch.float32}
        self.columns = {
            name: torch.zeros(2, capacity + 1, *_SHAPES.get(name, ()), dtype=dtypes.get(name, torch.uint8), device=device)
            for name in names
        }
        self.offered = torch.zeros(2, dtype=torch.int64, device=device)
        self.capacity = capacity

    def add_latest(self, player: Tensor, offered: Tensor, items: Sequence[Tensor]) -> None:
        """Adds items over the oldest ones; a batch must not be larger than the memory.

        Args:
          player: `[K]` the owner of each item.
          offered: `[K]` bool, which items there are.
          items: `[K, ...]` for each column.
        """
        number = self._count(player, offered)
        self._write(player, torch.where(offered, number % self.capacity, self.capacity), items)

    def add_sampled(
        self, player: Tensor, offered: Tensor, items: Sequence[Tensor], least: float, generator: torch.Generator
    ) -> None:
        """Adds items: while there is room always, then with a probability that falls with the items so far.

        Args:
          player: as in `add_latest`.
          offered: likewise.
          items: likewise.
          least: the least probability of keeping a new item: 0 keeps a uniform sample of all (Vitter 1985), more forgets old
            ones exponentially (Osborne et al. 2014).
          generator: draws who is kept and whom it replaces.
        """
        number, capacity = self._count(player, offered), self.capacity
        drawn, where = torch.rand(2, len(player), dtype=torch.float64, generator=generator, device=player.device)
        kept = offered & ((number < capacity) | (drawn < (capacity / (number + 1)).clamp(min=least)))
        slot = torch.where(number < capacity, number, (where * capacity).long())
        # Two new items can be sent to one row, and a row must not be written by two at once: the later one stays.
        same = (slot[:, None] == slot) & (player[:, None] == player) & kept
        order = torch.arange(len(player), device=player.device)
        kept = kept & ~(same & (order > order[:, None])).any(1)
        self._write(player, torch.where(kept, slot, capacity), items)

    def draw(self, count: int, generator: torch.Generator) -> list[Tensor]:
        """Returns `[2, count, ...]` of each column, items of both players drawn with replacement."""
        first, second = draw_rows(self.offered, self.capacity, count, generator)
        return [torch.stack((column[0, first], column[1, second])) for column in self.columns.values()]

    def _count(self, player: Tensor, offered: Tensor) -> Tensor:
        """Counts the offered items, and returns `[K]` how many of its owner came before each."""
        mine = torch.stack((offered & (player == 0), offered & (player == 1))).long()
        upto = mine.cumsum(1) + self.offered[:, None]
        self.offered.copy_(upto[:, -1])
        return torch.where(player == 0, upto[0], upto[1]) - 1

    def _write(self, player: Tensor, slot: Tensor, items: Sequence[Tensor]) -> None:
        for column, item in zip(self.columns.values(), items, strict=True):
            column.flatten(0, 1).index_copy_(0, player * column.shape[1] + slot, item)


def draw_rows(offered: Tensor, capacity: int, count: int, generator: torch.Generator) -> Tensor:
    """Returns `[2, count]` rows of both players' items, drawn with replacement; row 0 where there are none yet."""
    size = offered.clamp(1, capacity)[:, None]
    # In 64 bits: 32-bit numbers do not reach every row of a memory of millions.
    drawn = torch.rand(2, count, dtype=torch.float64, generator=generator, device=offered.device)
    return (drawn * size).long()


def pack_legal(legal: Tensor) -> Tensor:
    """Returns `[...]` uint8 the legal actions `[..., 3]` as bits."""
    fold, call, lifts = legal.to(torch.uint8).unbind(-1)
    return fold + 2 * call + 4 * lifts


def unpack_legal(packed: Tensor) -> Tensor:
    """Returns `[..., 3]` bool what `pack_legal` packed."""
    return torch.stack([(packed >> action & 1).bool() for action in range(NUM_ACTIONS)], -1)
