"""Subgames: the part of a tree below a public state, from given beliefs, down to a depth limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import TacitError
from tacit.games import AnyGame
from tacit.games.base import TERMINAL
from tacit.games.rounds import has_rounds
from tacit.tree.beliefs import PublicBeliefState
from tacit.tree.public_tree import LEAF, NO_PARENT, NOT_ACTING, Ints, Nodes, PlayerRows, PublicTree, in_ranges

Index = NDArray[np.int64]
ROUND, TWO_ROUNDS = "round", "two rounds"
Depth = int | str | None
"""Number of actions to look ahead, `round` for the rest of the betting round, None for the rest of the game. Hold'em trees can
also go to the end of the next round (`two rounds`)."""
DEPTH_WITHOUT_ROUNDS = 2
"""Default search depth, in actions, for games without betting rounds."""


def usual_depth(game: AnyGame) -> int | str:
    """Returns the default search depth for a game: to the end of the round if the game has rounds."""
    return ROUND if has_rounds(game) else DEPTH_WITHOUT_ROUNDS


@dataclass(frozen=True)
class Subgame:
    """A subgame as a tree of its own, with the places of its parts in the tree it was cut from.

    Payoffs and chance weights are divided by the probability of the root, so the root value of `tree` is the value of the
    public belief state.

    Attributes:
      tree: the subgame; its root reaches are the belief state's reaches.
      node_index: `[N]` the subgame's nodes in the whole tree, ascending.
      row_index: for each player `[R]`, the subgame's rows in the whole tree, ascending.
      entry_index: `[E]` the subgame's entries in the whole tree, ascending.
    """

    tree: PublicTree
    node_index: Index
    row_index: tuple[Index, Index]
    entry_index: Index


def check_depth_limit(depth: Depth) -> None:
    """Checks that a depth is possible for a subgame.

    Raises:
      TacitError: It is not; the message says what a depth can be.
    """
    if isinstance(depth, int) and depth < 1:
        raise TacitError(f"the depth of a subgame is at least 1 action, not {depth}")
    if isinstance(depth, str) and depth != ROUND:
        raise TacitError(f"the depth of a subgame is a number of actions or {ROUND!r}, not {depth!r}")


def extract_subgame(pbs: PublicBeliefState, depth: Depth = None) -> Subgame:
    """Returns the subgame rooted at a public belief state, in time proportional to its size.

    Args:
      pbs: a node of the whole game (or of a larger subgame) and both players' reaches there.
      depth: number of actions after which decision nodes become leaves; `round` cuts after chance moves, None does not cut.

    Raises:
      TacitError: The game has no public states, the root is not a decision, or the beliefs exclude each other.
    """
    tree, nodes = pbs.tree, pbs.tree.require_nodes()
    if nodes.actor[pbs.node] in (TERMINAL, LEAF):
        raise TacitError("a subgame must start at a decision; the given public state is a leaf or an end of the game")
    check_depth_limit(depth)
    pbs.require_possible()
    node_index, actions = _nodes_below(tree, pbs.node, depth)
    rows = in_ranges(nodes.row_start[0], node_index), in_ranges(nodes.row_start[1], node_index)
    small_nodes = _cut_nodes(pbs, node_index, actions, rows, depth)
    infostates = np.sort(np.concatenate([_acting(tree, small_nodes, player, rows[player]) for player in (0, 1)]))
    entries, payoffs = in_ranges(tree.entry_start, infostates), in_ranges(tree.payoff_start, node_index)
    acting_row, second = tree.infostate_row[infostates], tree.infostate_player[infostates] == 1
    small = PublicTree(
        game=tree.game,
        rows=(
            _cut_rows(pbs, small_nodes, 0, rows[0], infostates, entries),
            _cut_rows(pbs, small_nodes, 1, rows[1], infostates, entries),
        ),
        infostate_player=tree.infostate_player[infostates],
        infostate_row=np.where(second, _renumber(rows[1], acting_row), _renumber(rows[0], acting_row)),
        entry_start=_cut_starts(tree.entry_start, infostates),
        entry_action=tree.entry_action[entries],
        payoff_rows=np.stack([_renumber(rows[player], tree.payoff_rows[player, payoffs]) for player in (0, 1)]),
        payoff=tree.payoff[payoffs] / pbs.probability,
        payoff_chance=tree.payoff_chance[payoffs] / pbs.probability,
        nodes=small_nodes,
    )
    return Subgame(small, node_index, rows, entries)


def subgame_places(tree: PublicTree, root: int, depth: Depth) -> tuple[Index, Index]:
    """Returns the `node_index` and `entry_index` of the subgame that `extract_subgame` cuts out at a node."""
    nodes = tree.require_nodes()
    node_index, actions = _nodes_below(tree, root, depth)
    inside = node_index[~_ends(tree, node_index, actions, depth)]
    infostates = [tree.rows[p].infostate[in_ranges(nodes.row_start[p], inside[nodes.actor[inside] == p])] for p in (0, 1)]
    return node_index, in_ranges(tree.entry_start, np.sort(np.concatenate(infostates)))


def _ends(tree: PublicTree, index: Index, actions: Index, depth: Depth) -> NDArray[np.bool_]:
    """Returns `[N]` True where a depth limit cuts a node of `index`, given each node's number of actions below the root."""
    if depth == ROUND:
        return tree.begins_round[index] & (actions > 0)
    return np.full(len(index), False) if depth is None else actions == depth


def _nodes_below(tree: PublicTree, root: int, depth: Depth) -> tuple[Index, Index]:
    """Returns `[N]` the nodes up to `depth` actions below `root`, ascending, and `[N]` their numbers of actions below it."""
    levels, level = [], np.array([root])
    while len(level):
        levels.append(level)
        if len(levels) - 1 == depth:
            break
        goes_on = level if depth != ROUND or level[0] == root else level[~tree.begins_round[level]]
        level = tree.require_nodes().children(goes_on)
    index, actions = np.concatenate(levels), np.repeat(np.arange(len(levels)), [len(level) for level in levels])
    order = np.argsort(index)
    return index[order], actions[order]


def _cut_nodes(pbs: PublicBeliefState, index: Index, actions: Index, rows: tuple[Index, Index], depth: Depth) -> Nodes:
    nodes = pbs.tree.require_nodes()
    ends = _ends(pbs.tree, index, actions, depth)
    level = np.searchsorted(nodes.level_start, index, side="right")
    level_end = np.append(np.flatnonzero(np.diff(level)) + 1, len(index))
    pairs = in_ranges(nodes.joint_start, index)
    return Nodes(
        parent=np.where(index == pbs.node, NO_PARENT, _renumber(index, nodes.parent[index])),
        actor=np.where(ends & (nodes.actor[index] != TERMINAL), LEAF, nodes.actor[index]).astype(np.int8),
        level_start=np.append(0, level_end).astype(np.int32),
        row_start=(_cut_starts(nodes.row_start[0], index), _cut_starts(nodes.row_start[1], index)),
        joint_start=_cut_starts(nodes.joint_start, index),
        joint_rows=np.stack([_renumber(rows[player], nodes.joint_rows[player, pairs]) for player in (0, 1)]),
        joint_chance=nodes.joint_chance[pairs] / pbs.probability,
        token=[pbs.tree.public_label(pbs.node), *(nodes.token[n] for n in index[1:])],
    )


def _acting(tree: PublicTree, small_nodes: Nodes, player: int, rows: Index) -> Ints:
    """Returns the infostates of a player in a subgame with the given nodes and rows, without leaves."""
    acting = rows[small_nodes.actor[small_nodes.of_row[player]] == player]
    infostates: Ints = tree.rows[player].infostate[acting]
    return infostates


def _cut_rows(
    pbs: PublicBeliefState, small_nodes: Nodes, player: int, index: Index, infostates: Ints, entries: Index
) -> PlayerRows:
    rows, num_roots = pbs.tree.rows[player], len(pbs.reaches[player])
    acting = small_nodes.actor[small_nodes.of_row[player]] == player
    parent, entry = _renumber(index, rows.parent[index]), _renumber(entries, rows.entry[index])
    parent[:num_roots], entry[:num_roots] = NO_PARENT, len(entries)
    labels = (pbs.tree.private_label(player, row) for row in index[:num_roots].tolist())
    return PlayerRows(
        parent=parent,
        entry=entry,  # the sentinel, the tree's number of entries, becomes the subgame's
        infostate=np.where(acting, _renumber(infostates, rows.infostate[index]), NOT_ACTING),
        level_start=small_nodes.row_start[player][small_nodes.level_start],
        root_reach=pbs.reaches[player].astype(np.float64),
        token=[*labels, *(rows.token[row] for row in index[num_roots:].tolist())],
    )


def _renumber(kept: NDArray[Any], old: NDArray[Any]) -> Ints:
    """Returns the new numbers of kept items, given `kept` in ascending order (and something harmless for the rest)."""
    return np.searchsorted(kept, old).astype(np.int32)


def _cut_starts(start: NDArray[Any], index: NDArray[Any]) -> NDArray[Any]:
    """Returns the starts of ranges when only those of `index` are kept."""
    return np.concatenate([[0], np.cumsum(start[index + 1] - start[index])]).astype(start.dtype)
