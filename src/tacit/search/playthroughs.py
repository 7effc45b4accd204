"""The exploitability of search: the average policy of many playthroughs (ReBeL, Table 2).

At play time every search follows the strategies of one random iteration down to its leaves and searches again there
(section 6). A playthrough fixes these choices for the whole game: it is a full policy, one of the many the agent mixes. The
mean of the policies of `n` playthroughs, in realisation weights, is a policy whose exploitability is computed exactly; it
is an upper bound on the agent's own, which is the limit of large `n`. All searches of a level of the game run as one batch.

Unsafe search, which plays averages and passes their beliefs down, draws nothing: one playthrough is its policy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from tacit.evaluation import Quality, evaluate
from tacit.games.base import TERMINAL
from tacit.kernels import make_passes
from tacit.search.odds import LeafOdds, normalised_reach
from tacit.search.search import BatchSearch, SearchResult
from tacit.search.walk import reaches_below
from tacit.tree.public_tree import LEAF, Floats
from tacit.tree.search_space import SearchSpace
from tacit.tree.subgame import ROUND

MAX_SEARCHES = {"cpu": 1_024, "cuda": 32_768}
"""Searches in one batch: a CPU gains nothing from more, and shows no progress inside a batch."""


class _Leaf(NamedTuple):
    """The games that go on at one leaf.

    Attributes:
      node: `[B]` their nodes.
      reaches: `[B, 2, H]` the players' own reaches.
      beliefs: `[B, 2, H]` what searches start from. Where a player never comes they go on from what was believed before.
    """

    node: np.ndarray
    reaches: Tensor
    beliefs: Tensor


def playthrough_quality(
    search: BatchSearch,
    playthroughs: int,
    generator: np.random.Generator,
    progress: Callable[[int], None] = lambda _: None,
) -> Quality:
    """Returns the exact quality of the average policy of so many playthroughs.

    Args:
      search: the agent's search.
      playthroughs: how many policies are averaged.
      generator: chooses the iterations, later ones more often.
      progress: called with the number of searches done.
    """
    strategy = playthrough_strategy(search, playthroughs, generator, progress)
    return evaluate(make_passes(search.space.tree), strategy)


def playthrough_strategy(
    search: BatchSearch,
    playthroughs: int,
    generator: np.random.Generator,
    progress: Callable[[int], None] = lambda _: None,
    safe: bool = True,
) -> Floats:
    """Returns `[E]` the average policy of so many playthroughs (see `playthrough_quality`)."""
    average = _PolicyAverage(search, generator, progress, safe)
    average.play(playthroughs)
    return search.space.tree.normalise(average.plan.cpu().numpy())


def max_searches(space: SearchSpace) -> int:
    """Returns the searches of one playthrough that leaves no public state out: those it cannot reach are not searched."""
    nodes = space.tree.require_nodes()
    level = np.repeat(np.arange(len(nodes.level_start) - 1), np.diff(nodes.level_start))
    if isinstance(space.depth, int):
        starts = level % space.depth == 0
    else:
        starts = (level == 0) | (space.tree.begins_round & (space.depth == ROUND))
    return int((starts & (nodes.actor != TERMINAL)).sum())


class _PolicyAverage:
    """Adds up the realisation plans of playthroughs."""

    def __init__(
        self, search: BatchSearch, generator: np.random.Generator, progress: Callable[[int], None], safe: bool
    ) -> None:
        self.search, self.space = search, search.space
        self.generator, self.progress, self.safe = generator, progress, safe
        self.device = search.kernels.device
        self.plan = torch.zeros(self.space.tree.num_entries, dtype=torch.float64, device=self.device)
        self.done = 0

    def play(self, playthroughs: int) -> None:
        """Plays from the roots down, level by level."""
        nodes = self.space.tree.require_nodes()
        roots = np.arange(nodes.num_roots)
        node = np.tile(roots[nodes.actor[roots] != TERMINAL], playthroughs)
        reaches = self._real_states(node).float()
        beliefs = normalised_reach(reaches, reaches, dim=2)
        while len(node):
            size = MAX_SEARCHES[torch.device(self.device).type]
            chunks = [slice(start, start + size) for start in range(0, len(node), size)]
            quantile = self._quantiles(node)
            below = [leaf for c in chunks for leaf in self._search(_Leaf(node[c], reaches[c], beliefs[c]), quantile[c])]
            node = np.concatenate([node[:0], *(leaf.node for leaf in below)])
            reaches = torch.cat([reaches[:0], *(leaf.reaches for leaf in below)])
            beliefs = torch.cat([beliefs[:0], *(leaf.beliefs for leaf in below)])

    def _search(self, games: _Leaf, quantile: np.ndarray) -> list[_Leaf]:
        """Searches at the given nodes, adds the policies that are played, and returns the leaves that can be reached."""
        classes = self.space.classes.of_node[games.node].astype(np.int64)
        result = self.search.run(classes, games.beliefs, self.search.iterations_at(quantile))
        self.done += len(quantile)
        self.progress(self.done)
        return self._collect(games, result)

    def _quantiles(self, node: np.ndarray) -> np.ndarray:
        """Returns `[B]` uniform random numbers, spread evenly over those of all searches at the same node.

        Together the iterations they stand for represent the average with less noise than independent draws.
        """
        order = np.lexsort((self.generator.random(len(node)), node))
        _, first, count = np.unique(node[order], return_index=True, return_counts=True)
        rank = np.arange(len(node)) - np.repeat(first, count)
        quantile = np.empty(len(node))
        quantile[order] = (rank + self.generator.random(len(node))) / np.repeat(count, count)
        return quantile

    def _collect(self, games: _Leaf, result: SearchResult) -> list[_Leaf]:
        """Adds what is played to the plan, weighted by own reaches; returns the games below."""
        batch, space, (played, believed) = result.batch, self.space, result.to_play(self.safe)
        below = reaches_below(self.search, batch, played, games.reaches)
        thought = reaches_below(self.search, batch, believed, games.beliefs)
        odds, leaves = LeafOdds(space, batch, self.device), []
        for group in batch:
            real_nodes, which = np.unique(games.node[batch.order[group.games]], return_inverse=True)
            subgames = [space.subgame_at(int(n)) for n in real_nodes]
            tree, reach = space.subgames[group.public_class].tree, batch.rows(below, group)
            row = torch.from_numpy(tree.infostate_row[tree.entry_infostate].astype(np.int64)).to(self.device)
            first = torch.from_numpy(tree.entry_player == 0).to(self.device)
            own = torch.where(first[:, None], reach[0][row.where(first, 0)], reach[1][row.where(~first, 0)])
            real = torch.from_numpy(batch.real[group.games]).to(self.device)
            weights = (own * batch.view(played, batch.entry_offset, group) * real).double()
            by_node = torch.zeros(tree.num_entries, len(real_nodes), dtype=torch.float64, device=self.device)
            by_node.index_add_(1, torch.from_numpy(which).to(self.device), weights)
            entries = torch.from_numpy(np.stack([subgame.entry_index for subgame in subgames], axis=1)).to(self.device)
            self.plan.index_add_(0, entries.flatten(), by_node.flatten())
            arrived, reached = (
                torch.stack([odds.arrived(group.number, p, rows[p]) for p in (0, 1)]).permute(1, 3, 0, 2)
                for rows in (below, thought)
            )  # [leaves, games, 2, H]
            alive = (arrived.sum((2, 3)) > 0) & real
            cut = np.flatnonzero(tree.require_nodes().actor == LEAF)
            leaf_node = np.stack([subgame.node_index[cut] for subgame in subgames], axis=1)[:, which]
            at = leaf_node[alive.cpu().numpy()]
            leaves.append(_Leaf(at, arrived[alive], normalised_reach(reached[alive], self._real_states(at), dim=2)))
        return leaves

    def _real_states(self, node: np.ndarray) -> Tensor:
        """Returns `[B, 2, H]` which private states the players have at the nodes."""
        starts = self.space.tree.require_nodes().row_start
        counts = np.stack([np.diff(starts[player])[node] for player in (0, 1)], axis=1)[:, :, None]
        return torch.from_numpy(np.arange(self.space.tables.num_private_states) < counts).to(self.device)
