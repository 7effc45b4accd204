"""Finds the place of a game state in its tree, so that agents, exports and displays can follow a game."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from tacit.games.base import TERMINAL, InfostateGame
from tacit.tree.observations import Arrival
from tacit.tree.public_tree import NO_ACTION, NO_PARENT, NOT_ACTING, PublicTree, join_observations

Seen = tuple[str, ...]


class Place(NamedTuple):
    """A public state and both players' rows in it: all that a tree knows about a history."""

    node: int
    rows: tuple[int, int]


NOWHERE = Place(NO_PARENT, (NO_PARENT, NO_PARENT))
"""The place before the first deal."""


class PlayerPlace(NamedTuple):
    """A public state and one player's row in it: all that the player knows."""

    node: int
    row: int


START = PlayerPlace(NO_PARENT, NO_PARENT)
"""A player's place before the first deal."""


class Sighted(Protocol):
    """One player's observations at a table (`agents.base.Sight`)."""

    @property
    def action(self) -> int | None:
        """The player's own action since the last sight, or None."""

    @property
    def public(self) -> Seen:
        """What everyone saw since the last sight."""

    @property
    def private(self) -> Seen:
        """What this player alone saw since the last sight."""


class PlayerNavigator(Protocol):
    """Follows a game from one player's observations, without the hidden state."""

    def follow_player(
        self, player: int, spot: PlayerPlace, action: int, actor: int, public: Seen, private: Seen
    ) -> PlayerPlace:
        """Returns the player's place at the next decision state.

        Args:
          player: the player to follow.
          spot: the player's previous place.
          action: the player's own action that led here, or `NO_ACTION`.
          actor: the player to act now.
          public: what everyone saw on the way.
          private: what the player alone saw; in a game that names infostates, the current name.
        """
        ...


def player_navigator(tree: PublicTree) -> PlayerNavigator:
    """Returns the navigator that suits the tree's game."""
    return NameNavigator(tree) if isinstance(tree.game, InfostateGame) else Navigator(tree)


class Navigator:
    """Follows histories of a game that sends observations."""

    def __init__(self, tree: PublicTree) -> None:
        nodes = tree.require_nodes()
        self._tree = tree
        self._node_index = {
            key: node
            for node, key in enumerate(zip(nodes.parent.tolist(), nodes.actor.tolist(), nodes.token, strict=True))
            if key[1] != TERMINAL
        }
        self._row_index: list[dict[Any, int]] = []
        for rows, of_row in zip(tree.rows, nodes.of_row, strict=True):
            action = np.append(tree.entry_action, NO_ACTION)[rows.entry]
            keys = zip(of_row.tolist(), rows.parent.tolist(), action.tolist(), rows.token, strict=True)
            self._row_index.append({key: row for row, key in enumerate(keys)})

    def follow(self, place: Place, mover: int, action: int, arrival: Arrival) -> Place:
        """Returns the place of the decision state at `arrival`, reached from `place` when `mover` took `action`.

        From `NOWHERE` the mover is `CHANCE` and the action `NO_ACTION`.
        """
        own = [action if mover == player else NO_ACTION for player in (0, 1)]
        return self._follow(place, own, arrival.actor, arrival.public, arrival.private)

    def follow_player(
        self, player: int, spot: PlayerPlace, action: int, actor: int, public: Seen, private: Seen
    ) -> PlayerPlace:
        node = self._node_index[spot.node, actor, join_observations(public)]
        return PlayerPlace(node, self._row_index[player][node, spot.row, action, join_observations(private)])

    def follow_sights(self, place: Place, actor: int, sights: Sequence[Sighted | None]) -> Place:
        """Returns the place after both players' observations at a table, which may be the end of the game."""
        first, second = sights
        assert first is not None
        assert second is not None
        own = [NO_ACTION if sight.action is None else sight.action for sight in (first, second)]
        follow = self._end if actor == TERMINAL else self._follow
        return follow(place, own, actor, first.public, (first.private, second.private))

    def _follow(self, place: Place, own: list[int], actor: int, public: Seen, private: tuple[Seen, Seen]) -> Place:
        """Returns the place of the next decision; `own` has the action of each player that led there, or `NO_ACTION`."""
        first, second = (
            self.follow_player(p, PlayerPlace(place.node, place.rows[p]), own[p], actor, public, private[p]) for p in (0, 1)
        )
        return Place(first.node, (first.row, second.row))

    def _end(self, place: Place, own: list[int], actor: int, public: Seen, private: tuple[Seen, Seen]) -> Place:
        """Returns the terminal place, where the last action also tells nodes apart."""
        nodes = self._tree.require_nodes()
        below = np.arange(nodes.num_roots) if place.node == NO_PARENT else nodes.children(np.array([place.node]))
        for node in below.tolist():
            if nodes.actor[node] == actor and nodes.token[node] == join_observations(public):
                keys = [(node, place.rows[p], own[p], join_observations(private[p])) for p in (0, 1)]
                if all(key in self._row_index[player] for player, key in enumerate(keys)):
                    return Place(node, (self._row_index[0][keys[0]], self._row_index[1][keys[1]]))
        raise KeyError(f"no end of the game below public state {place.node} matches these observations")

    def infostate(self, place: Place) -> int:
        """Returns the infostate of the player who acts at a place."""
        actor = int(self._tree.require_nodes().actor[place.node])
        return int(self._tree.rows[actor].infostate[place.rows[actor]])


class NameNavigator:
    """Follows a player through a game that names infostates, by the name alone.

    While the player waits, a name may stand for several rows; then the public state is right and the row is one of them. If the
    player to act is not public, there are no public states, and a waiting player keeps its place.
    """

    def __init__(self, tree: PublicTree) -> None:
        self._index: tuple[dict[Any, PlayerPlace], dict[Any, PlayerPlace]] = ({}, {})
        for player, rows in enumerate(tree.rows):
            if tree.nodes is None:
                node = np.full(len(rows), NO_PARENT)
                named = rows.infostate != NOT_ACTING
            else:
                node = tree.nodes.of_row[player]
                named = tree.nodes.actor[node] != TERMINAL
            for row in np.flatnonzero(named).tolist():
                key = (bool(rows.infostate[row] != NOT_ACTING), rows.token[row])
                self._index[player].setdefault(key, PlayerPlace(int(node[row]), row))

    def follow_player(
        self, player: int, spot: PlayerPlace, action: int, actor: int, public: Seen, private: Seen
    ) -> PlayerPlace:
        del action, public  # the name encodes the whole past
        return self._index[player].get((actor == player, private[0]), spot)
