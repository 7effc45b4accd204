"""Public trees of games whose private states are dealt once: one deal of lanes, then public moves only.

Dice and one-card poker are of this kind. Their public trees follow from the bids or bets alone, so nothing walks over
histories: a direct builder lists the public states, and the rows are one vectorised sweep.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.games.base import TERMINAL, Game
from tacit.tree.assemble import NO_ACTION, ActionTable, HistoryTable, NodeTable, RowTable, assemble
from tacit.tree.public_tree import NO_PARENT, PublicTree


@dataclass
class UniformTables:
    """Public states, and which deals are alive and what they pay at each.

    Attributes:
      nodes: `N` public states, parents before children; their slots are the numbers of the public actions themselves.
      lanes: for each player the names of the private states.
      joint: `[K, H0, H1]` chance weights of the deals; node n has `joint[joint_index[n]]`.
      joint_index: `[N]`.
      payoff: `[M, H0, H1]` player 0's returns; terminal node n pays `payoff[payoff_index[n]]`.
      payoff_index: `[N]`, anything at nodes where the game goes on.
    """

    nodes: NodeTable
    lanes: tuple[list[str], list[str]]
    joint: NDArray[np.float64]
    joint_index: NDArray[np.int64]
    payoff: NDArray[np.float64]
    payoff_index: NDArray[np.int64]


def uniform_tree(game: Game[Any], tables: UniformTables) -> PublicTree:
    """Returns the public tree of the tables; a private state has a row wherever some deal with it is possible."""
    nodes = tables.nodes
    num_nodes = len(nodes.parent)
    row_at, rows, legal = [], [], []
    for player in (0, 1):
        alive = np.any(tables.joint > 0, axis=2 - player)[tables.joint_index]  # [N, H]
        node, lane = np.nonzero(alive)
        at = np.full(alive.shape, -1)
        at[node, lane] = np.arange(len(node))
        above = nodes.parent[node]
        parent = np.where(above == NO_PARENT, NO_PARENT, at[above, lane])
        moved = (above != NO_PARENT) & (nodes.actor[above] == player)
        names = [tables.lanes[player][k] if up == NO_PARENT else "" for k, up in zip(lane, above, strict=True)]
        row_at.append(at)
        rows.append(RowTable(node, parent, np.where(moved, nodes.slot[node], NO_ACTION), names))
        legal.append(_legal_actions(nodes, node, player))
    node, first, second = np.nonzero(tables.joint[tables.joint_index])
    over = nodes.actor[node] == TERMINAL
    histories = HistoryTable(
        node,
        (row_at[0][node, first], row_at[1][node, second]),
        tables.joint[tables.joint_index[node], first, second],
        np.where(over, tables.payoff[np.where(over, tables.payoff_index[node], 0), first, second], 0.0),
    )
    assert len(nodes.token) == num_nodes
    return assemble(game, nodes, (rows[0], rows[1]), (legal[0], legal[1]), histories)


def _legal_actions(nodes: NodeTable, row_node: NDArray[np.int64], player: int) -> ActionTable:
    """Returns the actions of every row: those of its node's children, once each, where the player acts."""
    children = np.flatnonzero(nodes.parent != NO_PARENT)
    edges = np.unique(np.stack([nodes.parent[children], nodes.slot[children]]), axis=1)
    edge_start = np.searchsorted(edges[0], np.arange(len(nodes.parent) + 1))
    counts = np.where(nodes.actor[row_node] == player, np.diff(edge_start)[row_node], 0)
    start = np.concatenate([[0], np.cumsum(counts)])
    within = np.arange(start[-1]) - np.repeat(start[:-1], counts)
    return ActionTable(start, edges[1][np.repeat(edge_start[row_node], counts) + within])
