"""Sound self-play (Student of Games; Oscarsson et al., Algorithm 1): two agents re-solve, thousands of games advance together.

In each game both agents search by continual re-solving: each at its own decisions and at the leaves of its last search, from
its own range and the values that it promised the other. Every search hands in some of its queries (`search/queries.py`).

Where we differ: private states are summed out, so a public move is drawn by its total probability under both agents' ranges,
and no cards are dealt. Searches at the start of the game depend only on the network, so one serves several games that start
together, as long as it has enough leaves to hand in queries for all of them.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from tacit.learning.examples import policy_examples
from tacit.search.continual import Spots, resolve
from tacit.search.moves import PlanTables, PublicMoves
from tacit.search.queries import asked_queries, inner_queries, joined
from tacit.search.search import BatchSearch
from tacit.search.walk import GAME_OVER, sample_leaves
from tacit.sog.queries import Harvest

SHARED = 4
"""The most games that start together from one search."""


class SoundSelfPlay:
    """Games between two agents who re-solve continually.

    Attributes:
      game_class: `[G]` the class of each game's public state.
      ranges: `[G, 2, H]` each agent's own range, by the strategies that it computed, without the uniform mix.
      plan_class: `[G, 2]` the class that each agent last searched from.
      plan_node: `[G, 2]` the game's current node in that search tree.
      promises: `[G, 2, S, H]` the values that each agent promised the other at its next searches.
      fresh: `[G]` True for games that are about to start.
      searches: Searches so far.
      started: Games that started so far.
    """

    def __init__(
        self,
        search: BatchSearch,
        num_games: int,
        mix: float,
        queries_per_search: float,
        generator: np.random.Generator,
        inner_per_search: float = 0.0,
        policies: bool = False,
    ) -> None:
        """Starts all games.

        Args:
          search: the agents' search.
          num_games: `G`.
          mix: the share of uniform play in the moves of games.
          queries_per_search: queries that a search hands in, on average.
          generator: draws everything random.
          inner_per_search: further queries, at decisions inside its tree, that a search hands in, on average.
          policies: whether searches hand in policies, too.
        """
        self.search, self.generator = search, generator
        self._mix, self._per_search, self._inner, self._policies = mix, queries_per_search, inner_per_search, policies
        space, self._device = search.space, search.kernels.device
        self._moves, self._plans = PublicMoves(space, self._device), PlanTables(space)
        self._root_chances = space.root_chance / space.root_chance.sum()
        self._root_reaches = torch.from_numpy(space.root_reaches).to(self._device)
        states = space.tables.num_private_states
        self.game_class = np.zeros(num_games, np.int64)
        self.ranges = torch.zeros(num_games, 2, states, device=self._device)
        self.plan_class, self.plan_node = np.zeros((num_games, 2), np.int64), np.zeros((num_games, 2), np.int64)
        self.promises = torch.zeros(num_games, 2, self._plans.most_spots, states, device=self._device)
        self.fresh = np.zeros(num_games, bool)
        self.searches = self.started = 0
        self._restart(np.arange(num_games))

    def advance(self) -> Harvest:
        """Returns the harvest of this step's searches; every game makes one public move, and games that end start again."""
        tables = self.search.decisions
        strategy = torch.zeros(len(self.game_class), *tables.legal.shape[1:], device=self._device)
        harvests: list[Harvest] = []
        for seat in (0, 1):
            spot = self._plans.spot(seat, self.plan_class[:, seat], self.plan_node[:, seat])
            games = np.flatnonzero((spot >= 0) & ~self.fresh)
            if len(games):
                spots = Spots(self.game_class[games], self.ranges[games], self.promises[games, seat, spot[games]])
                harvests.append(self._search(seat, spots, games, np.arange(len(games)), strategy))
            if self.fresh.any():
                harvests.append(self._open(seat, strategy))
        self._move(strategy)
        return Harvest(joined([part.queries for part in harvests]), [part for lot in harvests for part in lot.policies])

    def _open(self, seat: int, strategy: Tensor) -> Harvest:
        """Returns the harvest of the searches of games that start; games at the same public state share searches."""
        games = np.flatnonzero(self.fresh)
        games = games[np.argsort(self.game_class[games], kind="stable")]
        classes, first, count = np.unique(self.game_class[games], return_index=True, return_counts=True)
        leaves = np.diff(self.search.space.tables.leaf_start)[classes]
        copies = -(-count // np.clip(leaves // self._per_search, 1, SHARED).astype(np.int64))
        rank = np.arange(len(games)) - np.repeat(first, count)
        search_of = np.repeat(np.cumsum(copies) - copies, count) + rank % np.repeat(copies, count)
        spots = Spots(np.repeat(classes, copies), self.ranges[games[np.repeat(first, copies)]], None)
        return self._search(seat, spots, games, search_of, strategy)

    def _search(self, seat: int, spots: Spots, games: np.ndarray, search_of: np.ndarray, strategy: Tensor) -> Harvest:
        """Returns the harvest of searches, with queries for each of their games, and stores their plans for the games.

        Args:
          seat: the seat that searches.
          spots: the public states to search.
          games: `[n]` the games that get the plans.
          search_of: `[n]` the search of each game.
          strategy: `[G, H, A]` receives what the seat plays where it acts.
        """
        search, tables = self.search, self.search.decisions
        sample = self.generator.integers(1, search.config.iterations + 1, len(spots.public_class))
        result, resolved = resolve(search, seat, spots, True, sample)
        self.searches += len(sample)
        for part in resolved:
            which = np.flatnonzero(np.isin(search_of, part.games))
            place = np.searchsorted(np.sort(part.games), search_of[which])
            column, mine = np.argsort(part.games)[place], games[which]
            self.plan_class[mine, seat], self.plan_node[mine, seat] = part.public_class, 0
            self.promises[mine, seat, : len(part.nodes)] = part.promised[:, column].transpose(0, 1)
            table = tables.by_class[part.public_class]
            if int(self._moves.actor[part.public_class]) == seat:
                legal = table.legal[0]
                entry = torch.from_numpy(np.searchsorted(part.entries, table.entries[0].cpu().numpy())).to(self._device)
                probability = part.played[entry.where(legal, 0)][:, :, column] * legal[:, :, None]  # [H, A, n]
                strategy[mine] = probability.permute(2, 0, 1)
        sharing = np.bincount(search_of, minlength=len(sample))
        queries = [asked_queries(search, result, self._per_search * sharing, self.generator)]
        if self._inner:
            queries.append(inner_queries(search, result, self._inner, self.generator))
        policies = [policy_examples(search, result, result.sampled_reaches, self.generator)] if self._policies else []
        return Harvest(joined(queries), policies)

    def _move(self, strategy: Tensor) -> None:
        """Makes a public move in every game: it is drawn with the uniform mix, and ranges follow it without the mix."""
        classes = torch.from_numpy(self.game_class).to(self._device)
        legal = self.search.decisions.legal[classes]
        uniform = legal / legal.sum(2, keepdim=True).clamp_min(1)
        chances = self._moves.chances(classes, self.ranges, strategy.lerp(uniform, self._mix))
        draws = torch.from_numpy(self.generator.random(len(classes), np.float32)).to(self._device)
        move = sample_leaves(chances, draws)
        goes_on = move != GAME_OVER
        new_class, self.ranges = self._moves.follow(classes, self.ranges, strategy, move.clamp_min(0))
        keep, moves = goes_on.cpu().numpy(), move.cpu().numpy()
        self.fresh[:] = False
        self.game_class = new_class.cpu().numpy()
        for seat in (0, 1):
            plan_class, node = self.plan_class[keep, seat], self.plan_node[keep, seat]
            self.plan_node[keep, seat] = self._plans.child(plan_class, node, moves[keep])
        self._restart(np.flatnonzero(~keep))

    def _restart(self, games: np.ndarray) -> None:
        """Starts games again: at one of several public states if they open with public chance."""
        root = self.generator.choice(len(self._root_chances), len(games), p=self._root_chances)
        self.game_class[games], self.fresh[games] = self.search.space.root_class[root], True
        self.ranges[games] = self._root_reaches[torch.from_numpy(root).to(self._device)]
        self.plan_class[games], self.plan_node[games] = self.game_class[games, None], 0
        self.started += len(games)

    def state(self) -> dict[str, Tensor]:
        """Returns everything that `restore` needs."""
        arrays = (self.game_class, self.plan_class, self.plan_node, self.fresh, np.array([self.searches, self.started]))
        names = ("game_class", "plan_class", "plan_node", "fresh", "counters")
        kept = {name: torch.from_numpy(array.copy()) for name, array in zip(names, arrays, strict=True)}
        return {**kept, "ranges": self.ranges, "promises": self.promises}

    def restore(self, state: dict[str, Tensor]) -> None:
        """Continues from a saved state."""
        self.game_class, self.plan_class, self.plan_node, self.fresh = (
            state[name].numpy().copy() for name in ("game_class", "plan_class", "plan_node", "fresh")
        )
        self.searches, self.started = (int(count) for count in state["counters"])
        self.ranges, self.promises = (state[name].to(self._device).clone() for name in ("ranges", "promises"))
