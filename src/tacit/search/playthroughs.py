"""The exploitability of search: the average policy of many playthroughs (ReBeL, Table 2).

At play time every search follows the strategies of one random iteration down to its leaves and searches again there
(section 6). A playthrough fixes these choices for the whole game: it is a full policy, one of the many the agent mixes. The
mean of the policies of `n` playthroughs, in realisation weights, is a policy whose exploitability is computed exactly; it
is an upper bound on the agent's own, which is the limit of large `n`. All searches of a level of the game run as one batch.

What is played and what is believed are followed apart: in fictitious play the one is a best response, the other the average.
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
from tacit.search.batch import Batch
from tacit.search.search import BatchSearch, SearchResult
from tacit.search.state import root_reach
from tacit.search.tables import SearchSpace
from tacit.tree.public_tree import LEAF, Floats, Nodes
from tacit.tree.rounds import ROUND, begins_round
from tacit.tree.strategy import normalise

MAX_SEARCHES = {"cpu": 1_024}
"""Searches in one batch by device, 32,768 elsewhere: a CPU gains nothing from more, and shows no progress inside a batch."""


class _Leaf(NamedTuple):
    """The games that go on at one leaf: `[B]` nodes, `[B, 2, H]` the reaches of what was played, and of what is believed."""

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
    return normalise(search.space.tree, average.plan.cpu().numpy())


def max_searches(space: SearchSpace) -> int:
    """Returns the searches of one playthrough that leaves no public state out: those it cannot reach are not searched."""
    nodes = space.tree.require_nodes()
    level = np.repeat(np.arange(len(nodes.level_start) - 1), np.diff(nodes.level_start))
    if isinstance(space.depth, int):
        starts = level % space.depth == 0
    else:
        starts = (level == 0) | (begins_round(space.tree) if space.depth == ROUND else False)
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
        nodes, H = self.space.tree.require_nodes(), self.space.tables.num_private_states
        roots = np.arange(nodes.num_roots)
        node = np.tile(roots[nodes.actor[roots] != TERMINAL], playthroughs)
        reaches = (torch.arange(H) < torch.from_numpy(self._num_states(node))).float().to(self.device)
        beliefs = reaches
        while len(node):
            size = MAX_SEARCHES.get(str(self.device), 32_768)
            chunks = [slice(start, start + size) for start in range(0, len(node), size)]
            quantile = self._quantiles(node)
            below = [leaf for c in chunks for leaf in self._search(node[c], reaches[c], beliefs[c], quantile[c])]
            node = np.concatenate([node[:0], *(leaf.node for leaf in below)])
            reaches = torch.cat([reaches[:0], *(leaf.reaches for leaf in below)])
            beliefs = torch.cat([beliefs[:0], *(leaf.beliefs for leaf in below)])

    def _search(self, node: np.ndarray, reaches: Tensor, beliefs: Tensor, quantile: np.ndarray) -> list[_Leaf]:
        """Searches at the given nodes, adds the policies that are played, and returns the leaves that can be reached."""
        totals = beliefs.sum(2, keepdim=True)
        possible = (torch.arange(reaches.shape[2]) < torch.from_numpy(self._num_states(node))).to(reaches.device)
        uniform = possible / possible.sum(2, keepdim=True)
        beliefs = torch.where(totals > 1e-20, beliefs / totals.clamp_min(1e-20), uniform)
        sample = self.search.iterations_at(quantile)
        result = self.search.run(self.space.classes.of_node[node].astype(np.int64), beliefs, sample)
        self.done += len(node)
        self.progress(self.done)
        return self._collect(node, reaches, beliefs, result)

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

    def _collect(self, node: np.ndarray, reaches: Tensor, beliefs: Tensor, result: SearchResult) -> list[_Leaf]:
        """Adds what is played to the plan, weighted by own reaches; returns the nodes, reaches and beliefs below."""
        batch, space = result.batch, self.space
        played, believed = result.played_and_believed(self.safe)
        reach_below, beliefs_below = self._descend(batch, reaches, played), self._descend(batch, beliefs, believed)
        leaves: list[_Leaf] = []
        for group in batch:
            real_nodes, which = np.unique(node[batch.order[group.games]], return_inverse=True)
            subgames = [space.subgame_at(int(n)) for n in real_nodes]
            tree, cut = space.subgames[group.public_class].tree, space.subgames[group.public_class].tree.require_nodes()
            reach = [batch.view(reach_below[player], batch.row_offset[player], group) for player in (0, 1)]
            belief = [batch.view(beliefs_below[player], batch.row_offset[player], group) for player in (0, 1)]
            row = torch.from_numpy(tree.infostate_row[tree.entry_infostate].astype(np.int64)).to(self.device)
            first = torch.from_numpy(tree.entry_player == 0).to(self.device)
            own = torch.where(first[:, None], reach[0][row.where(first, 0)], reach[1][row.where(~first, 0)])
            real = torch.from_numpy(batch.real[group.games]).to(self.device)
            weights = (own * batch.view(played, batch.entry_offset, group) * real).double()
            by_node = torch.zeros(tree.num_entries, len(real_nodes), dtype=torch.float64, device=self.device)
            by_node.index_add_(1, torch.from_numpy(which).to(self.device), weights)
            entries = torch.from_numpy(np.stack([subgame.entry_index for subgame in subgames], axis=1)).to(self.device)
            self.plan.index_add_(0, entries.flatten(), by_node.flatten())
            for leaf in np.flatnonzero(cut.actor == LEAF).tolist():
                arrived, thought = self._at_leaf(cut, leaf, reach), self._at_leaf(cut, leaf, belief)
                alive = (arrived.sum((1, 2)) > 0) & real
                leaf_node = np.array([s.node_index[leaf] for s in subgames])[which][alive.cpu().numpy()]
                leaves.append(_Leaf(leaf_node, arrived[alive], thought[alive]))
        return leaves

    def _descend(self, batch: Batch, reaches: Tensor, strategy: Tensor) -> list[Tensor]:
        """Returns for each player the reach of all rows of a batch, from `[B, 2, H]` at the roots."""
        order = torch.from_numpy(batch.order).to(self.device)
        below = [root_reach(self.space, batch, reaches[order][:, player], player) for player in (0, 1)]
        for player in (0, 1):
            self.search.kernels.reach_down(batch, player, strategy, below[player])
        return below

    def _at_leaf(self, cut: Nodes, leaf: int, reach: list[Tensor]) -> Tensor:
        """Returns `[games, 2, H]` the part of a group's reaches that belongs to a leaf."""
        arrived = torch.zeros(reach[0].shape[1], 2, self.space.tables.num_private_states, device=self.device)
        for player in (0, 1):
            start, end = (int(x) for x in cut.row_start[player][leaf : leaf + 2])
            arrived[:, player, : end - start] = reach[player][start:end].T
        return arrived

    def _num_states(self, node: np.ndarray) -> np.ndarray:
        """Returns `[B, 2, 1]` each player's private states at the nodes."""
        starts = self.space.tree.require_nodes().row_start
        return np.stack([np.diff(starts[player])[node] for player in (0, 1)], axis=1)[:, :, None]
