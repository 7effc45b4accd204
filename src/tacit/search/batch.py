"""A batch of searches: the class of public state each game is at, and where its numbers are stored.

Games are sorted by class. The games of one class are a *group*; every row, entry and leaf of the class's search tree is a
contiguous vector over the games of the group. If a device needs aligned vectors, groups are padded with copies of their first
game, whose results are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tacit.tree.public_tree import in_ranges
from tacit.tree.search_space import SearchTables

Offsets = NDArray[np.int64]


class Group(NamedTuple):
    """The games of one class: their places, how many there are, and the group's index in the batch."""

    public_class: int
    games: slice
    size: int
    number: int


@dataclass(frozen=True)
class Batch:
    """The layout of `B` games in `K` groups with `P >= B` places in all.

    Attributes:
      order: `[P]` the games sorted by class: game `order[i]` is at place i.
      place: `[B]` the place of each game.
      real: `[P]` False at places padded with copies.
      group_class: `[K]` the class of each group.
      group_size: `[K]` the places of each group.
      game_offset: `[K + 1]` the first place of each group.
      row_offset: for both players `[K + 1]`: row r of the group's j-th game is number `row_offset[k] + r * size + j`.
      entry_offset: `[K + 1]`, likewise for entries.
      leaf_offset: `[K + 1]`, likewise for leaves: the columns of the value network's input.
      leaf_class: `[leaf_offset[K]]` the class of the public state at each leaf.
    """

    order: NDArray[np.int64]
    place: NDArray[np.int64]
    real: NDArray[np.bool_]
    group_class: NDArray[np.int32]
    group_size: NDArray[np.int32]
    game_offset: Offsets
    row_offset: tuple[Offsets, Offsets]
    entry_offset: Offsets
    leaf_offset: Offsets
    leaf_class: NDArray[np.int64]

    def __iter__(self) -> Iterator[Group]:
        for k, (c, size) in enumerate(zip(self.group_class, self.group_size, strict=True)):
            yield Group(int(c), slice(int(self.game_offset[k]), int(self.game_offset[k + 1])), int(size), k)

    def view(self, numbers: Tensor, offsets: Offsets, group: Group) -> Tensor:
        """Returns a group's part of a flat tensor as `[n, games]`, for its n rows, entries or leaves."""
        return numbers[int(offsets[group.number]) : int(offsets[group.number + 1])].view(-1, group.size)

    def spread(self, start: NDArray[np.int32], numbers: NDArray[Any], device: str | torch.device) -> Tensor:
        """Returns as a flat tensor, for every game, its class's `numbers` of rows, entries or leaves from `start` on."""
        lines, counts = in_ranges(start, self.group_class), start[self.group_class + 1] - start[self.group_class]
        sizes = torch.from_numpy(np.repeat(self.group_size, counts)).to(device)
        return torch.from_numpy(numbers[lines]).to(device).repeat_interleave(sizes)

    def places(self, start: NDArray[np.int32], device: str | torch.device) -> Tensor:
        """Returns the place of the game that each element of such a flat tensor belongs to."""
        counts = start[self.group_class + 1] - start[self.group_class]
        sizes = np.repeat(self.group_size, counts)
        before = torch.from_numpy(np.repeat(self.game_offset[:-1], counts) - np.cumsum(sizes) + sizes).to(device)
        shifts = before.repeat_interleave(torch.from_numpy(sizes).to(device))
        return shifts + torch.arange(len(shifts), device=device)

    def by_place(self, numbers: Tensor) -> Tensor:
        """Returns numbers of games `[B, ...]` in the batch's order, `[P, ...]`."""
        return numbers[torch.from_numpy(self.order).to(numbers.device)]

    def by_game(self, numbers: Tensor) -> Tensor:
        """Returns numbers in the batch's order `[P, ...]` in the order of the games, `[B, ...]`."""
        return numbers[torch.from_numpy(self.place).to(numbers.device)]

    def rows(self, reach: list[Tensor], group: Group) -> list[Tensor]:
        """Returns a group's part of both players' flat reaches, `[rows, games]` each."""
        return [self.view(reach[player], self.row_offset[player], group) for player in (0, 1)]


def make_batch(tables: SearchTables, game_class: NDArray[np.int64], alignment: int = 1) -> Batch:
    """Returns the layout of games at the given classes; group sizes are multiples of `alignment`."""
    by_class = np.argsort(game_class, kind="stable")
    group_class, count = np.unique(game_class, return_counts=True)
    size = -(-count // alignment) * alignment
    first = np.cumsum(count) - count
    within = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    real = within < np.repeat(count, size)
    order = by_class[np.repeat(first, size) + np.where(real, within, 0)]
    place = np.empty_like(by_class)
    place[order[real]] = np.flatnonzero(real)

    def offsets(starts: NDArray[np.int32]) -> Offsets:
        return np.concatenate([[0], np.cumsum(np.diff(starts)[group_class].astype(np.int64) * size)])

    leaf_sizes = np.repeat(size, np.diff(tables.leaf_start)[group_class])
    return Batch(
        order=order,
        place=place,
        real=real,
        group_class=group_class.astype(np.int32),
        group_size=size.astype(np.int32),
        game_offset=np.concatenate([[0], np.cumsum(size)]),
        row_offset=(offsets(tables.players[0].row_start), offsets(tables.players[1].row_start)),
        entry_offset=offsets(tables.entry_start),
        leaf_offset=offsets(tables.leaf_start),
        leaf_class=np.repeat(tables.leaf_class[in_ranges(tables.leaf_start, group_class)], leaf_sizes).astype(np.int64),
    )
