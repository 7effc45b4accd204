"""Nodes and leaves of a public tree: their rows, beliefs and counterfactual values."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.base import Array, LeafValues, TreePasses
from tacit.tree.public_tree import LEAF, Floats, PublicTree, in_ranges

if TYPE_CHECKING:
    from torch import Tensor

Index = NDArray[np.int64]
NO_REACH = 1e-20
"""A total reach up to this counts as zero; beliefs are then uniform."""


class PublicTreePasses(TreePasses[Array]):
    """The common part of passes over public trees: nodes, and `L` leaves with at most `H` private states per player."""

    def __init__(self, tree: PublicTree) -> None:
        self.tree: PublicTree = tree
        nodes = tree.nodes
        self._leaf_nodes: Index = np.zeros(0, np.int64) if nodes is None else np.flatnonzero(nodes.actor == LEAF)
        if nodes is None or not len(self._leaf_nodes):
            return
        counts = [np.diff(nodes.row_start[player])[self._leaf_nodes] for player in (0, 1)]
        self._leaf_shape = int(max(part.max() for part in counts)), len(self._leaf_nodes)
        rows, cells, place = [], [], []
        for player in (0, 1):
            rows.append(in_ranges(nodes.row_start[player], self._leaf_nodes))
            leaf = np.repeat(np.arange(len(self._leaf_nodes)), counts[player])
            state = rows[player] - nodes.row_start[player][self._leaf_nodes][leaf]
            cells.append(state * len(self._leaf_nodes) + leaf)  # in a flat [H, L]
            at_row = np.zeros(len(tree.rows[player]), np.int64)
            at_row[rows[player]] = cells[player]
            place.append(at_row)
        self._leaf_rows, self._leaf_cells = rows, cells  # leaf after leaf
        pairs = in_ranges(nodes.joint_start, self._leaf_nodes)
        self._leaf_pairs, self._leaf_chance = nodes.joint_rows[:, pairs], nodes.joint_chance[pairs]
        self._leaf_pair_cells = [place[player][self._leaf_pairs[player]] for player in (0, 1)]

    @abstractmethod
    def row_values(self, player: int) -> Floats:
        """Returns `[R]` the counterfactual values of all of the player's rows from the latest upward pass.

        That pass must be the player's, and the opponent's reach given to it must not have changed since.
        """

    def node_values(self, player: int, node: int) -> Floats:
        return self.values_by_node(player)(node)

    def values_by_node(self, player: int) -> Callable[[int], Floats]:
        starts, values = self.tree.require_nodes().row_start[player], self.row_values(player)
        return lambda node: values[starts[node] : starts[node + 1]]

    def node_likelihood(self, player: int, node: int, opponent_reach: Array) -> Floats:
        nodes, other = self.tree.require_nodes(), 1 - player
        starts, joint = nodes.row_start[other], nodes.joint(node)
        reach = self.rows_to_numpy(other, opponent_reach)[starts[node] : starts[node + 1]]
        likelihood: Floats = (joint if player == 0 else joint.T) @ reach
        return likelihood

    @property
    def leaf_states(self) -> Any:
        return self._leaf_nodes if len(self._leaf_nodes) else None

    def new_beliefs(self) -> Tensor:
        import torch

        return torch.zeros(2 * self._leaf_shape[0], self._leaf_shape[1])

    def leaf_beliefs(self, player: int, reach: Array, beliefs: Tensor) -> None:
        import torch

        spread, exists = np.zeros(self._leaf_shape), np.zeros(self._leaf_shape)
        spread.ravel()[self._leaf_cells[player]] = self.rows_to_numpy(player, reach)[self._leaf_rows[player]]
        exists.ravel()[self._leaf_cells[player]] = 1.0
        total = spread.sum(axis=0)
        shares = np.where(total > NO_REACH, spread / np.where(total > NO_REACH, total, 1.0), exists / exists.sum(axis=0))
        half = self._leaf_shape[0]
        beliefs[player * half : (player + 1) * half] = torch.from_numpy(shares).to(beliefs)

    def leaf_likelihood(self, player: int, opponent_reach: Array) -> Tensor:
        import torch

        met = self._leaf_chance * self.rows_to_numpy(1 - player, opponent_reach)[self._leaf_pairs[1 - player]]
        size = self._leaf_shape[0] * self._leaf_shape[1]
        likelihood = np.bincount(self._leaf_pair_cells[player], met, minlength=size).astype(np.float64)
        return torch.from_numpy(likelihood.reshape(self._leaf_shape))

    def leaf_weight(self, player: int, opponent_reach: Array) -> Tensor:
        import torch

        other, num_leaves = 1 - player, len(self._leaf_nodes)
        reach = self.rows_to_numpy(other, opponent_reach)[self._leaf_rows[other]]
        total = np.bincount(self._leaf_cells[other] % num_leaves, reach, minlength=num_leaves)
        return torch.from_numpy(total.astype(np.float64))

    def _leaf_cfvs(self, player: int, opponent_reach: Array, leaves: LeafValues) -> Floats:
        """Returns the counterfactual values of the player's rows at leaves."""
        half = self._leaf_shape[0]
        worth: Any = leaves.values[player * half : (player + 1) * half].double().cpu().numpy()
        if not leaves.counterfactual:
            worth = worth * self.leaf_likelihood(player, opponent_reach).numpy()
        cfvs: Floats = worth.ravel()[self._leaf_cells[player]]
        return cfvs
