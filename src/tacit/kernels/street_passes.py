"""Passes over a batch of hold'em games with the same betting: one street, with a board and beliefs for each game.

All numbers are planes `[G, H]`, with a game's hands side by side: a reach has a plane for every row of the betting tree, a
strategy one for every entry, values one for every node. So nothing here needs a tree of boards, and a pass is a few operations
on whole planes: one kernel walks the betting for all of them, on a GPU (`triton_street.py`) or on the CPU (`numba_street.py`).

Values are in units of each player's contribution at the start of the street, and not divided by the weight of all pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tacit.cards.board_tensors import BoardTensors
from tacit.games.betting import Betting
from tacit.kernels.base import LeafValues, Numbers, Passes
from tacit.kernels.clock import Clock
from tacit.tree.betting_street import BettingStreet
from tacit.tree.hand_tree import DECIDES, FOLDS, LEAF, RUNS_OUT, SHOWS

NO_REACH = 1e-20
"""A total reach up to this counts as zero; beliefs are then uniform."""


@dataclass(frozen=True, eq=False)
class StreetStates:
    """The public states at the `L` leaves of `G` games.

    Attributes:
      boards: The boards of the games.
      betting: The state of the betting at each leaf, the same for all games.
      unit: How many chips make one unit of value.
      stack: Each player's chips at the start of the hand.
    """

    boards: BoardTensors
    betting: list[Betting]
    unit: float
    stack: int

    @cached_property
    def chips(self) -> Tensor:
        """`[L]` each player's contribution at each leaf, in units."""
        return torch.tensor([betting.facing / self.unit for betting in self.betting], device=self.boards.device)


class StreetPasses(Passes[Tensor]):
    """Passes over a batch of games; entries are `[E, G, H]`, reaches `[R, G, H]`, roots `[G, H]`.

    Beliefs and values of leaves are `[2, L, G, H]`.

    Args:
      street: the betting of all games, from one state to the end of the street.
      boards: the boards of the games.
      reaches: `[G, 2, H]` the players' reaches at the first state.
      unit: how many chips make one unit of value.
      stack: each player's chips at the start of the hand.
    """

    backend = "torch"

    def __init__(self, street: BettingStreet, boards: BoardTensors, reaches: Tensor, unit: float, stack: int) -> None:
        self.street, self.boards, self.device, self.stack = street, boards, str(boards.device), stack
        self.capturable = boards.device.type == "cuda"
        self._roots = [reaches[:, player].contiguous() for player in (0, 1)]
        kind, amount = np.array(street.kind), np.array(street.amount) / unit
        self._decisions = [node for node in range(len(kind)) if kind[node] == DECIDES]
        self._values = torch.zeros(len(kind), *self._roots[0].shape, device=self.device)
        self._folds = self._ends(kind == FOLDS, amount)
        self._shows = self._ends((kind == SHOWS) | (kind == RUNS_OUT), amount)
        self._leaves = self._ends(kind == LEAF, amount)
        bettings = [betting for _, betting in street.deals]
        self._states = StreetStates(boards, bettings, unit, stack) if bettings else None
        self._walks = self._make_walks()

    def _make_walks(self) -> Any:
        """Returns the walks over the betting for the device."""
        if self.capturable:
            from tacit.kernels.triton_street import StreetKernels

            return StreetKernels(self.street, self.device)
        from tacit.kernels.numba_street import StreetWalks

        return StreetWalks(self.street)

    def _ends(self, which: Any, amount: Any) -> tuple[Tensor, list[Tensor], Tensor]:
        """Returns the nodes where `which` is True, both players' rows there, and the amounts at stake `[n]`."""
        nodes = np.flatnonzero(which)

        def put(numbers: Any) -> Tensor:
            return torch.from_numpy(np.asarray(numbers)).to(self.device)

        rows = [put(np.array(self.street.rows[player])[nodes]) for player in (0, 1)]
        return put(nodes), rows, put(amount[nodes]).float()

    def zeros(self) -> Tensor:
        return torch.zeros(len(self.street.entry_action), *self._roots[0].shape, device=self.device)

    def uniform(self) -> Tensor:
        counts = [1.0 / self.street.num_actions[node] for node in self.street.entry_node]
        return torch.tensor(counts, device=self.device)[:, None, None].expand(-1, *self._roots[0].shape).contiguous()

    def normalise(self, weights: Tensor) -> Tensor:
        result = torch.empty_like(weights)
        for node in self._decisions:
            first, count = self.street.first_entry[node], self.street.num_actions[node]
            result[first : first + count] = _shares(weights[first : first + count])
        return result

    def over_infostates(self, numbers: Tensor) -> Tensor:
        result = torch.empty_like(numbers)
        for node in self._decisions:
            mine = slice(self.street.first_entry[node], self.street.first_entry[node] + self.street.num_actions[node])
            result[mine] = numbers[mine].sum(0)
        return result

    def mean_over_private_states(self, numbers: Tensor) -> Tensor:
        return numbers.mean(2, keepdim=True).expand_as(numbers)

    def new_reach(self, player: int) -> Tensor:
        reach = torch.empty(len(self.street.row_parent[player]), *self._roots[0].shape, device=self.device)
        reach[0] = self._roots[player]
        return reach

    def walk_down(self, player: int, strategy: Tensor, reach: Tensor, average: Tensor | None, clock: Clock | None) -> None:
        self._walks.down(player, strategy, reach)
        if average is not None:
            assert clock is not None
            for row, entry in enumerate(self.street.row_entry[player]):
                if entry >= 0:
                    average[entry].lerp_(reach[row], clock.share())

    def walk_up(self, mode: int, player: int, faced: Tensor, leaves: LeafValues | None, numbers: Numbers, clock: Clock) -> None:
        self._fill_ends(player, faced, leaves)
        self._walks.up(mode, player, self._values, numbers, clock)

    def _fill_ends(self, player: int, faced: Tensor, leaves: LeafValues | None) -> None:
        """Writes the player's counterfactual values at terminal nodes and leaves."""
        nodes, rows, amount = self._folds
        if len(nodes):
            self.boards.fill_meetings(faced, rows[1 - player], self._values, nodes, amount if player == 0 else -amount)
        nodes, rows, amount = self._shows
        if len(nodes):
            self.boards.fill_leads(faced, rows[1 - player], self._values, nodes, amount)
        nodes, _, _ = self._leaves
        if len(nodes):
            worth = self._values.new_zeros(()).expand(len(nodes), *self._roots[0].shape)
            if leaves is not None:
                worth = leaves.values[player]
                if not leaves.counterfactual:
                    worth = worth * self.leaf_likelihood(player, faced)
            self._values.index_copy_(0, nodes, worth)

    def move(self, rows: Tensor, other: Tensor, weight: Any) -> None:
        rows.lerp_(other, weight)

    def root_cfv(self, player: int) -> Tensor:
        return self._values[0]

    def set_roots(self, player: int, reach: Tensor, roots: Tensor) -> None:
        self._roots[player].copy_(roots)
        reach[0] = roots

    def get_roots(self, player: int, reach: Tensor) -> Tensor:
        return reach[0].clone()

    @property
    def leaf_states(self) -> StreetStates | None:
        return self._states

    def new_beliefs(self) -> Tensor:
        return torch.zeros(2, len(self._leaves[0]), *self._roots[0].shape, device=self.device)

    def leaf_beliefs(self, player: int, reach: Tensor, beliefs: Tensor) -> None:
        rows = self._leaves[1][player]
        if self.capturable:
            self._walks.beliefs(reach, rows, beliefs[player], NO_REACH)
        else:
            beliefs[player] = _beliefs(reach[rows])

    def beliefs(self, player: int, reach: Tensor, node: int) -> Tensor:
        """Returns `[G, H]` the opponent's beliefs about a player's hands at a node, given the player's reach."""
        return _beliefs(reach[self.street.rows[player][node]])

    def leaf_likelihood(self, player: int, opponent_reach: Tensor) -> Tensor:
        return self.boards.meetings(opponent_reach[self._leaves[1][1 - player]])

    def leaf_weight(self, player: int, opponent_reach: Tensor) -> Tensor:
        rows = self._leaves[1][1 - player]
        if self.capturable:
            weights: Tensor = self._walks.totals(opponent_reach, rows)
            return weights
        return opponent_reach[rows].sum(2, keepdim=True)


def _beliefs(reach: Tensor) -> Tensor:
    """Returns `[..., H]` a reach scaled to sum to 1; uniform where the total is about zero."""
    total = reach.sum(-1, keepdim=True)
    known = total > NO_REACH
    return torch.where(known, reach / total.where(known, 1.0), 1.0 / reach.shape[-1])


def _shares(weights: Tensor) -> Tensor:
    """Returns `[A, G, H]` weights scaled to sum to 1 over actions; uniform where they are all zero."""
    total = weights.sum(0, keepdim=True)
    return torch.where(total > 0, weights / total.where(total > 0, 1.0), 1.0 / len(weights))
