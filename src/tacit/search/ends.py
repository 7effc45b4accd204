"""Sums over the rows met at the ends of search trees, as matrix products: for games with many private states, on a GPU.

A kernel that walks the pairs of rows one by one takes a step for each private state of the opponent. With hundreds of them the
steps take longer than everything else, while dense products of the same numbers take almost no time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tacit.search.batch import Batch
from tacit.tree.growth import starts
from tacit.tree.public_tree import in_ranges
from tacit.tree.search_space import SearchSpace, edge_above

Index = NDArray[np.int64]


class _Blocks(NamedTuple):
    """Ends of one class's search tree as `D` blocks, within which every row of one player can meet every row of the other.

    Attributes:
      real: `[n]` the flattened `[D, K]` places that hold a row of the player who is paid.
      row: `[n]` these rows.
      other: `[D, M]` the opponent's rows, 0 where a block has fewer.
      weights: `[D, K, M]` the weights of their meetings, 0 where a row does not exist.
    """

    real: Tensor
    row: Tensor
    other: Tensor
    weights: Tensor


class DenseEnds:
    """The blocks of all classes searched so far, on a device.

    Args:
      space: the game.
      device: where the blocks are stored.
    """

    def __init__(self, space: SearchSpace, device: str) -> None:
        self._space, self._device = space, device
        self._known: dict[tuple[int, int, bool], _Blocks | None] = {}

    def write(self, batch: Batch, player: int, other_reach: Tensor, at_leaves: bool, sums: Tensor) -> None:
        """Writes, for a player's rows at ends, the sum over the opponent's rows of weight times reach.

        Args:
          batch: the games.
          player: the player whose rows are written.
          other_reach: the opponent's reach of all rows.
          at_leaves: whether to write rows at leaves as well.
          sums: receives the sums, laid out like the player's rows.
        """
        for group in batch:
            reach = batch.view(other_reach, batch.row_offset[1 - player], group)
            target = batch.view(sums, batch.row_offset[player], group)
            for leaves in (False, True) if at_leaves else (False,):
                blocks = self._blocks(group.public_class, player, leaves)
                if blocks is not None:
                    by_block = torch.bmm(blocks.weights, reach[blocks.other])  # [D, K, games]
                    target[blocks.row] = by_block.flatten(0, 1)[blocks.real]

    def _blocks(self, public_class: int, player: int, leaves: bool) -> _Blocks | None:
        key = public_class, player, leaves
        if key not in self._known:
            self._known[key] = self._make(public_class, player, leaves)
        return self._known[key]

    def _make(self, public_class: int, player: int, leaves: bool) -> _Blocks | None:
        tables = self._space.tables.players[player]
        tree = self._space.subgames[public_class].tree
        nodes, edge = tree.require_nodes(), edge_above(tree)
        first = int(tables.row_start[public_class])
        count = int(tables.row_start[public_class + 1]) - first
        start = tables.meeting_start[first : first + count + 1]
        at_leaf = tables.leaf[first : first + count] >= 0
        own = np.flatnonzero((np.diff(start) > 0) & (at_leaf == leaves))
        if not len(own):
            return None
        meetings, size = in_ranges(start, own), np.diff(start)[own]
        other = tables.meeting_row[meetings].astype(np.int64)
        ends = [nodes.of_row[p] if leaves else edge[nodes.of_row[p]] for p in (player, 1 - player)]  # a block is one of these
        block = np.unique(ends[0][own])
        own_block, other_block = np.searchsorted(block, ends[0][own]), np.searchsorted(block, ends[1][other])
        own_place, own_rows = _table(own, own_block, len(block))
        met, which = np.unique(other, return_inverse=True)
        met_place, met_rows = _table(met, np.searchsorted(block, ends[1][met]), len(block))
        weights = np.zeros((len(block), own_rows.shape[1], met_rows.shape[1]), np.float32)
        weights[other_block, np.repeat(own_place, size), met_place[which]] = tables.meeting_weight[meetings]
        real = own_block * own_rows.shape[1] + own_place
        put = [torch.from_numpy(array).to(self._device) for array in (real, own, np.maximum(met_rows, 0), weights)]
        return _Blocks(*put)


def _table(rows: Index, block: Index, num_blocks: int) -> tuple[Index, Index]:
    """Returns `[n]` the place of each row in its block, and `[D, K]` the rows by block, -1 where a block has fewer."""
    order = np.argsort(block, kind="stable")
    counts = np.bincount(block, minlength=num_blocks)
    place = np.empty_like(rows)
    place[order] = np.arange(len(rows)) - starts(counts)[block[order]]
    table = np.full((num_blocks, int(counts.max())), -1, np.int64)
    table[block, place] = rows
    return place, table
