"""Joins several hold'em trees (different boards, stacks or ranges) into one that is solved as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.tree.hand_tree import Blocks, HandTree


def join_hand_trees(trees: Sequence[HandTree]) -> HandTree:
    """Returns several trees as one tree with a root for each, in order (`HandTree.roots`).

    The trees' numbers follow one another, so a vector over one tree's entries or rows is a slice of the forest's vector. Each
    tree keeps its own values, which add up over the forest.
    """
    nodes, blocks = _starts(map(len, trees)), _starts(len(tree.blocks.board) for tree in trees)
    entries, children = _starts(len(tree.entry_node) for tree in trees), _starts(len(tree.child) for tree in trees)

    def joined(name: str, starts: Sequence[int] | None = None, of: Sequence[Any] = trees) -> NDArray[Any]:
        """Returns an attribute of all trees, shifted by each tree's start (except -1)."""
        parts = [getattr(part, name) for part in of]
        return np.concatenate(parts if starts is None else list(map(_shifted, parts, starts)))

    def of_player(name: str, player: int, starts: Sequence[int] | None = None) -> NDArray[Any]:
        parts = [getattr(tree, name)[player] for tree in trees]
        return np.concatenate(parts if starts is None else list(map(_shifted, parts, starts)))

    def of_both(name: str, starts: Sequence[Sequence[int]] | None = None) -> tuple[NDArray[Any], NDArray[Any]]:
        first, second = (None, None) if starts is None else starts
        return of_player(name, 0, first), of_player(name, 1, second)

    rows = [_starts(len(tree.row_parent[player]) for tree in trees) for player in (0, 1)]
    boards = [tree.blocks for tree in trees]
    return HandTree(
        game=trees[0].game,
        blocks=Blocks(
            board=[board for part in boards for board in part.board],
            parent=joined("parent", blocks, boards),
            node_start=_joined_offsets([part.node_start for part in boards]).astype(np.int32),
            lane_start=_joined_offsets([part.lane_start for part in boards]),
            hand=joined("hand", of=boards),
            cards=joined("cards", of=boards),
            tie=joined("tie", of=boards),
            above=joined("above", of=boards),
            copy_start=_joined_offsets([part.copy_start for part in boards]),
            copy_above=joined("copy_above", of=boards),
            after=joined("after", blocks, boards),
            renaming=joined("renaming", of=boards),
            symmetries=[group for part in boards for group in part.symmetries],
        ),
        kind=joined("kind"),
        actor=joined("actor"),
        block=joined("block", blocks),
        parent=joined("parent", nodes),
        amount=joined("amount"),
        first_entry=joined("first_entry", entries),
        num_actions=joined("num_actions"),
        first_child=joined("first_child", children),
        child=joined("child", nodes),
        reach_row=of_both("reach_row", rows),
        entry_action=joined("entry_action"),
        entry_offset=_joined_offsets([tree.entry_offset for tree in trees]),
        entry_node=joined("entry_node", nodes),
        row_offset=(
            _joined_offsets([tree.row_offset[0] for tree in trees]),
            _joined_offsets([tree.row_offset[1] for tree in trees]),
        ),
        row_parent=of_both("row_parent", rows),
        row_entry=of_both("row_entry", [entries, entries]),
        row_block=of_both("row_block", [blocks, blocks]),
        root_reach=of_both("root_reach"),
        leaf_betting=[betting for tree in trees for betting in tree.leaf_betting],
        own=of_both("own"),
        pair_weight=joined("pair_weight"),
    )


def _starts(counts: Any) -> list[int]:
    """Returns the sum of the counts before each one."""
    return [int(start) for start in np.cumsum([0, *counts])[:-1]]


def _shifted(numbers: NDArray[Any], start: int) -> NDArray[Any]:
    return np.where(numbers >= 0, numbers + start, numbers).astype(numbers.dtype)


def _joined_offsets(parts: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
    """Returns the offsets `[n + 1]` of the whole from those of its parts, which each count from 0."""
    return np.concatenate([[0], np.cumsum(np.concatenate([np.diff(part) for part in parts]))])
