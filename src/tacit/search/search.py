"""Search from many public belief states at once: CFR and fictitious play in depth-limited subgames (ReBeL, section 5.1)."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from tacit.errors import TacitError
from tacit.search.batch import Batch
from tacit.search.config import SearchConfig
from tacit.search.decisions import DecisionTables
from tacit.search.leaves import LeafEvaluator
from tacit.search.numbers import SearchKernels
from tacit.search.state import SearchState, iteration_steps
from tacit.search.tables import SearchSpace
from tacit.search.warm import WARM_ITERATIONS, Policy, warm_start
from tacit.solvers.schedules import RegretSchedule, ResponseSchedule, plain_schedule


class SearchResult:
    """What a batch of searches found.

    Attributes:
      batch: the layout of the strategies.
      values: `[B, 2, H]` both players' infostate values at the roots, averaged over the iterations like the strategies, or
        in fictitious play those of the averages; NaN where a private state is impossible.
      sampled_strategy: the strategies of each game's sampled iteration, both players' entries.
    """

    def __init__(self, state: SearchState) -> None:
        self._state = state
        self.batch: Batch = state.batch
        self.values: Tensor = state.root_values()
        self.sampled_strategy: Tensor = state.sampled

    @property
    def followed_strategy(self) -> Tensor:
        """The strategies of each game's sampled iteration that leaves were valued at: those that define beliefs below the root.

        In CFR-D they are the sampled ones; in fictitious play and CFR-AVE they are the averages up to that iteration.
        """
        state = self._state
        return state.sampled if state.believed is state.sampled else state.normalised(state.believed)

    @property
    def average_strategy(self) -> Tensor:
        """The average strategies at the end."""
        return self._state.normalised(self._state.numbers.average)

    def to_play(self, safe: bool) -> Tensor:
        """Returns the strategies to play with, which define the beliefs below the root, too.

        Safe search follows one random iteration, so that the opponent cannot know the beliefs it is answered with; unsafe
        search plays the average and believes that everyone does (ReBeL, section 6). Where nothing is hidden there is nothing
        to mix for, and the likeliest action of the average is played.
        """
        if self._state.space.perfect_information:
            return self._state.greedy(self.average_strategy)
        return self.followed_strategy if safe else self.average_strategy


class BatchSearch:
    """Runs batches of searches in one game, on the device of its kernels.

    Args:
      space: the game.
      evaluator: what leaves are worth.
      config: how to search.
      device: `cpu` or `cuda`.
      policy: what regret matching starts from, worth `WARM_ITERATIONS`; None starts from uniform play.
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
        self._schedule = plain_schedule(config.solver)

    @property
    def warm_iterations(self) -> int:
        """The iterations that its policy stands for."""
        return WARM_ITERATIONS if self.policy is not None and isinstance(self._schedule, RegretSchedule) else 0

    def average_weights(self) -> np.ndarray:
        """Returns `[T]` the weight of each iteration in the average strategy."""
        return iteration_steps(self._schedule, self.config.iterations)[:, -1].double().numpy()

    def iterations_at(self, quantiles: np.ndarray) -> np.ndarray:
        """Returns the iterations, from 1, at quantiles of their weights in the average: random ones at uniform numbers."""
        shares = np.cumsum(self.average_weights())
        return np.searchsorted(shares[:-1] / shares[-1], quantiles, side="right") + 1

    def run(self, game_class: np.ndarray, reaches: Tensor, sample_iteration: np.ndarray) -> SearchResult:
        """Returns the result of searching from every given public belief state.

        Args:
          game_class: `[B]` the class of each game's public state.
          reaches: `[B, 2, H]` the players' reaches there.
          sample_iteration: `[B]` the iteration, from 1, whose strategies each game samples.
        """
        state = SearchState(self.space, self.kernels, self.config, game_class, reaches, sample_iteration)
        if self.policy is not None and isinstance(self._schedule, RegretSchedule):
            if self.config.iterations <= self.warm_iterations:
                raise TacitError(f"a warm start stands for {self.warm_iterations} iterations: search for more than that")
            warm_start(state, self._schedule, self.decisions, self.policy, self.evaluator)
        remaining = self.config.iterations - state.clock.iteration
        if self.kernels.device == "cpu":
            for _ in range(remaining):
                state.iterate(self.evaluator)
        else:
            _replay(state, self.evaluator, remaining)
        if isinstance(self._schedule, ResponseSchedule):
            state.value_averages(self.evaluator)
        return SearchResult(state)

    @cached_property
    def decisions(self) -> DecisionTables:
        """Where somebody decides in the search trees."""
        return DecisionTables(self.space, self.kernels.device)


def make_kernels(space: SearchSpace, device: str) -> SearchKernels:
    """Returns the passes for a device: numba on the CPU, Triton on a GPU."""
    if device == "cpu":
        from tacit.search.numba_kernels import NumbaKernels

        return NumbaKernels(space)
    from tacit.search.triton_kernels import TritonKernels

    return TritonKernels(space, device)


def _replay(state: SearchState, evaluator: LeafEvaluator, iterations: int) -> None:
    """Runs some iterations, captures the next ones as a CUDA graph and replays it: nothing returns to Python inside.

    As many are captured as leaf values are used for, so that a graph begins by asking for them; what is left over comes last.
    """
    period = state.period
    windows = max(0, iterations // period - 1)
    for _ in range(min(iterations, period)):
        state.iterate(evaluator)
    if windows:
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):  # capturing runs nothing
            for _ in range(period):
                state.iterate(evaluator)
        for _ in range(windows):
            graph.replay()
        torch.cuda.synchronize()
    for _ in range(iterations - min(iterations, period) - windows * period):
        state.iterate(evaluator)
