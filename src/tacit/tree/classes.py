"""Public states that play alike: what came before a public state matters only through beliefs.

Two public states are of one *class* when the rest of the game is the same in both: who acts, the private states, the moves and
where they lead, chance and payoffs. In Liar's Dice all states with the same last bid and player to act are one class, in
tic-tac-toe all orders of the same moves. Search solves, and a value network learns, classes instead of states (ReBeL,
footnote 3).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from tacit.games.base import TERMINAL
from tacit.tree.public_tree import Ints, PublicTree


@dataclass(frozen=True)
class PublicClasses:
    """The classes of a tree's decision nodes.

    Attributes:
      of_node: `[N]` the class of each decision node, -1 at terminal nodes.
      representative: `[C]` a node of each class, the first in breadth-first order.
    """

    of_node: Ints
    representative: Ints

    def __len__(self) -> int:
        return len(self.representative)


def public_classes(tree: PublicTree) -> PublicClasses:
    """Returns the classes of a tree, found by comparing what follows each node, from the leaves up."""
    nodes = tree.require_nodes()
    number: dict[Hashable, int] = {}
    kind = np.zeros(len(nodes), np.int64)
    first_child = np.searchsorted(nodes.parent[nodes.num_roots :], np.arange(len(nodes) + 1)) + nodes.num_roots
    payoff_start = _payoff_starts(tree)
    for node in range(len(nodes) - 1, -1, -1):
        starts = [int(start[node]) for start in nodes.row_start]
        counts = [int(start[node + 1]) - starts[player] for player, start in enumerate(nodes.row_start)]
        if nodes.actor[node] == TERMINAL:
            pairs = slice(payoff_start[node], payoff_start[node + 1])
            after: Hashable = _pairs(tree.payoff_rows[:, pairs], starts, tree.payoff[pairs])
        else:
            pairs = slice(nodes.joint_start[node], nodes.joint_start[node + 1])
            children = range(first_child[node], first_child[node + 1])
            after = (
                _pairs(nodes.joint_rows[:, pairs], starts, nodes.joint_chance[pairs]),
                _actions(tree, node, starts),
                tuple((int(kind[child]), _links(tree, child, starts, node)) for child in children),
            )
        key = (int(nodes.actor[node]), *counts, after)
        kind[node] = number.setdefault(key, len(number))
    return _number_from_the_root(tree, kind)


def _number_from_the_root(tree: PublicTree, kind: np.ndarray) -> PublicClasses:
    """Returns the classes of decision nodes, numbered as they first occur from the root."""
    decisions = np.flatnonzero(tree.require_nodes().actor != TERMINAL)
    kinds, first = np.unique(kind[decisions], return_index=True)
    order = np.argsort(first)
    new = np.zeros(int(kind.max()) + 1, np.int32)
    new[kinds[order]] = np.arange(len(kinds), dtype=np.int32)
    of_node = np.full(len(kind), -1, np.int32)
    of_node[decisions] = new[kind[decisions]]
    return PublicClasses(of_node, decisions[first[order]].astype(np.int32))


def _payoff_starts(tree: PublicTree) -> np.ndarray:
    """Returns `[N + 1]` where each node's payoffs start; they are sorted by node."""
    nodes = tree.require_nodes()
    node = np.searchsorted(nodes.row_start[0], tree.payoff_rows[0], side="right") - 1
    return np.searchsorted(node, np.arange(len(nodes) + 1))


def _pairs(rows: np.ndarray, starts: list[int], weight: np.ndarray) -> Hashable:
    local = np.stack([rows[0] - starts[0], rows[1] - starts[1]])
    order = np.lexsort(local)
    return local[:, order].tobytes(), weight[order].tobytes()


def _actions(tree: PublicTree, node: int, starts: list[int]) -> Hashable:
    """The legal actions of the acting rows."""
    nodes = tree.require_nodes()
    actor = int(nodes.actor[node])
    acting = tree.rows[actor].infostate[starts[actor] : nodes.row_start[actor][node + 1]]
    return tuple(tree.entry_action[tree.entry_start[s] : tree.entry_start[s + 1]].tobytes() for s in acting)


def _links(tree: PublicTree, child: int, starts: list[int], node: int) -> Hashable:
    """How a child's rows hang below the node's: parent rows, and the actor's own actions."""
    nodes = tree.require_nodes()
    actor, links = int(nodes.actor[node]), []
    for player, rows in enumerate(tree.rows):
        chosen = slice(nodes.row_start[player][child], nodes.row_start[player][child + 1])
        links.append((rows.parent[chosen] - starts[player]).tobytes())
        if player == actor:
            links.append(tree.entry_action[rows.entry[chosen]].tobytes())
    return tuple(links)
