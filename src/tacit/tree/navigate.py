"""Finding the place of a game state in its tree: what agents, exports and displays follow a game with."""

from __future__ import annotations

from typing import Any, NamedTuple

from tacit.games.base import CHANCE, TERMINAL
from tacit.tree.assemble import NO_ACTION
from tacit.tree.observations import Arrival
from tacit.tree.public_tree import NO_PARENT, PublicTree, join_observations


class Place(NamedTuple):
    """A public state and both players' rows in it: all that a tree knows of a history."""

    node: int
    rows: tuple[int, int]


NOWHERE = Place(NO_PARENT, (NO_PARENT, NO_PARENT))
"""The place before the first deal."""


class Navigator:
    """Follows histories of a game that sends observations."""

    def __init__(self, tree: PublicTree) -> None:
        nodes = tree.require_nodes()
        self._tree = tree
        self._node_index: dict[Any, int] = {}
        for node in range(len(nodes)):
            if nodes.actor[node] != TERMINAL:
                self._node_index[int(nodes.parent[node]), int(nodes.actor[node]), nodes.token[node]] = node
        self._row_index: tuple[dict[Any, int], dict[Any, int]] = ({}, {})
        for player, rows in enumerate(tree.rows):
            starts = nodes.row_start[player]
            for node in range(len(nodes)):
                for row in range(starts[node], starts[node + 1]):
                    moved = rows.entry[row] < tree.num_entries
                    action = int(tree.entry_action[rows.entry[row]]) if moved else NO_ACTION
                    self._row_index[player][node, int(rows.parent[row]), action, rows.token[row]] = row

    def follow(self, place: Place, mover: int, action: int, arrival: Arrival) -> Place:
        """Returns the place of the decision state at `arrival`, reached from `place` when `mover` took `action`.

        From `NOWHERE` the mover is `CHANCE` and the action `NO_ACTION`.
        """
        node = self._node_index[place.node, arrival.actor, join_observations(arrival.public)]
        first, second = (
            self._row_index[player][
                node,
                place.rows[player],
                action if mover == player and mover != CHANCE else NO_ACTION,
                join_observations(arrival.private[player]),
            ]
            for player in (0, 1)
        )
        return Place(node, (first, second))

    def infostate(self, place: Place) -> int:
        """Returns the infostate of the player who acts at a place."""
        actor = int(self._tree.require_nodes().actor[place.node])
        return int(self._tree.rows[actor].infostate[place.rows[actor]])
