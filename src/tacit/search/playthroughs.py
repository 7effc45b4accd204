"""The exploitability of search: the average policy of many playthroughs (ReBeL, Table 2).

At play time every search follows the strategies of one random iteration down to its leaves and searches again there
(section 6). A playthrough fixes these choices for the whole game: it is a full policy, one of the many the agent mixes. The
mean of the policies of `n` playthroughs, in realisation weights, is a policy whose exploitability is computed exactly; it
is an upper bound on the agent's own, which is the limit of large `n`. All searches of a level of the game run as one batch.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from tacit.evaluation import Quality, evaluate
from tacit.games.base import TERMINAL
from tacit.kernels import make_passes
from tacit.search.search import BatchSearch, SearchResult
from tacit.search.state import root_reach
from tacit.search.tables import SearchSpace
from tacit.tree.beliefs import PublicBeliefState
from tacit.tree.public_tree import LEAF, Floats
from tacit.tree.strategy import normalise
from tacit.tree.subgame import Subgame, extract_subgame

MAX_SEARCHES = {"cpu": 1_024}
"""Searches in one batch by device, 32,768 elsewhere: a CPU gains nothing from more, and shows no progress inside a batch."""


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


def max_searches(space: SearchSpace) -> int:
    """Returns the searches of one playthrough that leaves no public state out: those it cannot reach are not searched."""
    nodes, count = space.tree.require_nodes(), 0
    for level in range(0, len(nodes.level_start) - 1, space.depth or len(nodes)):
        start, end = nodes.level_start[level : level + 2]
        count += int((nodes.actor[start:end] != TERMINAL).sum())
    return count


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
        reaches = (torch.arange(H) < torch.from_numpy(self._num_states(node))).float().to(self.device)
        while len(node):
            size = MAX_SEARCHES.get(str(self.device), 32_768)
            below = [self._search(node[i : i + size], reaches[i : i + size]) for i in range(0, len(node), size)]
            node = np.concatenate([part[0] for part in below])
            reaches = torch.cat([part[1] for part in below])

    def _search(self, node: np.ndarray, reaches: Tensor) -> tuple[np.ndarray, Tensor]:
        """Searches at the given nodes, adds the sampled policies, and returns the leaves that can be reached."""
        sample = self.generator.choice(np.arange(len(self._chances)), len(node), p=self._chances) + 1
        totals = reaches.sum(2, keepdim=True)
        possible = (torch.arange(reaches.shape[2]) < torch.from_numpy(self._num_states(node))).to(reaches.device)
        uniform = possible / possible.sum(2, keepdim=True)
        beliefs = torch.where(totals > 0, reaches / totals.clamp_min(1e-30), uniform)
        result = self.search.run(self.space.classes.of_node[node].astype(np.int64), beliefs, sample)
        self.done += len(node)
        self.progress(self.done)
        return self._collect(node, reaches, result)

    def _collect(self, node: np.ndarray, reaches: Tensor, result: SearchResult) -> tuple[np.ndarray, Tensor]:
        """Adds the sampled strategies to the plan, weighted by own reaches; returns the nodes and reaches below."""
        batch, space, H = result.batch, self.space, reaches.shape[2]
        order = torch.from_numpy(batch.order).to(self.device)
        below = [root_reach(space, batch, reaches[order][:, player], player) for player in (0, 1)]
        for player in (0, 1):
            self.search.kernels.reach_down(batch, player, result.sampled_strategy, below[player])
        leaf_nodes, leaf_reaches = [np.zeros(0, np.int64)], [torch.zeros(0, 2, H, device=self.device)]
        for group in batch:
            real_nodes, which = np.unique(node[batch.order[group.games]], return_inverse=True)
            subgames = [self._subgames[int(n)] for n in real_nodes]
            tree, cut = space.subgames[group.public_class].tree, space.subgames[group.public_class].tree.require_nodes()
            reach = [batch.view(below[player], batch.row_offset[player], group) for player in (0, 1)]
            row = torch.from_numpy(tree.infostate_row[tree.entry_infostate].astype(np.int64)).to(self.device)
            first = torch.from_numpy(tree.entry_player == 0).to(self.device)
            own = torch.where(first[:, None], reach[0][row.where(first, 0)], reach[1][row.where(~first, 0)])
            played = (own * batch.view(result.sampled_strategy, batch.entry_offset, group)).double()
            by_node = torch.zeros(tree.num_entries, len(real_nodes), dtype=torch.float64, device=self.device)
            by_node.index_add_(1, torch.from_numpy(which).to(self.device), played)
            entries = torch.from_numpy(np.stack([subgame.entry_index for subgame in subgames], axis=1)).to(self.device)
            self.plan.index_add_(0, entries.flatten(), by_node.flatten())
            for leaf in np.flatnonzero(cut.actor == LEAF):
                arrived = torch.zeros(group.size, 2, H, device=self.device)
                for player in (0, 1):
                    start, end = (int(x) for x in cut.row_start[player][leaf : leaf + 2])
                    arrived[:, player, : end - start] = reach[player][start:end].T
                alive = arrived.sum((1, 2)) > 0
                leaf_nodes.append(np.array([s.node_index[leaf] for s in subgames])[which][alive.cpu().numpy()])
                leaf_reaches.append(arrived[alive])
        return np.concatenate(leaf_nodes), torch.cat(leaf_reaches)

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
