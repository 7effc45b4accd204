"""A running batch of searches: one half-iteration at a time, on any device."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from tacit.search.batch import Batch, Group, make_batch
from tacit.search.leaves import LeafEvaluator
from tacit.search.numbers import Clock, SearchKernels, SearchNumbers
from tacit.search.tables import SearchSpace
from tacit.solvers.schedules import RegretSchedule, ResponseSchedule, Schedule


class SearchState:
    """All games of a batch between their first and last iteration.

    Attributes:
      numbers: strategies, regrets, averages, reaches.
      beliefs: `[2 * H, leaves]`.
      sampled: the strategies of each game's sampled iteration.
      believed: those that define its beliefs: the same for CFR-D, the average's weights for fictitious play.
    """

    def __init__(
        self,
        space: SearchSpace,
        kernels: SearchKernels,
        schedule: Schedule,
        iterations: int,
        game_class: np.ndarray,
        reaches: Tensor,
        sample_iteration: np.ndarray,
    ) -> None:
        self.space, self._kernels, self._schedule = space, kernels, schedule
        device = kernels.device
        self.H = int(reaches.shape[2])
        batch = self.batch = make_batch(space.tables, game_class, kernels.alignment)
        order = torch.from_numpy(batch.order)
        self._place = torch.from_numpy(batch.place).to(device)
        self._root_reaches = reaches[order.to(device)]
        strategy = uniform_strategy(space, batch, device)
        reach = [root_reach(space, batch, self._root_reaches[:, player], player) for player in (0, 1)]
        self.numbers = SearchNumbers(
            batch=batch,
            strategy=strategy,
            regret=torch.zeros_like(strategy),
            average=torch.zeros_like(strategy),
            edge_value=torch.zeros_like(strategy),
            reach=reach,
            cfv=[torch.zeros_like(rows) for rows in reach],
            root_sum=[torch.zeros_like(rows) for rows in reach],
            sample_iteration=torch.from_numpy(sample_iteration.astype(np.int64))[order].to(device),
        )
        self.clock = Clock(0, _weights(schedule, iterations).to(device), torch.zeros(1, dtype=torch.int64, device=device))
        self.sampled = torch.zeros_like(strategy)
        self.believed = torch.zeros_like(strategy) if isinstance(schedule, ResponseSchedule) else self.sampled
        self.beliefs = torch.zeros(2 * self.H, len(batch.leaf_class), device=device)
        self._leaf_class = torch.from_numpy(batch.leaf_class).to(device)
        for player in (0, 1):
            kernels.reach_down(batch, player, strategy, reach[player])
            kernels.leaf_beliefs(batch, player, reach[player], self.beliefs)
        self._mean_reach = [rows.clone() for rows in reach]
        if isinstance(schedule, ResponseSchedule):
            self._shares, self._optimism = (table.to(device) for table in _mixtures(schedule, iterations))
            self._count_uniform_strategy(schedule)

    def iterate(self, evaluator: LeafEvaluator) -> None:
        """Runs one iteration: both players answer once. All that depends on the iteration is read from tensors."""
        self.clock.iteration += 1
        self.clock.counter += 1
        if isinstance(self._schedule, RegretSchedule):  # the average holds the strategies before their update
            self._kernels.take_samples(self.numbers, self.clock, self.numbers.strategy, self.sampled)
        for player in (0, 1):
            values = evaluator.evaluate(self._leaf_class, self.beliefs) if len(self._leaf_class) else self.beliefs
            if isinstance(self._schedule, RegretSchedule):
                self._match_regrets(player, values)
            else:
                self._respond(player, values)
        if isinstance(self._schedule, ResponseSchedule):
            self._kernels.take_samples(self.numbers, self.clock, self.numbers.strategy, self.sampled)
            self._kernels.take_samples(self.numbers, self.clock, self.numbers.average, self.believed)

    def root_values(self) -> Tensor:
        """Returns `[B, 2, H]` the mean infostate values at the roots, in the games' own order.

        NaN where the opponent's beliefs and chance exclude a private state: it has no value, and none should be learnt.
        """
        values = torch.zeros_like(self._root_reaches)
        total = float(self.clock.steps[:, -1].double().sum())
        for group in self.batch:
            deals = torch.from_numpy(self.space.tables.deals[group.public_class]).to(values.device)
            for player in (0, 1):
                count = int(self.space.tables.players[player].num_roots[group.public_class])
                likely = self._root_reaches[group.games, 1 - player] @ (deals.T if player == 0 else deals)
                likely = likely.where(likely > 1e-9, torch.nan)[:, :count]
                sums = self.batch.view(self.numbers.root_sum[player], self.batch.row_offset[player], group)[:count]
                values[group.games, player, :count] = sums.T / (total * likely)
        return values[self._place]

    def normalised(self, weights: Tensor) -> Tensor:
        """Returns entries scaled to sum to 1 at each infostate; uniform where they are all zero."""
        strategy = torch.empty_like(weights)
        for group in self.batch:
            part = _normalise_group(self.space, group, self.batch.view(weights, self.batch.entry_offset, group))
            self.batch.view(strategy, self.batch.entry_offset, group).copy_(part)
        return strategy

    def _match_regrets(self, player: int, values: Tensor) -> None:
        self._kernels.update_regrets(self.numbers, player, values, self.clock)
        self._kernels.reach_down(self.batch, player, self.numbers.strategy, self.numbers.reach[player])
        self._kernels.leaf_beliefs(self.batch, player, self.numbers.reach[player], self.beliefs)

    def _respond(self, player: int, values: Tensor) -> None:
        """Answers the opponent's average (leaning to its latest response), and moves the own average."""
        s, other, now = self.numbers, 1 - player, self.clock.counter - 1
        faced = torch.lerp(self._mean_reach[other], s.reach[other], self._optimism[now])
        self._kernels.best_response(s, player, faced, values, self.clock)
        self._kernels.reach_down(self.batch, player, s.strategy, s.reach[player])
        self._kernels.add_to_average(s, player, self.clock)
        self._mean_reach[player].lerp_(s.reach[player], self._shares[now])
        self._kernels.leaf_beliefs(self.batch, player, self._mean_reach[player], self.beliefs)

    def _count_uniform_strategy(self, schedule: ResponseSchedule) -> None:
        weights = torch.full_like(self.clock.steps[:1], schedule.average_weight(0))
        before = Clock(1, weights, torch.ones_like(self.clock.counter))
        for player in (0, 1):
            self._kernels.add_to_average(self.numbers, player, before)


def _weights(schedule: Schedule, iterations: int) -> Tensor:
    """Returns `[T, 5]` the step of each iteration."""
    if isinstance(schedule, RegretSchedule):
        return torch.tensor([tuple(schedule.step(t)) for t in range(1, iterations + 1)], dtype=torch.float32)
    return torch.tensor([[0.0, 0.0, 0.0, 0.0, schedule.average_weight(t)] for t in range(1, iterations + 1)])


def _mixtures(schedule: ResponseSchedule, iterations: int) -> tuple[Tensor, Tensor]:
    """Returns `[T]` each response's share in the average that holds it, and `[T]` the optimism of each iteration."""
    weights = np.array([schedule.average_weight(t) for t in range(iterations + 1)])
    shares = (weights / np.cumsum(weights))[1:]
    optimism = [schedule.optimism(t) for t in range(1, iterations + 1)]
    return torch.from_numpy(shares).float(), torch.tensor(optimism)


def _normalise_group(space: SearchSpace, group: Group, weights: Tensor) -> Tensor:
    tree = space.subgames[group.public_class].tree
    infostate = torch.from_numpy(tree.entry_infostate.astype(np.int64)).to(weights.device)
    totals = torch.zeros(tree.num_infostates, group.size, device=weights.device).index_add_(0, infostate, weights)[infostate]
    uniform = torch.from_numpy(tree.uniform_strategy()).float().to(weights.device)[:, None]
    return torch.where(totals > 0, weights / totals.where(totals > 0, 1.0), uniform)


def uniform_strategy(space: SearchSpace, batch: Batch, device: str | torch.device) -> Tensor:
    """Returns the uniform strategy of every game of a batch."""
    strategy = torch.empty(int(batch.entry_offset[-1]), device=device)
    per_entry = torch.from_numpy(1.0 / space.tables.num_entry_actions).float().to(device)
    for group in batch:
        start, end = space.tables.entry_start[group.public_class : group.public_class + 2]
        batch.view(strategy, batch.entry_offset, group).copy_(per_entry[start:end, None].expand(-1, group.size))
    return strategy


def root_reach(space: SearchSpace, batch: Batch, reaches: Tensor, player: int) -> Tensor:
    """Returns a player's reach of all rows with the roots set, from `[B, H]` in the batch's order."""
    reach = torch.zeros(int(batch.row_offset[player][-1]), device=reaches.device)
    for group in batch:
        count = int(space.tables.players[player].num_roots[group.public_class])
        batch.view(reach, batch.row_offset[player], group)[:count] = reaches[group.games, :count].T
    return reach
