"""Sound self-play (Student of Games; Oscarsson et al., Algorithm 1): two agents re-solve, thousands of games advance in step.

In each game both agents search by continual re-solving: each at its own decisions and at the leaves of its last search, from
its own range and the values that it promised the other. Every search hands in some of its queries (`search/queries.py`).

Where we differ: private states are summed out, so a public move is drawn by its total probability under both agents' ranges,
and no cards are dealt. Searches at the start of the game depend on the network alone, so one serves several games that start
together, and hands in as many queries as its leaves allow.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from tacit.search.continual import Spots, resolve
from tacit.search.moves import PlanTables, PublicMoves
from tacit.search.queries import Queries, asked_queries, joined
from tacit.search.search import BatchSearch
from tacit.search.walk import GAME_OVER, sample_leaves

SHARED = 4
"""Games that start together from one search."""


class SoundSelfPlay:
    """Games between two agents who re-solve continually.

    Attributes:
      game_class: `[G]` the class of each game's public state.
      ranges: `[G, 2, H]` each agent's own range, by the strategies that it computed, without the uniform mix.
      plan_class: `[G, 2]` the class that each agent last searched from.
      plan_node: `[G, 2]` where the game is now in that search tree.
      promises: `[G, 2, S, H]` what each agent promised the other where it searches next.
      fresh: `[G]` True where a game is about to start.
      searches: Searches so far.
      started: Games that started so far.
    """

    def __init__(
        self, search: BatchSearch, num_games: int, mix: float, queries_per_search: float, generator: np.random.Generator
    ) -> None:
        """Begins all games.

        Args:
          search: how agents search.
          num_games: `G`.
          mix: the share of uniform play in the moves of games.
          queries_per_search: queries that a search hands in, on average.
          generator: everything random.
        """
        self.search, self.generator = search, generator
        self._mix, self._per_search = mix, queries_per_search
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

    def advance(self) -> Queries:
        """Returns queries of this step's searches; every game makes one public move, and those that end start anew."""
        tables = self.search.decisions
        strategy = torch.zeros(len(self.game_class), *tables.legal.shape[1:], device=self._device)
        queries = []
        for seat in (0, 1):
            spot = self._plans.spot(seat, self.plan_class[:, seat], self.plan_node[:, seat])
            games = np.flatnonzero((spot >= 0) & ~self.fresh)
            if len(games):
                spots = Spots(self.game_class[games], self.ranges[games], self.promises[games, seat, spot[games]])
                queries.append(self._search(seat, spots, games, np.arange(len(games)), strategy, self._per_search))
            if self.fresh.any():
                queries.append(self._open(seat, strategy))
        self._move(strategy)
        return joined(queries)

    def _open(self, seat: int, strategy: Tensor) -> Queries:
        """Searches for the games that start: games at the same public state share searches."""
        games = np.flatnonzero(self.fresh)
        games = games[np.argsort(self.game_class[games], kind="stable")]
        classes, first, count = np.unique(self.game_class[games], return_index=True, return_counts=True)
        copies = -(-count // SHARED)
        rank = np.arange(len(games)) - np.repeat(first, count)
        search_of = np.repeat(np.cumsum(copies) - copies, count) + rank % np.repeat(copies, count)
        spots = Spots(np.repeat(classes, copies), self.ranges[games[np.repeat(first, copies)]], None)
        shared = self._per_search * len(games) / len(spots.public_class)
        return self._search(seat, spots, games, search_of, strategy, shared)

    def _search(
        self, seat: int, spots: Spots, games: np.ndarray, search_of: np.ndarray, strategy: Tensor, per_search: float
    ) -> Queries:
        """Returns queries of searches; their plans become those of the games.

        Args:
          seat: who searches.
          spots: where.
          games: `[n]` the games whose plans these are.
          search_of: `[n]` the search of each.
          strategy: `[G, H, A]` receives what the seat plays where it acts.
          per_search: queries of a search.
        """
        search, tables = self.search, self.search.decisions
        sample = self.generator.integers(1, search.config.iterations + 1, len(spots.public_class))
        result, found = resolve(search, seat, spots, True, sample)
        self.searches += len(sample)
        for part in found:
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
        return asked_queries(search, result, per_search, self.generator)

    def _move(self, strategy: Tensor) -> None:
        """Makes a public move in every game: drawn with the uniform mix, followed by ranges without it."""
        classes = torch.from_numpy(self.game_class).to(self._device)
        legal = self.search.decisions.legal[classes]
        uniform = legal / legal.sum(2, keepdim=True).clamp_min(1)
        chances = self._moves.chances(classes, self.ranges, strategy.lerp(uniform, self._mix))
        draws = torch.from_numpy(self.generator.random(len(classes), np.float32)).to(self._device)
        move = sample_leaves(chances, draws)
        goes_on = move != GAME_OVER
        new_class, self.ranges = self._moves.follow(classes, self.ranges, strategy, move.clamp_min(0))
        keep, made = goes_on.cpu().numpy(), move.cpu().numpy()
        self.fresh[:] = False
        self.game_class = new_class.cpu().numpy()
        for seat in (0, 1):
            plan_class, node = self.plan_class[keep, seat], self.plan_node[keep, seat]
            self.plan_node[keep, seat] = self._plans.child(plan_class, node, made[keep])
        self._restart(np.flatnonzero(~keep))

    def _restart(self, games: np.ndarray) -> None:
        """Has games start anew: at one of several public states where a public chance event opens."""
        root = self.generator.choice(len(self._root_chances), len(games), p=self._root_chances)
        self.game_class[games], self.fresh[games] = self.search.space.root_class[root], True
        self.ranges[games] = self._root_reaches[torch.from_numpy(root).to(self._device)]
        self.plan_class[games], self.plan_node[games] = self.game_class[games, None], 0
        self.started += len(games)

    def state(self) -> dict[str, Tensor]:
        """Returns everything there is to restore."""
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
