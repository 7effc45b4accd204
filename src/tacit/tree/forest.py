"""Forests: many trees as one, so that one pass sweeps over all of them, level by level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.tree.public_tree import NO_PARENT, NOT_ACTING, Floats, Nodes, PlayerRows, PublicTree


@dataclass(frozen=True)
class Forest:
    """Trees of any shapes, concatenated.

    Attributes:
      tree: all of them; each has its own roots.
      entry_start: `[B + 1]` the entries of tree b are `entry_start[b]:entry_start[b + 1]`, in their own order.
      root_start: for each player `[B + 1]`; the root rows of tree b.
    """

    tree: PublicTree
    entry_start: NDArray[np.int64]
    root_start: tuple[NDArray[np.int64], NDArray[np.int64]]

    def values_by_tree(self, player: int, root_values: Floats) -> Floats:
        """Returns `[B]` the value of each tree from values of all root rows."""
        return np.add.reduceat(root_values, self.root_start[player][:-1])


def plant_forest(trees: Sequence[PublicTree]) -> Forest:
    """Returns one tree made of `trees`, which share their rules."""
    infostates = _offsets([tree.num_infostates for tree in trees])
    entries = _offsets([tree.num_entries for tree in trees])
    new_node = _interleave([tree.require_nodes().level_start for tree in trees])
    new_row = [_interleave([tree.rows[player].level_start for tree in trees]) for player in (0, 1)]
    rows = [_merge_rows(trees, player, new_row[player], infostates, entries) for player in (0, 1)]
    payoff_rows = np.stack([_relabelled([t.payoff_rows[p] for t in trees], new_row[p]) for p in (0, 1)])
    by_node = np.argsort(payoff_rows[0], kind="stable")
    infostate_row = [_relabel_acting_rows(tree, (new_row[0][b], new_row[1][b])) for b, tree in enumerate(trees)]
    starts = [tree.entry_start[:-1] + entries[b] for b, tree in enumerate(trees)]
    merged = PublicTree(
        game=trees[0].game,
        rows=(rows[0], rows[1]),
        infostate_player=np.concatenate([tree.infostate_player for tree in trees]),
        infostate_row=np.concatenate(infostate_row).astype(np.int32),
        entry_start=np.concatenate([*starts, entries[-1:]]).astype(np.int32),
        entry_action=np.concatenate([tree.entry_action for tree in trees]),
        payoff_rows=payoff_rows[:, by_node].astype(np.int32),
        payoff=np.concatenate([tree.payoff for tree in trees])[by_node],
        payoff_chance=np.concatenate([tree.payoff_chance for tree in trees])[by_node],
        nodes=_merge_nodes([tree.require_nodes() for tree in trees], new_node, new_row),
    )
    roots = [_offsets([int(tree.rows[player].level_start[1]) for tree in trees]) for player in (0, 1)]
    return Forest(merged, entries, (roots[0], roots[1]))


def _merge_rows(
    trees: Sequence[PublicTree],
    player: int,
    new_row: list[NDArray[np.int64]],
    infostates: NDArray[np.int64],
    entries: NDArray[np.int64],
) -> PlayerRows:
    tables = [tree.rows[player] for tree in trees]
    order = np.argsort(np.concatenate(new_row))
    parent = [np.where(t.parent == NO_PARENT, NO_PARENT, new[t.parent]) for t, new in zip(tables, new_row, strict=True)]
    entry = [
        np.where(t.entry == tree.num_entries, entries[-1], t.entry + entries[b])
        for b, (t, tree) in enumerate(zip(tables, trees, strict=True))
    ]
    acting = [np.where(t.infostate == NOT_ACTING, NOT_ACTING, t.infostate + infostates[b]) for b, t in enumerate(tables)]
    tokens = [token for table in tables for token in table.token]
    return PlayerRows(
        parent=np.concatenate(parent)[order].astype(np.int32),
        entry=np.concatenate(entry)[order].astype(np.int32),
        infostate=np.concatenate(acting)[order].astype(np.int32),
        level_start=_merged_levels([table.level_start for table in tables]).astype(np.int32),
        root_reach=np.concatenate([table.root_reach for table in tables]),
        token=[tokens[i] for i in order],
    )


def _merge_nodes(tables: list[Nodes], new_node: list[NDArray[np.int64]], new_row: list[list[NDArray[np.int64]]]) -> Nodes:
    order = np.argsort(np.concatenate(new_node))
    parent = [np.where(t.parent == NO_PARENT, NO_PARENT, new[t.parent]) for t, new in zip(tables, new_node, strict=True)]
    row_counts = [np.concatenate([np.diff(t.row_start[player]) for t in tables])[order] for player in (0, 1)]
    pair_counts = [np.diff(t.joint_start) for t in tables]
    pair_node = np.concatenate([np.repeat(new, counts) for new, counts in zip(new_node, pair_counts, strict=True)])
    pair_order = np.argsort(pair_node, kind="stable")
    pairs = [_relabelled([t.joint_rows[player] for t in tables], new_row[player])[pair_order] for player in (0, 1)]
    tokens = [token for table in tables for token in table.token]
    return Nodes(
        parent=np.concatenate(parent)[order].astype(np.int32),
        actor=np.concatenate([t.actor for t in tables])[order],
        level_start=_merged_levels([t.level_start for t in tables]).astype(np.int32),
        row_start=(_offsets(row_counts[0]).astype(np.int32), _offsets(row_counts[1]).astype(np.int32)),
        joint_start=_offsets(np.concatenate(pair_counts)[order]),
        joint_rows=np.stack(pairs).astype(np.int32),
        joint_chance=np.concatenate([t.joint_chance for t in tables])[pair_order],
        token=[tokens[i] for i in order],
    )


def _relabel_acting_rows(tree: PublicTree, new_row: tuple[NDArray[np.int64], NDArray[np.int64]]) -> NDArray[np.int64]:
    """Returns `[S]` the row of each infostate under a new numbering of each player's rows."""
    rows = np.zeros(tree.num_infostates, np.int64)
    for player in (0, 1):
        mine = tree.infostate_player == player
        rows[mine] = new_row[player][tree.infostate_row[mine]]
    return rows


def _interleave(level_starts: list[NDArray[np.int32]]) -> list[NDArray[np.int64]]:
    """Returns for each tree the new numbers of its nodes (or rows): all trees' level 0 first, then all level 1, ..."""
    tree = np.concatenate([np.full(starts[-1], b) for b, starts in enumerate(level_starts)])
    level = np.concatenate([np.repeat(np.arange(len(starts) - 1), np.diff(starts)) for starts in level_starts])
    rank = np.empty(len(tree), np.int64)
    rank[np.lexsort((np.arange(len(tree)), tree, level))] = np.arange(len(tree))
    return np.split(rank, np.cumsum([int(starts[-1]) for starts in level_starts])[:-1])


def _merged_levels(level_starts: list[NDArray[np.int32]]) -> NDArray[np.int64]:
    depth = max(len(starts) for starts in level_starts)
    padded = [np.pad(starts, (0, depth - len(starts)), mode="edge") for starts in level_starts]
    merged: NDArray[np.int64] = np.stack(padded).sum(axis=0, dtype=np.int64)
    return merged


def _relabelled(indices: list[NDArray[np.int32]], new: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.concatenate([number[index] for index, number in zip(indices, new, strict=True)])


def _offsets(counts: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
