"""The walks over one street's betting for a batch of games, in Triton: each program walks the whole tree for some hands."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl
from torch import Tensor

from tacit.kernels.base import MATCH, RESPOND, Numbers
from tacit.kernels.clock import Clock
from tacit.tree.betting_street import BettingStreet
from tacit.tree.hand_tree import DECIDES

HANDS = 512
"""How many hands a program computes, of any games: a plane is one long row here."""


@triton.jit  # type: ignore[untyped-decorator]
def _down_kernel(num_rows, row_parent, row_entry, strategy, reach, plane, HANDS: tl.constexpr):  # type: ignore[no-untyped-def]
    """Fills a player's reach below the root."""
    hand = tl.program_id(0).to(tl.int64) * HANDS + tl.arange(0, HANDS)
    inside = hand < plane
    for row in range(1, num_rows):
        tl.debug_barrier()
        above = tl.load(reach + tl.load(row_parent + row) * plane + hand, mask=inside)
        played = tl.load(strategy + tl.load(row_entry + row) * plane + hand, mask=inside)
        tl.store(reach + row * plane + hand, above * played, mask=inside)


@triton.jit  # type: ignore[untyped-decorator]
def _up_kernel(  # type: ignore[no-untyped-def]
    num_decisions, player, node, actor, num_actions, first_entry, first_child, child, entry_row,
    values, own_reach, strategy, regret, average, steps, counter, plane,
    MODE: tl.constexpr, RESPOND: tl.constexpr, MATCH: tl.constexpr, BONUS: tl.constexpr, HANDS: tl.constexpr,
):  # fmt: skip
    """Fills the values of decisions from the last one up; `MODE` says what happens at the player's."""
    hand = tl.program_id(0).to(tl.int64) * HANDS + tl.arange(0, HANDS)
    inside = hand < plane
    step = steps + (tl.load(counter) - 1) * 5
    keep_positive, keep_negative = tl.load(step), tl.load(step + 1)
    floor, prediction, weight = tl.load(step + 2), tl.load(step + 3), tl.load(step + 4)
    for decision in range(num_decisions):
        tl.debug_barrier()
        actions, below = tl.load(num_actions + decision), child + tl.load(first_child + decision)
        entry = tl.load(first_entry + decision)
        result = tl.zeros([HANDS], tl.float32)
        if tl.load(actor + decision) == player:
            if MODE == RESPOND:
                best = tl.full([HANDS], float("-inf"), tl.float32)
                chosen = tl.zeros([HANDS], tl.int64)
                for action in range(actions):
                    found = tl.load(values + tl.load(below + action) * plane + hand, mask=inside, other=0.0)
                    ranked = found
                    if BONUS:
                        ranked += tl.load(regret + (entry + action) * plane + hand, mask=inside, other=0.0)
                    better = ranked > best
                    best, result = tl.where(better, ranked, best), tl.where(better, found, result)
                    chosen = tl.where(better, action, chosen)
                for action in range(actions):
                    tl.store(strategy + (entry + action) * plane + hand, (chosen == action).to(tl.float32), mask=inside)
            else:
                for action in range(actions):
                    found = tl.load(values + tl.load(below + action) * plane + hand, mask=inside, other=0.0)
                    result += found * tl.load(strategy + (entry + action) * plane + hand, mask=inside, other=0.0)
            if MODE == MATCH:
                total = tl.zeros([HANDS], tl.float32)
                for action in range(actions):
                    place = (entry + action) * plane + hand
                    found = tl.load(values + tl.load(below + action) * plane + hand, mask=inside, other=0.0)
                    instant, old = found - result, tl.load(regret + place, mask=inside, other=0.0)
                    new = tl.maximum(old * tl.where(old > 0.0, keep_positive, keep_negative) + instant, floor)
                    tl.store(regret + place, new, mask=inside)
                    played = tl.load(own_reach + tl.load(entry_row + entry + action) * plane + hand, mask=inside, other=0.0)
                    tl.store(average + place, tl.load(average + place, mask=inside, other=0.0) + weight * played, mask=inside)
                    wish = tl.maximum(new + prediction * instant, 0.0)
                    tl.store(strategy + place, wish, mask=inside)
                    total += wish
                even, some = 1.0 / actions, total > 0.0
                divisor = tl.where(some, total, 1.0)
                for action in range(actions):
                    place = (entry + action) * plane + hand
                    wish = tl.load(strategy + place, mask=inside, other=0.0)
                    tl.store(strategy + place, tl.where(some, wish / divisor, even), mask=inside)
        else:
            for action in range(actions):
                result += tl.load(values + tl.load(below + action) * plane + hand, mask=inside, other=0.0)
        tl.store(values + tl.load(node + decision) * plane + hand, result, mask=inside)


@triton.jit  # type: ignore[untyped-decorator]
def _beliefs_kernel(rows, reach, beliefs, plane, hands, least, HANDS: tl.constexpr):  # type: ignore[no-untyped-def]
    """Fills one game's beliefs at one leaf: the reach of a row, scaled to sum to 1."""
    leaf, game, hand = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64), tl.arange(0, HANDS)
    inside = hand < hands
    weight = tl.load(reach + tl.load(rows + leaf) * plane + game * hands + hand, mask=inside, other=0.0)
    total = tl.sum(weight, 0)
    shares = tl.where(total > least, weight / tl.where(total > least, total, 1.0), 1.0 / hands)
    tl.store(beliefs + leaf * plane + game * hands + hand, shares, mask=inside)


@triton.jit  # type: ignore[untyped-decorator]
def _totals_kernel(rows, reach, totals, plane, hands, HANDS: tl.constexpr):  # type: ignore[no-untyped-def]
    """Writes the sum of one game's reach in one row."""
    leaf, game, hand = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64), tl.arange(0, HANDS)
    weight = tl.load(reach + tl.load(rows + leaf) * plane + game * hands + hand, mask=hand < hands, other=0.0)
    tl.store(totals + leaf * tl.num_programs(1) + game, tl.sum(weight, 0))


class StreetKernels:
    """The walks over one street's betting on a GPU."""

    def __init__(self, street: BettingStreet, device: str) -> None:
        def put(numbers: Any) -> Tensor:
            return torch.from_numpy(np.asarray(numbers, np.int64)).to(device)

        order = [node for node in reversed(range(len(street.kind))) if street.kind[node] == DECIDES]
        counts = [street.num_actions[node] for node in order]
        children = [below for node in order for below in street.children[node]]
        rows = np.zeros(len(street.entry_action), np.int64)
        for player in (0, 1):
            entries = np.array(street.row_entry[player])
            rows[entries[entries >= 0]] = np.flatnonzero(entries >= 0)
        self._decisions = [
            put(part)
            for part in (
                order, [street.actor[node] for node in order], counts, [street.first_entry[node] for node in order],
                np.cumsum([0, *counts])[:-1], children, rows,
            )
        ]  # fmt: skip
        self._rows = [(put(street.row_parent[player]), put(street.row_entry[player])) for player in (0, 1)]
        self._none = torch.zeros(0, device=device)

    def down(self, player: int, strategy: Tensor, reach: Tensor) -> None:
        """Fills a player's reach `[R, G, H]` below the root."""
        plane, (parents, entries) = reach[0].numel(), self._rows[player]
        _down_kernel[(triton.cdiv(plane, HANDS),)](len(parents), parents, entries, strategy, reach, plane, HANDS=HANDS)

    def up(self, mode: int, player: int, values: Tensor, numbers: Numbers, clock: Clock) -> None:
        """Fills `[N, G, H]` values of decisions (see `Passes.walk_up`)."""
        own_reach, strategy, regret, average = (self._none if part is None else part for part in numbers)
        plane = values[0].numel()
        _up_kernel[(triton.cdiv(plane, HANDS),)](
            len(self._decisions[0]), player, *self._decisions, values, own_reach, strategy, regret, average, clock.table,
            clock.counter, plane, MODE=mode, RESPOND=RESPOND, MATCH=MATCH, BONUS=mode == RESPOND and len(regret) > 0,
            HANDS=HANDS,
        )  # fmt: skip

    @staticmethod
    def beliefs(reach: Tensor, rows: Tensor, out: Tensor, least: float) -> None:
        """Fills `out` `[L, G, H]` with rows of a reach `[R, G, H]` scaled to sum to 1; uniform for sums of at most `least`."""
        _, games, hands = reach.shape
        width = triton.next_power_of_2(hands)
        _beliefs_kernel[len(rows), games](rows, reach, out, games * hands, hands, least, HANDS=width, num_warps=4)

    @staticmethod
    def totals(reach: Tensor, rows: Tensor) -> Tensor:
        """Returns `[L, G, 1]` the sums over hands of rows of a reach `[R, G, H]`."""
        _, games, hands = reach.shape
        totals, width = reach.new_empty(len(rows), games, 1), triton.next_power_of_2(hands)
        _totals_kernel[len(rows), games](rows, reach, totals, games * hands, hands, HANDS=width, num_warps=4)
        return totals
