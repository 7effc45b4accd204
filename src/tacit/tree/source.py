"""Sources of subgames: from a class of public states and a depth to a subgame tree.

A *class* is a set of public states that play alike, whatever came before (`tree.classes`). All that self-play and a value
network need of a game are its classes and the depth-limited subgame at each. Two sources provide them:

- `TreeSource` cuts subgames out of a compiled tree and finds the classes by comparing what follows each public state.
- `RuleSource` expands subgames from the rules on demand. Classes are the game's own `public_key`s; if the game has none, every
  public state is its own class. The game is never compiled as a whole, so games far too large for that can be searched.

Both number classes from 0 in the order they are found, and build the same subgames: unit reaches and chance weights that sum to
1 at the root, nodes in breadth-first order, and each leaf's private states in the order of its class's own root. Private states
are in the order of the generic compiler (`compile_game(game, direct=False)`), from which direct builders may differ.
"""

from __future__ import annotations

import copy
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from tacit.errors import TacitError
from tacit.games.base import TERMINAL, Game
from tacit.games.check import blame_rules
from tacit.tree.beliefs import PublicBeliefState
from tacit.tree.classes import public_classes
from tacit.tree.growing import GrowingTree
from tacit.tree.opening import Histories, PublicRoot
from tacit.tree.public_tree import Floats, Ints, PublicTree
from tacit.tree.steps import ClassStep, Opened, build_subgame
from tacit.tree.subgame import ROUND, Depth, Subgame, check_depth_limit, extract_subgame

NO_CLASS = -1
"""Class of a terminal node."""


class Roots(NamedTuple):
    """The decisions that a game can start with.

    Attributes:
      classes: `[K]` the class of each opening decision.
      chances: `[K]` the probability of each opening decision.
    """

    classes: Ints
    chances: Floats


class ClassSubgame(NamedTuple):
    """The depth-limited subgame of a class.

    Attributes:
      tree: the subgame, from unit reaches.
      node_class: `[N]` the class of each node of `tree`, `NO_CLASS` at terminal nodes.
    """

    tree: PublicTree
    node_class: Ints


class SubgameSource(Protocol):
    """A source of search trees.

    Attributes:
      game: the rules.
      depth: actions a subgame looks ahead, `round` for the rest of the betting round, None for the rest of the game.
      roots: the classes at the start of the game.
    """

    game: Game[Any]
    depth: Depth
    roots: Roots

    def __len__(self) -> int:
        """Returns the number of classes known so far."""
        ...

    def at_depth(self, depth: Depth) -> Self:
        """Returns a source of the same classes, with the same numbers, whose subgames look `depth` ahead."""
        ...

    def subgame(self, public_class: int) -> ClassSubgame:
        """Returns the subgame at a class, from unit reaches; chance weights sum to 1 at the root."""
        ...


class _Deepened:
    """The common part of sources, whose classes do not depend on how far subgames look ahead."""

    depth: Depth

    def at_depth(self, depth: Depth) -> Self:
        """Returns a source of the same classes, with the same numbers, whose subgames look `depth` ahead."""
        check_depth_limit(depth)
        other = copy.copy(self)
        other.depth = depth
        return other


class TreeSource(_Deepened):
    """Subgames cut out of a compiled tree."""

    def __init__(self, tree: PublicTree, depth: Depth) -> None:
        check_depth_limit(depth)
        self.game = tree.game
        self.tree = tree
        self.depth = depth
        self.classes = public_classes(tree)
        nodes = tree.require_nodes()
        roots = np.flatnonzero(nodes.actor[: nodes.num_roots] != TERMINAL)
        self.roots = Roots(self.classes.of_node[roots], np.array([nodes.joint(int(root)).sum() for root in roots]))

    def __len__(self) -> int:
        return len(self.classes)

    def cut(self, node: int) -> Subgame:
        """Returns the subgame at a decision of the tree, from unit reaches, laid out like its class's subgame."""
        first, second = (np.ones(int(start[node + 1] - start[node])) for start in self.tree.require_nodes().row_start)
        return extract_subgame(PublicBeliefState(self.tree, node, (first, second)), self.depth)

    def subgame(self, public_class: int) -> ClassSubgame:
        subgame = self.cut(int(self.classes.representative[public_class]))
        return ClassSubgame(subgame.tree, self.classes.of_node[subgame.node_index])


@dataclass
class _RuleClass:
    """A class found by following the rules.

    Attributes:
      root: the histories of the public state where the class was first found, and the common knowledge there.
      joint: `[H0, H1]` chance weights of the pairs of private states, summing to 1.
      legal: `[H]` the legal actions in each private state of the player to act.
      step: the class's expansion by one action, or None if not expanded yet.
    """

    root: PublicRoot
    joint: Floats
    legal: list[tuple[int, ...]]
    step: ClassStep | None = None


class RuleSource(_Deepened):
    """Subgames expanded from the rules, class by class.

    Each class is expanded once, by one action; subgames of any depth are assembled from these steps.
    """

    def __init__(self, game: Game[Any], depth: Depth) -> None:
        """Starts with the classes at the start of the game.

        Raises:
          TacitError: The game names its infostates instead of sending observations, or has no decisions.
        """
        check_depth_limit(depth)
        self.game = game
        self.depth = depth
        self._classes: list[_RuleClass] = []
        self._number: dict[Hashable, int] = {}
        with blame_rules(game):
            start = GrowingTree(game)
            if not start.leaves:
                raise TacitError(f"{game} has no decisions: there is nothing to solve")
            nodes = start.tree.require_nodes()
            classes = [self._find(start, node, NO_CLASS) for node in start.leaves]
        self.roots = Roots(
            np.array(classes, np.int32), np.array([nodes.joint(node).sum() for node in start.leaves], np.float64)
        )

    def __len__(self) -> int:
        return len(self._classes)

    def subgame(self, public_class: int) -> ClassSubgame:
        levels = list(self._levels(public_class))
        below = [child for level in levels for _, step, _ in level for child in step.child_class]
        tree = build_subgame(self.game, self._step(public_class).root, levels)
        return ClassSubgame(tree, np.array([public_class, *below], np.int32))

    def explore_all(self, limit: int) -> None:
        """Finds all classes of the game.

        Raises:
          TacitError: The game has more than `limit` classes.
        """
        public_class = 0
        while public_class < len(self._classes):
            self._step(public_class)
            if len(self._classes) > limit:
                raise TacitError(
                    f"{self.game} has more than {limit:,} classes of public states: "
                    "choose smaller parameters, or give the game a public_key() that merges more states"
                )
            public_class += 1

    def _levels(self, public_class: int) -> Iterator[list[Opened]]:
        """Yields, level by level, the nodes of a subgame that have children, with their steps and chances."""
        level, num_nodes, depth = [(0, public_class, 1.0)], 1, 0
        while level and depth != self.depth:
            opened = [Opened(node, self._step(number), scale) for node, number, scale in level]
            level = []
            for _, step, scale in opened:
                for number, chance, begins in zip(step.child_class, step.child_chance, step.begins_round, strict=True):
                    if number != NO_CLASS and not (begins and self.depth == ROUND):
                        level.append((num_nodes, number, scale * chance))
                    num_nodes += 1
            depth += 1
            yield opened

    def _step(self, public_class: int) -> ClassStep:
        known = self._classes[public_class]
        if known.step is None:
            with blame_rules(self.game):
                growing = GrowingTree(self.game, known.root)
                root, growth = growing.growth, growing.open(0)
                nodes = growing.tree.require_nodes()
                children = range(1, len(nodes))
                child_of_pair = np.repeat(np.arange(len(children)), growth.joint_count)
                known.step = ClassStep(
                    root=root,
                    growth=growth,
                    child_class=[
                        self._find(growing, node, public_class) if node in growing.leaves else NO_CLASS for node in children
                    ],
                    child_chance=np.bincount(child_of_pair, growth.joint_chance, len(children)).tolist(),
                    begins_round=growing.tree.begins_round[1:].tolist(),
                )
            known.root.histories.states.clear()  # the step has everything that follows
        return known.step

    def _find(self, growing: GrowingTree, leaf: int, above: int) -> int:
        """Returns the class, new or known, of a leaf one action below the class `above`."""
        tree, histories = growing.tree, growing.histories(leaf)
        nodes = tree.require_nodes()
        keys = {self.game.public_key(state) for state in histories.states}
        if len(keys) > 1:
            raise TacitError(f"{self.game}: public_key() differs within one public state ({tree.public_label(leaf)!r})")
        key = keys.pop()
        name = (above, histories.actor, nodes.token[leaf]) if key is None else (histories.actor, key)
        labels = [
            [tree.private_label(player, row) for row in range(start[leaf], start[leaf + 1])]
            for player, start in enumerate(nodes.row_start)
        ]
        joint = nodes.joint(leaf)
        scale = 1.0 / joint.sum()
        legal: dict[int, tuple[int, ...]] = {}
        for row, state in zip(histories.rows[histories.actor], histories.states, strict=True):
            if row not in legal:
                legal[row] = tuple(self.game.legal_actions(state))
        weighted = Histories(histories.actor, histories.states, histories.rows, [scale * c for c in histories.chance])
        root = PublicRoot(weighted, (labels[0], labels[1]), tree.public_label(leaf))
        candidate = _RuleClass(root, scale * joint, [legal[row] for row in range(len(legal))])
        number = self._number.setdefault(name, len(self._classes))
        if number == len(self._classes):
            self._classes.append(candidate)
        else:
            self._check_alike(key, self._classes[number], candidate)
        return number

    def _check_alike(self, key: Any, known: _RuleClass, found: _RuleClass) -> None:
        difference = None
        if known.root.labels != found.root.labels:
            difference = "private states"
        elif not np.allclose(known.joint, found.joint, rtol=1e-9, atol=0.0):
            difference = "chance weights"
        elif known.legal != found.legal:
            difference = "legal actions"
        if difference is not None:
            raise TacitError(
                f"{self.game}: public_key() is {key!r} both at {known.root.label!r} and at {found.root.label!r}, "
                f"which have different {difference}; make the keys differ"
            )
