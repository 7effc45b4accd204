"""Passes over hold'em trees on a GPU, in Triton.

Folds and showdowns take time linear in the hands, as on the CPU (`card_removal.py`): sums over all weaker hands less those
over the weaker hands that share a card. Here both are prefix sums, over the hands in order of strength and over the hands
that hold each card in the same order, and a program looks up each hand's place in them.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl
from torch import Tensor

from tacit.kernels.base import MATCH, RESPOND, LeafValues, Numbers
from tacit.kernels.clock import Clock
from tacit.kernels.hand_leaves import DeviceRunOuts, HandTreePasses
from tacit.kernels.hand_pieces import SLOTS, cut_into_pieces
from tacit.tree.base import Floats
from tacit.tree.hand_tree import HandTree

LANES = 128
"""How many hands a program computes in a piece."""
DEAL_LANES = 64
"""How many hands a program computes when it sums over cards."""
HANDS = 2_048
"""How many hands a program computes at a terminal node: enough for all."""


@triton.jit  # type: ignore[untyped-decorator]
def _reach_kernel(  # type: ignore[no-untyped-def]
    first_piece, player, width, lane, above, begin_row, above_row, root_start, decision_start, actor, num_actions, entry, row,
    first_edge, edge_row, root_reach, strategy, reach, average, shares, counter,
    AVERAGES: tl.constexpr, ACTIONS: tl.constexpr, LANES: tl.constexpr,
):  # fmt: skip
    """Fills a player's reach in the pieces of a stage."""
    piece = first_piece + tl.program_id(0)
    hand, action = tl.program_id(1) * LANES + tl.arange(0, LANES), tl.arange(0, ACTIONS)
    size = tl.load(width + piece)
    inside = hand < size
    before = tl.load(above_row + piece)
    if before >= 0:
        source = tl.load(above + tl.load(lane + piece) + hand, mask=inside, other=0)
        begins = tl.load(reach + before + source, mask=inside)
    else:
        begins = tl.load(root_reach + tl.load(root_start + piece) + hand, mask=inside)
    tl.store(reach + tl.load(begin_row + piece) + hand, begins, mask=inside)
    first, last = tl.load(decision_start + piece), tl.load(decision_start + piece + 1)
    for back in range(last - first):
        decision = last - 1 - back
        if tl.load(actor + decision) == player:
            tl.debug_barrier()  # another thread may have written the row above
            real = action < tl.load(num_actions + decision)
            both = real[:, None] & inside[None, :]
            rows = tl.load(edge_row + tl.load(first_edge + decision) + action, mask=real, other=0)
            entries = tl.load(entry + decision) + action[:, None] * size + hand[None, :]
            reached = tl.load(reach + tl.load(row + decision) + hand, mask=inside, other=0.0)[None, :]
            reached = reached * tl.load(strategy + entries, mask=both, other=0.0)
            tl.store(reach + rows[:, None] + hand[None, :], reached, mask=both)
            if AVERAGES:
                mean, share = tl.load(average + entries, mask=both), tl.load(shares + tl.load(counter))
                tl.store(average + entries, mean + share * (reached - mean), mask=both)


@triton.jit  # type: ignore[untyped-decorator]
def _terminal_kernel(  # type: ignore[no-untyped-def]
    terminal_block, terminal_lane, terminal_width, terminal_shows, terminal_value, terminal_row, amount,
    card_lane, weaker, stronger, tie, past_tie, num_lanes, reach, values, SLOTS: tl.constexpr, HANDS: tl.constexpr,
):  # fmt: skip
    """Fills the values of a fold or a showdown."""
    node = tl.program_id(0)
    lane, hand, slot = tl.load(terminal_lane + node), tl.arange(0, HANDS), tl.arange(0, SLOTS * SLOTS)
    inside = hand < tl.load(terminal_width + node)
    row = reach + tl.load(terminal_row + node)
    holder = tl.load(card_lane + tl.load(terminal_block + node) * SLOTS * SLOTS + slot).to(tl.int32)
    held = tl.load(row + holder, mask=holder >= 0, other=0.0)
    by_card = tl.reshape(tl.cumsum(tl.reshape(held, (SLOTS, SLOTS)), 1), (SLOTS * SLOTS,)) - held  # excludes the slot itself
    own = tl.load(row + hand, mask=inside, other=0.0)
    total = tl.sum(own, 0)
    place = lane + hand
    first = tl.load(weaker + place, mask=inside, other=0).to(tl.int32)
    second = tl.load(weaker + num_lanes + place, mask=inside, other=0).to(tl.int32)
    meets = total - tl.gather(by_card, first | (SLOTS - 1), 0) - tl.gather(by_card, second | (SLOTS - 1), 0)
    if tl.load(terminal_shows + node):
        by_strength = tl.cumsum(own, 0) - own  # excludes the hand itself
        beyond = tl.load(past_tie + place, mask=inside, other=0).to(tl.int32)
        won = tl.gather(by_strength, tl.load(tie + place, mask=inside, other=0).to(tl.int32), 0)
        won -= tl.gather(by_card, first, 0) + tl.gather(by_card, second, 0)
        not_lost = tl.gather(by_strength, beyond, 0)
        not_lost -= tl.gather(by_card, tl.load(stronger + place, mask=inside, other=0).to(tl.int32), 0)
        not_lost -= tl.gather(by_card, tl.load(stronger + num_lanes + place, mask=inside, other=0).to(tl.int32), 0)
        result = won + not_lost - meets
    else:
        result = meets + own  # the hand itself was subtracted twice
    tl.store(values + tl.load(terminal_value + node) + hand, tl.load(amount + node) * result, mask=inside)


@triton.jit  # type: ignore[untyped-decorator]
def _deal_kernel(  # type: ignore[no-untyped-def]
    first_deal, deal_value, deal_width, link_start, link_value, link_below, below, values,
    SLOTS: tl.constexpr, LANES: tl.constexpr,
):  # fmt: skip
    """Fills the values of nodes where a card is dealt from the values after it."""
    deal = first_deal + tl.program_id(0)
    hand = tl.program_id(1) * LANES + tl.arange(0, LANES)
    inside = hand < tl.load(deal_width + deal)
    link = tl.load(link_start + deal) + tl.arange(0, SLOTS)
    comes = link < tl.load(link_start + deal + 1)
    both = comes[:, None] & inside[None, :]
    lanes = tl.load(link_below + link, mask=comes, other=0)[:, None] + hand[None, :]
    place = tl.load(below + lanes, mask=both, other=-1)
    after = values + tl.load(link_value + link, mask=comes, other=0)[:, None] + place
    tl.store(values + tl.load(deal_value + deal) + hand, tl.sum(tl.load(after, mask=place >= 0, other=0.0), 0), mask=inside)


@triton.jit  # type: ignore[untyped-decorator]
def _up_kernel(  # type: ignore[no-untyped-def]
    first_piece, player, width, decision_start, value, actor, num_actions, entry, first_edge, edge_value, edge_row,
    values, strategy, regret, average, own_reach, held, steps, counter,
    MODE: tl.constexpr, RESPOND: tl.constexpr, MATCH: tl.constexpr, BONUS: tl.constexpr, HELD: tl.constexpr,
    ACTIONS: tl.constexpr, LANES: tl.constexpr,
):  # fmt: skip
    """Fills the values of decisions in the pieces of a stage; `MODE` says what happens at the player's.

    With `BONUS`, `regret` holds what is added to values when a response compares them. With `HELD`, `held` has the fixed shares
    of entries, negative where a hand's play is not fixed.
    """
    piece = first_piece + tl.program_id(0)
    hand, action = tl.program_id(1) * LANES + tl.arange(0, LANES), tl.arange(0, ACTIONS)
    size = tl.load(width + piece)
    inside = hand < size
    step = steps + (tl.load(counter) - 1) * 5
    keep_positive, keep_negative = tl.load(step), tl.load(step + 1)
    floor, prediction, weight = tl.load(step + 2), tl.load(step + 3), tl.load(step + 4)
    for decision in range(tl.load(decision_start + piece), tl.load(decision_start + piece + 1)):
        tl.debug_barrier()  # another thread may have written the values below
        actions, edges = tl.load(num_actions + decision), tl.load(first_edge + decision)
        real = action < actions
        both = real[:, None] & inside[None, :]
        below = tl.load(edge_value + edges + action, mask=real, other=0)
        found = tl.load(values + below[:, None] + hand[None, :], mask=both, other=0.0)
        entries = tl.load(entry + decision) + action[:, None] * size + hand[None, :]
        result = tl.sum(found, 0)
        if tl.load(actor + decision) == player:
            if MODE == RESPOND:
                ranked = found + tl.load(regret + entries, mask=both, other=0.0) if BONUS else found
                _, chosen = tl.max(tl.where(real[:, None], ranked, float("-inf")), 0, return_indices=True)
                picked = (action[:, None] == chosen[None, :]).to(tl.float32)
                if HELD:
                    fixed = tl.load(held + entries, mask=both, other=-1.0)
                    picked = tl.where(fixed >= 0.0, fixed, picked)
                result = tl.sum(tl.where(picked > 0.0, picked * found, 0.0), 0)
                tl.store(strategy + entries, picked, mask=both)
            else:
                result = tl.sum(found * tl.load(strategy + entries, mask=both, other=0.0), 0)
            if MODE == MATCH:
                instant = tl.where(both, found - result[None, :], 0.0)
                old = tl.load(regret + entries, mask=both, other=0.0)
                new = tl.maximum(old * tl.where(old > 0.0, keep_positive, keep_negative) + instant, floor)
                tl.store(regret + entries, new, mask=both)
                rows = tl.load(edge_row + edges + action, mask=real, other=0)
                played = tl.load(own_reach + rows[:, None] + hand[None, :], mask=both, other=0.0)
                tl.store(average + entries, tl.load(average + entries, mask=both, other=0.0) + weight * played, mask=both)
                wish = tl.maximum(new + prediction * instant, 0.0)
                total = tl.sum(wish, 0)[None, :]
                even = tl.full([ACTIONS, LANES], 1.0, tl.float32) / actions
                following = tl.where(total > 0.0, wish / tl.where(total > 0.0, total, 1.0), even)
                if HELD:
                    fixed = tl.load(held + entries, mask=both, other=-1.0)
                    following = tl.where(fixed >= 0.0, fixed, following)
                tl.store(strategy + entries, following, mask=both)
        tl.store(values + tl.load(value + decision) + hand, result, mask=inside)


class TritonHandPasses(HandTreePasses[Tensor]):
    """Passes over a hold'em tree on a GPU, in float32; reaches are over the tree's rows, all else over its entries.

    Args:
      tree: the tree, or a forest.
      device: the GPU.
    """

    backend = "torch"
    capturable = True

    def __init__(self, tree: HandTree, device: str = "cuda") -> None:
        self.device = device
        pieces = cut_into_pieces(tree)
        self._value_offset = pieces["node_value"]
        super().__init__(tree, torch.float32)
        self._stages = list(pairwise(pieces["stage_start"].tolist()))
        self._stage_deals = list(pairwise(pieces["stage_deal_start"].tolist()))
        self._widest = int(pieces["width"].max())
        self._actions = triton.next_power_of_2(int(pieces["num_actions"].max()))
        self._tables = {name: self._to_device(table) for name, table in (*pieces.items(), ("above", tree.blocks.above))}
        self._root_reach = [self._to_device(reach) for reach in tree.root_reach]
        begins = zip(pieces["begin_value"], pieces["width"], range(*self._stages[0]), strict=False)
        self._root_index = self._to_device(np.concatenate([value + np.arange(width) for value, width, _ in begins]))
        self._values = torch.zeros(int(self._value_offset[-1]) + tree.blocks.width(int(tree.block[-1])), device=device)
        self._none = torch.zeros(0, device=device)
        fixed = tree.held.put(np.full(tree.num_entries, -1.0, np.float32))
        self._held = self._to_device(fixed) if len(tree.held.entry) else self._none
        self._run_outs = DeviceRunOuts(tree, self._value_offset, device)

    def _to_device(self, table: np.ndarray[Any, Any]) -> Tensor:
        numbers = torch.from_numpy(np.ascontiguousarray(table))
        return numbers.to(self.device, torch.float32 if numbers.is_floating_point() else numbers.dtype)

    def lanes(self, player: int, block: int) -> np.ndarray[Any, Any]:
        return np.arange(self.tree.blocks.width(block))

    def row_starts(self, player: int, nodes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        starts: np.ndarray[Any, Any] = self.tree.row_offset[player][self.tree.reach_row[player][nodes]]
        return starts

    def value_starts(self, player: int, nodes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        starts: np.ndarray[Any, Any] = self._value_offset[nodes]
        return starts

    def entries(self, values: Floats) -> Tensor:
        return torch.from_numpy(np.asarray(values)).to(self.device, torch.float32)

    def to_numpy(self, entries: Tensor) -> Floats:
        return entries.cpu().numpy()

    def rows_to_numpy(self, player: int, rows: Tensor) -> Floats:
        return rows.double().cpu().numpy()

    def zeros(self) -> Tensor:
        return torch.zeros(self.tree.num_entries, device=self.device)

    def new_reach(self, player: int) -> Tensor:
        return torch.empty(int(self.tree.row_offset[player][-1]), device=self.device)

    def walk_down(self, player: int, strategy: Tensor, reach: Tensor, average: Tensor | None, clock: Clock | None) -> None:
        t, averages, clock = self._tables, average is not None, clock or self.any_clock
        for first, last in self._stages:
            _reach_kernel[last - first, triton.cdiv(self._widest, LANES)](
                first, player, t["width"], t["lane"], t["above"], t["begin_row"][player], t["above_row"][player],
                t["root_start"], t["decision_start"], t["actor"], t["num_actions"], t["entry"], t["row"][player],
                t["first_edge"], t["edge_row"][player], self._root_reach[player], strategy, reach,
                average if averages else self._none, clock.shares, clock.counter, AVERAGES=averages, ACTIONS=self._actions,
                LANES=LANES,
            )  # fmt: skip

    def walk_up(self, mode: int, player: int, faced: Tensor, leaves: LeafValues | None, numbers: Numbers, clock: Clock) -> None:
        t, values, opponent = self._tables, self._values, 1 - player
        own_reach, *arrays = (self._none if part is None else part for part in numbers)
        self._fill_ends(player, faced, leaves)
        _terminal_kernel[(len(t["terminal_block"]),)](
            t["terminal_block"], t["terminal_lane"], t["terminal_width"], t["terminal_shows"], t["terminal_value"],
            t["terminal_row"][opponent], t["terminal_amount"][player], t["card_lane"], t["weaker"], t["stronger"], t["tie"],
            t["past_tie"], len(t["tie"]), faced, values, SLOTS=SLOTS, HANDS=HANDS, num_warps=8,
        )  # fmt: skip
        for (first, last), (first_deal, last_deal) in reversed(list(zip(self._stages, self._stage_deals, strict=True))):
            if last_deal > first_deal:
                _deal_kernel[last_deal - first_deal, triton.cdiv(self._widest, DEAL_LANES)](
                    first_deal, t["deal_value"], t["deal_width"], t["link_start"], t["link_value"], t["link_below"], t["below"],
                    values, SLOTS=SLOTS, LANES=DEAL_LANES,
                )  # fmt: skip
            _up_kernel[last - first, triton.cdiv(self._widest, LANES)](
                first, player, t["width"], t["decision_start"], t["value"], t["actor"], t["num_actions"], t["entry"],
                t["first_edge"], t["edge_value"], t["edge_row"][player], values, *arrays, own_reach, self._held, clock.table,
                clock.counter, MODE=mode, RESPOND=RESPOND, MATCH=MATCH, BONUS=len(arrays[1]) > 0, HELD=len(self._held) > 0,
                ACTIONS=self._actions, LANES=LANES,
            )  # fmt: skip

    def move(self, rows: Tensor, other: Tensor, weight: Any) -> None:
        rows.lerp_(other, weight)

    def root_cfv(self, player: int) -> Tensor:
        return self._values[self._root_index]

    def roots(self, values: Floats) -> Tensor:
        return self._to_device(values)

    def set_roots(self, player: int, reach: Tensor, roots: Tensor) -> None:
        self._root_reach[player].copy_(roots)

    def get_roots(self, player: int, reach: Tensor) -> Tensor:
        return self._root_reach[player].clone()
