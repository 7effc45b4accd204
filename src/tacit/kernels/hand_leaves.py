"""The leaves of a hold'em tree: where a depth limit cut it, and where both players are all-in before the last card."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tacit.cards.hands import HANDS, NUM_HANDS, meetings, possible_hands
from tacit.cards.run_outs import run_out_margins
from tacit.compiled import compiled
from tacit.games.betting import Betting
from tacit.kernels.base import Array, LeafValues, TreePasses
from tacit.kernels.card_removal import LANES, VECTOR
from tacit.kernels.simd import load, splat, store
from tacit.tree.base import Floats
from tacit.tree.hand_tree import LEAF, RUNS_OUT, Blocks, HandTree

NO_REACH = 1e-20
"""A total reach up to this counts as zero; beliefs are then uniform."""
FEWEST_ROWS = 4
"""How many rows of a matrix are multiplied together."""


@dataclass(frozen=True, eq=False)
class HandStates:
    """The public states of `L` leaves; private states are all 1,326 hands.

    Attributes:
      board: The board at each leaf.
      betting: The state of the betting at each leaf; the next street's cards are still to come.
    """

    board: list[tuple[int, ...]]
    betting: list[Betting]

    def by_board(self) -> dict[tuple[int, ...], list[int]]:
        """Returns the leaves on each board."""
        leaves: dict[tuple[int, ...], list[int]] = {}
        for number, board in enumerate(self.board):
            leaves.setdefault(board, []).append(number)
        return leaves


class RunOuts:
    """Values the nodes where both players are all-in and only cards are to come, on the CPU."""

    def __init__(self, passes: HandTreePasses[Any], dtype: str) -> None:
        tree, self._groups = passes.tree, []
        nodes = np.flatnonzero(tree.kind == RUNS_OUT)
        for block in np.unique(tree.block[nodes]).tolist():
            here = nodes[tree.block[nodes] == block]
            lanes = [passes.lanes(player, block) for player in (0, 1)]
            margins = block_margins(tree.blocks, block, dtype)
            if min(map(len, lanes)) < len(margins):
                parts = [np.ascontiguousarray(margins[np.ix_(lanes[player], lanes[1 - player])]) for player in (0, 1)]
            else:
                parts = [margins, margins]
            rows = [passes.row_starts(p, here)[:, None] + np.arange(len(lanes[p])) for p in (0, 1)]
            places = [passes.value_starts(p, here)[:, None] + np.arange(len(lanes[p])) for p in (0, 1)]
            self._groups.append((parts, rows, places, tree.amount[here][:, None]))

    def fill(self, player: int, opponent_reach: NDArray[Any], values: NDArray[Any]) -> None:
        """Writes the player's counterfactual values into `values`."""
        for margins, rows, places, amount in self._groups:
            products = margins_times(margins[player], opponent_reach[rows[1 - player]].T)
            values[places[player]] = products.T * amount.astype(values.dtype)


class DeviceRunOuts:
    """Does the same as `RunOuts` on a GPU: one batch of matrix products for all boards, in full float32."""

    def __init__(self, tree: HandTree, value_offset: NDArray[np.int64], device: str) -> None:
        nodes = np.flatnonzero(tree.kind == RUNS_OUT)
        self._empty = not len(nodes)
        if self._empty:
            return
        blocks = np.unique(tree.block[nodes])
        here = [nodes[tree.block[nodes] == block] for block in blocks]
        widest, most = max(tree.blocks.width(int(block)) for block in blocks), max(map(len, here))
        shape = len(blocks), widest, most
        margins = torch.zeros(len(blocks), widest, widest)
        rows, places, amount = np.zeros((2, *shape), np.int64), np.full(shape, -1), np.zeros(shape, np.float32)
        for number, (block, at) in enumerate(zip(blocks, here, strict=True)):
            width = tree.blocks.width(int(block))
            margins[number, :width, :width] = torch.from_numpy(block_margins(tree.blocks, int(block), "float32"))
            lanes, cell = np.arange(width)[:, None], (number, slice(width), slice(len(at)))
            for player in (0, 1):
                rows[(player, *cell)] = tree.row_offset[player][tree.reach_row[player][at]] + lanes
            places[cell], amount[cell] = value_offset[at] + lanes, tree.amount[at]
        real = torch.from_numpy(places >= 0)
        self._margins, self._rows = margins.to(device), torch.from_numpy(rows).to(device)
        self._amount, self._cells = torch.from_numpy(amount).to(device), real.flatten().nonzero()[:, 0].to(device)
        self._places = torch.from_numpy(places)[real].to(device)

    def fill(self, player: int, opponent_reach: Tensor, values: Tensor) -> None:
        """Writes the player's counterfactual values into `values`."""
        if not self._empty:
            products = torch.bmm(self._margins, opponent_reach[self._rows[1 - player]]) * self._amount
            values.index_copy_(0, self._places, products.flatten()[self._cells])


class HandTreePasses(TreePasses[Array]):
    """The common part of passes over hold'em trees on all devices: values of nodes, and `L` leaves."""

    _values: Array
    _run_outs: Any

    def __init__(self, tree: HandTree, dtype: torch.dtype) -> None:
        """Prepares the leaves.

        Args:
          tree: the tree, or a forest.
          dtype: of all numbers.
        """
        self.tree: HandTree = tree
        self._number = dtype
        nodes, blocks = np.flatnonzero(tree.kind == LEAF), tree.blocks
        self._states = HandStates([blocks.board[b] for b in tree.block[nodes]], tree.leaf_betting) if len(nodes) else None
        if self._states is None:
            return

        def put(numbers: NDArray[Any]) -> Tensor:
            return torch.from_numpy(np.ascontiguousarray(numbers)).to(self.device)

        self._leaf_cell, self._leaf_row, self._leaf_value, self._uniform = [], [], [], []
        for player in (0, 1):
            lanes = [self.lanes(player, block) for block in tree.block[nodes].tolist()]
            own = np.concatenate([np.arange(len(part)) for part in lanes])
            leaf = np.repeat(np.arange(len(nodes)), [len(part) for part in lanes])
            hand = np.concatenate([blocks.hands(int(b))[part] for b, part in zip(tree.block[nodes], lanes, strict=True)])
            self._leaf_cell.append(put(hand.astype(np.int64) * len(nodes) + leaf))  # in a flat [1326, L]
            self._leaf_row.append(put(self.row_starts(player, nodes)[leaf] + own))
            self._leaf_value.append(put(self.value_starts(player, nodes)[leaf] + own))
            exists = self._spread(player, torch.ones(len(own), dtype=dtype, device=self.device))
            self._uniform.append(exists / exists.sum(0))
        stakes = np.array([betting.facing for betting in tree.leaf_betting], np.float64)
        self._per_chip = put(tree.amount[nodes] / stakes).to(dtype)
        cards = torch.zeros(len(HANDS), 52, dtype=dtype)
        cards.scatter_(1, torch.from_numpy(HANDS), 1.0)
        self._cards = cards.to(self.device)

    @abstractmethod
    def lanes(self, player: int, block: int) -> NDArray[Any]:
        """Returns which of the tree's lanes on a board the player's rows and values there have."""

    @abstractmethod
    def row_starts(self, player: int, nodes: NDArray[Any]) -> NDArray[np.int64]:
        """Returns where the player's reach of each node starts."""

    @abstractmethod
    def value_starts(self, player: int, nodes: NDArray[Any]) -> NDArray[np.int64]:
        """Returns where the player's values of each node start."""

    def exact(self) -> TreePasses[Any]:
        return self if self._number == torch.float64 else self._in_float64

    @cached_property
    def _in_float64(self) -> TreePasses[Any]:
        from tacit.kernels.numba_hands import HandPasses

        return HandPasses(self.tree, np.float64)

    def keeping(self) -> TreePasses[Any]:
        from tacit.kernels.numba_hands import HandPasses

        return HandPasses(self.tree, np.float64, keep=True)

    def node_values(self, player: int, node: int) -> Floats:
        """Returns `[H]` values by lane of the tree; on full boards only if nodes do not share storage."""
        block, start = int(self.tree.block[node]), int(self.value_starts(player, np.array([node]))[0])
        values, lanes = np.zeros(self.tree.blocks.width(block)), self.lanes(player, block)
        values[lanes] = torch.as_tensor(self._values[start : start + len(lanes)]).cpu().numpy()  # type: ignore[index]
        return values

    def node_likelihood(self, player: int, node: int, opponent_reach: Array) -> Floats:
        block, reach = int(self.tree.block[node]), torch.as_tensor(opponent_reach).cpu().numpy()
        start, lanes = int(self.row_starts(1 - player, np.array([node]))[0]), self.lanes(1 - player, block)
        weights, hands = np.zeros(NUM_HANDS), self.tree.blocks.hands(block)
        weights[hands[lanes]] = reach[start : start + len(lanes)]
        likelihood: Floats = meetings(weights)[hands].clip(min=0.0) * self.tree.pair_weight[block]
        return likelihood

    @property
    def leaf_states(self) -> HandStates | None:
        return self._states

    def new_beliefs(self) -> Tensor:
        return torch.zeros(2 * NUM_HANDS, len(self._per_chip), dtype=self._number, device=self.device)

    def leaf_beliefs(self, player: int, reach: Array, beliefs: Tensor) -> None:
        spread = self._at_leaves(player, reach)
        total = spread.sum(0)
        known = total > NO_REACH
        shares = torch.where(known, spread / total.where(known, 1.0), self._uniform[player])
        beliefs[player * NUM_HANDS : (player + 1) * NUM_HANDS] = shares

    def leaf_likelihood(self, player: int, opponent_reach: Array) -> Tensor:
        met = self._at_leaves(1 - player, opponent_reach)
        by_card = self._cards.T @ met
        return (met.sum(0) - self._cards @ by_card + met) * self._per_chip  # the hand itself was subtracted twice

    def leaf_weight(self, player: int, opponent_reach: Array) -> Tensor:
        return self._at_leaves(1 - player, opponent_reach).sum(0) * self._per_chip

    def _fill_ends(self, player: int, faced: Array, leaves: LeafValues | None) -> None:
        """Writes the player's counterfactual values at run-outs and at leaves; those at leaves are zero without `leaves`."""
        self._run_outs.fill(player, faced, self._values)
        if self._states is None:
            return
        values = torch.as_tensor(self._values)
        if leaves is None:
            values.index_fill_(0, self._leaf_value[player], 0.0)
            return
        worth = leaves.values[player * NUM_HANDS : (player + 1) * NUM_HANDS]
        if not leaves.counterfactual:
            worth = worth * self.leaf_likelihood(player, faced)
        values.index_copy_(0, self._leaf_value[player], worth.to(values.dtype).reshape(-1)[self._leaf_cell[player]])

    def _at_leaves(self, player: int, reach: Array) -> Tensor:
        """Returns `[1326, L]` a player's reach at the leaves."""
        return self._spread(player, torch.as_tensor(reach)[self._leaf_row[player]])

    def _spread(self, player: int, numbers: Tensor) -> Tensor:
        """Returns numbers of a player's lanes at all leaves as `[1326, L]`, zero for hands that it cannot hold there."""
        assert self._states is not None
        spread = torch.zeros(NUM_HANDS * len(self._states.board), dtype=numbers.dtype, device=numbers.device)
        return spread.index_copy_(0, self._leaf_cell[player], numbers).view(NUM_HANDS, -1)


def block_margins(blocks: Blocks, block: int, dtype: str) -> NDArray[Any]:
    """Returns `[H, H]` the margins of a block's hands (`run_out_margins`)."""
    board, hands = blocks.board[block], blocks.hands(block)
    margins: NDArray[Any] = run_out_margins(board, dtype)
    if len(hands) == len(margins):
        return margins
    places = np.searchsorted(np.flatnonzero(possible_hands(board)), hands)
    return margins[np.ix_(places, places)]


def margins_times(margins: NDArray[Any], columns: NDArray[Any]) -> NDArray[Any]:
    """Returns `[G, n]`: margins `[G, H]` times `columns` `[H, n]`."""
    products: NDArray[Any] = np.empty((len(margins), columns.shape[1]), columns.dtype)
    if len(margins) < FEWEST_ROWS:
        return np.matmul(margins, columns, out=products)
    for first in range(0, columns.shape[1], LANES):
        part = np.zeros((len(columns), LANES), columns.dtype)
        size = min(LANES, columns.shape[1] - first)
        part[:, :size] = columns[:, first : first + size]
        product = np.empty((len(margins), LANES), columns.dtype)
        _multiply(margins, part, product)
        products[:, first : first + size] = product[:, :size]
    return products


@compiled()
def _multiply(matrix, columns, found):  # type: ignore[no-untyped-def]
    """Sets `found` to `matrix @ columns` on the calling thread: BLAS wakes all threads, which costs more than the product.

    Args:
      matrix: `[G, H]`, G at least `FEWEST_ROWS`.
      columns: `[H, LANES]`.
      found: `[G, LANES]`.
    """
    size = len(matrix)
    zero = splat(columns[0, 0] - columns[0, 0], VECTOR)
    for start in range(0, size, 4):
        row = min(start, size - 4)
        a, b, c, d = zero, zero, zero, zero
        for inner in range(len(columns)):
            column = load(columns, inner, VECTOR)
            a = a + splat(matrix[row, inner], VECTOR) * column
            b = b + splat(matrix[row + 1, inner], VECTOR) * column
            c = c + splat(matrix[row + 2, inner], VECTOR) * column
            d = d + splat(matrix[row + 3, inner], VECTOR) * column
        store(found, row, a)
        store(found, row + 1, b)
        store(found, row + 2, c)
        store(found, row + 3, d)
