"""The exploitability of search: the average policy of many playthroughs (ReBeL, Table 2).

At play time every search follows the strategies of one random iteration down to its leaves and searches again there
(section 6). A playthrough fixes these choices for the whole game: it is a full policy, one of the many the agent mixes. The
mean of the policies of `n` playthroughs, in realisation weights, is a policy whose exploitability is computed exactly; it
is an upper bound on the agent's own, which is the limit of large `n`. All searches of a level of the game run as one batch.

Unsafe search plays averages and passes their beliefs down. It draws nothing, so one playthrough is its policy.
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
from tacit.processes import Hands, Message, OwnHands, in_turn
from tacit.search.odds import LeafOdds, normalised_reach
from tacit.search.search import BatchSearch, SearchResult
from tacit.search.walk import reaches_below
from tacit.tree.public_tree import LEAF, Floats
from tacit.tree.search_space import SearchSpace
from tacit.tree.subgame import ROUND

MAX_SEARCHES = {"cpu": 1_024, "cuda": 32_768}
"""The most searches in one batch: a CPU gains nothing from more, and no progress is shown within a batch."""


class _Leaf(NamedTuple):
    """The games of one batch of searches.

    Attributes:
      node: `[B]` their nodes.
      reaches: `[B, 2, H]` the players' own reaches.
      beliefs: `[B, 2, H]` the beliefs that searches start from, passed down even where a player's own reach is 0.
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
    """Returns the exact quality of the average policy of several playthroughs.

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
    hands: Hands | None = None,
) -> Floats:
    """Returns `[E]` the average policy of several playthroughs (see `playthrough_quality`).

    Searches run on `hands`, which have opened `PlayedSearches`, or in this process if None; the result is the same to the bit.
    """
    average = _PolicyAverage(search.space, search.kernels.device, generator, progress)
    average.play(playthroughs, hands or OwnHands(PlayedSearches(search, safe)))
    return search.space.tree.normalise(average.plan.cpu().numpy())


def max_searches(space: SearchSpace) -> int:
    """Returns the most searches of one playthrough: public states that it cannot reach are not searched."""
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
        self, space: SearchSpace, device: str, generator: np.random.Generator, progress: Callable[[int], None]
    ) -> None:
        self.space, self.device = space, device
        self.generator, self.progress = generator, progress
        self.plan = torch.zeros(space.tree.num_entries, dtype=torch.float64, device=device)
        self.done = 0

    def play(self, playthroughs: int, hands: Hands) -> None:
        """Plays from the roots down, level by level, with the searches run by hands."""
        nodes = self.space.tree.require_nodes()
        roots = np.arange(nodes.num_roots)
        node = np.tile(roots[nodes.actor[roots] != TERMINAL], playthroughs)
        reaches = _real_states(self.space, node, self.device).float()
        games = {"node": torch.from_numpy(node), "reaches": reaches, "beliefs": normalised_reach(reaches, reaches, dim=2)}
        size, level = MAX_SEARCHES[torch.device(self.device).type], 0
        while count := len(games["node"]):
            quantile = torch.from_numpy(self._quantiles(games["node"].numpy()))
            hands.share({**games, "quantile": quantile, "level": torch.tensor(level)})
            pieces = range(0, count, size)
            orders = [{"level": level, "first": first, "count": min(size, count - first)} for first in pieces]
            level += 1
            parts = []
            for order, (answer, _) in zip(orders, in_turn(hands.answers(orders)), strict=True):
                self.plan.index_add_(0, answer.pop("entry").to(self.device), answer.pop("weight").to(self.device))
                parts.append(answer)
                self.done += order["count"]
                self.progress(self.done)
            games = {name: torch.cat([part[name] for part in parts]) for name in parts[0]}

    def _quantiles(self, node: np.ndarray) -> np.ndarray:
        """Returns `[B]` uniform random numbers, stratified over all searches at the same node.

        The iterations at these quantiles represent the average with less noise than independent draws.
        """
        order = np.lexsort((self.generator.random(len(node)), node))
        _, first, count = np.unique(node[order], return_index=True, return_counts=True)
        rank = np.arange(len(node)) - np.repeat(first, count)
        quantile = np.empty(len(node))
        quantile[order] = (rank + self.generator.random(len(node))) / np.repeat(count, count)
        return quantile


class PlayedSearches:
    """The searches of playthroughs, as work: `hear` receives the games of a level, and an order names those to search.

    Args:
      search: the agent's search.
      safe: whether it follows sampled iterations rather than averages.
    """

    def __init__(self, search: BatchSearch, safe: bool = True) -> None:
        self.search, self.space, self.safe = search, search.space, safe
        self.device = search.kernels.device
        self._games: dict[str, Tensor] = {}

    def hear(self, shared: Message) -> None:
        self._games = shared[0]

    def answer(self, order: Message) -> Message:
        """Returns the play of an order's games, as `entry` and `weight` of plans, and the games below as `hear` takes them.

        Returns nothing if the order's level has been finished meanwhile: several hands may work on a level's last orders.
        """
        if order[1]["level"] != int(self._games["level"]):
            return {}, {}
        some = slice(order[1]["first"], order[1]["first"] + order[1]["count"])
        node, reaches, beliefs, quantile = (self._games[name][some] for name in ("node", "reaches", "beliefs", "quantile"))
        games = _Leaf(node.numpy(), reaches.to(self.device), beliefs.to(self.device))
        classes = self.space.classes.of_node[games.node].astype(np.int64)
        result = self.search.run(classes, games.beliefs, self.search.iterations_at(quantile.numpy()))
        return self._collect(games, result), {}

    def _collect(self, games: _Leaf, result: SearchResult) -> dict[str, Tensor]:
        """Returns what is played, weighted by own reaches, and the games below."""
        batch, space, (played, believed) = result.batch, self.space, result.to_play(self.safe)
        below = reaches_below(self.search, batch, played, games.reaches)
        thought = reaches_below(self.search, batch, believed, games.beliefs)
        odds = LeafOdds(space, batch, self.device)
        parts: list[tuple[Tensor, ...]] = []
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
            entries = torch.from_numpy(np.stack([subgame.entry_index for subgame in subgames], axis=1).astype(np.int64))
            arrived, reached = (
                torch.stack([odds.arrived(group.number, p, rows[p]) for p in (0, 1)]).permute(1, 3, 0, 2)
                for rows in (below, thought)
            )  # [leaves, games, 2, H]
            alive = (arrived.sum((2, 3)) > 0) & real
            cut = np.flatnonzero(tree.require_nodes().actor == LEAF)
            leaf_node = np.stack([subgame.node_index[cut] for subgame in subgames], axis=1)[:, which].astype(np.int64)
            at = leaf_node[alive.cpu().numpy()]
            beliefs = normalised_reach(reached[alive], _real_states(space, at, self.device), dim=2)
            parts.append((entries.flatten(), by_node.flatten(), torch.from_numpy(at), arrived[alive], beliefs))
        names = ("entry", "weight", "node", "reaches", "beliefs")
        return {name: torch.cat(column) for name, column in zip(names, zip(*parts, strict=True), strict=True)}


def _real_states(space: SearchSpace, node: np.ndarray, device: str) -> Tensor:
    """Returns `[B, 2, H]` which private states exist for each player at the nodes."""
    starts = space.tree.require_nodes().row_start
    counts = np.stack([np.diff(starts[player])[node] for player in (0, 1)], axis=1)[:, :, None]
    return torch.from_numpy(np.arange(space.tables.num_private_states) < counts).to(device)
