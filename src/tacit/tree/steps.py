"""Subgames assembled from steps: the expansion of a public-state class by one action, done once for the whole class."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from tacit.games.base import Game
from tacit.tree.growth import NO_ENTRY, Growth, RowGrowth, grown_tree, join_growths
from tacit.tree.public_tree import PublicTree


@dataclass(frozen=True)
class ClassStep:
    """A class's root and its expansion by one action; nodes, rows and entries count from the root's first.

    Attributes:
      root: the root alone.
      growth: the additions when the root is opened.
      child_class: `[children]` the class of each child, `NO_CLASS` at terminal children.
      child_chance: `[children]` the sum of the chance weights of each child.
      begins_round: `[children]` whether chance moved on the way to each child.
    """

    root: Growth
    growth: Growth
    child_class: list[int]
    child_chance: list[float]
    begins_round: list[bool]


class Opened(NamedTuple):
    """A node of a subgame that has children.

    Attributes:
      node: the node.
      step: the step of its class.
      chance: the sum of the chance weights at the node.
    """

    node: int
    step: ClassStep
    chance: float


def build_subgame(game: Game[Any], root: Growth, levels: Iterable[list[Opened]]) -> PublicTree:
    """Returns the subgame that starts at `root` and continues, level by level, below the opened nodes."""
    parts, row_start = [root], [[0], [0]]
    num_rows, num_entries = [len(rows.parent) for rows in root.rows], 0
    for level in levels:
        pieces = []
        for opened in level:
            above = [row_start[player][opened.node] for player in (0, 1)]
            pieces.append(_place(opened, above, num_rows, num_entries))
            num_entries += len(opened.step.growth.entry_action)
            for player, rows in enumerate(opened.step.growth.rows):
                row_start[player] += (num_rows[player] + np.cumsum(rows.count) - rows.count).tolist()
                num_rows[player] += len(rows.parent)
        joined = join_growths(pieces)
        parts.append(replace(joined, level_size=joined.level_size.sum(keepdims=True)))
    return grown_tree(game, join_growths(parts))


def _place(opened: Opened, above: list[int], num_rows: list[int], num_entries: int) -> Growth:
    """Returns the growth of a step, renumbered for a larger tree.

    Args:
      opened: the node that it goes below.
      above: each player's first row at the node.
      num_rows: the number of rows of each player so far.
      num_entries: the number of entries so far.
    """
    growth, chance = opened.step.growth, opened.chance
    rows = []
    for player, added in enumerate(growth.rows):
        entry = np.where(added.entry == NO_ENTRY, NO_ENTRY, added.entry + num_entries)
        rows.append(RowGrowth(added.count, added.parent + above[player], entry, added.token))
    shift = np.array([[num_rows[player] - len(opened.step.root.rows[player].parent)] for player in (0, 1)], np.int32)
    return replace(
        growth,
        parent=growth.parent + opened.node,
        rows=(rows[0], rows[1]),
        infostate_row=growth.infostate_row + above[int(growth.infostate_player[0])],
        joint_rows=growth.joint_rows + shift,
        joint_chance=growth.joint_chance * chance,
        payoff_rows=growth.payoff_rows + shift,
        payoff=growth.payoff * chance,
        payoff_chance=growth.payoff_chance * chance,
    )
