"""Public trees of games whose private states are dealt once: one deal of lanes, then public moves only.

Dice and poker with a small deck are of this kind. Their public trees follow from the bids or bets alone, so nothing walks over
histories: a direct builder lists the public states, and the rows are one vectorised sweep.
"""

from __future__ import annotations

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
    """Public states, and which deals are alive and what they pay at each.

    Attributes:
      parent: `[N]`, `NO_PARENT` at the root; breadth first, siblings in the order of their actions.
      actor: `[N]`.
      action: `[N]` the public action that led to each node, anything at the root.
      token: `[N]` what everyone learnt on arrival.
      lanes: for each player the names of the private states.
      joint: `[K, H0, H1]` chance weights of the deals; node n has `joint[joint_index[n]]`.
      joint_index: `[N]`.
      payoff: `[M, H0, H1]` player 0's returns; terminal node n pays `payoff[payoff_index[n]]`.
      payoff_index: `[N]`, anything at nodes where the game goes on.
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
    """Returns the public tree of the tables; a private state has a row wherever some deal with it is possible."""
    parent, actor, num_nodes = tables.parent, tables.actor, len(tables.parent)
    alive = [np.any(tables.joint > 0, axis=2 - player)[tables.joint_index] for player in (0, 1)]  # [N, H] each
    counts = [rows.sum(axis=1) for rows in alive]
    num_acting = np.select([actor == 0, actor == 1], counts)
    acting_node = np.repeat(np.arange(num_nodes), num_acting)
    # An edge is a (node, action) pair: several nodes follow one where chance is public.
    edges, edge_of = np.unique(np.stack([parent[1:], tables.action[1:]]), axis=1, return_inverse=True)
    edge_start = np.searchsorted(edges[0], np.arange(num_nodes + 1))
    num_actions = np.diff(edge_start)[acting_node]
    slot = np.append(0, edge_of.ravel() - edge_start[parent[1:]])
    entry_start, first_infostate = starts(num_actions), starts(num_acting)

    rows, row_at = [], []
    for player in (0, 1):
        node, lane = np.nonzero(alive[player])
        at = np.full(alive[player].shape, -1)
        at[node, lane] = np.arange(len(node))
        row_at.append(at)
        above = parent[node]
        row_above = np.where(above == NO_PARENT, NO_PARENT, at[above, lane])
        moved = (above != NO_PARENT) & (actor[above] == player)
        infostate = (first_infostate[above] + row_above - starts(counts[player])[above])[moved]
        entry = np.full(len(node), NO_ENTRY)
        entry[moved] = entry_start[infostate] + slot[node[moved]]
        names = tables.lanes[player]
        token = [names[k] if up == NO_PARENT else "" for k, up in zip(lane.tolist(), above.tolist(), strict=True)]
        rows.append(RowGrowth(_ints(counts[player]), _ints(row_above), _ints(entry), token))

    deal, *dealt = np.nonzero(tables.joint)  # the pairs of each matrix, which many nodes share
    deal_start = np.searchsorted(deal, np.arange(len(tables.joint) + 1))
    which = in_ranges(deal_start, tables.joint_index)
    node = np.repeat(np.arange(num_nodes), np.diff(deal_start)[tables.joint_index])
    lanes = [lane[which] for lane in dealt]
    pairs = np.stack([_ints(at[node, lane]) for at, lane in zip(row_at, lanes, strict=True)])
    chance = tables.joint[deal, *dealt][which]
    over = actor[node] == TERMINAL
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
        joint_count=_ints(np.bincount(node[~over], minlength=num_nodes)),
        joint_rows=pairs[:, ~over],
        joint_chance=chance[~over],
        payoff_rows=pairs[:, over],
        payoff=chance[over] * tables.payoff[tables.payoff_index[node[over]], *(lane[over] for lane in lanes)],
        payoff_chance=chance[over],
    )
    return grown_tree(game, growth)


def level_sizes(parent: Numbers) -> NDArray[np.int32]:
    """Returns the sizes of the levels of a tree in breadth-first order, the root's first."""
    ends = [0, 1]
    while ends[-1] < len(parent):
        ends.append(int(np.searchsorted(parent, ends[-1])))
    return _ints(np.diff(ends))


def _ints(values: NDArray[Any]) -> NDArray[np.int32]:
    return values.astype(np.int32)
