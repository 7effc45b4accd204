"""Memories of both players on a device: items are packed into bytes, and come in batches of a fixed size.

What is in a batch but not offered, or not kept, is written to a row behind the last one that nobody reads: so shapes stay fixed
and nothing waits for the device. Every column is a tensor `[2, capacity + 1, ...]`, a row for each item of a player.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from tacit.games.limit_batch import NUM_ACTIONS
from tacit.nfsp.limit.encoding import NUM_BYTES


class Transitions(NamedTuple):
    """What players did, each from its owner's point of view: what follows is the owner's next decision. A circle.

    Attributes:
      bits: `[2, C + 1, 36]` uint8, the infostate.
      action: `[2, C + 1]` uint8.
      reward: `[2, C + 1]` float32, what the owner got before its next decision, in units of reward.
      following: `[2, C + 1, 36]` uint8, its infostate then.
      legal: `[2, C + 1]` uint8, its legal actions then as bits; 0 where the hand was over.
      offered: `[2]` int64, items that came so far.
    """

    bits: Tensor
    action: Tensor
    reward: Tensor
    following: Tensor
    legal: Tensor
    offered: Tensor

    @staticmethod
    def empty(capacity: int, device: str) -> Transitions:
        """Returns a memory without items."""
        bits, following = (_column(capacity, device, NUM_BYTES) for _ in range(2))
        reward = torch.zeros(2, capacity + 1, device=device)
        return Transitions(bits, _column(capacity, device), reward, following, _column(capacity, device), _none(device))


class Behaviour(NamedTuple):
    """What players did while they followed their best responses: an exponentially averaged reservoir.

    Attributes:
      bits: `[2, C + 1, 36]` uint8, the infostate.
      action: `[2, C + 1]` uint8.
      legal: `[2, C + 1]` uint8, the legal actions as bits.
      offered: `[2]` int64, items that came so far.
    """

    bits: Tensor
    action: Tensor
    legal: Tensor
    offered: Tensor

    @staticmethod
    def empty(capacity: int, device: str) -> Behaviour:
        """Returns a memory without items."""
        action, legal = (_column(capacity, device) for _ in range(2))
        return Behaviour(_column(capacity, device, NUM_BYTES), action, legal, _none(device))


def add_transitions(memory: Transitions, player: Tensor, offered: Tensor, items: tuple[Tensor, ...]) -> None:
    """Adds transitions over the oldest ones, in place.

    Args:
      memory: at least as large as the batch.
      player: `[K]` the owner of each item.
      offered: `[K]` bool, which items there are.
      items: `[K, ...]` for each column.
    """
    capacity = memory.action.shape[1] - 1
    number, total = _numbers(memory.offered, player, offered)
    _write(memory[:-1], player, torch.where(offered, number % capacity, capacity), items)
    memory.offered.copy_(total)


def add_behaviour(
    memory: Behaviour, player: Tensor, offered: Tensor, items: tuple[Tensor, ...], least: float, generator: torch.Generator
) -> None:
    """Adds behaviour, in place: while there is room always, then with a probability that falls with the items so far.

    Args:
      memory: the reservoir.
      player: `[K]` the owner of each item.
      offered: `[K]` bool, which items there are.
      items: `[K, ...]` for each column.
      least: the least probability of keeping a new item: 0 keeps a uniform sample of all (Vitter 1985), more forgets old ones
        exponentially (Osborne et al. 2014).
      generator: draws who is kept and whom it replaces.
    """
    capacity, device = memory.action.shape[1] - 1, player.device
    number, total = _numbers(memory.offered, player, offered)
    drawn, where = torch.rand(2, len(player), dtype=torch.float64, generator=generator, device=device)
    kept = offered & ((number < capacity) | (drawn < (capacity / (number + 1)).clamp(min=least)))
    slot = torch.where(number < capacity, number, (where * capacity).long())
    # Two new items can be sent to one row, and a row must not be written by two at once: the later one stays.
    same = (slot[:, None] == slot) & (player[:, None] == player) & kept
    order = torch.arange(len(player), device=device)
    kept = kept & ~(same & (order > order[:, None])).any(1)
    _write(memory[:-1], player, torch.where(kept, slot, capacity), items)
    memory.offered.copy_(total)


def draw(offered: Tensor, capacity: int, count: int, generator: torch.Generator) -> Tensor:
    """Returns `[2, count]` rows of both players' items, drawn with replacement; row 0 where there are none yet."""
    size = offered.clamp(1, capacity)[:, None]
    # In 64 bits: 32-bit numbers do not reach every row of a memory of millions.
    drawn = torch.rand(2, count, dtype=torch.float64, generator=generator, device=offered.device)
    return (drawn * size).long()


def rows(column: Tensor, row: Tensor) -> Tensor:
    """Returns `[2, count, ...]` the given rows `[2, count]` of both players."""
    return torch.stack((column[0, row[0]], column[1, row[1]]))


def pack_legal(legal: Tensor) -> Tensor:
    """Returns `[...]` uint8 the legal actions `[..., 3]` as bits."""
    fold, call, lifts = legal.to(torch.uint8).unbind(-1)
    return fold + 2 * call + 4 * lifts


def unpack_legal(packed: Tensor) -> Tensor:
    """Returns `[..., 3]` bool what `pack_legal` packed."""
    return torch.stack([(packed >> action & 1).bool() for action in range(NUM_ACTIONS)], -1)


def _numbers(before: Tensor, player: Tensor, offered: Tensor) -> tuple[Tensor, Tensor]:
    """Returns `[K]` how many items of its owner came before each offered one, and `[2]` all with these."""
    mine = torch.stack((offered & (player == 0), offered & (player == 1))).long()
    upto = mine.cumsum(1) + before[:, None]
    return torch.where(player == 0, upto[0], upto[1]) - 1, upto[:, -1]


def _write(columns: tuple[Tensor, ...], player: Tensor, slot: Tensor, items: tuple[Tensor, ...]) -> None:
    for column, item in zip(columns, items, strict=True):
        column.flatten(0, 1).index_copy_(0, player * column.shape[1] + slot, item)


def _column(capacity: int, device: str, *shape: int) -> Tensor:
    return torch.zeros(2, capacity + 1, *shape, dtype=torch.uint8, device=device)


def _none(device: str) -> Tensor:
    return torch.zeros(2, dtype=torch.int64, device=device)
