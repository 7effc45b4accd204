"""One step of continual re-solving: many games search, and learn where to search next and what to carry there.

A player who re-solves needs two things from the past: its own range, and the values that its last search promised the opponent
(DeepStack; Student of Games). A step carries both to the public states where the player searches next: the leaves of its search
and, if it searches anew at each of its decisions, those decisions as well.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from tacit.games.base import TERMINAL
from tacit.search.odds import deals_on, normalised_reach
from tacit.search.search import BatchSearch, SearchResult
from tacit.search.walk import reaches_below
from tacit.tree.beliefs import PublicBeliefState
from tacit.tree.public_tree import LEAF, Floats, PublicTree


class Spots(NamedTuple):
    """Public states where a player searches.

    Attributes:
      public_class: `[B]` their classes.
      reach: `[B, 2, H]` the players' reaches; the opponent's are ignored if `promised` is given.
      promised: `[B, H]` the opponent's infostate values there from the previous search; None at the start of the game.
    """

    public_class: np.ndarray
    reach: Tensor
    promised: Tensor | None


class Resolved(NamedTuple):
    """How the games of one class go on until their next search.

    Attributes:
      public_class: The class.
      games: `[n]` the indices of their spots.
      entries: `[e]` the entries of the class's search tree at which the player acts until then.
      played: `[e, n]` their probabilities.
      nodes: `[S]` the nodes of the search tree where the player searches next.
      reach: `[S, n, H]` the player's range there.
      promised: `[S, n, H]` what the opponent is promised there, as infostate values.
    """

    public_class: int
    games: np.ndarray
    entries: np.ndarray
    played: Tensor
    nodes: np.ndarray
    reach: Tensor
    promised: Tensor


def resolve(
    search: BatchSearch, player: int, spots: Spots, at_decisions: bool, sample_iteration: np.ndarray | None = None
) -> tuple[SearchResult, list[Resolved]]:
    """Returns the result of the searches, and class by class how the player goes on until its next search.

    Args:
      search: the player's search; its solver must be of the CFR family.
      player: the player who re-solves.
      spots: the public states to search.
      at_decisions: whether the player searches at each of its decisions, not only at leaves.
      sample_iteration: `[B]` the iteration whose strategies each search samples; None takes the last.
    """
    space, opponent, classes = search.space, 1 - player, spots.public_class
    promised = None if spots.promised is None else (opponent, spots.promised)
    sample = np.full(len(classes), search.config.iterations) if sample_iteration is None else sample_iteration
    result = search.run(classes, spots.reach, sample, promised, values_rows=opponent)
    batch, average = result.batch, result.average_strategy
    own, worth = reaches_below(search, batch, average, spots.reach)[player], result.row_values
    resolved = []
    for group in batch:
        real, plan = np.flatnonzero(batch.real[group.games]), _plan(search, group.public_class, player, at_decisions)
        rows = batch.view(own, batch.row_offset[player], group)[:, real]
        values = batch.view(worth, batch.row_offset[opponent], group)[:, real]
        reach, promise = _carried(deals_on(space, rows.device).roots, plan, player, rows, values)
        played = batch.view(average, batch.entry_offset, group)[plan.entries][:, real]
        games = batch.order[group.games][real]
        resolved.append(Resolved(group.public_class, games, plan.entries, played, plan.nodes, reach, promise))
    return result, resolved


class Plan(NamedTuple):
    """Where a player searches next in the search tree of a class, at `S` nodes.

    Attributes:
      entries: `[e]` the entries at which it acts until then.
      nodes: `[S]` the nodes.
      public_class: `[S]` their classes.
      chance: `[S, 1, 1]` their chance weights.
      rows: `[S, H]` for each player, the rows there, 0 beyond its private states.
      real: `[S, H, 1]` for each player, 0 beyond its private states and 1 elsewhere.
    """

    entries: np.ndarray
    nodes: np.ndarray
    public_class: Tensor
    chance: Tensor
    rows: tuple[Tensor, Tensor]
    real: tuple[Tensor, Tensor]


def _plan(search: BatchSearch, public_class: int, player: int, at_decisions: bool) -> Plan:
    """Returns where a player searches next: the same nodes for all games of a class."""
    key = public_class, player, at_decisions
    if key not in search.plans:
        subgame, states = search.space.subgames[public_class], np.arange(search.space.tables.num_private_states)
        entries, next_nodes = until_next(subgame.tree, player, at_decisions)
        whole, nodes = subgame.tree.require_nodes(), np.array(next_nodes, np.int64)
        chance = np.array([whole.joint(node).sum() for node in next_nodes], np.float32)
        starts = [start[nodes][:, None] for start in whole.row_start]
        real = [states < start[nodes + 1][:, None] - first for start, first in zip(whole.row_start, starts, strict=True)]
        rows = [np.where(there, first + states, 0) for there, first in zip(real, starts, strict=True)]
        parts = (subgame.node_class[nodes], chance[:, None, None], *rows, *(there[..., None] for there in real))
        put = [torch.from_numpy(part).to(search.kernels.device) for part in parts]
        search.plans[key] = Plan(entries, nodes, put[0].long(), put[1], (put[2], put[3]), (put[4].float(), put[5].float()))
    return search.plans[key]


def until_next(tree: PublicTree, player: int, at_decisions: bool) -> tuple[np.ndarray, list[int]]:
    """Returns the entries of a subgame at which the player acts until its next search, and the nodes of that search."""
    nodes, next_nodes = tree.require_nodes(), []
    passed = np.zeros(len(nodes), bool)
    passed[0] = True
    for node in range(1, len(nodes)):
        if passed[nodes.parent[node]]:
            actor = nodes.actor[node]
            if actor == LEAF or (at_decisions and actor == player):
                next_nodes.append(node)
            else:
                passed[node] = actor != TERMINAL
    mine = np.flatnonzero(tree.entry_player == player)
    rows = tree.infostate_row[tree.entry_infostate[mine]]
    return mine[passed[nodes.of_row[player][rows]]], next_nodes


def promised_values(pbs: PublicBeliefState, player: int, values: Floats) -> Floats:
    """Returns `[H]` the infostate values that a search promised the opponent at a node of its subgame.

    Args:
      pbs: the node, with the player's reach there, not rescaled.
      player: the player who re-solves.
      values: `[rows]` the opponent's counterfactual values in that search.
    """
    start = pbs.tree.require_nodes().row_start[1 - player]
    there, reach = values[start[pbs.node] : start[pbs.node + 1]], pbs.reaches[player]
    found = _per_likelihood(pbs.tree, pbs.node, player, torch.from_numpy(reach)[:, None], torch.from_numpy(there)[:, None])
    return found[:, 0].numpy()


def _carried(deals: Tensor, plan: Plan, player: int, own: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """Returns `[S, n, H]` the player's range where it searches next, and `[S, n, H]` what the opponent is promised there.

    Args:
      deals: `[C, H, H]` chance weights at all classes.
      plan: where the player searches next.
      player: the player who re-solves.
      own: `[rows, n]` the player's reach in the search tree.
      values: `[rows, n]` the opponent's counterfactual values.
    """
    mine, theirs = plan.real[player], plan.real[1 - player]
    arrived = own[plan.rows[player]] * mine  # [S, H, n]
    here = deals[plan.public_class] * plan.chance
    likely = torch.bmm(here.transpose(1, 2) if player == 0 else here, arrived)
    found = values[plan.rows[1 - player]] * theirs
    promised = torch.where(likely > 0, found / likely.where(likely > 0, 1.0), 0.0)
    return normalised_reach(arrived, mine.expand_as(arrived), dim=1).transpose(1, 2), promised.transpose(1, 2)


def _per_likelihood(tree: PublicTree, node: int, player: int, reach: Tensor, values: Tensor) -> Tensor:
    """Returns counterfactual values `[H, games]` of the opponent of `player` as infostate values; 0 where reach is 0."""
    joint = torch.from_numpy(tree.require_nodes().joint(node)).to(reach)
    likely = (joint.T if player == 0 else joint) @ reach
    return torch.where(likely > 0, values / likely.where(likely > 0, 1.0), 0.0)
