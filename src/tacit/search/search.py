"""Search from many public belief states at once: CFR and fictitious play in depth-limited subgames (ReBeL, section 5.1)."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from tacit.errors import TacitError
from tacit.kernels.base import LeafEvaluator
from tacit.search.batch import Batch
from tacit.search.config import SearchConfig
from tacit.search.decisions import DecisionTables
from tacit.search.groups import GroupPasses, make_kernels
from tacit.search.warm import Policy, warm_start
from tacit.solvers.driver import Driver, DriverOptions
from tacit.solvers.gadget import Gadget
from tacit.solvers.schedules import (
    RegretSchedule,
    draw_iterations,
    iteration_weights,
    plain_schedule,
    without_warm_up,
)
from tacit.solvers.warm import WARM_ITERATIONS
from tacit.tree.search_space import SearchSpace

if TYPE_CHECKING:
    from tacit.search.continual import Plan


class SearchResult:
    """What a batch of searches found.

    Attributes:
      batch: The layout of the strategies.
      values: `[B, 2, H]` both players' infostate values at the roots, averaged over the iterations like the strategies (in
        fictitious play, the values of the average strategies); NaN where a private state is impossible.
      sampled_strategy: The strategies of each game's sampled iteration, both players' entries.
    """

    def __init__(self, driver: Driver, passes: GroupPasses, values: Tensor, weight: float) -> None:
        self._driver, self._passes, self._weight = driver, passes, weight
        self.batch: Batch = passes.batch
        self.values = values
        self.sampled_strategy: Tensor = driver.sampled

    @property
    def believed_strategy(self) -> Tensor:
        """The strategies at which leaves were valued in each game's sampled iteration: they define the beliefs below the root.

        In CFR-D they are the sampled ones; in fictitious play and CFR-AVE they are the averages up to that iteration.
        """
        sampled, believed = self.sampled_strategy, self._driver.believed
        return sampled if believed is sampled else self._passes.normalise(believed)

    @property
    def sampled_reaches(self) -> Tensor:
        """`[B, 2, H]` the root reaches that go with `believed_strategy`: a gadget changes those of its player."""
        reaches, gadget = self._passes.given_reaches, self._driver.options.gadget
        if gadget is not None:
            reaches = reaches.clone()
            reaches[:, gadget.player] = self._passes.root_reaches(gadget.player, self._driver.sampled_roots)
        return reaches

    @property
    def average_strategy(self) -> Tensor:
        """The average strategies at the end."""
        return self._passes.normalise(self._driver.average)

    @property
    def row_values(self) -> Tensor:
        """The counterfactual values of all rows of player `values_rows`, averaged like the strategies: its promised values."""
        values: Tensor = self._driver.row_sum / self._weight
        return values

    def to_play(self, safe: bool) -> tuple[Tensor, Tensor]:
        """Returns the strategies to play with, and those that define the beliefs below the root.

        Safe search plays one random iteration, so that the opponent cannot know the beliefs used against it; unsafe search
        plays the average and believes that everyone does (ReBeL, section 6). CFR-AVE plays that iteration and believes the
        average up to it (appendix E); fictitious play plays and believes this average. With perfect information there is no
        reason to mix, and the likeliest action of the average is played.
        """
        if self._passes.space.perfect_information:
            played = believed = self._passes.greedy(self.average_strategy)
        elif not safe:
            played = believed = self.average_strategy
        else:
            believed = self.believed_strategy
            played = believed if self._driver.responds else self.sampled_strategy
        return played, believed


class BatchSearch:
    """Runs batches of searches in one game, on the device of its kernels.

    Attributes:
      plans: Where a player searches next, by class, player, and whether it searches at all decisions (`continual.resolve`).

    Args:
      space: the game.
      evaluator: values the leaves.
      config: how to search.
      device: `cpu` or `cuda`.
      policy: what regret matching starts from, counted as `WARM_ITERATIONS`; None starts from uniform play.
    """

    def __init__(
        self,
        space: SearchSpace,
        evaluator: LeafEvaluator,
        config: SearchConfig,
        device: str = "cpu",
        policy: Policy | None = None,
    ) -> None:
        self.space = space
        self.policy = policy
        self.evaluator = evaluator
        self.config = config
        self.kernels = make_kernels(space, device)
        self.plans: dict[tuple[int, int, bool], Plan] = {}
        named = plain_schedule(config.solver)
        if config.warm_up:
            named = without_warm_up(named, config.warm_up)
        self._schedule = replace(named, alternating=config.alternating and named.alternating)

    @property
    def warm_iterations(self) -> int:
        """The iterations that the policy counts as."""
        return WARM_ITERATIONS if self.policy is not None and isinstance(self._schedule, RegretSchedule) else 0

    def iterations_at(self, quantiles: np.ndarray) -> np.ndarray:
        """Returns the iterations, from 1, at quantiles of their weights in the average; uniform quantiles give random ones."""
        return draw_iterations(self._schedule, self.config.iterations, quantiles)

    def run(
        self,
        game_class: np.ndarray,
        reaches: Tensor,
        sample_iteration: np.ndarray | None = None,
        promised: tuple[int, Tensor] | None = None,
        values_rows: int | None = None,
    ) -> SearchResult:
        """Returns the result of searching from every given public belief state.

        Args:
          game_class: `[B]` the class of each game's public state.
          reaches: `[B, 2, H]` the players' reaches there.
          sample_iteration: `[B]` the iteration, from 1, whose strategies each game samples; None samples the first.
          promised: for safe re-solving, the opponent and `[B, H]` the infostate values that it was promised here: it may
            opt out of the subgame for them (`solvers/gadget.py`), and its own reaches are ignored.
          values_rows: the player whose values at all rows are kept (`SearchResult.row_values`).

        Raises:
          TacitError: fictitious play was asked to re-solve.
        """
        config, matches, gadget = self.config, isinstance(self._schedule, RegretSchedule), None
        if promised is not None:
            if not matches:
                raise TacitError("re-solving needs regret matching: choose a solver of the CFR family, such as dcfr")
            reaches = reaches.clone()
            counts = torch.from_numpy(self.space.tables.players[promised[0]].num_roots[game_class])[:, None]
            reaches[:, promised[0]] = (torch.arange(reaches.shape[2]) < counts).to(reaches)
        passes = GroupPasses(self.space, self.kernels, game_class, reaches, values_rows)
        if promised is not None:
            gadget = Gadget(promised[0], passes.root_cfvs(*promised))
        options = DriverOptions(self.evaluator, config.decomposition, config.recycle, gadget, matches, values_rows)
        driver = Driver(passes, self._schedule, options)
        if sample_iteration is None:
            sample_iteration = np.ones(len(game_class), np.int64)
        driver.sample(passes.batch.by_place(torch.from_numpy(sample_iteration).to(passes.device)))
        if self.policy is not None and isinstance(self._schedule, RegretSchedule):
            if config.iterations <= self.warm_iterations:
                raise TacitError(f"a warm start counts as {self.warm_iterations} iterations: search for more than that")
            warm_start(driver, passes, self.decisions, self.policy)
        driver.run(config.iterations - driver.iteration)
        weight = float(iteration_weights(self._schedule, config.iterations).sum())
        if driver.root_sum is not None:
            return SearchResult(driver, passes, passes.root_values(driver.root_sum, weight), weight)
        return SearchResult(driver, passes, self._values_of_averages(driver, passes), weight)

    def _values_of_averages(self, driver: Driver, passes: GroupPasses) -> Tensor:
        """Returns `[B, 2, H]` what the averages of fictitious play are worth at the roots (ReBeL, footnote 5).

        The values of the responses along the way are too high for both players, by as much as the averages can be exploited; a
        network trained on them would pass the error on to every search above.
        """
        return passes.root_values(driver.average_values(), 1.0)

    @cached_property
    def decisions(self) -> DecisionTables:
        """The decisions in the search trees."""
        return DecisionTables(self.space, self.kernels.device)
