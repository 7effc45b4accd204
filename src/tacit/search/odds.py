"""Reach at the leaves of all games of a batch: the players' own, and the likelihood given the other player and chance."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor

from tacit.search.batch import Batch
from tacit.tree.search_space import SearchSpace


class LeafDeals(NamedTuple):
    """Chance weights of the pairs of private states, on a device.

    Attributes:
      leaves: `[leaves, H, H]` at all leaves of all classes.
      roots: `[C, H, H]` at all classes.
    """

    leaves: Tensor
    roots: Tensor


_DEALS: WeakKeyDictionary[SearchSpace, dict[str, LeafDeals]] = WeakKeyDictionary()


def deals_on(space: SearchSpace, device: str | torch.device) -> LeafDeals:
    """Returns the chance weights of a game on a device. They are copied there once: they can be as large as everything else."""
    known, tables = _DEALS.setdefault(space, {}), space.tables
    if str(device) not in known:
        known[str(device)] = LeafDeals(*(torch.from_numpy(part).to(device) for part in (tables.leaf_deals, tables.deals)))
    return known[str(device)]


class LeafOdds:
    """Chance weights of a batch's leaves, on its device.

    Args:
      space: the game.
      batch: the games.
      device: where the reaches are stored.
    """

    def __init__(self, space: SearchSpace, batch: Batch, device: str | torch.device) -> None:
        t, H = space.tables, space.tables.num_private_states
        self._batch, self._num_states = batch, H
        self._leaves = [slice(*t.leaf_start[c : c + 2]) for c in batch.group_class]
        self._deals = deals_on(space, device).leaves
        self._rows, self._real = [], []
        for player in (0, 1):
            real = np.arange(H) < t.players[player].num_roots[t.leaf_class][:, None]
            rows = np.where(real, t.leaf_row[player][:, None] + np.arange(H), 0)
            self._rows.append(torch.from_numpy(rows).to(device))
            self._real.append(torch.from_numpy(real[:, :, None]).to(device))

    def arrived(self, group: int, player: int, reach: Tensor) -> Tensor:
        """Returns `[leaves, H, games]` a player's reach of its rows at a group's leaves, zero beyond its private states."""
        batch, leaves = self._batch, self._leaves[group]
        start, end = (int(x) for x in batch.row_offset[player][group : group + 2])
        by_row = reach[start:end].view(-1, int(batch.group_size[group]))
        return by_row[self._rows[player][leaves]] * self._real[player][leaves]

    def of_rows(self, group: int, player: int, other_reach: Tensor) -> Tensor:
        """Returns `[leaves, H, games]` the likelihood of each private state of `player`, given chance and the other player."""
        deals = self._deals[self._leaves[group]]
        return torch.bmm(deals if player == 0 else deals.transpose(1, 2), self.arrived(group, 1 - player, other_reach))

    def of_columns(self, player: int, other_reach: Tensor) -> Tensor:
        """Returns `[H, leaves]` what `of_rows` returns, for all groups, laid out like a player's half of the beliefs."""
        parts = [
            self.of_rows(group, player, other_reach).transpose(0, 1).reshape(self._num_states, -1)
            for group in range(len(self._batch.group_class))
        ]
        return torch.cat(parts, dim=1)

    def total(self, player: int, reach: Tensor) -> Tensor:
        """Returns `[leaves]` a player's reach of each leaf of all groups, summed over its private states."""
        parts = [self.arrived(group, player, reach).sum(1).flatten() for group in range(len(self._batch.group_class))]
        return torch.cat(parts)

    @cached_property
    def chance(self) -> Tensor:
        """`[leaves]` the chance weight of each leaf of all groups, summed over all pairs of private states."""
        sizes = self._batch.group_size.tolist()
        parts = [
            self._deals[leaves].sum((1, 2)).repeat_interleave(size) for leaves, size in zip(self._leaves, sizes, strict=True)
        ]
        return torch.cat(parts)


def normalised_reach(reach: Tensor, real: Tensor, dim: int) -> Tensor:
    """Returns beliefs: reaches scaled to sum to 1 over private states, or uniform over the `real` ones where all are 0."""
    total = reach.sum(dim, keepdim=True)
    uniform = real / real.sum(dim, keepdim=True).clamp_min(1)
    return torch.where(total > 1e-20, reach / total.clamp_min(1e-20), uniform)
