"""Continual re-solving, judged: what an agent that re-solves plays in the whole game.

Where a search ends, the agent solves what follows from its own range, and leaves its opponent what the search before promised
it; where it wants to think anew at each of its decisions, it does so there, too (DeepStack; Student of Games). Nothing
is sampled, so its policy is a strategy like any other: all searches of a step of the game run as one batch.

A network must know what it is asked. Self-play with searches of two actions never shows it states where player 1 acts, and
searches that start at all decisions ask for these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from tacit.games.base import TERMINAL
from tacit.search.odds import normalised_reach
from tacit.search.playthroughs import MAX_SEARCHES
from tacit.search.search import BatchSearch
from tacit.search.walk import reaches_below
from tacit.tree.beliefs import PublicBeliefState
from tacit.tree.public_tree import LEAF, Floats, PublicTree


class _Spots(NamedTuple):
    """Public states where the agent searches.

    Attributes:
      node: `[B]` in the whole tree.
      reach: `[B, 2, H]` the players' reaches; of the opponent's nothing is used where something was promised.
      promised: `[B, H]` the opponent's infostate values there by the search before; None at the start.
    """

    node: np.ndarray
    reach: Tensor
    promised: Tensor | None

    def part(self, which: slice) -> _Spots:
        """Returns some of them."""
        return _Spots(self.node[which], self.reach[which], None if self.promised is None else self.promised[which])


def resolving_strategy(
    search: BatchSearch, progress: Callable[[int], None] = lambda _: None, at_decisions: bool = False
) -> Floats:
    """Returns `[E]` what agents that re-solve continually play, one in each seat.

    Args:
      search: how they search, in a game that was compiled; its solver is of the CFR family.
      progress: called with the number of searches done.
      at_decisions: whether they search at all of their decisions, and not at leaves alone.
    """
    strategy, size, done = search.space.tree.uniform_strategy(), MAX_SEARCHES[torch.device(search.kernels.device).type], 0
    for player in (0, 1):
        spots: _Spots | None = _start(search)
        while spots is not None:
            below: list[_Spots] = []
            for first in range(0, len(spots.node), size):
                below += _resolve(search, player, spots.part(slice(first, first + size)), strategy, at_decisions)
                progress(done + min(first + size, len(spots.node)))
            done += len(spots.node)
            spots = _joined(below) if below else None
    return strategy


def _start(search: BatchSearch) -> _Spots:
    space, nodes = search.space, search.space.tree.require_nodes()
    node = np.flatnonzero(nodes.actor[: nodes.num_roots] != TERMINAL)
    return _Spots(node, torch.from_numpy(space.root_reaches).to(search.kernels.device), None)


def _joined(spots: list[_Spots]) -> _Spots:
    promised = [part.promised for part in spots if part.promised is not None]
    return _Spots(np.concatenate([part.node for part in spots]), torch.cat([p.reach for p in spots]), torch.cat(promised))


def _resolve(search: BatchSearch, player: int, spots: _Spots, strategy: Floats, at_decisions: bool) -> list[_Spots]:
    """Searches, writes what the player does until it searches again into the strategy, and returns where that is."""
    space, opponent = search.space, 1 - player
    classes = space.classes.of_node[spots.node].astype(np.int64)
    promised = None if spots.promised is None else (opponent, spots.promised)
    last = np.full(len(classes), search.config.iterations)
    result = search.run(classes, spots.reach, last, promised, values_rows=opponent)
    average = result.average_strategy
    own = reaches_below(search, result.batch, average, spots.reach)[player]
    below = []
    for group in result.batch:
        tree, real = space.subgames[group.public_class].tree, np.flatnonzero(result.batch.real[group.games])
        whole = [space.subgame_at(int(node)) for node in spots.node[result.batch.order[group.games][real]]]
        entries, next_nodes = _until_next(tree, player, at_decisions)
        found = result.batch.view(average, result.batch.entry_offset, group)[entries][:, real].double().cpu().numpy()
        for column, subgame in enumerate(whole):
            strategy[subgame.entry_index[entries]] = found[:, column]
        rows = result.batch.view(own, result.batch.row_offset[player], group)[:, real]
        values = result.batch.view(result.row_values, result.batch.row_offset[opponent], group)[:, real]
        for node in next_nodes:
            index = np.array([subgame.node_index[node] for subgame in whole])
            below.append(_spot(search, player, tree, node, index, rows, values))
    return below


def _until_next(tree: PublicTree, player: int, at_decisions: bool) -> tuple[np.ndarray, list[int]]:
    """Returns the entries of a subgame that the player plays before it searches again, and the nodes where it does."""
    nodes, found = tree.require_nodes(), []
    passed = np.zeros(len(nodes), bool)
    passed[0] = True
    for node in range(1, len(nodes)):
        if passed[nodes.parent[node]]:
            actor = nodes.actor[node]
            if actor == LEAF or (at_decisions and actor == player):
                found.append(node)
            else:
                passed[node] = actor != TERMINAL
    mine = np.flatnonzero(tree.entry_player == player)
    rows = tree.infostate_row[tree.entry_infostate[mine]]
    return mine[passed[nodes.of_row[player][rows]]], found


def _spot(
    search: BatchSearch, player: int, tree: PublicTree, node: int, index: np.ndarray, own: Tensor, values: Tensor
) -> _Spots:
    """Returns the games of a group at one of their next nodes.

    Args:
      search: what searches.
      player: who re-solves.
      tree: the subgame.
      node: where in it.
      index: `[games]` where that is in the whole tree.
      own: `[rows, games]` the player's reach in the subgame.
      values: `[rows, games]` the opponent's counterfactual values.
    """
    states, starts = search.space.tables.num_private_states, tree.require_nodes().row_start
    mine, theirs = (slice(*starts[p][node : node + 2]) for p in (player, 1 - player))
    reach, promised = (torch.zeros(len(index), *shape, device=own.device) for shape in ((2, states), (states,)))
    reach[:, player, : mine.stop - mine.start] = normalised_reach(own[mine], torch.ones_like(own[mine]), dim=0).T
    promised[:, : theirs.stop - theirs.start] = _per_likelihood(tree, node, player, own[mine], values[theirs]).T
    return _Spots(index, reach, promised)


def promised_values(pbs: PublicBeliefState, player: int, values: Floats) -> Floats:
    """Returns `[H]` the infostate values that a search promised the opponent at a node of its subgame.

    Args:
      pbs: the node, with the player's reach there, not rescaled.
      player: who re-solves.
      values: `[rows]` the opponent's counterfactual values by that search.
    """
    start = pbs.tree.require_nodes().row_start[1 - player]
    there, reach = values[start[pbs.node] : start[pbs.node + 1]], pbs.reaches[player]
    found = _per_likelihood(pbs.tree, pbs.node, player, torch.from_numpy(reach)[:, None], torch.from_numpy(there)[:, None])
    return found[:, 0].numpy()


def _per_likelihood(tree: PublicTree, node: int, player: int, reach: Tensor, values: Tensor) -> Tensor:
    """Returns counterfactual values `[H, games]` of the opponent of `player` as infostate values; 0 where nobody comes."""
    joint = torch.from_numpy(tree.require_nodes().joint(node)).to(reach)
    likely = (joint.T if player == 0 else joint) @ reach
    return torch.where(likely > 0, values / likely.where(likely > 0, 1.0), 0.0)
