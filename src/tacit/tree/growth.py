"""Additions to a growing tree, and trees made of such additions.

A `Growth` refers to earlier nodes and rows by their numbers and never changes them. So numbers stay valid however far a tree
grows, and adding a growth takes time in proportion to the growth alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.games.base import TERMINAL, Game
from tacit.tree.public_tree import LEAF, NOT_ACTING, Floats, Ints, Nodes, PlayerRows, PublicTree

NO_ENTRY = -1
"""Entry of a row that no action of its player led to."""

Part = TypeVar("Part")


@dataclass(frozen=True)
class RowGrowth:
    """Rows added to one player, node by node.

    Attributes:
      count: `[n]` how many rows each new node has.
      parent: `[r]` the row above each new row, `NO_PARENT` at roots.
      entry: `[r]` the entry of the own action that led to each new row, or `NO_ENTRY`.
      token: `[r]` what the player alone learnt on arrival.
    """

    count: Ints
    parent: Ints
    entry: Ints
    token: list[str]


@dataclass(frozen=True)
class Growth:
    """New nodes and their rows, and the infostates of the nodes that were opened, all numbered as in the whole tree.

    Attributes:
      level_size: `[l]` how many new nodes each level has; the parents of a level lie in earlier levels.
      parent: `[n]` the node above each new node, `NO_PARENT` at roots; siblings are adjacent.
      actor: `[n]` who acts at each new node, or `TERMINAL`.
      token: `[n]` what everyone learnt on arrival.
      rows: the new rows of each player.
      infostate_player: `[s]` the player of each new infostate.
      infostate_row: `[s]` the row, of that player, of each new infostate.
      num_actions: `[s]` how many actions each new infostate has.
      entry_action: `[e]` the action of each new entry.
      joint_count: `[n]` how many pairs of rows can meet at each new node, 0 at terminal ones.
      joint_rows: `[2, j]` the pairs of rows that can meet at decisions, sorted within a node.
      joint_chance: `[j]` the chance weight of each of these pairs.
      payoff_rows: `[2, z]` the pairs of rows that meet at terminal nodes, sorted within a node.
      payoff: `[z]` player 0's return times the chance of each terminal pair.
      payoff_chance: `[z]` the chance of each terminal pair.
    """

    level_size: Ints
    parent: Ints
    actor: NDArray[np.int8]
    token: list[str]
    rows: tuple[RowGrowth, RowGrowth]
    infostate_player: NDArray[np.int8]
    infostate_row: Ints
    num_actions: Ints
    entry_action: Ints
    joint_count: Ints
    joint_rows: Ints
    joint_chance: Floats
    payoff_rows: Ints
    payoff: Floats
    payoff_chance: Floats


def join_growths(parts: Sequence[Part]) -> Part:
    """Returns consecutively numbered growths as one; arrays are joined along their last axis."""
    first: Any = parts[0]
    joined: dict[str, Any] = {}
    for field in fields(first):
        values = [getattr(part, field.name) for part in parts]
        if isinstance(values[0], list):
            joined[field.name] = [token for value in values for token in value]
        elif isinstance(values[0], tuple):
            joined[field.name] = tuple(join_growths(both) for both in zip(*values, strict=True))
        else:
            joined[field.name] = np.concatenate(values, axis=-1)
    whole: Part = type(first)(**joined)
    return whole


def grown_tree(game: Game[Any], growth: Growth, root_reach: tuple[Floats, Floats] | None = None) -> PublicTree:
    """Returns the tree of a growth that starts at the roots. Decisions without children are leaves.

    Args:
      game: the rules.
      growth: everything added so far.
      root_reach: each player's reach of its root rows; None for ones.
    """
    level_start = starts(growth.level_size)
    opened = np.zeros(len(growth.parent), bool)
    opened[growth.parent[level_start[1] :]] = True
    decision = growth.actor != TERMINAL
    row_start = (starts(growth.rows[0].count), starts(growth.rows[1].count))
    rows = []
    for player, added in enumerate(growth.rows):
        infostate = np.full(len(added.parent), NOT_ACTING, np.int32)
        mine = np.flatnonzero(growth.infostate_player == player)
        infostate[growth.infostate_row[mine]] = mine
        first_rows = row_start[player][level_start]
        rows.append(
            PlayerRows(
                parent=added.parent,
                entry=np.where(added.entry == NO_ENTRY, len(growth.entry_action), added.entry).astype(np.int32),
                infostate=infostate,
                level_start=first_rows,
                root_reach=np.ones(first_rows[1]) if root_reach is None else root_reach[player],
                token=added.token,
            )
        )
    return PublicTree(
        game=game,
        rows=(rows[0], rows[1]),
        infostate_player=growth.infostate_player,
        infostate_row=growth.infostate_row,
        entry_start=starts(growth.num_actions),
        entry_action=growth.entry_action,
        payoff_rows=growth.payoff_rows,
        payoff=growth.payoff,
        payoff_chance=growth.payoff_chance,
        nodes=Nodes(
            parent=growth.parent,
            actor=np.where(decision & ~opened, LEAF, growth.actor).astype(np.int8),
            level_start=level_start,
            row_start=row_start,
            joint_start=starts(growth.joint_count).astype(np.int64),
            joint_rows=growth.joint_rows,
            joint_chance=growth.joint_chance,
            token=growth.token,
        ),
    )


def starts(counts: ArrayLike) -> Ints:
    """Returns `[n + 1]` the starts of consecutive ranges of the given lengths."""
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
