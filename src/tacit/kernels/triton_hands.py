"""The passes over trees of hold'em on a GPU, in Triton.

Folds and showdowns are products of matrices: what hand `h` wins against the reach of hand `g` is 0 where they share a card,
else 1 at a fold, and 1, 0 or -1 at a showdown. These matrices are never stored: a program makes the part it needs from the
hands' cards and order. They are exact in bfloat16, and reaches are split into three such numbers, whose sum differs in the
last bits at most: tensor cores give sums as good as those of float32.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl
from torch import Tensor

from tacit.kernels.base import Passes, RegretStep
from tacit.kernels.hand_pieces import TILE, cut_into_pieces
from tacit.tree.hand_tree import HandTree
from tacit.tree.public_tree import Floats

LANES = 128
"""Hands of a program that handles a piece."""
DEAL_LANES = 64
"""Hands of a program that sums over cards."""
CARDS = 64
"""More cards than can come."""
ROWS, COLUMNS = 128, 64
"""Hands, and hands of the opponent at a time, of a program at terminal nodes."""

_VALUES, _RESPONSE, _REGRETS = 0, 1, 2
"""What a pass upwards does where its player decides."""


@triton.jit  # type: ignore[untyped-decorator]
def _reach_kernel(  # type: ignore[no-untyped-def]
    first_piece, width, lane, above, begin_row, above_row, root_start, row_start, row, row_above, row_entry,
    root_reach, strategy, reach, average, weight, AVERAGES: tl.constexpr, LANES: tl.constexpr,
):  # fmt: skip
    """Fills a player's reach in the pieces of a stage."""
    piece = first_piece + tl.program_id(0)
    hand = tl.program_id(1) * LANES + tl.arange(0, LANES)
    inside = hand < tl.load(width + piece)
    before = tl.load(above_row + piece)
    if before >= 0:
        source = tl.load(above + tl.load(lane + piece) + hand, mask=inside, other=0)
        begins = tl.load(reach + before + source, mask=inside)
    else:
        begins = tl.load(root_reach + tl.load(root_start + piece) + hand, mask=inside)
    tl.store(reach + tl.load(begin_row + piece) + hand, begins, mask=inside)
    for number in range(tl.load(row_start + piece), tl.load(row_start + piece + 1)):
        tl.debug_barrier()  # another thread may have written the row above
        entry = tl.load(row_entry + number) + hand
        reached = tl.load(reach + tl.load(row_above + number) + hand, mask=inside) * tl.load(strategy + entry, mask=inside)
        tl.store(reach + tl.load(row + number) + hand, reached, mask=inside)
        if AVERAGES:
            tl.store(average + entry, tl.load(average + entry, mask=inside) + weight * reached, mask=inside)


@triton.jit  # type: ignore[untyped-decorator]
def _terminal_kernel(  # type: ignore[no-untyped-def]
    tile_lane, tile_width, tile_shows, tile_first, tile_count, terminal_value, terminal_row, amount, mask, tie, reach, values,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Fills the values of a tile's folds or showdowns."""
    tile = tl.program_id(0)
    lane, width, shows = tl.load(tile_lane + tile), tl.load(tile_width + tile), tl.load(tile_shows + tile)
    node = tl.arange(0, TILE)
    real = node < tl.load(tile_count + tile)
    node += tl.load(tile_first + tile)
    hand, other = tl.program_id(1) * ROWS + tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    inside = hand < width
    cards, order = tl.load(mask + lane + hand, mask=inside, other=0), tl.load(tie + lane + hand, mask=inside, other=0)
    rows = reach + tl.load(terminal_row + node, mask=real, other=0)[None, :]
    total = tl.zeros([ROWS, TILE], tl.float32)
    for start in range(0, width, COLUMNS):
        against = start + other
        met = against < width
        their_cards = tl.load(mask + lane + against, mask=met, other=0)
        their_order = tl.load(tie + lane + against, mask=met, other=0)
        beats = (order[:, None] > their_order[None, :]).to(tl.float32) - (order[:, None] < their_order[None, :]).to(tl.float32)
        wins = tl.where(shows > 0, beats, 1.0)
        wins = tl.where((cards[:, None] & their_cards[None, :]) == 0, wins, 0.0).to(tl.bfloat16)
        reached = tl.load(rows + against[:, None], mask=met[:, None] & real[None, :], other=0.0)
        high = reached.to(tl.bfloat16)
        rest = reached - high.to(tl.float32)
        middle = rest.to(tl.bfloat16)
        low = (rest - middle.to(tl.float32)).to(tl.bfloat16)
        total = tl.dot(wins, high, total)
        total = tl.dot(wins, middle, total)
        total = tl.dot(wins, low, total)
    won = total * tl.load(amount + node, mask=real, other=0.0)[None, :]
    place = values + tl.load(terminal_value + node, mask=real, other=0)[None, :] + hand[:, None]
    tl.store(place, won, mask=inside[:, None] & real[None, :])


@triton.jit  # type: ignore[untyped-decorator]
def _deal_kernel(  # type: ignore[no-untyped-def]
    first_deal, deal_value, deal_width, link_start, link_value, link_below, below, values,
    CARDS: tl.constexpr, LANES: tl.constexpr,
):  # fmt: skip
    """Fills the values of nodes where a card comes, by those after it."""
    deal = first_deal + tl.program_id(0)
    hand = tl.program_id(1) * LANES + tl.arange(0, LANES)
    inside = hand < tl.load(deal_width + deal)
    first, last = tl.load(link_start + deal), tl.load(link_start + deal + 1)
    link = first + tl.arange(0, CARDS)
    comes = link < last
    lanes = tl.load(link_below + link, mask=comes, other=0)[:, None] + hand[None, :]
    both = comes[:, None] & inside[None, :]
    place = tl.load(below + lanes, mask=both, other=-1)
    found = tl.load(
        values + tl.load(link_value + link, mask=comes, other=0)[:, None] + place, mask=both & (place >= 0), other=0.0
    )
    tl.store(values + tl.load(deal_value + deal) + hand, tl.sum(found, 0), mask=inside)


@triton.jit  # type: ignore[untyped-decorator]
def _up_kernel(  # type: ignore[no-untyped-def]
    first_piece, player, width, decision_start, value, actor, num_actions, entry, first_edge, edge_value, edge_row,
    values, strategy, regret, average, own_reach, keep_positive, keep_negative, floor, prediction, weight,
    MODE: tl.constexpr, RESPONSE: tl.constexpr, REGRETS: tl.constexpr, LANES: tl.constexpr,
):  # fmt: skip
    """Fills the values of decisions in the pieces of a stage, and does what the mode says at those of the player."""
    piece = first_piece + tl.program_id(0)
    hand = tl.program_id(1) * LANES + tl.arange(0, LANES)
    size = tl.load(width + piece)
    inside = hand < size
    for decision in range(tl.load(decision_start + piece), tl.load(decision_start + piece + 1)):
        tl.debug_barrier()  # another thread may have written the values below
        actions, edges = tl.load(num_actions + decision), tl.load(first_edge + decision)
        entries = tl.load(entry + decision) + hand
        result = tl.zeros([LANES], tl.float32)
        if tl.load(actor + decision) != player:
            for a in range(actions):
                result += tl.load(values + tl.load(edge_value + edges + a) + hand, mask=inside, other=0.0)
        elif MODE == RESPONSE:
            chosen = tl.zeros([LANES], tl.int32)
            result = tl.load(values + tl.load(edge_value + edges) + hand, mask=inside, other=0.0)
            for a in range(1, actions):
                found = tl.load(values + tl.load(edge_value + edges + a) + hand, mask=inside, other=0.0)
                chosen = tl.where(found > result, a, chosen)
                result = tl.maximum(found, result)
            for a in range(actions):
                tl.store(strategy + entries + a * size, (chosen == a).to(tl.float32), mask=inside)
        else:
            for a in range(actions):
                found = tl.load(values + tl.load(edge_value + edges + a) + hand, mask=inside, other=0.0)
                result += found * tl.load(strategy + entries + a * size, mask=inside, other=0.0)
            if MODE == REGRETS:
                total = tl.zeros([LANES], tl.float32)
                for a in range(actions):
                    at = entries + a * size
                    instant = tl.load(values + tl.load(edge_value + edges + a) + hand, mask=inside, other=0.0) - result
                    old = tl.load(regret + at, mask=inside, other=0.0)
                    new = tl.maximum(old * tl.where(old > 0.0, keep_positive, keep_negative) + instant, floor)
                    tl.store(regret + at, new, mask=inside)
                    total += tl.maximum(new + prediction * instant, 0.0)
                    played = tl.load(own_reach + tl.load(edge_row + edges + a) + hand, mask=inside, other=0.0)
                    tl.store(average + at, tl.load(average + at, mask=inside, other=0.0) + weight * played, mask=inside)
                tl.debug_barrier()  # the new regrets
                even = tl.full([LANES], 1.0, tl.float32) / actions
                for a in range(actions):
                    at = entries + a * size
                    instant = tl.load(values + tl.load(edge_value + edges + a) + hand, mask=inside, other=0.0) - result
                    wish = tl.maximum(tl.load(regret + at, mask=inside, other=0.0) + prediction * instant, 0.0)
                    tl.store(strategy + at, tl.where(total > 0.0, wish / tl.where(total > 0.0, total, 1.0), even), mask=inside)
        tl.store(values + tl.load(value + decision) + hand, result, mask=inside)


class TritonHandPasses(Passes[Tensor]):
    """Passes over a tree of hold'em on a GPU, in float32; reaches are over its rows, the rest over its entries.

    Args:
      tree: the tree, or a forest.
      device: the GPU.
    """

    backend = "torch"

    def __init__(self, tree: HandTree, device: str = "cuda") -> None:
        self.hand_tree = self.tree = tree  # type: ignore[assignment]
        self.device = device
        pieces = cut_into_pieces(tree)
        self._stages = list(pairwise(pieces.stage_start.tolist()))
        self._stage_deals = list(pairwise(pieces.stage_deal_start.tolist()))
        self._tiles, self._widest = len(pieces.tile_first), int(pieces.width.max())
        self._tables: dict[str, Tensor] = {}
        for name, table in vars(pieces).items():
            if isinstance(table, np.ndarray):
                self._tables[name] = self._to_device(table)
            elif isinstance(table, tuple):
                for player in (0, 1):
                    self._tables[f"{name}{player}"] = self._to_device(table[player])
        blocks = tree.blocks
        self._tables["above"], self._tables["tie"] = self._to_device(blocks.above), self._to_device(blocks.tie)
        self._tables["cards"] = self._to_device(np.left_shift(1, blocks.cards.astype(np.int64)).sum(axis=1))
        self._root_reach = [torch.from_numpy(reach).to(device, torch.float32) for reach in tree.root_reach]
        roots = range(*self._stages[0])
        self._root_index = self._to_device(
            np.concatenate([pieces.begin_value[root] + np.arange(pieces.width[root]) for root in roots])
        )
        self._values = torch.zeros(pieces.num_values, device=device)
        self._none = torch.zeros(0, device=device)

    def _to_device(self, table: np.ndarray[Any, Any]) -> Tensor:
        numbers = torch.from_numpy(np.ascontiguousarray(table))
        return numbers.to(self.device, torch.float32 if numbers.is_floating_point() else numbers.dtype)

    def entries(self, values: Floats) -> Tensor:
        return torch.from_numpy(np.asarray(values)).to(self.device, torch.float32)

    def to_numpy(self, entries: Tensor) -> Floats:
        return entries.cpu().numpy()

    def rows_to_numpy(self, player: int, rows: Tensor) -> Floats:
        return rows.double().cpu().numpy()

    def reach(self, player: int, strategy: Tensor, out: Tensor | None = None) -> Tensor:
        return self.reach_and_average(player, strategy, self._none, 0.0, out)

    def reach_and_average(
        self, player: int, strategy: Tensor, average: Tensor, weight: float, out: Tensor | None = None
    ) -> Tensor:
        t = self._tables
        reach = torch.empty(int(self.hand_tree.row_offset[player][-1]), device=self.device) if out is None else out
        for first, last in self._stages:
            _reach_kernel[last - first, triton.cdiv(self._widest, LANES)](
                first, t["width"], t["lane"], t["above"], t["begin_row"][player], t["above_row"][player], t["root_start"],
                t[f"row_start{player}"], t[f"row{player}"], t[f"row_above{player}"], t[f"row_entry{player}"],
                self._root_reach[player], strategy, reach, average, weight, AVERAGES=len(average) > 0, LANES=LANES,
            )  # fmt: skip
        return reach

    def values(self, player: int, strategy: Tensor, opponent_reach: Tensor) -> Tensor:
        self._pass_up(_VALUES, player, opponent_reach, self._none, (strategy, self._none, self._none), RegretStep())
        return self._values[self._root_index]

    def best_response(self, player: int, opponent_reach: Tensor) -> tuple[Tensor, Tensor]:
        response = self.zeros()
        self._pass_up(_RESPONSE, player, opponent_reach, self._none, (response, self._none, self._none), RegretStep())
        return self._values[self._root_index], response

    def update_regrets(
        self, player: int, strategy: Tensor, regret: Tensor, average: Tensor, reaches: Sequence[Tensor], step: RegretStep
    ) -> None:
        self._pass_up(_REGRETS, player, reaches[1 - player], reaches[player], (strategy, regret, average), step)

    def mix(self, rows: Tensor, other: Tensor, weight: float) -> Tensor:
        return torch.lerp(rows, other, weight)

    def zeros(self) -> Tensor:
        return torch.zeros(self.hand_tree.num_entries, device=self.device)

    def root_values(self, player: int, cfv: Tensor) -> Floats:
        values: Floats = cfv.double().cpu().numpy() * self.hand_tree.root_reach[player]
        return values

    def _pass_up(
        self, mode: int, player: int, opponent_reach: Tensor, own_reach: Tensor, arrays: tuple[Tensor, ...], step: RegretStep
    ) -> None:
        t, values, opponent = self._tables, self._values, 1 - player
        _terminal_kernel[self._tiles, triton.cdiv(self._widest, ROWS)](
            t["tile_block_lane"], t["tile_width"], t["tile_shows"], t["tile_first"], t["tile_count"], t["terminal_value"],
            t["terminal_row"][opponent], t["terminal_amount"][player], t["cards"], t["tie"], opponent_reach, values,
            ROWS=ROWS, COLUMNS=COLUMNS, TILE=TILE, num_warps=8,
        )  # fmt: skip
        for (first, last), (first_deal, last_deal) in reversed(list(zip(self._stages, self._stage_deals, strict=True))):
            if last_deal > first_deal:
                _deal_kernel[last_deal - first_deal, triton.cdiv(self._widest, DEAL_LANES)](
                    first_deal, t["deal_value"], t["deal_width"], t["link_start"], t["link_value"], t["link_below"], t["below"],
                    values, CARDS=CARDS, LANES=DEAL_LANES,
                )  # fmt: skip
            _up_kernel[last - first, triton.cdiv(self._widest, LANES)](
                first, player, t["width"], t["decision_start"], t["value"], t["actor"], t["num_actions"], t["entry"],
                t["first_edge"], t["edge_value"], t["edge_row"][player], values, *arrays, own_reach, *step,
                MODE=mode, RESPONSE=_RESPONSE, REGRETS=_REGRETS, LANES=LANES,
            )  # fmt: skip
