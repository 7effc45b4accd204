"""Where the numbers of a tree of hold'em lie: each player has lanes for its own hands alone, board after board.

A strategy of the tree has a lane for every hand that either may hold, so that boards, hands and strategies have one order. Most
ranges share few hands, and nothing needs to be stored or computed for a hand that its player never holds.
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
      start: `[K + 1]` the first lane of each.
      shared: `[lanes]` the lane of the tree, counted within the board.
      cards: `[lanes, 2]`.
      above: `[lanes]` the same hand's lane on the board before the last card, counted within it.
      copy_start: `[K + 1]` where the maps of each begin in
      copy_above: for every further card that leads to a board, `above` as it is after that card.
      same: `[lanes]` the opponent's lane of the same hand, or as many as it has lanes if it never holds it.
      weaker: `[lanes]` on full boards how many of the opponent's hands are weaker, and
      beaten: `[lanes]` how many are not stronger.
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
        """`[K]` hands on each board."""
        return np.diff(self.start)

    @cached_property
    def stride(self) -> NDArray[np.int64]:
        """`[K]` the room that a row takes on each board."""
        return -(-self.width // len(ROW)) * len(ROW)


@dataclass(frozen=True, eq=False)
class HandLayout:
    """Lanes of both players, and where strategies have their numbers.

    Attributes:
      tree: What is laid out.
      lanes: Of each player.
      node_entry: `[N]` where the numbers of a decision start: a row over the actor's lanes for each action.
      block_entry: `[2 * K + 1]` where those of all decisions on each board start, player 0's and then player 1's.
      first_row: For both players `[K + 1]` the first row of each board, and
      num_begins: `[K]` how many rows it inherits from the board before.
    """

    tree: HandTree
    lanes: tuple[HandLanes, HandLanes]
    node_entry: Offsets
    block_entry: Offsets
    first_row: tuple[Offsets, Offsets]
    num_begins: NDArray[np.int64]

    @property
    def num_entries(self) -> int:
        """Numbers of a strategy, with what fills up its rows."""
        return int(self.block_entry[-1])

    def places(self, player: int, block: int) -> NDArray[np.int16]:
        """Returns the tree's lanes, counted within a board, of the player's hands there."""
        start = self.lanes[player].start
        return self.lanes[player].shared[start[block] : start[block + 1]]

    @cached_property
    def num_rows(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For both players `[K]` rows of each board."""
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
    """Returns the lanes of a player whose hands are `own` among those of the tree, `[lanes]`."""
    blocks = tree.blocks
    widths = np.diff(blocks.lane_start)
    block = np.repeat(np.arange(len(widths)), widths)
    begin = blocks.lane_start[:-1]
    mine, theirs = (np.concatenate([[0], np.cumsum(part)]) for part in (own, other))  # lanes of each before one of the tree

    def number(count: Array, lane: Array, of: Array) -> Array:
        """Returns which of a player's lanes on boards `of` a lane of the tree is, counted within the board."""
        return (count[lane] - count[begin[of]]).astype(np.int16)

    lane = np.flatnonzero(own)
    here = block[lane]
    before = blocks.parent[here]
    above = np.where(before >= 0, number(mine, begin[before] + blocks.above[lane], before), 0).astype(np.int16)
    local = np.arange(len(block)) - begin[block]
    starts = np.where(blocks.tie == local, np.arange(len(block)), len(block))  # the first of each strength
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
        above=np.append(above, np.zeros(len(ROW), np.int16)),  # whole rows are read
        copy_start=np.concatenate([[0], np.cumsum([len(part) for part in copies])]),
        copy_above=np.concatenate([np.zeros(0, np.int16), *copies]),
        same=np.where(held, number(theirs, lane, here), (theirs[blocks.lane_start[1:]] - theirs[begin])[here]).astype(np.int16),
        weaker=number(theirs, begin[here] + blocks.tie[lane], here),
        beaten=number(theirs, stronger[lane], here),
    )


def tables_of(layout: HandLayout, dtype: type) -> tuple[Any, ...]:
    """Returns what the kernels know of a tree.

    boards: the board before each, the first node of each, and where the root reaches of first boards start, for both players;
    nodes: kind, actor, actions and children of each, where its entries start, and where those of boards do; what is fixed;
    ends: where the terminal nodes of each board start, how many of them are folds, the nodes, and the amounts at stake;
    begins: where the beginnings of each board start, their nodes, and the nodes where a card was dealt before;
    rows: for both players the row of each node, the row above each row, the first row of each board, and rows it inherits;
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
    """Returns `[N]` where the fixed shares of each node start, -1 where it has none, and these shares.

    The shares of a node lie like its entries; those of hands that decide for themselves are -1.
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
