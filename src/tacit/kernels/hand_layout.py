"""The memory layout of a hold'em tree: each player has lanes for its own hands only, board after board.

The tree's strategies have a lane for every hand that either player may hold, so that boards, hands and strategies share one
order. Most ranges share few hands, and nothing needs to be stored or computed for a hand that its player never holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.hand_blocks import ROW
from tacit.tree.hand_tree import FOLDS, SHOWS, HandTree, Offsets

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class HandLanes:
    """One player's hands on the `K` boards of a tree; lanes of all boards one after the other.

    Attributes:
      start: `[K + 1]` the first lane of each board.
      shared: `[lanes]` the tree's lane of the hand, counted within the board.
      cards: `[lanes, 2]` the hand's cards.
      above: `[lanes]` the same hand's lane on the previous board (without the last card), counted within that board.
      copy_start: `[K + 1]` board k's maps are `copy_above[copy_start[k]:copy_start[k + 1]]`.
      copy_above: For each further card that leads to a board, the map `above` for that card.
      same: `[lanes]` the opponent's lane of the same hand, or its number of lanes if it never holds that hand.
      weaker: `[lanes]` on full boards, how many of the opponent's hands are weaker.
      beaten: `[lanes]` on full boards, how many of the opponent's hands are not stronger.
    """

    start: Offsets
    shared: NDArray[np.int16]
    cards: NDArray[np.int8]
    above: NDArray[np.int16]
    copy_start: Offsets
    copy_above: NDArray[np.int16]
    same: NDArray[np.int16]
    weaker: NDArray[np.int16]
    beaten: NDArray[np.int16]

    @cached_property
    def width(self) -> NDArray[np.int64]:
        """`[K]` the number of hands on each board."""
        return np.diff(self.start)

    @cached_property
    def stride(self) -> NDArray[np.int64]:
        """`[K]` the padded length of a row on each board."""
        return -(-self.width // len(ROW)) * len(ROW)


@dataclass(frozen=True, eq=False)
class HandLayout:
    """The lanes of both players, and where the numbers of strategies are.

    Attributes:
      tree: The tree.
      lanes: Each player's lanes.
      node_entry: `[N]` where the numbers of a decision start: a row over the actor's lanes for each action.
      block_entry: `[2 * K + 1]` where the numbers of each board's decisions start: player 0's, then player 1's, board by board.
      first_row: For both players `[K + 1]` the first row of each board.
      num_begins: `[K]` how many rows each board inherits from the previous one.
    """

    tree: HandTree
    lanes: tuple[HandLanes, HandLanes]
    node_entry: Offsets
    block_entry: Offsets
    first_row: tuple[Offsets, Offsets]
    num_begins: NDArray[np.int64]

    @property
    def num_entries(self) -> int:
        """How many numbers a strategy has, including the padding of its rows."""
        return int(self.block_entry[-1])

    def places(self, player: int, block: int) -> NDArray[np.int16]:
        """Returns the tree's lanes, counted within a board, of the player's hands on it."""
        start = self.lanes[player].start
        return self.lanes[player].shared[start[block] : start[block + 1]]

    @cached_property
    def num_rows(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For both players `[K]` the number of rows on each board."""
        return np.diff(self.first_row[0]), np.diff(self.first_row[1])


def lay_out(tree: HandTree) -> HandLayout:
    """Returns the layout of a tree's numbers."""
    blocks, own = tree.blocks, tree.own
    first, second = _lanes(tree, own[0], own[1]), _lanes(tree, own[1], own[0])
    nodes = tree.decisions
    group = 2 * tree.block[nodes] + tree.actor[nodes]
    stride = np.stack([first.stride, second.stride], axis=1).ravel()
    sizes = tree.num_actions[nodes] * stride[group]
    order = np.argsort(group, kind="stable")
    node_entry = np.zeros(len(tree), np.int64)
    node_entry[nodes[order]] = np.cumsum(sizes[order]) - sizes[order]
    block_entry = np.concatenate([[0], np.cumsum(np.bincount(group, sizes, len(stride)).astype(np.int64))])
    begins = np.zeros(len(blocks.board), np.int64)
    np.add.at(begins, tree.block[(tree.parent < 0) | (tree.parent < blocks.node_start[tree.block])], 1)
    rows = [np.searchsorted(tree.row_block[player], np.arange(len(blocks.board) + 1)) for player in (0, 1)]
    return HandLayout(tree, (first, second), node_entry, block_entry, (rows[0], rows[1]), begins)


def _lanes(tree: HandTree, own: NDArray[np.bool_], other: NDArray[np.bool_]) -> HandLanes:
    """Returns a player's lanes; `own` and `other`, `[lanes]`, say which of the tree's hands it and its opponent may hold."""
    blocks = tree.blocks
    widths = np.diff(blocks.lane_start)
    block = np.repeat(np.arange(len(widths)), widths)
    begin = blocks.lane_start[:-1]
    mine, theirs = (np.concatenate([[0], np.cumsum(part)]) for part in (own, other))  # each one's lanes before a tree's lane

    def number(count: Array, lane: Array, of: Array) -> Array:
        """Returns a player's lane for a lane of the tree, counted within its board `of`."""
        return (count[lane] - count[begin[of]]).astype(np.int16)

    lane = np.flatnonzero(own)
    here = block[lane]
    before = blocks.parent[here]
    above = np.where(before >= 0, number(mine, begin[before] + blocks.above[lane], before), 0).astype(np.int16)
    local = np.arange(len(block)) - begin[block]
    starts = np.where(blocks.tie == local, np.arange(len(block)), len(block))  # the first lane of each strength
    stronger = np.append(np.minimum.accumulate(starts[::-1])[::-1], len(block))[1:]  # the first lane of the next strength
    held = other[lane]
    copies = []
    for b, parent in enumerate(blocks.parent.tolist()):
        maps = blocks.copy_above[blocks.copy_start[b] : blocks.copy_start[b + 1]].reshape(-1, widths[b])
        kept = maps[:, own[blocks.lane_start[b] : blocks.lane_start[b + 1]]]
        copies.append(number(mine, begin[parent] + kept, np.full(kept.shape, parent)).ravel())
    return HandLanes(
        start=mine[blocks.lane_start],
        shared=local[lane].astype(np.int16),
        cards=blocks.cards[lane],
        above=np.append(above, np.zeros(len(ROW), np.int16)),  # kernels read whole rows
        copy_start=np.concatenate([[0], np.cumsum([len(part) for part in copies])]),
        copy_above=np.concatenate([np.zeros(0, np.int16), *copies]),
        same=np.where(held, number(theirs, lane, here), (theirs[blocks.lane_start[1:]] - theirs[begin])[here]).astype(np.int16),
        weaker=number(theirs, begin[here] + blocks.tie[lane], here),
        beaten=number(theirs, stronger[lane], here),
    )


def tables_of(layout: HandLayout, dtype: type) -> tuple[Any, ...]:
    """Returns the tables that the kernels read.

    boards: each board's previous board and first node, and for both players where the root reaches of first boards start;
    nodes: each node's kind, actor, actions, children and first entry; where each board's entries start; and the fixed play;
    ends: where each board's terminal nodes start, how many of them are folds, the nodes, and the amounts at stake;
    begins: where each board's beginnings start, their nodes, and the nodes where the card was dealt;
    rows: for both players each node's row, each row's parent, each board's first row, and how many rows it inherits;
    lanes: for both players (`HandLanes`).
    """
    tree, lanes = layout.tree, layout.lanes
    blocks = tree.blocks
    count = len(blocks.board)
    terminal = np.flatnonzero((tree.kind == FOLDS) | (tree.kind == SHOWS))
    order = terminal[np.lexsort((terminal, tree.kind[terminal] == SHOWS, tree.block[terminal]))]
    counts, folds = (np.bincount(tree.block[of], minlength=count) for of in (order, np.flatnonzero(tree.kind == FOLDS)))
    first = np.flatnonzero((tree.parent < blocks.node_start[tree.block]) & (tree.parent >= 0))
    begins = np.bincount(tree.block[first], minlength=count)
    roots = blocks.parent < 0
    root_start = [np.cumsum(np.where(roots, lanes[p].width, 0)) - np.where(roots, lanes[p].width, 0) for p in (0, 1)]
    return (
        (blocks.parent, blocks.node_start, (root_start[0], root_start[1])),
        (
            tree.kind,
            tree.actor,
            tree.num_actions,
            tree.first_child,
            tree.child,
            layout.node_entry,
            layout.block_entry,
            _held_shares(layout, dtype),
        ),
        (np.concatenate([[0], np.cumsum(counts)]), folds, order, tree.amount.astype(dtype)),
        (np.concatenate([[0], np.cumsum(begins)]), first, tree.parent[first]),
        tuple((tree.reach_row[p], tree.row_parent[p], layout.first_row[p], layout.num_begins) for p in (0, 1)),
        tuple(
            (part.start, part.cards, part.above, part.copy_start, part.copy_above, part.same, part.weaker, part.beaten)
            for part in lanes
        ),
    )


def _held_shares(layout: HandLayout, dtype: type) -> tuple[Array, Array]:
    """Returns `[N]` where each node's fixed shares start (-1 if it has none), and the shares.

    A node's shares are laid out like its entries; those of hands that are not fixed are -1.
    """
    tree = layout.tree
    number = np.searchsorted(tree.entry_offset, tree.held.entry, side="right") - 1
    node, lane = tree.entry_node[number], tree.held.entry - tree.entry_offset[number]
    start, shares, used = np.full(len(tree), -1, np.int64), [np.zeros(0)], 0
    for at in np.unique(node).tolist():
        player, block, here = int(tree.actor[at]), int(tree.block[at]), node == at
        spread = np.full((tree.num_actions[at], tree.blocks.width(block)), -1.0)
        spread[number[here] - tree.first_entry[at], lane[here]] = tree.held.share[here]
        places = layout.places(player, block)
        own = np.full((len(spread), layout.lanes[player].stride[block]), -1.0)
        own[:, : len(places)] = spread[:, places]
        shares.append(own.ravel())
        start[at], used = used, used + own.size
    return start, np.concatenate(shares).astype(dtype)
