"""Passes over any tree in torch, level by level, on CPU or GPU: also the reference the numba kernels are tested against."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tacit.kernels.base import LeafValues
from tacit.kernels.clock import Clock
from tacit.kernels.leaf_rows import PublicTreePasses, RowLeaves
from tacit.tree.public_tree import NOT_ACTING, Floats, PublicTree, in_ranges


class _Level(NamedTuple):
    """One player's rows of a level: their slice, links, and the entries of those that act.

    Attributes:
      start, end: the slice of rows.
      parent, entry: `[end - start]`.
      moved: `[end - start]` True where an own action led here.
      acting_entry: `[e]` the entries of infostates that act on this level, and
      acting_row: `[e]` their rows, and
      acting_infostate: `[e]` their infostates, numbered from 0 within the level.
      num_acting: infostates on this level.
    """

    start: int
    end: int
    parent: Tensor
    entry: Tensor
    moved: Tensor
    acting_entry: Tensor
    acting_row: Tensor
    acting_infostate: Tensor
    num_acting: int


class TorchPasses(PublicTreePasses[Tensor]):
    """Reach and values are `[R]`, entries are the tree's `[E]` and one more, always 1, for rows that no own action led to."""

    backend = "torch"

    def __init__(self, tree: PublicTree, device: str = "cpu", dtype: torch.dtype = torch.float64) -> None:
        self.tree = tree
        self.device = device
        self.dtype = dtype
        self._levels = tuple(_levels(tree, player, device) for player in (0, 1))
        self._pairs = torch.from_numpy(tree.payoff_rows.astype(np.int64)).to(device)
        self._payoff = torch.from_numpy(tree.payoff).to(device, dtype)
        self._leaves = RowLeaves(tree)
        self._num_actions = torch.from_numpy(np.diff(tree.entry_start)[tree.entry_infostate]).to(device, dtype)

    def entries(self, values: Floats) -> Tensor:
        return torch.cat([torch.from_numpy(np.asarray(values)), torch.ones(1, dtype=torch.float64)]).to(self.device, self.dtype)

    def to_numpy(self, entries: Tensor) -> Floats:
        return entries[:-1].double().cpu().numpy()

    def rows_to_numpy(self, player: int, rows: Tensor) -> Floats:
        return rows.double().cpu().numpy()

    def reach(self, player: int, strategy: Tensor, out: Tensor | None = None) -> Tensor:
        rows = self.tree.rows[player]
        reach = torch.empty(len(rows), device=self.device, dtype=self.dtype) if out is None else out
        if out is None:
            self.set_roots(player, reach, torch.from_numpy(rows.root_reach).to(self.device, self.dtype))
        for level in self._levels[player][1:]:
            reach[level.start : level.end] = reach[level.parent] * strategy[level.entry]
        return reach

    def reach_and_average(
        self, player: int, strategy: Tensor, average: Tensor, clock: Clock, out: Tensor | None = None
    ) -> Tensor:
        reach, share = self.reach(player, strategy, out), clock.share()
        for level in self._levels[player]:
            e = level.acting_entry
            average[e] = (1.0 - share) * average[e] + share * reach[level.acting_row] * strategy[e]
        return reach

    def values(self, player: int, strategy: Tensor, opponent_reach: Tensor, leaves: LeafValues | None = None) -> Tensor:
        cfv, edge_value = self._start_values(player, opponent_reach, leaves)
        for level in reversed(self._levels[player]):
            cfv.index_add_(0, level.acting_row, strategy[level.acting_entry] * edge_value[level.acting_entry])
            _pass_up(level, cfv, edge_value)
        return self.root_cfv(player)

    def best_response(
        self,
        player: int,
        opponent_reach: Tensor,
        bonus: Tensor | None = None,
        leaves: LeafValues | None = None,
        out: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        cfv, edge_value = self._start_values(player, opponent_reach, leaves)
        response = self.zeros() if out is None else out
        for level in reversed(self._levels[player]):
            values = edge_value[level.acting_entry]
            ranked = values if bonus is None else values + bonus[level.acting_entry]
            best = torch.full((level.num_acting,), -torch.inf, device=self.device, dtype=self.dtype)
            best.scatter_reduce_(0, level.acting_infostate, ranked, "amax")
            # Of equally good actions the first, as in every backend.
            choice = torch.where(ranked == best[level.acting_infostate], level.acting_entry, self.tree.num_entries)
            first = torch.full((level.num_acting,), self.tree.num_entries, device=self.device)
            first.scatter_reduce_(0, level.acting_infostate, choice, "amin")
            response[level.acting_entry] = 0.0
            response[first] = 1.0
            cfv.index_add_(0, level.acting_row, response[level.acting_entry] * values)
            _pass_up(level, cfv, edge_value)
        return self.root_cfv(player), response

    def update_regrets(
        self,
        player: int,
        strategy: Tensor,
        regret: Tensor,
        average: Tensor,
        reaches: Sequence[Tensor],
        clock: Clock,
        leaves: LeafValues | None = None,
    ) -> None:
        cfv, edge_value = self._start_values(player, reaches[1 - player], leaves)
        step = clock.step
        for level in reversed(self._levels[player]):
            e = level.acting_entry
            average[e] += step.average_weight * reaches[player][level.acting_row] * strategy[e]
            cfv.index_add_(0, level.acting_row, strategy[e] * edge_value[e])
            instant = edge_value[e] - cfv[level.acting_row]
            old = regret[e]
            new = step.positive_discount * old.clamp_min(0.0) + step.negative_discount * old.clamp_max(0.0) + instant
            new = new.clamp_min(step.floor)
            wanted = (new + step.prediction * instant).clamp_min(0.0)
            total = torch.zeros(level.num_acting, device=self.device, dtype=self.dtype)
            total = total.index_add_(0, level.acting_infostate, wanted)[level.acting_infostate]
            regret[e] = new
            strategy[e] = torch.where(total > 0, wanted / total.where(total > 0, 1.0), 1.0 / self._num_actions[e])
            _pass_up(level, cfv, edge_value)

    def root_cfv(self, player: int) -> Tensor:
        return self._cfv[: self.tree.rows[player].level_start[1]]

    def row_values(self, player: int) -> Floats:
        return self.rows_to_numpy(player, self._cfv)

    def set_roots(self, player: int, reach: Tensor, roots: Tensor) -> None:
        reach[: len(roots)] = roots

    def get_roots(self, player: int, reach: Tensor) -> Tensor:
        return reach[: self.tree.rows[player].level_start[1]].clone()

    def _start_values(self, player: int, opponent_reach: Tensor, leaves: LeafValues | None) -> tuple[Tensor, Tensor]:
        """Returns values that are set at terminal rows and leaves only, and room for the value of every entry."""
        sign = 1.0 if player == 0 else -1.0
        cfv = torch.zeros(len(self.tree.rows[player]), device=self.device, dtype=self.dtype)
        cfv.index_add_(0, self._pairs[player], sign * self._payoff * opponent_reach[self._pairs[1 - player]])
        if leaves is not None:
            found = self._leaves.cfvs(player, self.rows_to_numpy(1 - player, opponent_reach), leaves)
            cfv[torch.from_numpy(self._leaves.rows[player]).to(self.device)] = torch.from_numpy(found).to(cfv)
        self._cfv = cfv
        return cfv, torch.zeros(self.tree.num_entries + 1, device=self.device, dtype=self.dtype)


def _pass_up(level: _Level, cfv: Tensor, edge_value: Tensor) -> None:
    """Adds each row's value to the own action that led to it, or to the row above where another moved."""
    if level.start == 0:
        return
    here = cfv[level.start : level.end]
    edge_value.index_add_(0, level.entry, torch.where(level.moved, here, 0.0))
    cfv.index_add_(0, level.parent, torch.where(level.moved, 0.0, here))


def _levels(tree: PublicTree, player: int, device: str) -> list[_Level]:
    rows, levels = tree.rows[player], []

    def to_device(indices: NDArray[Any]) -> Tensor:
        return torch.from_numpy(indices.astype(np.int64)).to(device)

    for start, end in zip(rows.level_start[:-1], rows.level_start[1:], strict=True):
        acting = rows.infostate[start:end][rows.infostate[start:end] != NOT_ACTING]
        counts = np.diff(tree.entry_start)[acting]
        levels.append(
            _Level(
                start=int(start),
                end=int(end),
                parent=to_device(rows.parent[start:end]),
                entry=to_device(rows.entry[start:end]),
                moved=to_device(rows.entry[start:end]) < tree.num_entries,
                acting_entry=to_device(in_ranges(tree.entry_start, acting)),
                acting_row=to_device(np.repeat(tree.infostate_row[acting], counts)),
                acting_infostate=to_device(np.repeat(np.arange(len(acting)), counts)),
                num_acting=len(acting),
            )
        )
    return levels
