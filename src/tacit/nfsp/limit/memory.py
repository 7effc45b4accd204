"""Memories of both players on a device: items are packed into bytes, and added in batches of a fixed size.

Items of a batch that are not offered, or not kept, are written to an extra row at the end that is never read: so shapes stay
fixed and nothing waits for the device.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from tacit.games.limit_batch import NUM_ACTIONS
from tacit.nfsp.limit.encoding import NUM_BYTES

TRANSITION = ("bits", "action", "reward", "following", "legal")
"""The columns of a transition: the owner's infostate and action, its reward before its next decision (in units of reward), its
next infostate, and the legal actions there, none if the hand was over."""
BEHAVIOUR = ("bits", "action", "legal")
"""The columns of a move by a best response: the infostate, the action and the legal actions."""
_SHAPES = {"bits": (NUM_BYTES,), "following": (NUM_BYTES,)}


class PackedMemory:
    """Items of both players: the latest ones, or an exponentially averaged reservoir.

    Attributes:
      columns: by name `[2, capacity + 1, ...]`, a row for each item of a player: infostates as 36 bytes, legal actions as the
        bits of one byte, rewards in float32.
      offered: `[2]` int64, the number of items offered so far.
      capacity: the largest number of items of a player.
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
          offered: `[K]` bool, which items to add.
          items: `[K, ...]` for each column.
        """
        number = self._count(player, offered)
        self._write(player, torch.where(offered, number % self.capacity, self.capacity), items)

    def add_sampled(
        self, player: Tensor, offered: Tensor, items: Sequence[Tensor], least: float, generator: torch.Generator
    ) -> None:
        """Adds items: always while there is room, then with a probability that falls with the number of items so far.

        Args:
          player: as in `add_latest`.
          offered: as in `add_latest`.
          items: as in `add_latest`.
          least: the minimum probability of keeping a new item: 0 keeps a uniform sample of all (Vitter 1985), more forgets old
            ones exponentially (Osborne et al. 2014).
          generator: draws which items are kept and which ones they replace.
        """
        number, capacity = self._count(player, offered), self.capacity
        drawn, where = torch.rand(2, len(player), dtype=torch.float64, generator=generator, device=player.device)
        kept = offered & ((number < capacity) | (drawn < (capacity / (number + 1)).clamp(min=least)))
        slot = torch.where(number < capacity, number, (where * capacity).long())
        # Two new items may draw the same row, and a row must not be written twice at once: the later item stays.
        same = (slot[:, None] == slot) & (player[:, None] == player) & kept
        order = torch.arange(len(player), device=player.device)
        kept = kept & ~(same & (order > order[:, None])).any(1)
        self._write(player, torch.where(kept, slot, capacity), items)

    def draw(self, count: int, generator: torch.Generator) -> list[Tensor]:
        """Returns `[2, count, ...]` for each column: items of both players, drawn with replacement."""
        first, second = draw_rows(self.offered, self.capacity, count, generator)
        return [torch.stack((column[0, first], column[1, second])) for column in self.columns.values()]

    def _count(self, player: Tensor, offered: Tensor) -> Tensor:
        """Returns `[K]` how many items of its owner were offered before each, after counting the offered items."""
        mine = torch.stack((offered & (player == 0), offered & (player == 1))).long()
        upto = mine.cumsum(1) + self.offered[:, None]
        self.offered.copy_(upto[:, -1])
        return torch.where(player == 0, upto[0], upto[1]) - 1

    def _write(self, player: Tensor, slot: Tensor, items: Sequence[Tensor]) -> None:
        for column, item in zip(self.columns.values(), items, strict=True):
            column.flatten(0, 1).index_copy_(0, player * column.shape[1] + slot, item)


def draw_rows(offered: Tensor, capacity: int, count: int, generator: torch.Generator) -> Tensor:
    """Returns `[2, count]` rows of both players' items, drawn with replacement; row 0 if there are none yet."""
    size = offered.clamp(1, capacity)[:, None]
    # In 64 bits: 32-bit numbers do not reach every row of a memory of millions.
    drawn = torch.rand(2, count, dtype=torch.float64, generator=generator, device=offered.device)
    return (drawn * size).long()


def pack_legal(legal: Tensor) -> Tensor:
    """Returns `[...]` uint8 the legal actions `[..., 3]` as bits."""
    fold, call, lifts = legal.to(torch.uint8).unbind(-1)
    return fold + 2 * call + 4 * lifts


def unpack_legal(packed: Tensor) -> Tensor:
    """Returns the legal actions `[..., 3]` bool that `pack_legal` packed."""
    return torch.stack([(packed >> action & 1).bool() for action in range(NUM_ACTIONS)], -1)
