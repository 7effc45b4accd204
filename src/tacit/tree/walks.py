"""A game as a table of random moves: the successors of each pair of infostates after each action, with probabilities.

A public tree folds chance into weights of pairs of rows. A pair's weight divided by that of the pair above it is the
probability of getting there once the action is taken, so walking from pair to pair plays the game. If a payoff depends on
something that no player ever sees, the game ends with the mean payoff.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.tree.public_tree import NO_PARENT, Floats, PublicTree

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]


class WalkTable(NamedTuple):
    """The walks of a game. A *state* is a pair of rows at a decision or at an end of the game.

    Attributes:
      actor: `[J]` the player who acts at each decision; states from J on are ends.
      infostate: `[J]` the actor's infostate at each decision.
      edge_start: `[J]` the edge of the first legal action; the others follow, in the order of the entries.
      arrival_start: `[edges + 1]` the arrivals of an edge are `arrival_start[edge]:arrival_start[edge + 1]`.
      arrival: `[X]` the states that edges lead to.
      upto: `[X]` cumulative probabilities of each edge's arrivals; the last one is 1.
      first_state: `[Y]` the states that games begin with.
      first_upto: `[Y]` the cumulative probabilities of the first states.
      payoff: `[ends]` player 0's return at each end.
      entry_start: `[S + 1]` the entries of infostate s are `entry_start[s]:entry_start[s + 1]`.
      entry_infostate: `[E]` the infostate of each entry.
      entry_action: `[E]` the network's output for each entry, from 0.
      actions: `[A]` the game's action of each output.
    """

    actor: NDArray[np.int8]
    infostate: Ints
    edge_start: Longs
    arrival_start: Longs
    arrival: Longs
    upto: Floats
    first_state: Longs
    first_upto: Floats
    payoff: NDArray[np.float32]
    entry_start: Ints
    entry_infostate: Ints
    entry_action: Ints
    actions: Ints


def make_walk_table(tree: PublicTree) -> WalkTable:
    """Returns the walks of a compiled game.

    Raises:
      TacitError: the player to act is not public.
    """
    nodes = tree.require_nodes()
    node = np.repeat(np.arange(len(nodes)), np.diff(nodes.joint_start))
    actor = nodes.actor[node]
    infostate = np.where(actor == 0, *(tree.rows[player].infostate[nodes.joint_rows[player]] for player in (0, 1)))
    edge_start = np.concatenate(([0], np.cumsum(np.diff(tree.entry_start)[infostate])))

    rows = np.concatenate((nodes.joint_rows, tree.payoff_rows), axis=1)  # the states: decisions, then ends
    chance = np.concatenate((nodes.joint_chance, tree.payoff_chance))
    above = [tree.rows[player].parent[rows[player]].astype(np.int64) for player in (0, 1)]
    first = np.flatnonzero(above[0][: len(actor)] == NO_PARENT)  # games that end before any decision teach nothing
    later = np.flatnonzero(above[0] != NO_PARENT)
    parent = _find_pairs(nodes.joint_rows, np.stack((above[0][later], above[1][later])), len(tree.rows[1]))
    mover_entry = np.where(actor[parent] == 0, tree.rows[0].entry[rows[0, later]], tree.rows[1].entry[rows[1, later]])
    edge = edge_start[parent] + mover_entry - tree.entry_start[infostate[parent]]
    order = np.argsort(edge, kind="stable")
    arrival, edge = later[order], edge[order]
    arrival_start = np.searchsorted(edge, np.arange(edge_start[-1] + 1))
    actions, entry_action = np.unique(tree.entry_action, return_inverse=True)
    return WalkTable(
        actor=actor.astype(np.int8),
        infostate=infostate.astype(np.int32),
        edge_start=edge_start[:-1],
        arrival_start=arrival_start,
        arrival=arrival,
        upto=_cumulated(chance[arrival], arrival_start),
        first_state=first,
        first_upto=_cumulated(chance[first], np.array([0, len(first)])),
        payoff=(tree.payoff / tree.payoff_chance).astype(np.float32),
        entry_start=tree.entry_start,
        entry_infostate=tree.entry_infostate,
        entry_action=entry_action.astype(np.int32),
        actions=actions,
    )


def _find_pairs(pairs: Ints, wanted: Longs, width: int) -> Longs:
    """Returns `[K]` the indices in `pairs` `[2, J]` of the pairs `wanted` `[2, K]`."""
    key = pairs[0].astype(np.int64) * width + pairs[1]
    order = np.argsort(key)
    found: Longs = order[np.searchsorted(key[order], wanted[0] * width + wanted[1])]
    return found


def _cumulated(weights: Floats, start: Longs) -> Floats:
    """Returns the cumulative sums of weights, divided by the total, within each range of `start`; the last of a range is 1."""
    upto = np.concatenate(([0.0], np.cumsum(weights)))
    before, after = (np.repeat(upto[ends], np.diff(start)) for ends in (start[:-1], start[1:]))
    result: Floats = (upto[1:] - before) / (after - before)
    result[start[1:] - 1] = 1.0
    return result
