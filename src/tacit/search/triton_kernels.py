"""The search passes on a GPU, in Triton: a program handles a block of games of a group, one tile of their rows after another.

Neighbouring threads are neighbouring games, so every access is coalesced, and the links of a tile's rows are the same for the
whole program. A program is a long chain of small steps; tiles make it shorter, and a GPU hides the latency that remains by
running thousands of programs, so large batches pay off. The iteration's weights are read from device memory, so that one
captured iteration can be replayed.

Threads of a program read what other threads wrote in the tile before, hence the barriers.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl
from torch import Tensor

from tacit.kernels.base import MATCH, RESPOND, LeafValues
from tacit.kernels.clock import Clock
from tacit.search.batch import Batch
from tacit.search.ends import DenseEnds
from tacit.tree.search_space import ACTS, ENDS, SearchSpace

BLOCK = 32
"""Games per program."""
ALIGNMENT = 64
"""Group sizes are multiples of this: the columns that the fused network takes at once, a multiple of `BLOCK`."""
DENSE_FROM = 33
"""From this many private states on, sums over those of the opponent are matrix products."""
ROWS_PER_WARP = 8
"""Rows of a tile that a warp handles."""
LEAF_PROGRAMS = 4
"""Programs that share the leaves of a block of games."""


@triton.jit  # type: ignore[untyped-decorator]
def _reach_kernel(  # type: ignore[no-untyped-def]
    chunk_group, chunk_first, group_class, group_size, row_offset, entry_offset,
    row_start, num_roots, tile_start, tile_row, tile_size, parent, entry, strategy, reach,
    BLOCK: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    chunk = tl.program_id(0)
    k = tl.load(chunk_group + chunk)
    c, n = tl.load(group_class + k), tl.multiple_of(tl.load(group_size + k), BLOCK)
    game = tl.multiple_of(tl.load(chunk_first + chunk), BLOCK) + tl.arange(0, BLOCK)[None, :]
    table, roots, lane = tl.load(row_start + c), tl.load(num_roots + c), tl.arange(0, TILE)
    rows = reach + tl.multiple_of(tl.load(row_offset + k), BLOCK) + game
    entries = strategy + tl.multiple_of(tl.load(entry_offset + k), BLOCK) + game
    for tile in range(tl.load(tile_start + c), tl.load(tile_start + c + 1)):
        first = tl.load(tile_row + tile)
        if first >= roots:
            real = lane < tl.load(tile_size + tile)
            row = first + lane
            above = tl.load(parent + table + row, mask=real, other=0)
            action = tl.load(entry + table + row, mask=real, other=-1)
            moved = real & (action >= 0)
            value = tl.load(rows + above[:, None] * n, mask=real[:, None], other=0.0)
            value *= tl.load(entries + action[:, None] * n, mask=moved[:, None], other=1.0)
            tl.store(rows + row[:, None] * n, value, mask=real[:, None])
            tl.debug_barrier()


@triton.jit  # type: ignore[untyped-decorator]
def _belief_kernel(  # type: ignore[no-untyped-def]
    chunk_group, chunk_first, group_class, group_size, row_offset, leaf_offset,
    leaf_start, leaf_class, leaf_row, num_roots, reach, beliefs, num_leaves, first_feature,
    BLOCK: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    chunk = tl.program_id(0)
    k = tl.load(chunk_group + chunk)
    c, n = tl.load(group_class + k), tl.multiple_of(tl.load(group_size + k), BLOCK)
    game = tl.multiple_of(tl.load(chunk_first + chunk), BLOCK) + tl.arange(0, BLOCK)[None, :]
    first, lane = tl.load(leaf_start + c), tl.arange(0, TILE)
    for leaf in range(first + tl.program_id(1), tl.load(leaf_start + c + 1), tl.num_programs(1)):
        count = tl.load(num_roots + tl.load(leaf_class + leaf))
        rows = reach + tl.multiple_of(tl.load(row_offset + k), BLOCK) + tl.load(leaf_row + leaf) * n + game
        column = beliefs + tl.multiple_of(tl.load(leaf_offset + k), BLOCK) + (leaf - first) * n + game
        total = tl.zeros([BLOCK], tl.float32)
        for start in range(0, count, TILE):
            state = start + lane
            total += tl.sum(tl.load(rows + state[:, None] * n, mask=(state < count)[:, None], other=0.0), 0)
        known = total > 1e-20
        scale = tl.where(known, 1.0 / tl.where(known, total, 1.0), 0.0)
        spare = tl.where(known, 0.0, 1.0 / count)
        for start in range(0, count, TILE):
            state = start + lane
            inside = (state < count)[:, None]
            share = tl.load(rows + state[:, None] * n, mask=inside, other=0.0) * scale[None, :] + spare[None, :]
            tl.store(column + (first_feature + state)[:, None] * num_leaves, share, mask=inside)


@triton.jit
def _match(  # type: ignore[no-untyped-def]
    start, n, counts, most, mine, value, share, strategy, regret, average, edge_value,
    keep_positive, keep_negative, floor, prediction,
):  # fmt: skip
    """Updates regrets, average and strategy of a tile of infostates whose values are known."""
    total = tl.zeros_like(value)
    for action in range(most):
        e, legal = start + action * n, (action < counts)[:, None] & mine
        instant = tl.load(edge_value + e, mask=legal, other=0.0) - value
        old = tl.load(regret + e, mask=legal, other=0.0)
        new = tl.maximum(old * tl.where(old > 0.0, keep_positive, keep_negative) + instant, floor)
        played = tl.load(strategy + e, mask=legal, other=0.0)
        tl.store(average + e, tl.load(average + e, mask=legal, other=0.0) + share * played, mask=legal)
        tl.store(regret + e, new, mask=legal)
        wanted = tl.where(legal, tl.maximum(new + prediction * instant, 0.0), 0.0)
        tl.store(strategy + e, wanted, mask=legal)
        total += wanted
    some = total > 0.0
    scale = tl.where(some, 1.0 / tl.where(some, total, 1.0), 0.0)
    spare = tl.where(some, 0.0, 1.0 / tl.maximum(counts, 1)[:, None])
    for action in range(most):
        e, legal = start + action * n, (action < counts)[:, None] & mine
        tl.store(strategy + e, tl.load(strategy + e, mask=legal, other=0.0) * scale + spare, mask=legal)


@triton.jit  # type: ignore[untyped-decorator]
def _respond(start, n, counts, most, mine, strategy, edge_value, BLOCK: tl.constexpr, TILE: tl.constexpr):  # type: ignore[no-untyped-def]
    """Returns the values of a tile of infostates under their best actions, which replace the strategy."""
    value = tl.load(edge_value + start, mask=mine, other=0.0)
    best = tl.zeros([TILE, BLOCK], tl.int32)
    for action in range(1, most):
        legal = (action < counts)[:, None] & mine
        other = tl.load(edge_value + start + action * n, mask=legal, other=-float("inf"))
        best = tl.where(other > value, action, best)
        value = tl.maximum(other, value)
    for action in range(most):
        legal = (action < counts)[:, None] & mine
        tl.store(strategy + start + action * n, tl.where(best == action, 1.0, 0.0), mask=legal)
    return value


@triton.jit  # type: ignore[untyped-decorator]
def _answer_kernel(  # type: ignore[no-untyped-def]
    chunk_group, chunk_first, group_class, group_size, own_offset, other_offset, entry_offset, leaf_offset,
    row_start, tile_start, tile_row, tile_size, tile_kind, parent, entry, first_entry, num_actions, opens, leaf, state,
    meeting_start, meeting_row, meeting_weight,
    other_reach, values, num_leaves, first_output, own_reach, strategy, regret, average, edge_value, cfv,
    steps, counter, MODE: tl.constexpr, MATCH: tl.constexpr, RESPOND: tl.constexpr, WEIGHTED: tl.constexpr,
    DENSE: tl.constexpr, KEEP: tl.constexpr, BLOCK: tl.constexpr, TILE: tl.constexpr, ENDS: tl.constexpr, ACTS: tl.constexpr,
):  # fmt: skip
    """Passes values up; `MODE` says what happens at the player's decisions: nothing, regret matching, or a best response.

    With `DENSE`, `cfv` already holds the sums over the meetings of rows at ends. With `KEEP`, it keeps the values of all rows.
    """
    chunk = tl.program_id(0)
    k = tl.load(chunk_group + chunk)
    c, n = tl.load(group_class + k), tl.multiple_of(tl.load(group_size + k), BLOCK)
    game = tl.multiple_of(tl.load(chunk_first + chunk), BLOCK) + tl.arange(0, BLOCK)[None, :]
    table, lane = tl.load(row_start + c), tl.arange(0, TILE)
    rows = tl.multiple_of(tl.load(own_offset + k), BLOCK) + game
    others = other_reach + tl.multiple_of(tl.load(other_offset + k), BLOCK) + game
    entries = tl.multiple_of(tl.load(entry_offset + k), BLOCK) + game
    column = values + tl.multiple_of(tl.load(leaf_offset + k), BLOCK) + game
    step = steps + (tl.load(counter) - 1) * 5
    keep_positive, keep_negative = tl.load(step), tl.load(step + 1)
    floor, prediction, weight = tl.load(step + 2), tl.load(step + 3), tl.load(step + 4)
    first_tile, last_tile = tl.load(tile_start + c), tl.load(tile_start + c + 1)
    for back in range(last_tile - first_tile):
        tile = last_tile - 1 - back
        first, kind = tl.load(tile_row + tile), tl.load(tile_kind + tile)
        real = lane < tl.load(tile_size + tile)
        row = first + lane
        mine = real[:, None] & (game >= 0)
        value = tl.zeros([TILE, BLOCK], tl.float32)
        if kind == ENDS:
            if DENSE:
                value = tl.load(cfv + rows + row[:, None] * n, mask=mine, other=0.0)
            else:
                begin = tl.load(meeting_start + table + row, mask=real, other=0)
                end = tl.load(meeting_start + table + row + 1, mask=real, other=0)
                for number in range(tl.max(end - begin, 0)):
                    meeting = begin + number
                    happens = meeting < end
                    met = tl.load(meeting_row + meeting, mask=happens, other=0)
                    chance = tl.load(meeting_weight + meeting, mask=happens, other=0.0)
                    value += chance[:, None] * tl.load(others + met[:, None] * n, mask=mine, other=0.0)
            at = tl.load(leaf + table + first)
            if at >= 0:
                output = first_output + tl.load(state + table + row, mask=real, other=0)
                worth = tl.load(column + output[:, None] * num_leaves + at * n, mask=mine, other=0.0)
                value = worth if WEIGHTED else value * worth
        elif kind == ACTS:
            counts = tl.load(num_actions + table + row, mask=real, other=0)
            most = tl.max(counts, 0)
            start = entries + tl.load(first_entry + table + row, mask=real, other=0)[:, None] * n
            if MODE != RESPOND:
                for action in range(most):
                    e, legal = start + action * n, (action < counts)[:, None] & mine
                    value += tl.load(strategy + e, mask=legal, other=0.0) * tl.load(edge_value + e, mask=legal, other=0.0)
            if MODE == MATCH:
                share = weight * tl.load(own_reach + rows + row[:, None] * n, mask=mine, other=0.0)
                _match(
                    start, n, counts, most, mine, value, share, strategy, regret, average, edge_value,
                    keep_positive, keep_negative, floor, prediction,
                )  # fmt: skip
            if MODE == RESPOND:
                value = _respond(start, n, counts, most, mine, strategy, edge_value, BLOCK, TILE)
        else:
            value = tl.load(cfv + rows + row[:, None] * n, mask=mine, other=0.0)
        if KEEP:
            tl.store(cfv + rows + row[:, None] * n, value, mask=mine)
        above = tl.load(parent + table + row, mask=real, other=0)
        if tl.load(parent + table + first) < 0:
            tl.store(cfv + rows + row[:, None] * n, value, mask=mine)
        else:
            action = tl.load(entry + table + row, mask=real, other=0)
            target = cfv + rows + above[:, None] * n
            if tl.load(entry + table + first) >= 0:
                target = edge_value + entries + action[:, None] * n
            adds = tl.load(opens + table + row, mask=real, other=1) == 0
            value += tl.load(target, mask=adds[:, None] & mine, other=0.0)
            tl.store(target, value, mask=mine)
        tl.debug_barrier()


@triton.jit  # type: ignore[untyped-decorator]
def _average_kernel(  # type: ignore[no-untyped-def]
    chunk_group, chunk_first, group_class, group_size, row_offset, entry_offset,
    row_start, tile_start, tile_row, tile_size, tile_kind, first_entry, num_actions, reach, strategy, average, shares, counter,
    BLOCK: tl.constexpr, TILE: tl.constexpr, ACTS: tl.constexpr,
):  # fmt: skip
    """Moves a player's average a share of the way towards its own reach times strategy."""
    chunk = tl.program_id(0)
    k = tl.load(chunk_group + chunk)
    c, n = tl.load(group_class + k), tl.multiple_of(tl.load(group_size + k), BLOCK)
    game = tl.multiple_of(tl.load(chunk_first + chunk), BLOCK) + tl.arange(0, BLOCK)[None, :]
    entries, table, lane = tl.load(entry_offset + k) + game, tl.load(row_start + c), tl.arange(0, TILE)
    share = tl.load(shares + tl.load(counter))
    for tile in range(tl.load(tile_start + c), tl.load(tile_start + c + 1)):
        if tl.load(tile_kind + tile) == ACTS:
            real = lane < tl.load(tile_size + tile)
            row = tl.load(tile_row + tile) + lane
            counts = tl.load(num_actions + table + row, mask=real, other=0)
            moved = share * tl.load(reach + tl.load(row_offset + k) + row[:, None] * n + game, mask=real[:, None], other=0.0)
            start = entries + tl.load(first_entry + table + row, mask=real, other=0)[:, None] * n
            for action in range(tl.max(counts, 0)):
                e, legal = start + action * n, (action < counts)[:, None] & (game >= 0)
                kept = (1.0 - share) * tl.load(average + e, mask=legal, other=0.0)
                tl.store(average + e, kept + moved * tl.load(strategy + e, mask=legal, other=0.0), mask=legal)


@triton.jit  # type: ignore[untyped-decorator]
def _sample_kernel(  # type: ignore[no-untyped-def]
    chunk_group, chunk_first, group_class, group_size, game_offset, entry_offset, entry_start,
    sample_iteration, source, target, counter, BLOCK: tl.constexpr,
):  # fmt: skip
    """Copies the entries of games that sample this iteration."""
    chunk = tl.program_id(0)
    k = tl.load(chunk_group + chunk)
    c, n = tl.load(group_class + k), tl.load(group_size + k)
    game = tl.load(chunk_first + chunk) + tl.arange(0, BLOCK)
    chosen = tl.load(sample_iteration + tl.load(game_offset + k) + game) == tl.load(counter)
    if tl.sum(chosen.to(tl.int32)) > 0:
        entries = tl.load(entry_offset + k) + game
        for number in range(tl.load(entry_start + c + 1) - tl.load(entry_start + c)):
            tl.store(target + entries + number * n, tl.load(source + entries + number * n, mask=chosen), mask=chosen)


class TritonKernels:
    """The passes on CUDA tensors (see `GroupKernels`)."""

    alignment = ALIGNMENT

    def __init__(self, space: SearchSpace, device: str) -> None:
        self.device = device
        t = space.tables
        self._players = [{field.name: self._put(getattr(table, field.name)) for field in fields(table)} for table in t.players]
        self._leaf_row = [self._put(table) for table in t.leaf_row]
        self._entry_start, self._leaf_start, self._leaf_class = (
            self._put(table) for table in (t.entry_start, t.leaf_start, t.leaf_class)
        )
        self._batch: tuple[Batch, dict[str, Any]] | None = None
        self._dense = DenseEnds(space, device) if t.num_private_states >= DENSE_FROM else None
        self._tiles = {"BLOCK": BLOCK, "TILE": t.tile, "num_warps": t.tile // ROWS_PER_WARP}

    def reach_down(self, batch: Batch, player: int, strategy: Tensor, reach: Tensor) -> None:
        t, b = self._players[player], self._layout(batch)
        _reach_kernel[(b["chunks"],)](
            *b["place"], b["row_offset"][player], b["entry_offset"], t["row_start"], t["num_roots"],
            t["tile_start"], t["tile_row"], t["tile_size"], t["parent"], t["entry"],
            strategy, reach, **self._tiles,
        )  # fmt: skip

    def leaf_beliefs(self, batch: Batch, player: int, reach: Tensor, beliefs: Tensor) -> None:
        b, H = self._layout(batch), beliefs.shape[0] // 2
        _belief_kernel[(b["chunks"], LEAF_PROGRAMS)](
            *b["place"], b["row_offset"][player], b["leaf_offset"], self._leaf_start, self._leaf_class, self._leaf_row[player],
            self._players[player]["num_roots"], reach, beliefs, beliefs.shape[1], player * H,
            **self._tiles,
        )  # fmt: skip

    def answer(
        self,
        batch: Batch,
        player: int,
        mode: int,
        faced: Tensor,
        leaves: LeafValues,
        numbers: tuple[Tensor, ...],
        clock: Clock,
        keep: bool = False,
    ) -> None:
        t, b, values = self._players[player], self._layout(batch), leaves.values
        if self._dense is not None:
            self._dense.write(batch, player, faced, not leaves.counterfactual, numbers[-1])
        _answer_kernel[(b["chunks"],)](
            *b["place"], b["row_offset"][player], b["row_offset"][1 - player], b["entry_offset"], b["leaf_offset"],
            t["row_start"], t["tile_start"], t["tile_row"], t["tile_size"], t["tile_kind"],
            t["parent"], t["entry"], t["first_entry"], t["num_actions"], t["opens"], t["leaf"], t["state"],
            t["meeting_start"], t["meeting_row"], t["meeting_weight"],
            faced, values, values.shape[1], player * (values.shape[0] // 2), *numbers,
            clock.table, clock.counter, MODE=mode, MATCH=MATCH, RESPOND=RESPOND, WEIGHTED=leaves.counterfactual,
            DENSE=self._dense is not None, KEEP=keep, ENDS=ENDS, ACTS=ACTS, **self._tiles,
        )  # fmt: skip

    def move_average(self, batch: Batch, player: int, reach: Tensor, strategy: Tensor, average: Tensor, clock: Clock) -> None:
        t, b = self._players[player], self._layout(batch)
        _average_kernel[(b["chunks"],)](
            *b["place"], b["row_offset"][player], b["entry_offset"],
            t["row_start"], t["tile_start"], t["tile_row"], t["tile_size"], t["tile_kind"], t["first_entry"], t["num_actions"],
            reach, strategy, average, clock.shares, clock.counter, ACTS=ACTS, **self._tiles,
        )  # fmt: skip

    def take_samples(self, batch: Batch, sample_iteration: Tensor, clock: Clock, source: Tensor, target: Tensor) -> None:
        b = self._layout(batch)
        _sample_kernel[(b["chunks"],)](
            *b["place"], b["game_offset"], b["entry_offset"], self._entry_start, sample_iteration, source, target,
            clock.counter, BLOCK=BLOCK, num_warps=1,
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
