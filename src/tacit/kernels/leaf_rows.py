"""The leaves of a public tree: which rows lie there, their beliefs, and their counterfactual values."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.base import Array, LeafValues, TreePasses
from tacit.tree.public_tree import LEAF, Floats, PublicTree, in_ranges

if TYPE_CHECKING:
    from torch import Tensor

Index = NDArray[np.int64]
NO_REACH = 1e-20
"""A total reach that counts as none: anything may be held then."""


class RowLeaves:
    """The `L` leaves of a public tree, at which a player has at most `H` private states.

    Attributes:
      nodes: `[L]` their nodes.
      rows: For each player the rows that lie at leaves, leaf after leaf.
    """

    def __init__(self, tree: PublicTree) -> None:
        nodes = tree.nodes
        self.nodes: Index = np.zeros(0, np.int64) if nodes is None else np.flatnonzero(nodes.actor == LEAF)
        if nodes is None or not len(self.nodes):
            return
        counts = [np.diff(nodes.row_start[player])[self.nodes] for player in (0, 1)]
        self._shape = int(max(part.max() for part in counts)), len(self.nodes)
        rows, cells, place = [], [], []
        for player in (0, 1):
            rows.append(in_ranges(nodes.row_start[player], self.nodes))
            leaf = np.repeat(np.arange(len(self.nodes)), counts[player])
            state = rows[player] - nodes.row_start[player][self.nodes][leaf]
            cells.append(state * len(self.nodes) + leaf)  # in a flat [H, L]
            at_row = np.zeros(len(tree.rows[player]), np.int64)
            at_row[rows[player]] = cells[player]
            place.append(at_row)
        self.rows, self._cells = (rows[0], rows[1]), cells
        pairs = in_ranges(nodes.joint_start, self.nodes)
        self._pairs, self._chance = nodes.joint_rows[:, pairs], nodes.joint_chance[pairs]
        self._pair_cells = [place[player][self._pairs[player]] for player in (0, 1)]

    def __len__(self) -> int:
        return len(self.nodes)

    def new_beliefs(self) -> Tensor:
        """Returns room for both players' beliefs, `[2 * H, L]`."""
        import torch

        return torch.zeros(2 * self._shape[0], self._shape[1])

    def write_beliefs(self, player: int, reach: Floats, beliefs: Tensor) -> None:
        """Writes a player's reach `[R]` of every leaf into its half of `beliefs`, scaled to sum to 1 (uniform if 0)."""
        import torch

        spread, exists = np.zeros(self._shape), np.zeros(self._shape)
        spread.ravel()[self._cells[player]] = reach[self.rows[player]]
        exists.ravel()[self._cells[player]] = 1.0
        total = spread.sum(axis=0)
        shares = np.where(total > NO_REACH, spread / np.where(total > NO_REACH, total, 1.0), exists / exists.sum(axis=0))
        half = self._shape[0]
        beliefs[player * half : (player + 1) * half] = torch.from_numpy(shares).to(beliefs)

    def total_reach(self, player: int, reach: Floats) -> Floats:
        """Returns `[L]` a player's reach `[R]` of each leaf, summed over its private states."""
        leaf = self._cells[player] % len(self)
        return np.bincount(leaf, reach[self.rows[player]], minlength=len(self)).astype(np.float64)

    def cfvs(self, player: int, opponent_reach: Floats, leaves: LeafValues) -> Floats:
        """Returns the counterfactual values of the player's `rows`."""
        half = self._shape[0]
        worth: Any = leaves.values[player * half : (player + 1) * half].double().cpu().numpy().ravel()
        if not leaves.counterfactual:
            worth = worth * self.likelihood(player, opponent_reach).ravel()
        found: Floats = worth[self._cells[player]]
        return found

    def likelihood(self, player: int, opponent_reach: Floats) -> Floats:
        """Returns `[H, L]` how likely chance and the opponent make each of the player's private states."""
        met = self._chance * opponent_reach[self._pairs[1 - player]]
        size = self._shape[0] * self._shape[1]
        return np.bincount(self._pair_cells[player], met, minlength=size).astype(np.float64).reshape(self._shape)


class PublicTreePasses(TreePasses[Array]):
    """What all passes over public trees do alike with nodes and leaves."""

    tree: PublicTree
    _leaves: RowLeaves

    @abstractmethod
    def row_values(self, player: int) -> Floats:
        """Returns `[R]` the counterfactual values of all of the player's rows in the latest upward pass."""

    def node_values(self, player: int, node: int) -> Floats:
        starts = self.tree.require_nodes().row_start[player]
        return self.row_values(player)[starts[node] : starts[node + 1]]

    def node_likelihood(self, player: int, node: int, opponent_reach: Array) -> Floats:
        nodes, other = self.tree.require_nodes(), 1 - player
        starts, joint = nodes.row_start[other], nodes.joint(node)
        reach = self.rows_to_numpy(other, opponent_reach)[starts[node] : starts[node + 1]]
        likelihood: Floats = (joint if player == 0 else joint.T) @ reach
        return likelihood

    @property
    def leaf_states(self) -> Any:
        return self._leaves.nodes if len(self._leaves) else None

    def new_beliefs(self) -> Tensor:
        return self._leaves.new_beliefs()

    def leaf_beliefs(self, player: int, reach: Array, beliefs: Tensor) -> None:
        self._leaves.write_beliefs(player, self.rows_to_numpy(player, reach), beliefs)

    def leaf_likelihood(self, player: int, opponent_reach: Array) -> Tensor:
        import torch

        return torch.from_numpy(self._leaves.likelihood(player, self.rows_to_numpy(1 - player, opponent_reach)))

    def leaf_weight(self, player: int, opponent_reach: Array) -> Tensor:
        import torch

        return torch.from_numpy(self._leaves.total_reach(1 - player, self.rows_to_numpy(1 - player, opponent_reach)))
