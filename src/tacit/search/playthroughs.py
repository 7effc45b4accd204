"""The exploitability of search: the average policy of many playthroughs (ReBeL, Table 2).

At play time every search follows the strategies of one random iteration down to its leaves and searches again there
(section 6). A playthrough fixes these choices for the whole game: it is a full policy, one of the many the agent mixes. The
mean of the policies of `n` playthroughs, in realisation weights, is a policy whose exploitability is computed exactly; it
is an upper bound on the agent's own, which is the limit of large `n`. All searches of a level of the game run as one batch.

What is played and what is believed are followed apart: in fictitious play the one is a best response, the other the average.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from tacit.evaluation import Quality, evaluate
from tacit.games.base import TERMINAL
from tacit.kernels import make_passes
from tacit.search.batch import Batch, Group
from tacit.search.search import BatchSearch, SearchResult
from tacit.search.state import root_reach
from tacit.search.tables import SearchSpace
from tacit.tree.beliefs import PublicBeliefState
from tacit.tree.public_tree import LEAF, Floats
from tacit.tree.strategy import normalise
from tacit.tree.subgame import Subgame, extract_subgame

MAX_SEARCHES = 32_768
"""Searches in one batch."""


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
) -> Floats:
    """Returns `[E]` the average policy of so many playthroughs (see `playthrough_quality`)."""
    average = _PolicyAverage(search, generator, progress)
    average.play(playthroughs)
    return normalise(search.space.tree, average.plan.cpu().numpy())


class _PolicyAverage:
    """Adds up the realisation plans of playthroughs."""

    def __init__(self, search: BatchSearch, generator: np.random.Generator, progress: Callable[[int], None]) -> None:
        self.search, self.space = search, search.space
        self.generator, self.progress = generator, progress
        self.device = search.kernels.device
        self.plan = torch.zeros(self.space.tree.num_entries, dtype=torch.float64, device=self.device)
        self.done = 0
        self._subgames = _RealSubgames(self.space)
        weights = search.average_weights()
        self._chances = weights / weights.sum()  # a random iteration stands for the average of all

    def play(self, playthroughs: int) -> None:
        """Plays from the roots down, level by level."""
        nodes, H = self.space.tree.require_nodes(), self.space.tables.num_private_states
        roots = np.arange(nodes.num_roots)
        node = np.tile(roots[nodes.actor[roots] != TERMINAL], playthroughs)
        played = (torch.arange(H) < torch.from_numpy(self._num_states(node))).float().to(self.device)
        believed = played
        while len(node):
            chunks = [slice(i, i + MAX_SEARCHES) for i in range(0, len(node), MAX_SEARCHES)]
            below = [self._search(node[part], played[part], believed[part]) for part in chunks]
            node = np.concatenate([part[0] for part in below])
            played, believed = torch.cat([part[1] for part in below]), torch.cat([part[2] for part in below])

    def _search(self, node: np.ndarray, played: Tensor, believed: Tensor) -> tuple[np.ndarray, Tensor, Tensor]:
        """Searches at the given nodes, adds the sampled policies, and returns the leaves that can be reached.

        Args:
          node: `[B]`.
          played: `[B, 2, H]` the reaches of the policies played so far.
          believed: `[B, 2, H]` the reaches that define the beliefs.
        """
        totals = believed.sum(2, keepdim=True)
        possible = (torch.arange(believed.shape[2]) < torch.from_numpy(self._num_states(node))).to(believed.device)
        uniform = possible / possible.sum(2, keepdim=True)
        beliefs = torch.where(totals > 0, believed / totals.clamp_min(1e-30), uniform)
        classes = self.space.classes.of_node[node].astype(np.int64)
        result = self.search.run(classes, beliefs, self._sample_iterations(node))
        self.done += len(node)
        self.progress(self.done)
        return self._collect(node, played, beliefs, result)

    def _sample_iterations(self, node: np.ndarray) -> np.ndarray:
        """Returns `[B]` random iterations, spread evenly over those of all searches at the same node.

        Each is drawn with the weights of the average; together they stand for it with less noise than independent draws.
        """
        order = np.lexsort((self.generator.random(len(node)), node))
        _, first, count = np.unique(node[order], return_index=True, return_counts=True)
        rank = np.arange(len(node)) - np.repeat(first, count)
        quantile = np.empty(len(node))
        quantile[order] = (rank + self.generator.random(len(node))) / np.repeat(count, count)
        return np.searchsorted(np.cumsum(self._chances)[:-1], quantile, side="right") + 1

    def _collect(
        self, node: np.ndarray, played: Tensor, beliefs: Tensor, result: SearchResult
    ) -> tuple[np.ndarray, Tensor, Tensor]:
        """Adds the sampled strategies to the plan, weighted by own reaches; returns the nodes below and both reaches there."""
        batch, space, H = result.batch, self.space, played.shape[2]
        strategy, belief_strategy = result.sampled_strategy, result.belief_strategy
        plays = self._below(batch, strategy, played)
        believes = self._below(batch, belief_strategy, beliefs)
        leaf_nodes, leaf_played = [np.zeros(0, np.int64)], [torch.zeros(0, 2, H, device=self.device)]
        leaf_believed = [torch.zeros(0, 2, H, device=self.device)]
        for group in batch:
            real_nodes, which = np.unique(node[batch.order[group.games]], return_inverse=True)
            subgames = [self._subgames[int(n)] for n in real_nodes]
            tree = space.subgames[group.public_class].tree
            reach = [batch.view(plays[player], batch.row_offset[player], group) for player in (0, 1)]
            row = torch.from_numpy(tree.infostate_row[tree.entry_infostate].astype(np.int64)).to(self.device)
            first = torch.from_numpy(tree.entry_player == 0).to(self.device)
            own = torch.where(first[:, None], reach[0][row.where(first, 0)], reach[1][row.where(~first, 0)])
            real = torch.from_numpy(batch.real[group.games]).to(self.device)
            weights = (own * batch.view(strategy, batch.entry_offset, group) * real).double()
            by_node = torch.zeros(tree.num_entries, len(real_nodes), dtype=torch.float64, device=self.device)
            by_node.index_add_(1, torch.from_numpy(which).to(self.device), weights)
            entries = torch.from_numpy(np.stack([subgame.entry_index for subgame in subgames], axis=1)).to(self.device)
            self.plan.index_add_(0, entries.flatten(), by_node.flatten())
            for leaf in np.flatnonzero(tree.require_nodes().actor == LEAF):
                arrived = self._at_leaf(batch, group, int(leaf), plays)
                alive = (arrived.sum((1, 2)) > 0) & real
                leaf_nodes.append(np.array([s.node_index[leaf] for s in subgames])[which][alive.cpu().numpy()])
                leaf_played.append(arrived[alive])
                leaf_believed.append(self._at_leaf(batch, group, int(leaf), believes)[alive])
        return np.concatenate(leaf_nodes), torch.cat(leaf_played), torch.cat(leaf_believed)

    def _below(self, batch: Batch, strategy: Tensor, reaches: Tensor) -> list[Tensor]:
        """Returns each player's reach of all rows of the subgames, from `[B, 2, H]` at their roots."""
        ordered = reaches[torch.from_numpy(batch.order).to(self.device)]
        below = [root_reach(self.space, batch, ordered[:, player], player) for player in (0, 1)]
        for player in (0, 1):
            self.search.kernels.reach_down(batch, player, strategy, below[player])
        return below

    def _at_leaf(self, batch: Batch, group: Group, leaf: int, below: list[Tensor]) -> Tensor:
        """Returns `[games, 2, H]` the reaches of a group's games at a leaf."""
        starts = self.space.subgames[group.public_class].tree.require_nodes().row_start
        arrived = torch.zeros(group.size, 2, self.space.tables.num_private_states, device=self.device)
        for player in (0, 1):
            start, end = (int(x) for x in starts[player][leaf : leaf + 2])
            arrived[:, player, : end - start] = batch.view(below[player], batch.row_offset[player], group)[start:end].T
        return arrived

    def _num_states(self, node: np.ndarray) -> np.ndarray:
        """Returns `[B, 2, 1]` each player's private states at the nodes."""
        starts = self.space.tree.require_nodes().row_start
        return np.stack([np.diff(starts[player])[node] for player in (0, 1)], axis=1)[:, :, None]


class _RealSubgames:
    """The subgame at any node, whose class's tables have the same shape."""

    def __init__(self, space: SearchSpace) -> None:
        self._space = space
        self._known: dict[int, Subgame] = {}

    def __getitem__(self, node: int) -> Subgame:
        if node not in self._known:
            starts = self._space.tree.require_nodes().row_start
            ones = [np.ones(int(start[node + 1] - start[node])) for start in starts]
            pbs = PublicBeliefState(self._space.tree, node, (ones[0], ones[1]))
            self._known[node] = extract_subgame(self._space.tree, pbs, self._space.depth)
        return self._known[node]
