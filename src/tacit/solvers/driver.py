"""The one solver loop: two players repeatedly answer each other, and their strategies are averaged.

Each half-iteration is the same for both families: value the leaves, answer the opponent's reach by regret matching or by a best
response, and compute the answer's own reach, to which the opponent then responds. A tabular solve is one game without leaves, a
search is a batch of games with them; passes hide the difference and the place of the arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tacit.evaluation.exact import root_values
from tacit.kernels.base import AnyPasses, LeafEvaluator
from tacit.kernels.clock import Clock, OneStep
from tacit.solvers.gadget import Gadget
from tacit.solvers.schedules import AnySchedule, ResponseSchedule, regret_steps
from tacit.solvers.valuation import AVERAGES, CFR_D, Valuation


@dataclass(frozen=True)
class DriverOptions:
    """Options of a driver.

    Attributes:
      evaluator: Values the leaves; None for leaves worth nothing.
      decomposition: The beliefs at which regret matching values leaves (`valuation.DECOMPOSITIONS`); fictitious play always
        uses averages.
      period: The number of iterations that use the same leaf values.
      gadget: Constrains the range with which the opponent of a re-solving player enters the roots.
      values_roots: Whether to sum the roots' values over the iterations.
      values_rows: The player whose counterfactual values of all rows are summed, which a search then promises it; None for
        neither.
      seed: The seed of noisy responses; nothing else is random.
    """

    evaluator: LeafEvaluator | None = None
    decomposition: str = CFR_D
    period: int = 1
    gadget: Gadget | None = None
    values_roots: bool = False
    values_rows: int | None = None
    seed: int = 0


DEFAULTS = DriverOptions()


class Driver:
    """Iterates an algorithm over the games of some passes.

    Attributes:
      passes: The passes over the games.
      clock: The iteration and its weights.
      lean: Whether only regrets and averages are kept, so that strategies are derived from regrets.
      strategy: Both players' current strategies, as entries; None if lean.
      average: The sum of weight times reach times strategy, as entries; for fictitious play the mean.
      regret: Cumulative regrets, as entries.
      reaches: Each player's reach under the current strategy, or None if lean.
      mean_reaches: Each player's reach under the mean strategy if the algorithm needs it, else its latest reach.
      root_sum: For each player, the sum over iterations of weight times root values; None unless `values_roots`.
      responds: Whether the algorithm is fictitious play.
      options: The options.
      row_sum: For the player `values_rows`, the sum over iterations of weight times row values.
      sampled: The strategies of the iteration that each game samples, as entries; None unless `sample` was called.
      believed: The entries that define the beliefs of that iteration: the strategies in CFR-D, else the average's weights.
      sampled_roots: With a gadget, its player's root reach at which leaves were valued in the iteration that each game samples,
        laid out like `Passes.get_roots`.
    """

    def __init__(self, passes: AnyPasses, schedule: AnySchedule, options: DriverOptions = DEFAULTS) -> None:
        self.schedule, self.options = schedule, options
        self.responds = isinstance(schedule, ResponseSchedule)
        self._keeps_means = self.responds or options.decomposition != CFR_D
        self.start(passes)

    def start(self, passes: AnyPasses) -> None:
        """Starts afresh before the first iteration, over the given games."""
        options = self.options
        self.passes, self.clock = passes, Clock(self.schedule, passes.device if passes.capturable else "cpu")
        self._sample_iterations: Any = None
        self.average, self.regret = passes.zeros(), passes.new_regrets()
        self.valuation: Valuation | None = None
        if options.evaluator is not None and passes.leaf_states is not None:
            decomposition = AVERAGES if self.responds else options.decomposition
            self.valuation = Valuation(passes, options.evaluator, decomposition, self.schedule.alternating, options.period)
        self.lean = passes.lean and self._only_matches() and not self.clock.predicts
        self.strategy: Any = None if self.lean else passes.uniform()
        self.reaches: list[Any] = [None if self.lean else passes.reach(player, self.strategy) for player in (0, 1)]
        self.mean_reaches = [rows + 0.0 for rows in self.reaches] if self._keeps_means else self.reaches
        self.root_sum = [passes.get_roots(p, self.reaches[p]) * 0.0 for p in (0, 1)] if options.values_roots else None
        self.row_sum: Any = None if options.values_rows is None else passes.row_cfv(options.values_rows) * 0.0
        self.sampled: Any = None
        self.believed: Any = None
        self.sampled_roots: Any = None
        self._graph: Any = None
        if self.responds:
            self.start_average(self.strategy)
        self.follow_leaves()

    @property
    def iteration(self) -> int:
        """The number of iterations so far."""
        return self.clock.iteration

    def sample(self, iterations: Any) -> None:
        """Makes later iterations keep each game's strategies at one iteration (from 1, in the passes' layout of games)."""
        self._sample_iterations, self.sampled = iterations, self.passes.zeros()
        self.believed = self.passes.zeros() if self._keeps_means else self.sampled
        if self.options.gadget is not None:
            player = self.options.gadget.player
            self.sampled_roots = self.passes.get_roots(player, self.mean_reaches[player])

    def step(self) -> None:
        """Runs one iteration, in which both players answer once."""
        if self.lean:
            self.run(1)
            return
        self.clock.tick()
        if not self.responds:  # the average holds the strategies before their update
            self._take_samples(self.strategy, self.sampled)
            self._take_roots()
        for players in ((0,), (1,)) if self.schedule.alternating else ((0, 1),):
            if self.valuation is not None:
                self.valuation.ask(players, self)
            for player in players:
                self._answer(player)
            for player in players:
                self.settle(player)
        if self.responds:
            self._take_samples(self.strategy, self.sampled)
        if self._keeps_means:
            self._take_samples(self.average, self.believed)

    def run(self, iterations: int) -> None:
        """Runs iterations, in one compiled call if they only update regrets.

        If passes can be captured, all but a few iterations are replays of a CUDA graph.
        """
        if self.passes.span and self._only_matches():
            steps = regret_steps(self.schedule, self.iteration + 1, iterations)
            self.passes.repeat(self.strategy, self.regret, self.average, self.reaches, steps, self.schedule.alternating)
            self.clock.go_to(self.iteration + iterations)
            return
        if not self.passes.capturable:
            for _ in range(iterations):
                self.step()
            return
        if self.clock.reserve(self.iteration + iterations):
            self._graph = None
        self._replay(iterations, self.options.period)

    def _only_matches(self) -> bool:
        """Returns whether an iteration is two regret updates and nothing else."""
        other = (self.options.gadget, self.valuation, self._sample_iterations)
        return not self._keeps_means and not self.options.values_roots and all(part is None for part in other)

    def _replay(self, iterations: int, period: int) -> None:
        """Runs iterations as a CUDA graph that is captured once and replayed, without returning to Python in between.

        A graph has `period` iterations, which share leaf values, and begins by asking for them; the remaining iterations run
        last.
        """
        import torch

        first = min(iterations, period) if self._graph is None else 0  # compiles kernels, which a capture cannot
        for _ in range(first):
            self.step()
        windows, left = divmod(iterations - first, period)
        if windows and self._graph is None:
            torch.cuda.synchronize()
            graph, before = torch.cuda.CUDAGraph(), self.clock.iteration
            with torch.cuda.graph(graph):  # capturing runs nothing
                for _ in range(period):
                    self.step()
            self._graph, self.clock.iteration = graph, before
        for _ in range(windows):
            self._graph.replay()
        self.clock.iteration += windows * period
        for _ in range(left):
            self.step()

    def average_values(self) -> list[Any]:
        """Returns each player's root values under the averages, with leaves valued at the averages' beliefs.

        Sums over iterations (`root_sum`) keep every early mistake, averages hardly any: their values are close to the truth
        after half as many iterations.
        """
        strategy = self.passes.normalise(self.average)
        reaches = [self.passes.reach(player, strategy) for player in (0, 1)]
        return root_values(self.passes, strategy, reaches, self.options.evaluator)

    def settle(self, player: int) -> None:
        """Updates a player's reach, mean reach and leaf beliefs to its new strategy."""
        average, clock = (self.average, self.clock) if self.responds else (None, None)
        self.passes.reach(player, self.strategy, self.reaches[player], average, clock)
        if self._keeps_means:
            self.passes.move(self.mean_reaches[player], self.reaches[player], self.clock.share())
        if self.valuation is not None:
            self.valuation.follow(player, self)

    def _answer(self, player: int) -> None:
        """Replaces the player's strategy with its answer to the opponent."""
        if self.responds:
            self._respond(player)
            return
        leaves = None
        if self.valuation is not None:
            leaves = self.valuation.values(player, self, self.reaches[1 - player])
        self.passes.update_regrets(player, self.strategy, self.regret, self.average, self.reaches, self.clock, leaves)
        gadget = self.options.gadget
        if self.options.values_rows == player:
            self.row_sum += self.clock.average_weight * self.passes.row_cfv(player)
        if self.root_sum is not None:
            self.passes.add_roots(player, self.root_sum[player], self.clock.average_weight)
        if gadget is not None and gadget.player == player:
            entering = gadget.answer(self.passes.root_cfv(player), self.clock.weights())
            self.passes.set_roots(player, self.reaches[player], entering)

    def _respond(self, player: int) -> None:
        faced = self.mean_reaches[1 - player]
        if self.schedule.optimism(1):
            faced = self.passes.mix(faced, self.reaches[1 - player], self.clock.optimism)
        leaves = None if self.valuation is None else self.valuation.values(player, self, faced)
        self.passes.best_response(player, faced, self._bonus(), leaves, out=self.strategy)

    def _bonus(self) -> Any:
        """Returns a bonus that responses add to the values of actions, or None."""
        return None

    def start_average(self, strategy: Any) -> None:
        """Replaces the average with a strategy.

        Mixing strategies mixes their reaches, so responses face a mean of reaches, which never needs normalising. The average
        is such a mean as well, not a sum: constant step sizes would make the weights of a sum grow without bound.
        """
        clock = OneStep().clock(self.passes.device if self.passes.capturable else "cpu")
        for player in (0, 1):
            self.passes.reach(player, strategy, self.mean_reaches[player], self.average, clock)

    def follow_leaves(self) -> None:
        """Updates the leaf beliefs to both players' reaches."""
        if self.valuation is not None:
            for player in (0, 1):
                self.valuation.follow(player, self)

    def _take_roots(self) -> None:
        """Keeps the range that enters the roots, for games that sample this iteration."""
        gadget = self.options.gadget
        if self._sample_iterations is not None and gadget is not None:
            entering = self.passes.get_roots(gadget.player, self.mean_reaches[gadget.player])
            self.passes.take_roots(gadget.player, self._sample_iterations, self.clock, entering, self.sampled_roots)

    def _take_samples(self, source: Any, target: Any) -> None:
        if self._sample_iterations is not None:
            self.passes.take_samples(self._sample_iterations, self.clock, source, target)
