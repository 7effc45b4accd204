"""The lane layout: a public tree whose private states keep their places, so that a node is one short vector.

If private states are dealt before the first decision and every later move is public, row k of a child continues row k of its
parent. Then reaches, values, strategies and regrets are dense `[node or edge, H]` arrays without index maps, and a CPU handles
a node with a few vector instructions. An *edge* is a (decision node, action) pair.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.games.base import TERMINAL
from tacit.tree.public_tree import Floats, Ints, Nodes, PublicTree

MAX_LANES = 64
"""Beyond this a row no longer fits into the vector registers, and the general kernels are as fast."""
MAX_PAYOFF_BYTES = 2**30


@dataclass(frozen=True)
class LaneLayout:
    """The arrays of a public tree with `H` lanes.

    Attributes:
      num_lanes: `H`, the larger of the two players' numbers of private states.
      actor: `[N]` as in `Nodes`.
      edge_start: `[N + 1]` the edges of node n are `edge_start[n]:edge_start[n + 1]`.
      child_start: `[M + 1]` the children of edge e (several after public chance) are `child_start[e]:child_start[e + 1]`.
      payoff_index: `[N]` the payoff matrix of each terminal node.
      payoffs: `[K, H, H]` player 0's return times chance; equal matrices are stored once.
      entry_position: `[E]` the position of each entry of the tree in a flattened `[M, H]`.
      row_position: for each player `[R]`, the position of each row in a flattened `[N, H]`.
    """

    num_lanes: int
    actor: NDArray[np.int8]
    edge_start: Ints
    child_start: Ints
    payoff_index: Ints
    payoffs: Floats
    entry_position: NDArray[np.int64]
    row_position: tuple[NDArray[np.int64], NDArray[np.int64]]


def lane_layout(tree: PublicTree) -> LaneLayout | None:
    """Returns the tree in lanes, or None if its private states do not keep their places or are too many."""
    nodes = tree.nodes
    if nodes is None:
        return None
    num_lanes = max(int(np.diff(start).max()) for start in nodes.row_start)
    if num_lanes > MAX_LANES:
        return None
    row_node = nodes.of_row
    first, second = (_lanes(tree, player, row_node[player]) for player in (0, 1))
    slots = _public_action_slots(tree, nodes, row_node)
    num_actions = _num_actions(tree, nodes, row_node)
    if first is None or second is None or slots is None or num_actions is None:
        return None
    lanes = (first, second)
    payoffs = _payoff_matrices(tree, nodes, lanes, row_node[0], num_lanes)
    if payoffs is None:
        return None
    edge_start = np.concatenate([[0], np.cumsum(num_actions)]).astype(np.int32)
    child_edge = edge_start[nodes.parent[nodes.num_roots :]] + slots[nodes.num_roots :]
    if np.any(np.diff(child_edge) < 0):
        return None  # the children of an edge are not adjacent
    child_start = nodes.num_roots + np.searchsorted(child_edge, np.arange(edge_start[-1] + 1))

    infostate = tree.entry_infostate
    entry_row = tree.infostate_row[infostate]
    position = np.zeros(tree.num_entries, np.int64)
    for player in (0, 1):
        mine = tree.entry_player == player
        row = entry_row[mine]
        slot = np.flatnonzero(mine) - tree.entry_start[infostate[mine]]
        position[mine] = (edge_start[row_node[player][row]] + slot) * num_lanes + lanes[player][row]
    return LaneLayout(
        num_lanes=num_lanes,
        actor=nodes.actor,
        edge_start=edge_start,
        child_start=child_start.astype(np.int32),
        payoff_index=payoffs[0],
        payoffs=payoffs[1],
        entry_position=position,
        row_position=(row_node[0] * num_lanes + lanes[0], row_node[1] * num_lanes + lanes[1]),
    )


def _lanes(tree: PublicTree, player: int, row_node: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Returns `[R]` the lane of each row (the place of its root row), or None if two rows of a node would share a lane."""
    rows, nodes = tree.rows[player], tree.require_nodes()
    lane = np.arange(len(rows)) - nodes.row_start[player][row_node]
    for start, end in zip(rows.level_start[1:-1], rows.level_start[2:], strict=True):
        lane[start:end] = lane[rows.parent[start:end]]
    places = row_node * MAX_LANES + lane
    return lane if len(np.unique(places)) == len(places) else None


def _public_action_slots(tree: PublicTree, nodes: Nodes, row_node: tuple[NDArray[np.int64], NDArray[np.int64]]) -> Ints | None:
    """Returns `[N]` the slot, among the parent's actions, of the action that led to each node, or None if it is not public."""
    slots = np.zeros(len(nodes), np.int32)
    for player in (0, 1):
        rows = tree.rows[player]
        moved = np.flatnonzero(rows.entry < tree.num_entries)
        slot = rows.entry[moved] - tree.entry_start[rows.infostate[rows.parent[moved]]]
        slots[row_node[player][moved]] = slot
        if not np.array_equal(slots[row_node[player][moved]], slot):
            return None
    return slots


def _num_actions(tree: PublicTree, nodes: Nodes, row_node: tuple[NDArray[np.int64], NDArray[np.int64]]) -> Ints | None:
    """Returns `[N]` the number of actions of each node, or None if it depends on the private state."""
    counts = np.zeros(len(nodes), np.int32)
    actions = np.diff(tree.entry_start)
    for player in (0, 1):
        mine = np.flatnonzero(tree.infostate_player == player)
        node = row_node[player][tree.infostate_row[mine]]
        counts[node] = actions[mine]
        if not np.array_equal(counts[node], actions[mine]):
            return None
    return counts


def _payoff_matrices(
    tree: PublicTree,
    nodes: Nodes,
    lanes: tuple[NDArray[np.int64], NDArray[np.int64]],
    row_node: NDArray[np.int64],
    num_lanes: int,
) -> tuple[Ints, Floats] | None:
    """Returns each node's payoff matrix index and the distinct matrices, or None if they would take too much memory."""
    terminal = np.flatnonzero(nodes.actor == TERMINAL)
    if len(terminal) * num_lanes**2 * 8 > MAX_PAYOFF_BYTES:
        return None
    place = np.zeros(len(nodes), np.int64)
    place[terminal] = np.arange(len(terminal))
    dense = np.zeros((len(terminal), num_lanes, num_lanes))
    first, second = tree.payoff_rows
    dense[place[row_node[first]], lanes[0][first], lanes[1][second]] = tree.payoff
    dense += 0.0  # -0.0 and 0.0 are the same payoff
    keys = dense.reshape(len(terminal), num_lanes**2).view(np.dtype((np.void, num_lanes**2 * 8))).ravel()
    _, chosen, inverse = np.unique(keys, return_index=True, return_inverse=True)
    index = np.zeros(len(nodes), np.int32)
    index[terminal] = inverse
    return index, dense[chosen]
