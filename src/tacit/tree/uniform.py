"""Public trees of games that deal private states once and then have public moves only.

Liar's dice and small-deck poker are such games. Their public trees follow from the bids or bets alone, so nothing walks over
histories: a direct builder lists the public states, and one vectorised sweep makes the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.games.base import TERMINAL, Game
from tacit.tree.growth import NO_ENTRY, Growth, RowGrowth, grown_tree, starts
from tacit.tree.public_tree import NO_PARENT, Floats, PublicTree, in_ranges, spread

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class UniformTables:
    """Public states, with the deals that are possible at each and their payoffs.

    Attributes:
      parent: `[N]` the node above, `NO_PARENT` at the root; breadth first, siblings in the order of their actions.
      actor: `[N]` the player who acts at each node, or `TERMINAL`.
      action: `[N]` the public action that led to each node; unused at the root.
      token: `[N]` what everyone learnt on arrival.
      lanes: for each player, the names of the private states.
      joint: `[K, H0, H1]` chance weights of the deals; node n has `joint[joint_index[n]]`.
      joint_index: `[N]` the index in `joint` of each node.
      payoff: `[M, H0, H1]` player 0's returns; terminal node n pays `payoff[payoff_index[n]]`.
      payoff_index: `[N]` the index in `payoff` of each terminal node; unused elsewhere.
    """

    parent: Numbers
    actor: Numbers
    action: Numbers
    token: list[str]
    lanes: tuple[list[str], list[str]]
    joint: Floats
    joint_index: Numbers
    payoff: Floats
    payoff_index: Numbers


def uniform_tree(game: Game[Any], tables: UniformTables) -> PublicTree:
    """Returns the public tree of the tables; a private state has a row at each node where some deal with it is possible."""
    parent, actor, num_nodes = tables.parent, tables.actor, len(tables.parent)
    alive = [np.any(tables.joint > 0, axis=2 - player)[tables.joint_index] for player in (0, 1)]  # [N, H] each
    counts = [rows.sum(axis=1) for rows in alive]
    num_acting = np.select([actor == 0, actor == 1], counts)
    acting_node = np.repeat(np.arange(num_nodes), num_acting)
    # An edge is a (node, action) pair: several nodes follow it if chance is public.
    edges, edge_of = np.unique(np.stack([parent[1:], tables.action[1:]]), axis=1, return_inverse=True)
    edge_start = np.searchsorted(edges[0], np.arange(num_nodes + 1))
    num_actions = np.diff(edge_start)[acting_node]
    slot = np.append(0, edge_of.ravel() - edge_start[parent[1:]])
    entry_start, first_infostate = starts(num_actions), starts(num_acting)

    rows = []
    for player in (0, 1):
        node, lane = np.nonzero(alive[player])
        at = np.full(alive[player].shape, -1, np.int32)
        at[node, lane] = np.arange(len(node))
        above = parent[node]
        row_above = np.where(above == NO_PARENT, NO_PARENT, at[above, lane])
        moved = (above != NO_PARENT) & (actor[above] == player)
        infostate = (first_infostate[above] + row_above - starts(counts[player])[above])[moved]
        entry = np.full(len(node), NO_ENTRY)
        entry[moved] = entry_start[infostate] + slot[node[moved]]
        num_roots = int(np.searchsorted(node, np.count_nonzero(parent == NO_PARENT)))
        token = [tables.lanes[player][k] for k in lane[:num_roots].tolist()] + [""] * (len(node) - num_roots)
        rows.append(RowGrowth(_ints(counts[player]), _ints(row_above), _ints(entry), token))

    pairs = _Pairs(tables, counts)
    going_on, over = np.flatnonzero(actor != TERMINAL), np.flatnonzero(actor == TERMINAL)
    first_row = np.where(actor == 1, starts(counts[1])[:-1], starts(counts[0])[:-1])
    growth = Growth(
        level_size=level_sizes(parent),
        parent=_ints(parent),
        actor=actor.astype(np.int8),
        token=tables.token,
        rows=(rows[0], rows[1]),
        infostate_player=actor[acting_node].astype(np.int8),
        infostate_row=_ints(spread(first_row, num_acting)),
        num_actions=_ints(num_actions),
        entry_action=_ints(edges[1][in_ranges(edge_start, acting_node)]),
        joint_count=_ints(np.where(actor == TERMINAL, 0, pairs.count)),
        joint_rows=pairs.rows(going_on),
        joint_chance=pairs.chance(going_on),
        payoff_rows=pairs.rows(over),
        payoff=pairs.payoff(over),
        payoff_chance=pairs.chance(over),
    )
    return grown_tree(game, growth)


class _Pairs:
    """The pairs of rows that meet at nodes, written node by node because a copy of them all would set the memory peak.

    Attributes:
      count: `[N]` the number of pairs at each node.
    """

    def __init__(self, tables: UniformTables, counts: list[Numbers]) -> None:
        """Lists the pairs of each deal, which many nodes share.

        Args:
          tables: the public states.
          counts: for each player `[N]` the number of rows at each node.
        """
        self._tables, self._first_row = tables, [starts(part).tolist() for part in counts]
        self._lanes = [np.nonzero(joint) for joint in tables.joint]
        self._chance = [joint[lanes] for joint, lanes in zip(tables.joint, self._lanes, strict=True)]
        self._rows = [_places(joint, lanes) for joint, lanes in zip(tables.joint, self._lanes, strict=True)]
        self.count = np.array([len(chance) for chance in self._chance])[tables.joint_index]

    def rows(self, nodes: Numbers) -> NDArray[np.int32]:
        """Returns `[2, n]` the pairs of rows at the given nodes, node by node."""
        out = np.empty((2, self.count[nodes].sum()), np.int32)
        for node, deal, place in self._places(nodes):
            for player in (0, 1):
                np.add(self._rows[deal][player], self._first_row[player][node], out=out[player, place])
        return out

    def chance(self, nodes: Numbers) -> Floats:
        """Returns `[n]` the chances of these pairs."""
        out = np.empty(self.count[nodes].sum())
        for _, deal, place in self._places(nodes):
            out[place] = self._chance[deal]
        return out

    def payoff(self, nodes: Numbers) -> Floats:
        """Returns `[n]` player 0's payoffs of these pairs times chance."""
        out, which = np.empty(self.count[nodes].sum()), self._tables.payoff_index.tolist()
        for node, deal, place in self._places(nodes):
            np.multiply(self._chance[deal], self._tables.payoff[which[node]][self._lanes[deal]], out=out[place])
        return out

    def _places(self, nodes: Numbers) -> Iterator[tuple[int, int, slice]]:
        """Yields each node, its deal, and the slice of its pairs."""
        ends = np.cumsum(self.count[nodes])
        deals, sizes = self._tables.joint_index[nodes].tolist(), self.count[nodes].tolist()
        for node, deal, end, size in zip(nodes.tolist(), deals, ends.tolist(), sizes, strict=True):
            yield node, deal, slice(end - size, end)


def _places(joint: Floats, lanes: tuple[Numbers, ...]) -> list[NDArray[np.int32]]:
    """Returns for each player the place of each pair's lane among the possible lanes."""
    possible = (np.any(joint > 0, axis=1), np.any(joint > 0, axis=0))
    return [_ints((np.cumsum(alive) - 1)[lane]) for alive, lane in zip(possible, lanes, strict=True)]


def level_sizes(parent: Numbers) -> NDArray[np.int32]:
    """Returns the sizes of the levels of a tree in breadth-first order, the root's first."""
    ends = [0, 1]
    while ends[-1] < len(parent):
        ends.append(int(np.searchsorted(parent, ends[-1])))
    return _ints(np.diff(ends))


def _ints(values: NDArray[Any]) -> NDArray[np.int32]:
    return values.astype(np.int32)
