"""From loose tables of nodes, rows and histories to a `PublicTree` in breadth-first order.

Whoever enumerates a game (the generic compiler, a direct builder) may number nodes and rows as they come; this sorts them once,
vectorised, so that levels are slices, a node's rows are adjacent and children follow their parents' order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.games.base import TERMINAL, Game
from tacit.tree.public_tree import NO_PARENT, NOT_ACTING, Floats, Ints, Nodes, PlayerRows, PublicTree

NO_ACTION = -1
"""Action of a row whose player did not move to get there."""

AnyInts = NDArray[np.integer[Any]]


@dataclass
class NodeTable:
    """Public states in any order, parents before children.

    Attributes:
      parent: `[N]`, `NO_PARENT` at roots.
      actor: `[N]`.
      slot: `[N]` orders siblings: the place, among the legal actions, of the one that led to the node.
      token: what everyone learnt on arrival.
    """

    parent: AnyInts
    actor: AnyInts
    slot: AnyInts
    token: list[str]


@dataclass
class RowTable:
    """One player's rows in any order, parents before children; `action` is the own action that led here or `NO_ACTION`."""

    node: AnyInts
    parent: AnyInts
    action: AnyInts
    token: list[str]


@dataclass
class HistoryTable:
    """Pairs of rows that occur together, repeated or not. `payoff` is player 0's return, 0 where the game goes on."""

    node: AnyInts
    rows: tuple[AnyInts, AnyInts]
    chance: NDArray[np.float64]
    payoff: NDArray[np.float64]


@dataclass
class ActionTable:
    """Legal actions of every acting row, flat: `start[r]:start[r + 1]` of `action`; empty where the player does not act."""

    start: AnyInts
    action: AnyInts


def assemble(
    game: Game[Any],
    nodes: NodeTable,
    rows: tuple[RowTable, RowTable],
    legal: tuple[ActionTable, ActionTable],
    histories: HistoryTable,
) -> PublicTree:
    """Returns the public tree of the tables."""
    depth = _depths(nodes.parent)
    node_rank = _rank_level_by_level(depth, nodes.parent, nodes.slot)
    row_depth = tuple(depth[table.node] for table in rows)
    row_rank = tuple(_rank_rows(table, node_rank, row_depth[player]) for player, table in enumerate(rows))

    node_order = np.argsort(node_rank)
    actor = nodes.actor[node_order].astype(np.int8)
    entries = _Entries.of(actor, node_rank, rows, row_rank, legal)
    player_rows = tuple(_player_rows(rows[player], row_rank[player], row_depth[player], player, entries) for player in (0, 1))
    row_start = tuple(_starts(np.sort(node_rank[table.node]), len(nodes.parent)) for table in rows)
    node, pairs, chance, payoff = _merge_histories(histories, node_rank, row_rank, len(player_rows[1]))
    finished = actor[node] == TERMINAL
    playing = ~finished
    return PublicTree(
        game=game,
        rows=(player_rows[0], player_rows[1]),
        infostate_player=entries.player,
        infostate_row=entries.row,
        entry_start=entries.start,
        entry_action=entries.action,
        payoff_rows=pairs[:, finished],
        payoff=payoff[finished],
        payoff_chance=chance[finished],
        nodes=Nodes(
            parent=_relabel(nodes.parent[node_order], node_rank),
            actor=actor,
            level_start=_starts(np.sort(depth), int(depth.max()) + 1),
            row_start=(row_start[0], row_start[1]),
            joint_start=_starts(node[playing], len(nodes.parent)).astype(np.int64),
            joint_rows=pairs[:, playing],
            joint_chance=chance[playing],
            token=[nodes.token[i] for i in node_order],
        ),
    )


@dataclass
class _Entries:
    """Infostates sorted by node, then row; `of_row[player][r]` is the infostate of a row in the new numbering."""

    player: NDArray[np.int8]
    row: Ints
    start: Ints
    action: Ints
    of_row: tuple[Ints, Ints]

    @staticmethod
    def of(
        actor: NDArray[np.int8],
        node_rank: Ints,
        rows: tuple[RowTable, RowTable],
        row_rank: tuple[Ints, ...],
        legal: tuple[ActionTable, ActionTable],
    ) -> _Entries:
        acting_node, acting_player, acting_row, acting_old = [], [], [], []
        for player in (0, 1):
            node = node_rank[rows[player].node]
            old = np.flatnonzero(actor[node] == player)
            acting_node.append(node[old])
            acting_player.append(np.full(len(old), player, np.int8))
            acting_row.append(row_rank[player][old])
            acting_old.append(old)
        node, player_of, row = np.concatenate(acting_node), np.concatenate(acting_player), np.concatenate(acting_row)
        order = np.lexsort((row, node))
        player_of, row, old = player_of[order], row[order], np.concatenate(acting_old)[order]
        counts = np.zeros(len(row), np.int64)
        source = np.zeros(len(row), np.int64)
        offset = len(legal[0].action)
        for player, table in enumerate(legal):
            mine = player_of == player
            counts[mine] = np.diff(table.start)[old[mine]]
            source[mine] = table.start[old[mine]] + player * offset
        start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        within = np.arange(start[-1]) - np.repeat(start[:-1], counts)
        action = np.concatenate([legal[0].action, legal[1].action])[np.repeat(source, counts) + within]
        of_row = []
        for player in (0, 1):
            infostate = np.full(len(rows[player].node), NOT_ACTING, np.int32)
            mine = player_of == player
            infostate[row[mine]] = np.flatnonzero(mine)
            of_row.append(infostate)
        return _Entries(player_of, row.astype(np.int32), start, action.astype(np.int32), (of_row[0], of_row[1]))


def _player_rows(table: RowTable, rank: Ints, depth: AnyInts, player: int, entries: _Entries) -> PlayerRows:
    order = np.argsort(rank)
    parent = _relabel(table.parent[order], rank)
    entry = np.full(len(parent), len(entries.action), np.int32)
    action = table.action[order]
    moved = np.flatnonzero(action != NO_ACTION)
    entry[moved] = _find_entries(entries.of_row[player][parent[moved]], action[moved], entries)
    level_start = _starts(np.sort(depth), int(depth.max()) + 1)
    return PlayerRows(
        parent, entry, entries.of_row[player], level_start, np.ones(level_start[1]), [table.token[i] for i in order]
    )


def _find_entries(infostate: Ints, action: AnyInts, entries: _Entries) -> Ints:
    """Returns the entry of each (infostate, action) pair."""
    span = int(entries.action.max()) + 1
    entry_infostate = np.repeat(np.arange(len(entries.row)), np.diff(entries.start))
    keys = entry_infostate * np.int64(span) + entries.action
    order = np.argsort(keys)
    wanted = infostate.astype(np.int64) * span + action
    return order[np.searchsorted(keys, wanted, sorter=order)].astype(np.int32)


def _merge_histories(
    histories: HistoryTable, node_rank: Ints, row_rank: tuple[Ints, ...], num_rows1: int
) -> tuple[Ints, Ints, NDArray[np.float64], NDArray[np.float64]]:
    """Returns node, rows `[2, J]`, summed chance and summed chance times payoff of each distinct pair, sorted by node."""
    first, second = row_rank[0][histories.rows[0]], row_rank[1][histories.rows[1]]
    key, index = np.unique(first.astype(np.int64) * num_rows1 + second, return_inverse=True)
    chance: Floats = np.bincount(index, histories.chance, len(key)).astype(np.float64)
    payoff: Floats = np.bincount(index, histories.chance * histories.payoff, len(key)).astype(np.float64)
    node = np.zeros(len(key), np.int32)
    node[index] = node_rank[histories.node]
    order = np.argsort(node, kind="stable")
    pairs = np.stack([key // num_rows1, key % num_rows1]).astype(np.int32)
    return node[order], pairs[:, order], chance[order], payoff[order]


def _depths(parent: AnyInts) -> AnyInts:
    """Returns the depth of each node; parents come before children, so each round settles one more level."""
    depth = np.zeros(len(parent), np.int32)
    children = np.flatnonzero(parent != NO_PARENT)
    while len(children):
        new = depth[parent[children]] + 1
        changed = new != depth[children]
        depth[children] = new
        children = children[changed]
    return depth


def _rank_level_by_level(depth: AnyInts, parent: AnyInts, slot: AnyInts) -> Ints:
    """Returns each node's place in breadth-first order: by parent's place, then slot, then order of discovery."""
    rank = np.full(len(parent), NO_PARENT, np.int32)
    placed = 0
    for level in range(int(depth.max()) + 1):
        here = np.flatnonzero(depth == level)
        above = rank[parent[here]] if level else np.zeros(len(here), np.int32)
        order = np.lexsort((here, slot[here], above))
        rank[here[order]] = np.arange(placed, placed + len(here), dtype=np.int32)
        placed += len(here)
    return rank


def _rank_rows(table: RowTable, node_rank: Ints, depth: AnyInts) -> Ints:
    """Returns each row's place: by node, then by the parent row's place, so that private states keep their order."""
    rank = np.full(len(table.node), NO_PARENT, np.int32)
    placed = 0
    for level in range(int(depth.max()) + 1):
        here = np.flatnonzero(depth == level)
        above = rank[table.parent[here]] if level else np.zeros(len(here), np.int32)
        order = np.lexsort((here, table.action[here], above, node_rank[table.node[here]]))
        rank[here[order]] = np.arange(placed, placed + len(here), dtype=np.int32)
        placed += len(here)
    return rank


def _relabel(parent: AnyInts, rank: Ints) -> Ints:
    return np.where(parent == NO_PARENT, NO_PARENT, rank[parent]).astype(np.int32)


def _starts(sorted_groups: AnyInts, num_groups: int) -> Ints:
    """Returns `[num_groups + 1]` where each group starts in a sorted array of group numbers."""
    return np.searchsorted(sorted_groups, np.arange(num_groups + 1)).astype(np.int32)
