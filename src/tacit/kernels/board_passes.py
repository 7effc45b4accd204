"""Passes over a hold'em tree on one board, treated as a batch of one game (`street_passes.py`), on any device.

A search that ends with its betting round has one board. Only the order of its lanes then distinguishes a `HandTree` from the
planes of a street, so code that solves, evaluates or shows a tree need not know which passes it has.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from tacit.cards.board_tensors import BoardTensors
from tacit.cards.hands import NUM_HANDS, meetings
from tacit.kernels.base import TreePasses
from tacit.kernels.street_passes import StreetPasses
from tacit.tree.base import Floats
from tacit.tree.betting_street import BettingStreet
from tacit.tree.hand_tree import LEAF, START, HandTree


class BoardPasses(StreetPasses, TreePasses[Tensor]):
    """Passes over a tree of one board, in float32; values are in the tree's units.

    Args:
      tree: a tree with one board: it ends with the betting round, or with the hand on the river.
      boards: the tensors of that board, on the device where the passes compute.
      stack: each player's chips at the start of the hand.
    """

    def __init__(self, tree: HandTree, boards: BoardTensors, stack: int) -> None:
        assert len(tree.blocks.board) == 1
        self.tree: HandTree = tree
        self.boards = boards
        hands = tree.hands(START)
        self._lanes = torch.from_numpy(np.searchsorted(boards.hand[0].cpu().numpy(), hands)).to(boards.device)
        reaches = torch.stack([self.roots(part) for part in tree.root_reach], 1)
        pairs = 1.0 / float(tree.pair_weight[0])  # values of a tree are chips times the share of these pairs
        super().__init__(_street(tree, pairs), boards, reaches, pairs, stack)

    def entries(self, values: Floats) -> Tensor:
        spread = StreetPasses.zeros(self)
        numbers = torch.from_numpy(np.asarray(values, np.float32)).view(len(spread), -1)
        spread[:, 0, self._lanes] = numbers.to(spread.device)
        return spread

    def to_numpy(self, entries: Tensor) -> Floats:
        numbers: Floats = entries[:, 0, self._lanes].reshape(-1).cpu().numpy()
        return numbers

    def rows_to_numpy(self, player: int, rows: Tensor) -> Floats:
        numbers: Floats = rows[:, 0, self._lanes].reshape(-1).cpu().numpy()
        return numbers

    def roots(self, values: Floats) -> Tensor:
        spread = torch.zeros(1, self.boards.hand.shape[1], device=self.boards.device)
        spread[0, self._lanes] = torch.from_numpy(np.asarray(values, np.float32)).to(spread.device)
        return spread

    def root_weights(self, player: int) -> Floats:
        return np.asarray(self.roots(self.tree.root_reach[player]).cpu().numpy(), np.float64).ravel()

    def node_values(self, player: int, node: int) -> Floats:
        del player  # the latest pass upwards was this player's
        return np.asarray(self._values[node, 0, self._lanes].cpu().numpy(), np.float64)

    def node_likelihood(self, player: int, node: int, opponent_reach: Tensor) -> Floats:
        weights = np.zeros(NUM_HANDS)
        weights[self.boards.hand[0].cpu().numpy()] = opponent_reach[self.street.rows[1 - player][node], 0].cpu().numpy()
        likelihood: Floats = meetings(weights)[self.tree.hands(START)].clip(min=0.0) * self.tree.pair_weight[0]
        return likelihood

    def exact(self) -> TreePasses[Any]:
        from tacit.kernels.numba_hands import HandPasses

        return HandPasses(self.tree, np.float64)


def _street(tree: HandTree, pairs: float) -> BettingStreet:
    """Returns the betting on a tree's only board, with amounts in chips."""
    leaves = np.flatnonzero(tree.kind == LEAF).tolist()
    return BettingStreet(
        kind=tree.kind.tolist(),
        actor=tree.actor.tolist(),
        amount=(tree.amount * pairs).tolist(),
        parent=tree.parent.tolist(),
        first_entry=tree.first_entry.tolist(),
        num_actions=tree.num_actions.tolist(),
        children=[tree.children(node).tolist() for node in range(len(tree))],
        rows=(tree.reach_row[0].tolist(), tree.reach_row[1].tolist()),
        row_parent=(tree.row_parent[0].tolist(), tree.row_parent[1].tolist()),
        row_entry=(tree.row_entry[0].tolist(), tree.row_entry[1].tolist()),
        entry_action=tree.entry_action.tolist(),
        entry_node=tree.entry_node.tolist(),
        deals=list(zip(leaves, tree.leaf_betting, strict=True)),
        is_last=bool(leaves),
    )
