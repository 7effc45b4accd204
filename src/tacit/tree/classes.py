"""Public states that play alike: what came before a public state matters only through beliefs.

Two public states belong to one *class* when the rest of the game is the same in both: who acts, the private states, the moves
and where they lead, chance and payoffs. In Liar's Dice, all states with the same last bid and player to act form a class; in
tic-tac-toe, all orders of the same moves do. Search solves classes instead of states, and value networks learn them (ReBeL,
footnote 3).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.games.base import TERMINAL
from tacit.tree.public_tree import Ints, PublicTree, chunks_of_nodes

Index = NDArray[np.int64]


@dataclass(frozen=True)
class PublicClasses:
    """The classes of a tree's decision nodes.

    Attributes:
      of_node: `[N]` the class of each decision node, -1 at terminal nodes.
      representative: `[C]` the first node of each class in breadth-first order.
    """

    of_node: Ints
    representative: Ints

    def __len__(self) -> int:
        return len(self.representative)


def public_classes(tree: PublicTree) -> PublicClasses:
    """Returns the classes of a tree, found by comparing what follows each node, from the bottom up."""
    nodes = tree.require_nodes()
    actor, first_child, num_children = nodes.actor.tolist(), nodes.first_child.tolist(), nodes.num_children.tolist()
    moves, links = _moves(tree), _links(tree)
    number: dict[Hashable, int] = {}
    class_number = [0] * len(nodes)
    for low, high in reversed(list(chunks_of_nodes(nodes.joint_start + tree.payoff_start))):
        pairs = _pairs(tree, low, high)
        for node in range(high - 1, low - 1, -1):
            first, end = first_child[node], first_child[node] + num_children[node]
            here = [content[start[node] : start[node + 1]] for content, start in moves]
            meet = [content[start[node - low] : start[node - low + 1]] for content, start in pairs]
            below = [content[start[first] : start[end]] for content, start in links]
            key = (actor[node], tuple(class_number[first:end]), *here, *meet, *below)
            class_number[node] = number.setdefault(key, len(number))
    return _number_from_the_root(tree, np.array(class_number))


def _moves(tree: PublicTree) -> list[tuple[bytes, list[int]]]:
    """Returns for each player the legal actions of its rows as bytes, and where those of each node start."""
    legal, row_start = _legal_actions(tree), tree.require_nodes().row_start
    return [_as_bytes(legal[rows.infostate], start) for rows, start in zip(tree.rows, row_start, strict=True)]


def _links(tree: PublicTree) -> list[tuple[bytes, list[int]]]:
    """Returns how rows follow from those above as bytes, and where those of each node start."""
    nodes = tree.require_nodes()
    action = np.append(tree.entry_action, -1)
    links = []
    for rows, row_start, node in zip(tree.rows, nodes.row_start, nodes.of_row, strict=True):
        above = rows.parent - row_start[nodes.parent[node]]
        links.append(_as_bytes(np.stack([above, action[rows.entry]], axis=1), row_start))
    return links


def _pairs(tree: PublicTree, low: int, high: int) -> list[tuple[bytes, list[int]]]:
    """Returns the pairs of rows that meet at nodes from `low` to `high`, sorted, with their chances and payoffs, as bytes.

    Rows are counted from the first row of their node, so nodes that play alike have the same bytes.
    """
    nodes, parts = tree.require_nodes(), []
    for rows, weight, starts in (
        (nodes.joint_rows, nodes.joint_chance, nodes.joint_start),
        (tree.payoff_rows, tree.payoff, tree.payoff_start),
    ):
        start = starts[low : high + 1]
        chosen, node = slice(start[0], start[-1]), np.repeat(np.arange(low, high), np.diff(start))
        local = [rows[player, chosen] - nodes.row_start[player][node] for player in (0, 1)]
        parts.append(_as_bytes(np.stack([*local, weight[chosen].view(np.int64)], axis=1), start - start[0]))
    return parts


def _legal_actions(tree: PublicTree) -> Index:
    """Returns `[S + 1]` a number for the legal actions of each infostate; the last one, -1, is for rows that do not act."""
    number: dict[bytes, int] = {}
    content, start = _as_bytes(tree.entry_action, tree.entry_start)
    legal = [number.setdefault(content[i:j], len(number)) for i, j in pairwise(start)]
    return np.array([*legal, -1])


def _as_bytes(numbers: NDArray[Any], start: NDArray[Any]) -> tuple[bytes, list[int]]:
    """Returns numbers as bytes, and where each range `start[i]:start[i + 1]` of them starts there."""
    return numbers.tobytes(), (start.astype(np.int64) * numbers[:1].nbytes).tolist()


def _number_from_the_root(tree: PublicTree, kind: np.ndarray) -> PublicClasses:
    """Returns the classes of decision nodes, numbered in the order they first occur from the root."""
    decisions = np.flatnonzero(tree.require_nodes().actor != TERMINAL)
    kinds, first = np.unique(kind[decisions], return_index=True)
    order = np.argsort(first)
    new = np.zeros(int(kind.max()) + 1, np.int32)
    new[kinds[order]] = np.arange(len(kinds), dtype=np.int32)
    of_node = np.full(len(kind), -1, np.int32)
    of_node[decisions] = new[kind[decisions]]
    return PublicClasses(of_node, decisions[first[order]].astype(np.int32))
