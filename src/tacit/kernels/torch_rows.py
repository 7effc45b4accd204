"""Passes over any tree in torch, level by level, on CPU or GPU. They are also the reference for tests of the numba kernels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tacit.kernels.base import MATCH, RESPOND, LeafValues, Numbers
from tacit.kernels.clock import Clock, RegretStep
from tacit.kernels.leaf_rows import PublicTreePasses
from tacit.tree.public_tree import NOT_ACTING, Floats, PublicTree, in_ranges


class _Level(NamedTuple):
    """One player's rows of a level: their slice, their links, and the entries of the rows where the player acts.

    Attributes:
      start: The first row.
      end: The row after the last one.
      parent: `[end - start]` each row's parent row.
      entry: `[end - start]` the entry of the own action that led to each row.
      moved: `[end - start]` True where an own action led to the row.
      acting_entry: `[e]` the entries of the infostates that act on this level.
      acting_row: `[e]` the row of each of these entries.
      acting_infostate: `[e]` the infostate of each of these entries, numbered from 0 within the level.
      num_acting: How many infostates act on this level.
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
    """Passes in torch. Reach and values are `[R]`; entries are the tree's `[E]` and a 1 for rows that no own action led to."""

    backend, dtype = "torch", torch.float64

    def __init__(self, tree: PublicTree, device: str = "cpu") -> None:
        super().__init__(tree)
        self.device = device
        self._levels = tuple(_levels(tree, player, device) for player in (0, 1))
        self._pairs = torch.from_numpy(tree.payoff_rows.astype(np.int64)).to(device)
        self._payoff = torch.from_numpy(tree.payoff).to(device, self.dtype)
        self._num_actions = torch.from_numpy(np.diff(tree.entry_start)[tree.entry_infostate]).to(device, self.dtype)

    def entries(self, values: Floats) -> Tensor:
        return torch.cat([torch.from_numpy(np.asarray(values)), torch.ones(1, dtype=torch.float64)]).to(self.device, self.dtype)

    def to_numpy(self, entries: Tensor) -> Floats:
        return entries[:-1].double().cpu().numpy()

    def rows_to_numpy(self, player: int, rows: Tensor) -> Floats:
        return rows.double().cpu().numpy()

    def new_reach(self, player: int) -> Tensor:
        rows = self.tree.rows[player]
        reach = torch.empty(len(rows), device=self.device, dtype=self.dtype)
        self.set_roots(player, reach, torch.from_numpy(rows.root_reach).to(self.device, self.dtype))
        return reach

    def walk_down(self, player: int, strategy: Tensor, reach: Tensor, average: Tensor | None, clock: Clock | None) -> None:
        for level in self._levels[player][1:]:
            reach[level.start : level.end] = reach[level.parent] * strategy[level.entry]
        if average is not None and clock is not None:
            share = clock.share()
            for level in self._levels[player]:
                e = level.acting_entry
                average[e] = (1.0 - share) * average[e] + share * reach[level.acting_row] * strategy[e]

    def walk_up(self, mode: int, player: int, faced: Tensor, leaves: LeafValues | None, numbers: Numbers, clock: Clock) -> None:
        own_reach, strategy, regret, average = numbers
        cfv, edge_value = self._start_values(player, faced, leaves)
        for level in reversed(self._levels[player]):
            e, row = level.acting_entry, level.acting_row
            values = edge_value[e]
            if mode == RESPOND:
                self._respond(level, values if regret is None else values + regret[e], strategy)
            cfv.index_add_(0, row, strategy[e] * values)
            if mode == MATCH:
                average[e] += clock.step.average_weight * own_reach[row] * strategy[e]
                self._match(level, values - cfv[row], strategy, regret, clock.step)
            _pass_up(level, cfv, edge_value)

    def _respond(self, level: _Level, ranked: Tensor, response: Tensor) -> None:
        """Takes the best action at each infostate of a level."""
        best = torch.full((level.num_acting,), -torch.inf, device=self.device, dtype=self.dtype)
        best.scatter_reduce_(0, level.acting_infostate, ranked, "amax")
        # The first of equally good actions, as in every backend.
        choice = torch.where(ranked == best[level.acting_infostate], level.acting_entry, self.tree.num_entries)
        first = torch.full((level.num_acting,), self.tree.num_entries, device=self.device)
        first.scatter_reduce_(0, level.acting_infostate, choice, "amin")
        response[level.acting_entry] = 0.0
        response[first] = 1.0

    def _match(self, level: _Level, instant: Tensor, strategy: Tensor, regret: Tensor, step: RegretStep) -> None:
        """Updates the regrets and the strategy of a level."""
        e = level.acting_entry
        new = step.positive_discount * regret[e].clamp_min(0.0) + step.negative_discount * regret[e].clamp_max(0.0) + instant
        new = new.clamp_min(step.floor)
        wanted = (new + step.prediction * instant).clamp_min(0.0)
        total = torch.zeros(level.num_acting, device=self.device, dtype=self.dtype)
        total = total.index_add_(0, level.acting_infostate, wanted)[level.acting_infostate]
        regret[e] = new
        strategy[e] = torch.where(total > 0, wanted / total.where(total > 0, 1.0), 1.0 / self._num_actions[e])

    def root_cfv(self, player: int) -> Tensor:
        return self._cfv[: self.tree.rows[player].level_start[1]]

    def row_values(self, player: int) -> Floats:
        return self.rows_to_numpy(player, self._cfv)

    def set_roots(self, player: int, reach: Tensor, roots: Tensor) -> None:
        reach[: len(roots)] = roots

    def get_roots(self, player: int, reach: Tensor) -> Tensor:
        return reach[: self.tree.rows[player].level_start[1]].clone()

    def _start_values(self, player: int, opponent_reach: Tensor, leaves: LeafValues | None) -> tuple[Tensor, Tensor]:
        """Returns values that are set at terminal rows and leaves only, and zeros for the value of every entry."""
        sign = 1.0 if player == 0 else -1.0
        cfv = torch.zeros(len(self.tree.rows[player]), device=self.device, dtype=self.dtype)
        cfv.index_add_(0, self._pairs[player], sign * self._payoff * opponent_reach[self._pairs[1 - player]])
        if leaves is not None:
            leaf_cfvs = self._leaf_cfvs(player, opponent_reach, leaves)
            cfv[torch.from_numpy(self._leaf_rows[player]).to(self.device)] = torch.from_numpy(leaf_cfvs).to(cfv)
        self._cfv = cfv
        return cfv, torch.zeros(self.tree.num_entries + 1, device=self.device, dtype=self.dtype)


def _pass_up(level: _Level, cfv: Tensor, edge_value: Tensor) -> None:
    """Adds each row's value to the own action that led to it, or to the parent row if somebody else moved."""
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
