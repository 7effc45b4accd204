"""Growing trees: any part of a game, expanded from its rules one public state at a time.

A tree starts with the public states that open the game, or with a given one, as leaves. Opening a leaf walks its histories
one action further, resolves chance, and groups the results into public states and rows by what was observed. Opening leaves
breadth first to the end is the generic compiler; opening them where a search wants to look deeper makes a search tree.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import Any

from tacit.errors import TacitError
from tacit.games import answers
from tacit.games.base import Game, InfostateGame, check_depth
from tacit.tree.estimate import MemoryWatch
from tacit.tree.growth import Growth, grown_tree, join_growths
from tacit.tree.observations import Arrival, resolve_chance
from tacit.tree.opening import Actions, Child, Histories, Leaf, Opening, PublicRoot, add_arrival
from tacit.tree.public_tree import NO_ACTION, NO_PARENT, Floats, PublicTree

Arrivals = Callable[[Any], Iterator[Arrival]]


class GrowingTree:
    """A public tree whose leaves can be opened.

    The numbers of nodes, rows, infostates and entries never change, because opening only appends. A level of the tree is what
    one call of `open` added, so the parents of a level lie in earlier levels. Siblings, the rows of a node and the entries of
    an infostate are adjacent. Unopened decisions are leaves of `tree` (actor `LEAF`, no infostates).
    """

    def __init__(
        self,
        game: Game[Any],
        root: PublicRoot | None = None,
        root_reach: tuple[Floats, Floats] | None = None,
        watch: Callable[[int], None] = lambda _: None,
        arrivals: Arrivals | None = None,
    ) -> None:
        """Starts a tree at a public state, or at the start of the game.

        Args:
          game: any game that sends observations.
          root: where to start; None for the start of the game, which may be several public states.
          root_reach: each player's reach of its root rows; None for ones.
          watch: called for each opened history with the number of histories walked so far.
          arrivals: resolves chance after a state, for a game with its own way to do it; None follows the rules
            (`resolve_chance`).

        Raises:
          TacitError: the game names its infostates instead of sending observations.
        """
        if isinstance(game, InfostateGame):
            raise TacitError(f"{game} names its infostates instead of sending observations: its tree cannot grow; compile it")
        self.game = game
        self._root_reach = root_reach
        self._watch = watch
        self._arrivals = arrivals or partial(resolve_chance, game)
        self._num_histories = 0
        self._leaves: dict[int, Leaf] = {}
        self._num_nodes = self._num_entries = 0
        self._num_rows = [0, 0]
        self._parts: list[Growth] = []
        self._tree: PublicTree | None = None
        opening = Opening(0, (0, 0), 0)
        if root is None:
            below: dict[Any, Child] = {}
            for arrival in self._arrivals(game.initial_state()):
                add_arrival(game, below, arrival, (NO_PARENT, NO_PARENT), (NO_ACTION, NO_ACTION), 1.0, 0, NO_ACTION)
            opening.add_children(NO_PARENT, below, (0, 0), {})
        else:
            opening.add_root(root)
        self._append(opening)

    @property
    def num_nodes(self) -> int:
        """`N`: the nodes so far."""
        return self._num_nodes

    @property
    def leaves(self) -> Collection[int]:
        """The decisions that can be opened, in the order they were added."""
        return self._leaves.keys()

    @property
    def tree(self) -> PublicTree:
        """The tree so far. Later openings do not change a tree returned earlier."""
        if self._tree is None:
            self._tree = grown_tree(self.game, self.growth, self._root_reach)
        return self._tree

    @property
    def growth(self) -> Growth:
        """Everything added so far, including the roots."""
        if len(self._parts) > 1:
            self._parts = [join_growths(self._parts)]
        return self._parts[0]

    def histories(self, leaf: int) -> Histories:
        """Returns the histories of a leaf, including who acts there."""
        return self._leaves[leaf].histories

    def open(self, *leaves: int) -> Growth:
        """Opens leaves as one level and returns what was added: the children of each leaf, leaf by leaf.

        Raises:
          TacitError: the game breaks the rules that `check_game` explains.
          KeyError: a node is not a leaf.
        """
        opening = Opening(self._num_nodes, (self._num_rows[0], self._num_rows[1]), self._num_entries)
        distinct = dict.fromkeys(leaves)
        for node in distinct:
            self._open(node, opening)
        for node in distinct:
            del self._leaves[node]
        return self._append(opening)

    def _open(self, node: int, opening: Opening) -> None:
        game, leaf = self.game, self._leaves[node]
        histories, actor = leaf.histories, leaf.histories.actor
        legal: dict[int, Actions] = {}
        below: dict[Any, Child] = {}
        for state, first, second, chance in zip(histories.states, *histories.rows, histories.chance, strict=True):
            actions = self._legal_actions(state, (first, second)[actor], legal)
            for slot, action in enumerate(actions):
                own = (action, NO_ACTION) if actor == 0 else (NO_ACTION, action)
                for arrival in self._arrivals(game.apply(state, action)):
                    add_arrival(game, below, arrival, (first, second), own, chance, slot, action)
                    self._num_histories += 1
            self._watch(self._num_histories)
        entry = opening.add_infostates(actor, leaf.first_row[actor], [legal[row] for row in range(len(legal))])
        opening.add_children(node, below, leaf.first_row, entry)

    def _legal_actions(self, state: Any, row: int, legal: dict[int, Actions]) -> Actions:
        """Returns the legal actions of a history, which must be those already noted for its row."""
        known = legal.get(row)
        actions = answers.legal_actions(self.game, state) if known is None else tuple(self.game.legal_actions(state))
        if known is None:
            legal[row] = actions
        elif known != actions:
            raise TacitError(
                f"{self.game}: legal actions differ within one infostate ({known} and {actions}); run check_game() to see where"
            )
        return actions

    def _append(self, opening: Opening) -> Growth:
        self._leaves.update(opening.leaves)
        self._num_nodes += len(opening.parent)
        self._num_entries += len(opening.entry_action)
        for player, added in enumerate(opening.rows):
            self._num_rows[player] += len(added.parent)
        growth = opening.growth()
        self._parts.append(growth)
        self._tree = None
        return growth


def compile_observations(game: Game[Any], watch: MemoryWatch, arrivals: Arrivals | None = None) -> PublicTree:
    """Returns the complete public tree of a game that sends observations, grown level by level.

    Args:
      game: any game of the protocol.
      watch: stops the walk if it takes too much memory.
      arrivals: resolves chance after a state (see `GrowingTree`).

    Raises:
      TacitError: The game has no decisions, never ends or breaks other rules.
    """
    growing = GrowingTree(game, watch=watch.check, arrivals=arrivals)
    if not growing.leaves:
        raise TacitError(f"{game} has no decisions: there is nothing to solve")
    depth = 0
    while growing.leaves:
        check_depth(game, depth)
        growing.open(*growing.leaves)
        depth += 1
    return growing.tree
