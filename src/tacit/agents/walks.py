"""Follows one player's game through its chain of searched subgames: each search starts at a leaf of the one before.

With continual re-solving, a search also starts at each of the player's decisions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from tacit.agents.base import Sight, follow
from tacit.errors import TacitError
from tacit.tree.navigate import START, player_navigator
from tacit.tree.public_tree import LEAF, NO_PARENT, Ints, PublicTree, join_observations, split_observations
from tacit.tree.search_space import SearchSpace


class SearchRoot(NamedTuple):
    """A public state where a search starts.

    Attributes:
      public_class: The class of the public state.
      tree: The subgame below it, with unit reaches at its root.
      came_from: Its node in the subgame of the search before; 0 at the start of a game.
    """

    public_class: int
    tree: PublicTree
    came_from: int


class Walk(ABC):
    """Follows a game from what one player sees.

    Attributes:
      roots: The roots of all searches on the path, the current one last; empty before the first decision.
      node: The current public state's node in the tree of the last root.
      row: The player's own row at that node.
    """

    def __init__(self, space: SearchSpace, at_decisions: bool) -> None:
        self._space, self._at_decisions = space, at_decisions
        self.start(0)

    def _searches(self, actor: int) -> bool:
        """Returns whether a search starts at a node with this actor, below the root of the one before."""
        return actor == LEAF or (self._at_decisions and actor == self._player)

    def start(self, player: int) -> None:
        """Starts a new game in a seat."""
        self._player = player
        self.roots: list[SearchRoot] = []
        self.node = self.row = 0

    @abstractmethod
    def observe(self, sight: Sight) -> None:
        """Moves on to the decision that the seat sees."""


def make_walk(space: SearchSpace, at_decisions: bool = False) -> Walk:
    """Returns the walk for a space: through the compiled tree if there is one, else from class to class.

    Args:
      space: the game.
      at_decisions: whether searches start at every decision of the player, not only at leaves.
    """
    return (TreeWalk if space.compiled else ClassWalk)(space, at_decisions)


class TreeWalk(Walk):
    """Follows a game in its compiled tree."""

    def __init__(self, space: SearchSpace, at_decisions: bool) -> None:
        super().__init__(space, at_decisions)
        self._navigator = player_navigator(space.tree)

    def start(self, player: int) -> None:
        super().start(player)
        self.place = START
        self._index: list[int] = []  # each root's node in the whole tree

    def observe(self, sight: Sight) -> None:
        before = self.place.node
        self.place = follow(self._navigator, self._player, self.place, sight)
        path = self._space.tree.node_path(self.place.node)
        for node in path[path.index(before) + 1 if before != NO_PARENT else 0 :]:
            if not self.roots:
                self._open(node, 0)
            subgame = self._space.subgame_at(self._index[-1])
            local = int(np.searchsorted(subgame.node_index, node))
            if local and self._searches(subgame.tree.require_nodes().actor[local]):
                self._open(node, local)
        subgame = self._space.subgame_at(self._index[-1])
        self.node = int(np.searchsorted(subgame.node_index, self.place.node))
        self.row = int(np.searchsorted(subgame.row_index[self._player], self.place.row))

    def _open(self, node: int, came_from: int) -> None:
        self._index.append(node)
        self.roots.append(SearchRoot(int(self._space.classes.of_node[node]), self._space.subgame_at(node).tree, came_from))


class ClassWalk(Walk):
    """Follows a game without a compiled tree, from one class's subgame to the next."""

    def observe(self, sight: Sight) -> None:
        if not self.roots:
            self._start_at(sight)
            return
        tree, nodes = self.roots[-1].tree, self.roots[-1].tree.require_nodes()
        seen = join_observations(sight.public)
        self.node = next(int(n) for n in nodes.children(np.array([self.node])) if nodes.token[n] == seen)
        rows, starts = tree.rows[self._player], nodes.row_start[self._player]
        self.row = next(
            row
            for row in range(starts[self.node], starts[self.node + 1])
            if rows.parent[row] == self.row and self._led_here(row, sight)
        )
        if self._searches(nodes.actor[self.node]):  # private states keep their order there
            self._open(self._classes()[self.node], self.node)
            self.row, self.node = self.row - int(starts[self.roots[-1].came_from]), 0

    def _led_here(self, row: int, sight: Sight) -> bool:
        """Returns whether a row follows from the seat's own action and its new private observation."""
        tree, rows = self.roots[-1].tree, self.roots[-1].tree.rows[self._player]
        moved = rows.entry[row] < tree.num_entries
        action = int(tree.entry_action[rows.entry[row]]) if moved else None
        return action == sight.action and rows.token[row] == join_observations(sight.private)

    def _start_at(self, sight: Sight) -> None:
        for public_class in self._space.root_class.tolist():
            tree = self._space.subgames[public_class].tree
            labels = [tree.private_label(self._player, row) for row in range(tree.rows[self._player].level_start[1])]
            own = " ".join(sight.private)
            if tree.public_label(0) == " ".join(sight.public) and own in labels:
                self._open(public_class, 0)
                self.row = labels.index(own)
                return
        raise TacitError(f"{self._space.game} does not start with {split_observations(join_observations(sight.public))}")

    def _open(self, public_class: int, came_from: int) -> None:
        self.roots.append(SearchRoot(int(public_class), self._space.subgames[public_class].tree, came_from))

    def _classes(self) -> Ints:
        return self._space.subgames[self.roots[-1].public_class].node_class
