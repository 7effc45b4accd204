"""Subgames: the part of a tree below a public state, from given beliefs, down to a depth limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import TacitError
from tacit.games.base import TERMINAL
from tacit.tree.beliefs import PublicBeliefState
from tacit.tree.public_tree import LEAF, NO_PARENT, NOT_ACTING, Ints, Nodes, PlayerRows, PublicTree, relabel_acting_rows

Keep = NDArray[np.bool_]
ROUND = "round"
Depth = int | str | None
"""Actions to look ahead, `round` for the rest of the betting round, None for the rest of the game."""


@dataclass(frozen=True)
class Subgame:
    """A subgame as a tree of its own, and where its parts lie in the tree it was cut from.

    Payoffs and chance weights are divided by the probability of the root, so the root value of `tree` is the value of the
    public belief state.

    Attributes:
      tree: the subgame; its root reaches are the beliefs' reaches.
      node_index: `[N]` its nodes in the whole tree.
      row_index: for each player `[R]`, its rows in the whole tree.
      entry_index: `[E]` its entries in the whole tree.
    """

    tree: PublicTree
    node_index: NDArray[np.int64]
    row_index: tuple[NDArray[np.int64], NDArray[np.int64]]
    entry_index: NDArray[np.int64]


def extract_subgame(tree: PublicTree, pbs: PublicBeliefState, depth: Depth = None) -> Subgame:
    """Returns the subgame rooted at a public belief state.

    Args:
      tree: the whole game (or a larger subgame).
      pbs: the root node of `tree` and both players' reaches there.
      depth: actions after which decision nodes become leaves; `round` cuts where chance has moved, None at the end of the game.

    Raises:
      TacitError: the game has no public states, the root is no decision, or the beliefs exclude each other.
    """
    nodes = tree.require_nodes()
    if nodes.actor[pbs.node] in (TERMINAL, LEAF):
        raise TacitError("a subgame starts at a decision; the game is over at the given public state")
    if isinstance(depth, int) and depth < 1:
        raise TacitError(f"the depth of a subgame is at least 1 action, not {depth}")
    if isinstance(depth, str) and depth != ROUND:
        raise TacitError(f"the depth of a subgame is a number of actions or {ROUND!r}, not {depth!r}")
    pbs.require_possible()
    ends = tree.begins_round if depth == ROUND else np.zeros(len(nodes), bool)
    level = _levels_below(nodes, pbs.node, ends)
    node_index = np.flatnonzero((level >= 0) & (level <= (depth if isinstance(depth, int) else np.inf)))
    cut = (ends if depth == ROUND else level == depth) & (level > 0) & (nodes.actor != TERMINAL)

    in_subgame = np.zeros(len(nodes), bool)
    in_subgame[node_index] = True
    row_node = [np.repeat(np.arange(len(nodes)), np.diff(start)) for start in nodes.row_start]
    keep_rows = [in_subgame[row_node[player]] for player in (0, 1)]
    infostate_node = np.zeros(tree.num_infostates, np.int64)
    for player in (0, 1):
        mine = tree.infostate_player == player
        infostate_node[mine] = row_node[player][tree.infostate_row[mine]]
    keep_infostate = in_subgame[infostate_node] & ~cut[infostate_node]
    entry_index = np.flatnonzero(keep_infostate[tree.entry_infostate])

    new_row = [_renumber(keep) for keep in keep_rows]
    infostate_row = relabel_acting_rows(tree, (new_row[0], new_row[1]))
    paying = keep_rows[0][tree.payoff_rows[0]]
    counts = np.diff(tree.entry_start)[keep_infostate]
    small = PublicTree(
        game=tree.game,
        rows=(
            _cut_rows(tree, 0, pbs, keep_rows[0], level[row_node[0]], keep_infostate, entry_index),
            _cut_rows(tree, 1, pbs, keep_rows[1], level[row_node[1]], keep_infostate, entry_index),
        ),
        infostate_player=tree.infostate_player[keep_infostate],
        infostate_row=infostate_row[keep_infostate].astype(np.int32),
        entry_start=np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        entry_action=tree.entry_action[entry_index],
        payoff_rows=np.stack([new_row[player][tree.payoff_rows[player, paying]] for player in (0, 1)]).astype(np.int32),
        payoff=tree.payoff[paying] / pbs.probability,
        nodes=_cut_nodes(tree, nodes, node_index, level, cut, new_row, pbs),
    )
    rows = tuple(np.flatnonzero(keep) for keep in keep_rows)
    return Subgame(small, node_index, (rows[0], rows[1]), entry_index)


def _levels_below(nodes: Nodes, root: int, ends: Keep) -> NDArray[np.int64]:
    """Returns `[N]` the number of actions from `root` to each node, -1 for nodes that are not below it or below an end."""
    level = np.full(len(nodes), -1, np.int64)
    level[root] = 0
    for start, end in zip(nodes.level_start[1:-1], nodes.level_start[2:], strict=True):
        above = level[nodes.parent[start:end]]
        goes_on = (above == 0) | ((above > 0) & ~ends[nodes.parent[start:end]])
        below = np.where(goes_on, above + 1, -1)
        level[start:end] = np.where(np.arange(start, end) == root, 0, below)
    return level


def _cut_rows(
    tree: PublicTree,
    player: int,
    pbs: PublicBeliefState,
    keep: Keep,
    row_level: NDArray[np.int64],
    keep_infostate: Keep,
    entry_index: NDArray[np.int64],
) -> PlayerRows:
    rows, index, level = tree.rows[player], np.flatnonzero(keep), row_level[keep]
    new_row, new_infostate = _renumber(keep), _renumber(keep_infostate)
    new_entry = np.full(tree.num_entries + 1, len(entry_index))
    new_entry[entry_index] = np.arange(len(entry_index))
    root = level == 0
    acting = rows.infostate[index]
    kept = (acting != NOT_ACTING) & keep_infostate[acting]
    tokens = [
        tree.private_label(player, int(row)) if is_root else rows.token[row] for row, is_root in zip(index, root, strict=True)
    ]
    return PlayerRows(
        parent=np.where(root, NO_PARENT, new_row[rows.parent[index]]).astype(np.int32),
        entry=np.where(root, len(entry_index), new_entry[rows.entry[index]]).astype(np.int32),
        infostate=np.where(kept, new_infostate[acting], NOT_ACTING).astype(np.int32),
        level_start=_level_start(level),
        root_reach=pbs.reaches[player].astype(np.float64),
        token=tokens,
    )


def _cut_nodes(
    tree: PublicTree,
    nodes: Nodes,
    index: NDArray[np.int64],
    level: NDArray[np.int64],
    cut: Keep,
    new_row: list[NDArray[np.int64]],
    pbs: PublicBeliefState,
) -> Nodes:
    new_node = np.full(len(nodes), NO_PARENT, np.int64)
    new_node[index] = np.arange(len(index))
    counts = np.diff(nodes.joint_start)[index]
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    pairs = np.repeat(nodes.joint_start[index], counts) + within
    row_counts = [np.diff(start)[index] for start in nodes.row_start]
    parent = np.where(index == pbs.node, NO_PARENT, new_node[nodes.parent[index]])
    return Nodes(
        parent=parent.astype(np.int32),
        actor=np.where(cut[index], LEAF, nodes.actor[index]).astype(np.int8),
        level_start=_level_start(level[index]),
        row_start=(_cumulative(row_counts[0]), _cumulative(row_counts[1])),
        joint_start=_cumulative(counts).astype(np.int64),
        joint_rows=np.stack([new_row[player][nodes.joint_rows[player, pairs]] for player in (0, 1)]).astype(np.int32),
        joint_chance=nodes.joint_chance[pairs] / pbs.probability,
        token=[tree.public_label(n) if n == pbs.node else nodes.token[n] for n in index],
    )


def _renumber(keep: Keep) -> NDArray[np.int64]:
    """Returns the new number of everything kept (and something harmless for the rest)."""
    return np.cumsum(keep) - 1


def _level_start(level: NDArray[np.int64]) -> Ints:
    return np.searchsorted(level, np.arange(int(level.max()) + 2)).astype(np.int32)


def _cumulative(counts: NDArray[Any]) -> Ints:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
