"""The search passes on a GPU, in Triton: a program handles 32 games of a group, one row after the other.

Neighbouring threads are neighbouring games, so every access is coalesced, and a row's links are the same for the whole program.
The work of a program is a long chain of small steps; a GPU hides their latency by running thousands of programs, so
large batches pay. Weights of the iteration are read from device memory, so that one captured iteration can be replayed.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl
from torch import Tensor

from tacit.search.batch import Batch
from tacit.search.numbers import Clock, SearchNumbers
from tacit.search.tables import SearchSpace

BLOCK = 32


@triton.jit  # type: ignore[untyped-decorator]
def _reach_kernel(  # type: ignore[no-untyped-def]
    chunk_group, chunk_first, group_class, group_size, row_offset, entry_offset,
    row_start, num_roots, parent, entry, strategy, reach, BLOCK: tl.constexpr,
):  # fmt: skip
    chunk = tl.program_id(0)
    k = tl.load(chunk_group + chunk)
    c, n = tl.load(group_class + k), tl.load(group_size + k)
    game = tl.load(chunk_first + chunk) + tl.arange(0, BLOCK)
    mine = game < n
    table = tl.load(row_start + c)
    rows = reach + tl.load(row_offset + k) + game
    entries = strategy + tl.load(entry_offset + k) + game
    for row in range(tl.load(num_roots + c), tl.load(row_start + c + 1) - table):
        value = tl.load(rows + tl.load(parent + table + row) * n, mask=mine)
        action = tl.load(entry + table + row)
        if action >= 0:
            value = value * tl.load(entries + action * n, mask=mine)
        tl.store(rows + row * n, value, mask=mine)


@triton.jit  # type: ignore[untyped-decorator]
def _belief_kernel(  # type: ignore[no-untyped-def]
    chunk_group, chunk_first, group_class, group_size, row_offset, leaf_offset,
    leaf_start, leaf_class, leaf_row, num_roots, reach, beliefs, num_leaves, first_feature, BLOCK: tl.constexpr,
):  # fmt: skip
    chunk = tl.program_id(0)
    k = tl.load(chunk_group + chunk)
    c, n = tl.load(group_class + k), tl.load(group_size + k)
    game = tl.load(chunk_first + chunk) + tl.arange(0, BLOCK)
    mine = game < n
    first = tl.load(leaf_start + c)
    for leaf in range(first, tl.load(leaf_start + c + 1)):
        count = tl.load(num_roots + tl.load(leaf_class + leaf))
        rows = reach + tl.load(row_offset + k) + tl.load(leaf_row + leaf) * n + game
        total = tl.zeros([BLOCK], tl.float32)
        for state in range(count):
            total += tl.load(rows + state * n, mask=mine, other=0.0)
        known = total > 1e-20
        scale = tl.where(known, 1.0 / tl.where(known, total, 1.0), 0.0)
        spare = tl.where(known, 0.0, 1.0 / count)
        column = beliefs + tl.load(leaf_offset + k) + (leaf - first) * n + game
        for state in range(count):
            share = tl.load(rows + state * n, mask=mine, other=0.0) * scale + spare
            tl.store(column + (first_feature + state) * num_leaves, share, mask=mine)


@triton.jit  # type: ignore[untyped-decorator]
def _answer_kernel(  # type: ignore[no-untyped-def]
    chunk_group, chunk_first, group_class, group_size, own_offset, other_offset, entry_offset, leaf_offset,
    row_start, parent, entry, first_entry, num_actions, opens, leaf, state, meeting_start, meeting_row, meeting_weight,
    other_reach, values, num_leaves, first_output, own_reach, strategy, regret, average, edge_value, cfv, root_sum,
    steps, counter, REGRETS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Values flow up; at the player's decisions regrets are matched (`REGRETS`) or the best action is chosen."""
    chunk = tl.program_id(0)
    k = tl.load(chunk_group + chunk)
    c, n = tl.load(group_class + k), tl.load(group_size + k)
    game = tl.load(chunk_first + chunk) + tl.arange(0, BLOCK)
    mine = game < n
    table = tl.load(row_start + c)
    rows, others = tl.load(own_offset + k) + game, other_reach + tl.load(other_offset + k) + game
    entries, column = tl.load(entry_offset + k) + game, values + tl.load(leaf_offset + k) + game
    step = steps + (tl.load(counter) - 1) * 5
    keep_positive, keep_negative = tl.load(step), tl.load(step + 1)
    floor, prediction, weight = tl.load(step + 2), tl.load(step + 3), tl.load(step + 4)
    num_rows = tl.load(row_start + c + 1) - table
    for back in range(num_rows):
        row = num_rows - 1 - back
        count = tl.load(num_actions + table + row)
        first_meeting, last_meeting = tl.load(meeting_start + table + row), tl.load(meeting_start + table + row + 1)
        value = tl.zeros([BLOCK], tl.float32)
        if first_meeting < last_meeting:
            for meeting in range(first_meeting, last_meeting):
                met = tl.load(others + tl.load(meeting_row + meeting) * n, mask=mine, other=0.0)
                value += tl.load(meeting_weight + meeting) * met
            at = tl.load(leaf + table + row)
            if at >= 0:
                output = first_output + tl.load(state + table + row)
                value = value * tl.load(column + output * num_leaves + at * n, mask=mine, other=0.0)
        elif count > 0:
            first = entries + tl.load(first_entry + table + row) * n
            if REGRETS:
                for action in range(count):
                    e = first + action * n
                    value += tl.load(strategy + e, mask=mine, other=0.0) * tl.load(edge_value + e, mask=mine, other=0.0)
                total = tl.zeros([BLOCK], tl.float32)
                share = weight * tl.load(own_reach + rows + row * n, mask=mine, other=0.0)
                for action in range(count):
                    e = first + action * n
                    instant = tl.load(edge_value + e, mask=mine, other=0.0) - value
                    old = tl.load(regret + e, mask=mine, other=0.0)
                    new = tl.maximum(old * tl.where(old > 0.0, keep_positive, keep_negative) + instant, floor)
                    played = tl.load(strategy + e, mask=mine, other=0.0)
                    tl.store(average + e, tl.load(average + e, mask=mine, other=0.0) + share * played, mask=mine)
                    tl.store(regret + e, new, mask=mine)
                    wanted = tl.maximum(new + prediction * instant, 0.0)
                    tl.store(strategy + e, wanted, mask=mine)
                    total += wanted
                some = total > 0.0
                scale = tl.where(some, 1.0 / tl.where(some, total, 1.0), 0.0)
                spare = tl.where(some, 0.0, 1.0 / count)
                for action in range(count):
                    e = first + action * n
                    tl.store(strategy + e, tl.load(strategy + e, mask=mine, other=0.0) * scale + spare, mask=mine)
            else:
                value = tl.load(edge_value + first, mask=mine, other=0.0)
                best = tl.zeros([BLOCK], tl.int32)
                for action in range(1, count):
                    other = tl.load(edge_value + first + action * n, mask=mine, other=0.0)
                    best = tl.where(other > value, action, best)
                    value = tl.maximum(other, value)
                for action in range(count):
                    tl.store(strategy + first + action * n, tl.where(best == action, 1.0, 0.0), mask=mine)
        else:
            value = tl.load(cfv + rows + row * n, mask=mine, other=0.0)
        above = tl.load(parent + table + row)
        if above < 0:
            at_root = root_sum + rows + row * n
            tl.store(at_root, tl.load(at_root, mask=mine, other=0.0) + weight * value, mask=mine)
        else:
            action = tl.load(entry + table + row)
            target = cfv + rows + above * n
            if action >= 0:
                target = edge_value + entries + action * n
            if tl.load(opens + table + row) == 0:
                value += tl.load(target, mask=mine, other=0.0)
            tl.store(target, value, mask=mine)


@triton.jit  # type: ignore[untyped-decorator]
def _entry_kernel(  # type: ignore[no-untyped-def]
    chunk_group, chunk_first, group_class, group_size, game_offset, row_offset, entry_offset, entry_start,
    row_start, first_entry, num_actions, sample_iteration, reach, source, target, steps, counter,
    SAMPLE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Copies the entries of games that sample this iteration (`SAMPLE`), or adds weighted strategies to an average."""
    chunk = tl.program_id(0)
    k = tl.load(chunk_group + chunk)
    c, n = tl.load(group_class + k), tl.load(group_size + k)
    game = tl.load(chunk_first + chunk) + tl.arange(0, BLOCK)
    mine = game < n
    entries = tl.load(entry_offset + k) + game
    now = tl.load(counter)
    if SAMPLE:
        chosen = mine & (tl.load(sample_iteration + tl.load(game_offset + k) + game, mask=mine, other=-1) == now)
        if tl.sum(chosen.to(tl.int32)) > 0:
            for number in range(tl.load(entry_start + c + 1) - tl.load(entry_start + c)):
                tl.store(target + entries + number * n, tl.load(source + entries + number * n, mask=chosen), mask=chosen)
    else:
        weight = tl.load(steps + (now - 1) * 5 + 4)
        table = tl.load(row_start + c)
        for row in range(tl.load(row_start + c + 1) - table):
            count = tl.load(num_actions + table + row)
            if count > 0:
                share = weight * tl.load(reach + tl.load(row_offset + k) + row * n + game, mask=mine, other=0.0)
                for action in range(count):
                    e = entries + (tl.load(first_entry + table + row) + action) * n
                    total = tl.load(target + e, mask=mine, other=0.0) + share * tl.load(source + e, mask=mine, other=0.0)
                    tl.store(target + e, total, mask=mine)


class TritonKernels:
    """The passes on CUDA tensors (see `SearchKernels`)."""

    def __init__(self, space: SearchSpace, device: str) -> None:
        self.device = device
        t = space.tables
        self._players = [{field.name: self._put(getattr(table, field.name)) for field in fields(table)} for table in t.players]
        self._leaf_row = [self._put(table) for table in t.leaf_row]
        self._entry_start, self._leaf_start, self._leaf_class = (
            self._put(table) for table in (t.entry_start, t.leaf_start, t.leaf_class)
        )
        self._batch: tuple[Batch, dict[str, Any]] | None = None

    def reach_down(self, batch: Batch, player: int, strategy: Tensor, reach: Tensor) -> None:
        t, b = self._players[player], self._layout(batch)
        _reach_kernel[(b["chunks"],)](
            *b["place"], b["row_offset"][player], b["entry_offset"], t["row_start"], t["num_roots"], t["parent"], t["entry"],
            strategy, reach, BLOCK=BLOCK, num_warps=1,
        )  # fmt: skip

    def leaf_beliefs(self, batch: Batch, player: int, reach: Tensor, beliefs: Tensor) -> None:
        b, H = self._layout(batch), beliefs.shape[0] // 2
        _belief_kernel[(b["chunks"],)](
            *b["place"], b["row_offset"][player], b["leaf_offset"], self._leaf_start, self._leaf_class, self._leaf_row[player],
            self._players[player]["num_roots"], reach, beliefs, beliefs.shape[1], player * H, BLOCK=BLOCK, num_warps=1,
        )  # fmt: skip

    def update_regrets(self, s: SearchNumbers, player: int, values: Tensor, clock: Clock) -> None:
        self._answer(s, player, s.reach[1 - player], values, clock, regrets=True)

    def best_response(self, s: SearchNumbers, player: int, faced: Tensor, values: Tensor, clock: Clock) -> None:
        self._answer(s, player, faced, values, clock, regrets=False)

    def add_to_average(self, s: SearchNumbers, player: int, clock: Clock) -> None:
        self._entries(s, player, s.strategy, s.average, clock, sample=False)

    def take_samples(self, s: SearchNumbers, clock: Clock, source: Tensor, target: Tensor) -> None:
        self._entries(s, 0, source, target, clock, sample=True)

    def _answer(self, s: SearchNumbers, player: int, faced: Tensor, values: Tensor, clock: Clock, regrets: bool) -> None:
        t, b = self._players[player], self._layout(s.batch)
        _answer_kernel[(b["chunks"],)](
            *b["place"], b["row_offset"][player], b["row_offset"][1 - player], b["entry_offset"], b["leaf_offset"],
            t["row_start"], t["parent"], t["entry"], t["first_entry"], t["num_actions"], t["opens"], t["leaf"], t["state"],
            t["meeting_start"], t["meeting_row"], t["meeting_weight"],
            faced, values, values.shape[1], player * (values.shape[0] // 2), s.reach[player],
            s.strategy, s.regret, s.average, s.edge_value, s.cfv[player], s.root_sum[player], clock.steps, clock.counter,
            REGRETS=regrets, BLOCK=BLOCK, num_warps=1,
        )  # fmt: skip

    def _entries(self, s: SearchNumbers, player: int, source: Tensor, target: Tensor, clock: Clock, sample: bool) -> None:
        t, b = self._players[player], self._layout(s.batch)
        _entry_kernel[(b["chunks"],)](
            *b["place"], b["game_offset"], b["row_offset"][player], b["entry_offset"], self._entry_start,
            t["row_start"], t["first_entry"], t["num_actions"], s.sample_iteration, s.reach[player], source, target,
            clock.steps, clock.counter, SAMPLE=sample, BLOCK=BLOCK, num_warps=1,
        )  # fmt: skip

    def _layout(self, batch: Batch) -> dict[str, Any]:
        """Returns a batch's layout on the device; programs and their games are listed chunk by chunk."""
        if self._batch is None or self._batch[0] is not batch:
            chunks = -(-batch.group_size.astype(np.int64) // BLOCK)
            group = np.repeat(np.arange(len(chunks)), chunks)
            first = (np.arange(len(group)) - np.repeat(np.cumsum(chunks) - chunks, chunks)) * BLOCK
            place = (group.astype(np.int32), first.astype(np.int32), batch.group_class, batch.group_size)
            names = ("entry_offset", "leaf_offset", "game_offset")
            layout: dict[str, Any] = {name: self._put(getattr(batch, name)) for name in names}
            layout["place"] = tuple(self._put(table) for table in place)
            layout["row_offset"] = [self._put(offsets) for offsets in batch.row_offset]
            layout["chunks"] = len(group)
            self._batch = (batch, layout)
        return self._batch[1]

    def _put(self, table: Any) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(table)).to(self.device)
