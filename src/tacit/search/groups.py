"""Passes over a batch of depth-limited subgames: games at the same class of public state form a group.

The subgame of a class is stored once, and each of its rows, entries and leaves is a vector over the games of a group
(`batch.py`). All numbers are float32 tensors in that layout; numba and Triton kernels walk them (`numba_kernels.py`,
`triton_kernels.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from tacit.kernels.base import RESPOND, LeafValues, Numbers, Passes
from tacit.kernels.clock import Clock
from tacit.search.batch import Batch, Group, make_batch
from tacit.search.odds import LeafOdds
from tacit.tree.search_space import SearchSpace


class GroupKernels(Protocol):
    """The kernels that walk a batch, on one device.

    Attributes:
      device: Where the tensors are stored.
      alignment: Group sizes are multiples of this.
    """

    device: str
    alignment: int

    def reach_down(self, batch: Batch, player: int, strategy: Tensor, reach: Tensor) -> None:
        """Fills in a player's reach below the roots, which are already set."""

    def leaf_beliefs(self, batch: Batch, player: int, reach: Tensor, beliefs: Tensor) -> None:
        """Writes a player's normalised reach at every leaf into its half of `beliefs` `[2 * H, leaves]`."""

    def answer(
        self,
        batch: Batch,
        player: int,
        mode: int,
        faced: Tensor,
        leaves: LeafValues,
        numbers: tuple[Tensor, ...],
        clock: Clock,
        keep: bool = False,
    ) -> None:
        """Does what `Passes.walk_up` describes; its `numbers` are followed by scratch for the values of entries and of rows.

        With `keep`, the values of all rows stay in the latter, not only those of roots.
        """

    def move_average(self, batch: Batch, player: int, reach: Tensor, strategy: Tensor, average: Tensor, clock: Clock) -> None:
        """Moves a player's average towards reach times strategy by the clock's share."""

    def take_samples(self, batch: Batch, sample_iteration: Tensor, clock: Clock, source: Tensor, target: Tensor) -> None:
        """Copies the entries of the games that sample this iteration."""


def make_kernels(space: SearchSpace, device: str) -> GroupKernels:
    """Returns the kernels for a device: numba on the CPU, Triton on a GPU."""
    if device == "cpu":
        from tacit.search.numba_kernels import NumbaKernels

        return NumbaKernels(space)
    from tacit.search.triton_kernels import TritonKernels

    return TritonKernels(space, device)


class GroupPasses(Passes[Tensor]):
    """Passes over the subgames of games at given public belief states.

    Attributes:
      space: The game.
      kernels: The kernels that walk the batch.
      batch: Where each game's numbers are stored.
      edge_values: The value of each entry of the player of the latest upward pass.
    """

    def __init__(
        self, space: SearchSpace, kernels: GroupKernels, game_class: np.ndarray, reaches: Tensor, keeps: int | None = None
    ) -> None:
        """Lays out the games.

        Args:
          space: the game.
          kernels: the kernels of the device.
          game_class: `[B]` the class of each game's public state.
          reaches: `[B, 2, H]` the players' reaches there.
          keeps: the player for whom `row_cfv` returns the values of all rows; None for neither.
        """
        self._keeps = keeps
        self.space, self.kernels, self.device = space, kernels, kernels.device
        self.capturable = kernels.device != "cpu"
        self.backend = "torch" if self.capturable else "numba"
        self.batch = batch = make_batch(space.tables, game_class, kernels.alignment)
        self._root_reaches = batch.by_place(reaches)
        self._leaf_class = torch.from_numpy(batch.leaf_class).to(self.device)
        self.edge_values = self.zeros()
        self._cfv = [torch.zeros(int(offset[-1]), device=self.device) for offset in batch.row_offset]
        self._no_values = LeafValues(torch.zeros(2 * reaches.shape[2], len(batch.leaf_class), device=self.device))
        self._none = torch.zeros(0, device=self.device)

    def zeros(self) -> Tensor:
        return torch.zeros(int(self.batch.entry_offset[-1]), device=self.device)

    def uniform(self) -> Tensor:
        return uniform_strategy(self.space, self.batch, self.device)

    def new_reach(self, player: int) -> Tensor:
        return root_reach(self.space, self.batch, self._root_reaches[:, player], player)

    def walk_down(self, player: int, strategy: Tensor, reach: Tensor, average: Tensor | None, clock: Clock | None) -> None:
        self.kernels.reach_down(self.batch, player, strategy, reach)
        if average is not None and clock is not None:
            self.kernels.move_average(self.batch, player, reach, strategy, average, clock)

    def walk_up(self, mode: int, player: int, faced: Tensor, leaves: LeafValues | None, numbers: Numbers, clock: Clock) -> None:
        assert mode != RESPOND or numbers[2] is None, "searches respond without noise"
        given = (self._none if part is None else part for part in numbers)
        scratch = (self.edge_values, self._cfv[player])
        keep = self._keeps == player
        self.kernels.answer(self.batch, player, mode, faced, leaves or self._no_values, (*given, *scratch), clock, keep)

    def root_cfv(self, player: int) -> Tensor:
        return self._cfv[player][self._root_index[player]]

    def row_cfv(self, player: int) -> Tensor:
        assert self._keeps == player, "the values of rows were not asked for"
        return self._cfv[player]

    def add_roots(self, player: int, total: Tensor, weight: float | Tensor) -> None:
        values = self.root_cfv(player)
        if isinstance(weight, Tensor):
            total.addcmul_(values, weight)
        else:
            total.add_(values, alpha=weight)

    def set_roots(self, player: int, reach: Tensor, roots: Tensor) -> None:
        reach[self._root_index[player]] = roots

    def get_roots(self, player: int, reach: Tensor) -> Tensor:
        return reach[self._root_index[player]]

    @property
    def given_reaches(self) -> Tensor:
        """`[B, 2, H]` the players' reaches at the roots, in the games' own order."""
        return self.batch.by_game(self._root_reaches)

    def root_reaches(self, player: int, roots: Tensor) -> Tensor:
        """Returns `[B, H]` in the games' own order, from reaches of a player's root rows, laid out like `root_cfv`."""
        reaches = torch.zeros_like(self._root_reaches[:, player])
        for group in self.batch:
            part = self.batch.view(roots, self._root_offset[player], group)
            reaches[group.games, : len(part)] = part.T
        return self.batch.by_game(reaches)

    def root_values(self, totals: Sequence[Tensor], weight: float) -> Tensor:
        """Returns `[B, 2, H]` infostate values at the roots, in the games' own order, from sums of counterfactual ones.

        NaN where the opponent's beliefs and chance exclude a private state: it has no value, and none should be learnt.

        Args:
          totals: for each player, sums over iterations, laid out like `root_cfv`.
          weight: the sum of the iterations' weights.
        """
        values = torch.zeros_like(self._root_reaches)
        for group in self.batch:
            for player in (0, 1):
                sums = self.batch.view(totals[player], self._root_offset[player], group)
                likely = self._root_likelihood(player, group)[:, : len(sums)]
                values[group.games, player, : len(sums)] = sums.T / (weight * likely.where(likely > 1e-9, torch.nan))
        return self.batch.by_game(values)

    def root_cfvs(self, player: int, values: Tensor) -> Tensor:
        """Returns counterfactual values at the roots, laid out like `root_cfv`, from infostate values `[B, H]`."""
        ordered, parts = self.batch.by_place(values.to(self.device)), []
        for group in self.batch:
            count = int(self.space.tables.players[player].num_roots[group.public_class])
            parts.append((ordered[group.games] * self._root_likelihood(player, group))[:, :count].T.flatten())
        return torch.cat(parts)

    def _root_likelihood(self, player: int, group: Group) -> Tensor:
        """Returns `[games, H]` the likelihood of a player's private states at the roots, given chance and the opponent."""
        deals = torch.from_numpy(self.space.tables.deals[group.public_class]).to(self.device)
        return self._root_reaches[group.games, 1 - player] @ (deals.T if player == 0 else deals)

    @property
    def leaf_states(self) -> Tensor | None:
        return self._leaf_class if len(self._leaf_class) else None

    def new_beliefs(self) -> Tensor:
        return torch.zeros_like(self._no_values.values)

    def leaf_beliefs(self, player: int, reach: Tensor, beliefs: Tensor) -> None:
        self.kernels.leaf_beliefs(self.batch, player, reach, beliefs)

    def leaf_likelihood(self, player: int, opponent_reach: Tensor) -> Tensor:
        return self._odds.of_columns(player, opponent_reach)

    def leaf_weight(self, player: int, opponent_reach: Tensor) -> Tensor:
        return self._odds.total(1 - player, opponent_reach) * self._odds.chance

    @property
    def knows_leaves(self) -> bool:
        return all(bool((t.num_roots[self.batch.leaf_class] == 1).all()) for t in self.space.tables.players)

    def move(self, rows: Tensor, other: Tensor, weight: float | Tensor) -> None:
        rows.lerp_(other, weight)

    def normalise(self, weights: Tensor) -> Tensor:
        totals = self.over_infostates(weights)
        return torch.where(totals > 0, weights / totals.where(totals > 0, 1.0), self.uniform())

    def greedy(self, strategy: Tensor) -> Tensor:
        """Returns strategies that play only the likeliest action, or those that tie evenly."""
        return self.normalise((strategy == self.over_infostates(strategy, "amax")).float())

    def take_samples(self, sample_iteration: Tensor, clock: Clock, source: Tensor, target: Tensor) -> None:
        self.kernels.take_samples(self.batch, sample_iteration, clock, source, target)

    def take_roots(self, player: int, sample_iteration: Tensor, clock: Clock, source: Tensor, target: Tensor) -> None:
        iteration = clock.iteration if clock.counter is None else clock.counter  # a captured graph reads the device's counter
        sampled = (sample_iteration == iteration)[self._root_places[player]]
        target.copy_(source.where(sampled, target))

    def over_infostates(self, numbers: Tensor, how: str = "sum") -> Tensor:
        """Returns for each entry the sum, or with `amax` the largest (if positive), over the entries of its infostate."""
        batch, reduced = self.batch, torch.empty_like(numbers)
        for group in batch:
            tree, view = self.space.subgames[group.public_class].tree, batch.view(numbers, batch.entry_offset, group)
            infostate = torch.from_numpy(tree.entry_infostate.astype(np.int64)).to(numbers.device)[:, None].expand_as(view)
            found = torch.zeros(tree.num_infostates, group.size, device=numbers.device).scatter_reduce_(0, infostate, view, how)
            batch.view(reduced, batch.entry_offset, group).copy_(found.gather(0, infostate))
        return reduced

    def entries_of(self, player: int) -> Tensor:
        """Returns 1.0 at a player's entries, 0.0 at the other's."""
        t = self.space.tables
        return (self.batch.spread(t.entry_start, t.entry_player, self.device) == player).float()

    @cached_property
    def _odds(self) -> LeafOdds:
        return LeafOdds(self.space, self.batch, self.device)

    @cached_property
    def _root_offset(self) -> list[np.ndarray]:
        """For each player, `[K + 1]` where each group's roots begin among those of all groups."""
        counts = [t.num_roots[self.batch.group_class] * self.batch.group_size for t in self.space.tables.players]
        return [np.concatenate([[0], np.cumsum(part)]) for part in counts]

    @cached_property
    def _root_places(self) -> list[Tensor]:
        """For each player, the place of the game that each root row belongs to."""
        places = []
        for table in self.space.tables.players:
            parts = [np.tile(np.arange(g.games.start, g.games.stop), int(table.num_roots[g.public_class])) for g in self.batch]
            places.append(torch.from_numpy(np.concatenate(parts)).to(self.device))
        return places

    @cached_property
    def _root_index(self) -> list[Tensor]:
        """For each player, the indices of the roots among the rows: the first rows of each group."""
        index = []
        for player in (0, 1):
            offset, sizes = self._root_offset[player], np.diff(self._root_offset[player])
            rows = np.arange(offset[-1]) + np.repeat(self.batch.row_offset[player][:-1] - offset[:-1], sizes)
            index.append(torch.from_numpy(rows.astype(np.int64)).to(self.device))
        return index


def uniform_strategy(space: SearchSpace, batch: Batch, device: str | torch.device) -> Tensor:
    """Returns the uniform strategy of every game of a batch."""
    per_entry = (1.0 / space.tables.num_entry_actions).astype(np.float32)
    return batch.spread(space.tables.entry_start, per_entry, device)


def root_reach(space: SearchSpace, batch: Batch, reaches: Tensor, player: int) -> Tensor:
    """Returns a player's reach of all rows with the roots set, from `[B, H]` in the batch's order."""
    reach = torch.zeros(int(batch.row_offset[player][-1]), device=reaches.device)
    for group in batch:
        count = int(space.tables.players[player].num_roots[group.public_class])
        batch.view(reach, batch.row_offset[player], group)[:count] = reaches[group.games, :count].T
    return reach
