"""A running batch of searches: one half-iteration at a time, on any device."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from tacit.errors import TacitError
from tacit.search.batch import Batch, make_batch
from tacit.search.config import CFR_AVE, CFR_D, MODIFIED_CFR_AVE, SearchConfig
from tacit.search.leaves import LeafEvaluator, LeafOracle
from tacit.search.numbers import Clock, SearchKernels, SearchNumbers
from tacit.search.odds import LeafOdds
from tacit.search.tables import SearchSpace
from tacit.solvers.schedules import RegretSchedule, ResponseSchedule, Schedule, plain_schedule


class SearchState:
    """All games of a batch between their first and last iteration.

    A half-iteration values all leaves of all games in one batch, updates one player everywhere, and computes its new reach.

    Attributes:
      numbers: strategies, regrets, averages, reaches.
      beliefs: `[2 * H, leaves]` where leaves are valued: at the present strategies (CFR-D) or their averages.
      sampled: the strategies of each game's sampled iteration.
      believed: those that define its beliefs: the same for CFR-D, else the average's weights.
      period: iterations after which the evaluator is asked again.
    """

    def __init__(
        self,
        space: SearchSpace,
        kernels: SearchKernels,
        config: SearchConfig,
        game_class: np.ndarray,
        reaches: Tensor,
        sample_iteration: np.ndarray,
    ) -> None:
        self.space, self.kernels, self._config = space, kernels, config
        self._schedule = schedule = plain_schedule(config.solver)
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
        steps = iteration_steps(schedule, config.iterations).to(device)
        self.clock = Clock(0, steps, torch.zeros(1, dtype=torch.int64, device=device))
        self._from_average = isinstance(schedule, ResponseSchedule) or config.decomposition != CFR_D
        self._alternating = config.alternating and schedule.alternating
        self.sampled = torch.zeros_like(strategy)
        self.believed = torch.zeros_like(strategy) if self._from_average else self.sampled
        self.beliefs = torch.zeros(2 * self.H, len(batch.leaf_class), device=device)
        self._leaf_class = torch.from_numpy(batch.leaf_class).to(device)
        self._values: list[Tensor | None] = [None, None]
        # Where everyone's private state is known, nothing that is played can change a leaf's value.
        known = all((table.num_roots[batch.leaf_class] == 1).all() for table in space.tables.players)
        self._asks_once, self.period = known, 1 if known else config.recycle
        self._iterated = 0
        for player in (0, 1):
            kernels.reach_down(batch, player, strategy, reach[player])
            kernels.leaf_beliefs(batch, player, reach[player], self.beliefs)
        self._mean_reach = [rows.clone() for rows in reach]
        weights = average_weights(schedule, config.iterations)
        self._shares = torch.from_numpy(weights / np.cumsum(weights)).float().to(device)
        if isinstance(schedule, ResponseSchedule):
            self._optimism = torch.tensor([schedule.optimism(t) for t in range(config.iterations + 1)]).to(device)
            self._count_uniform_strategy(weights[0])
        if config.decomposition == MODIFIED_CFR_AVE:
            self._odds = LeafOdds(space, batch, device)
            self._before = [torch.zeros(self.H, len(batch.leaf_class), device=device) for _ in (0, 1)]

    def iterate(self, evaluator: LeafEvaluator) -> None:
        """Runs one iteration: both players answer once. All that depends on the iteration is read from tensors."""
        self.clock.iteration += 1
        self.clock.counter += 1
        self._iterated += 1
        regrets = isinstance(self._schedule, RegretSchedule)
        if regrets:  # the average holds the strategies before their update
            self.kernels.take_samples(self.numbers, self.clock, self.numbers.strategy, self.sampled)
        for players in ((0,), (1,)) if self._alternating else ((0, 1),):
            if self._asks(players[0]):
                self._ask(players, evaluator)
            for player in players:
                self._answer(player)
            for player in players:
                self._move(player)
        if not regrets:
            self.kernels.take_samples(self.numbers, self.clock, self.numbers.strategy, self.sampled)
        if self._from_average:
            self.kernels.take_samples(self.numbers, self.clock, self.numbers.average, self.believed)

    def follow(self, strategy: Tensor) -> None:
        """Plays one iteration with given strategies in a subgame without leaves: the roots' values are then theirs."""
        self.clock.iteration += 1
        self.clock.counter += 1
        self.numbers.strategy.copy_(strategy)
        for player in (0, 1):
            self.kernels.reach_down(self.batch, player, strategy, self.numbers.reach[player])
        for player in (0, 1):
            self.kernels.update_regrets(self.numbers, player, self.beliefs, self.clock)

    def _asks(self, player: int) -> bool:
        if self._asks_once:
            return self._values[player] is None
        return (self._iterated - 1) % self.period == 0

    def _ask(self, players: tuple[int, ...], evaluator: LeafEvaluator) -> None:
        """Has all leaves valued for the given players, or for both and good where the values cannot change."""
        values = self.value_leaves(evaluator)
        for player in (0, 1) if self._asks_once else players:
            self._values[player] = values
        if self._config.decomposition == MODIFIED_CFR_AVE and self.clock.iteration == 1 and players[0] == 0:
            # Player 1 first answers player 0's second strategy: what the first was worth must be known by then.
            self._before[1].copy_(values[self.H :] * self._odds.of_columns(1, self._mean_reach[0]))

    def value_leaves(self, evaluator: LeafEvaluator) -> Tensor:
        """Returns `[2 * H, leaves]` the infostate values of all leaves at the present beliefs."""
        if not len(self._leaf_class):
            return self.beliefs
        if self._config.decomposition == CFR_AVE and isinstance(self._schedule, RegretSchedule):
            played = torch.zeros_like(self.beliefs)
            for player in (0, 1):
                self.kernels.leaf_beliefs(self.batch, player, self.numbers.reach[player], played)
            if not isinstance(evaluator, LeafOracle):
                raise TacitError("cfr-ave needs leaves that are solved: use an oracle, or modified-cfr-ave with a network")
            return evaluator.evaluate_played(self._leaf_class, self.beliefs, played)
        return evaluator.evaluate(self._leaf_class, self.beliefs)

    def _answer(self, player: int) -> None:
        """Updates a player's strategy."""
        values, s = self._values[player], self.numbers
        assert values is not None
        if isinstance(self._schedule, ResponseSchedule):
            other = 1 - player
            # The response leans to the opponent's latest one.
            faced = torch.lerp(self._mean_reach[other], s.reach[other], self._optimism[self.clock.counter])
            self.kernels.best_response(s, player, faced, values, self.clock)
        elif self._config.decomposition == MODIFIED_CFR_AVE:
            self.kernels.update_regrets(s, player, self._latest_part(player, values), self.clock, weighted=True)
        else:
            self.kernels.update_regrets(s, player, values, self.clock)

    def follow_reach(self, player: int) -> None:
        """Takes a first strategy over: the player's reach, the same on average, and the beliefs at the leaves."""
        s = self.numbers
        self.kernels.reach_down(self.batch, player, s.strategy, s.reach[player])
        self._mean_reach[player].copy_(s.reach[player])
        self.kernels.leaf_beliefs(self.batch, player, s.reach[player], self.beliefs)

    def start_after(self, iterations: int, values: Tensor) -> None:
        """Goes on as if so many iterations had passed with the strategies that `values` belong to; new ones have been set."""
        if self._config.decomposition == MODIFIED_CFR_AVE:
            for player in (0, 1):
                mine = values[player * self.H : (player + 1) * self.H]
                self._before[player].copy_(mine * self._odds.of_columns(player, self._mean_reach[1 - player]))
        self.clock.iteration = iterations
        self.clock.counter.fill_(iterations)
        for player in (0, 1):
            self._move(player)

    def entries_of(self, player: int) -> Tensor:
        """Returns 1.0 at a player's entries, 0.0 at the other's."""
        t, like = self.space.tables, self.numbers.strategy
        return (self.batch.spread(t.entry_start, t.entry_player, like.device) == player).to(like)

    def _move(self, player: int) -> None:
        """Follows a player's new strategy: its reach, its average, and its beliefs at the leaves."""
        s = self.numbers
        self.kernels.reach_down(self.batch, player, s.strategy, s.reach[player])
        if isinstance(self._schedule, ResponseSchedule):
            self.kernels.add_to_average(s, player, self.clock)
        if self._from_average:
            self._mean_reach[player].lerp_(s.reach[player], self._shares[self.clock.counter])
        self.kernels.leaf_beliefs(
            self.batch, player, (self._mean_reach if self._from_average else s.reach)[player], self.beliefs
        )

    def _latest_part(self, player: int, values: Tensor) -> Tensor:
        """Returns `[2 * H, leaves]` counterfactual values of the opponent's latest strategy (modified CFR-AVE, appendix E).

        With `share` the latest strategy's weight in the average, `average = (1 - share) * before + share * latest`. So the
        values at the present average and at the one before give those of the latest strategy, were the leaves' own
        strategies to stay the same.
        """
        mine = slice(player * self.H, (player + 1) * self.H)
        now = values[mine] * self._odds.of_columns(player, self._mean_reach[1 - player])
        ahead = 1 if player == 1 and self._alternating else 0  # player 0 has moved already
        share = self._shares[self.clock.counter - 1 + ahead]
        weighted = torch.zeros_like(values)
        weighted[mine] = (now - (1.0 - share) * self._before[player]) / share
        self._before[player].copy_(now)
        return weighted

    def value_averages(self, evaluator: LeafEvaluator) -> None:
        """Replaces the roots' values of fictitious play by those of the averages (ReBeL, footnote 5).

        What it sums on the way are values of responses: both players' are too high, by as much as the averages could be
        exploited, and a network that learnt them would pass the error on to every search above.
        """
        s, averages = self.numbers, self.numbers.average.clone()
        s.strategy.copy_(self.normalised(averages))
        total = self.clock.steps[:, -1].sum()
        once = Clock(1, torch.stack([torch.zeros_like(total)] * 4 + [total])[None], torch.ones_like(self.clock.counter))
        values = self.value_leaves(evaluator)
        for player in (0, 1):
            s.reach[player].copy_(self._mean_reach[player])
            s.root_sum[player].zero_()
        for player in (0, 1):
            self.kernels.update_regrets(s, player, values, once)
        s.average.copy_(averages)

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
        totals = over_infostates(self, weights)
        uniform = uniform_strategy(self.space, self.batch, weights.device)
        return torch.where(totals > 0, weights / totals.where(totals > 0, 1.0), uniform)

    def greedy(self, strategy: Tensor) -> Tensor:
        """Returns strategies that play the likeliest action alone, or evenly those that tie."""
        return self.normalised((strategy == over_infostates(self, strategy, "amax")).float())

    def _count_uniform_strategy(self, weight: float) -> None:
        before = Clock(1, torch.full_like(self.clock.steps[:1], weight), torch.ones_like(self.clock.counter))
        for player in (0, 1):
            self.kernels.add_to_average(self.numbers, player, before)


def average_weights(schedule: Schedule, iterations: int) -> np.ndarray:
    """Returns `[T + 1]` the weights in the average of a player's strategies after 0, 1, ... updates."""
    if isinstance(schedule, RegretSchedule):
        return np.array([schedule.step(t + 1).average_weight for t in range(iterations + 1)])
    shares = np.array([1.0, *(schedule.step_size(t) for t in range(1, iterations + 1))])
    kept = np.append(np.cumprod((1.0 - shares)[:0:-1])[::-1], 1.0)  # by all later steps together
    weights: np.ndarray = shares * kept / kept[0]
    return weights


def iteration_steps(schedule: Schedule, iterations: int) -> Tensor:
    """Returns `[T, 5]` float32 the step of each iteration: kernels that read another type do not compile on a GPU."""
    if isinstance(schedule, RegretSchedule):
        return torch.tensor([tuple(schedule.step(t)) for t in range(1, iterations + 1)], dtype=torch.float32)
    weights = average_weights(schedule, iterations)[1:]
    return torch.tensor([[0.0, 0.0, 0.0, 0.0, weight] for weight in weights], dtype=torch.float32)


def over_infostates(state: SearchState, numbers: Tensor, how: str = "sum") -> Tensor:
    """Returns for every entry the sum, or with `amax` the largest (if positive), of the entries of its infostate."""
    batch, reduced = state.batch, torch.empty_like(numbers)
    for group in batch:
        tree, view = state.space.subgames[group.public_class].tree, batch.view(numbers, batch.entry_offset, group)
        infostate = torch.from_numpy(tree.entry_infostate.astype(np.int64)).to(numbers.device)[:, None].expand_as(view)
        found = torch.zeros(tree.num_infostates, group.size, device=numbers.device).scatter_reduce_(0, infostate, view, how)
        batch.view(reduced, batch.entry_offset, group).copy_(found.gather(0, infostate))
    return reduced


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
