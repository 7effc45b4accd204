"""The one loop: two players who repeatedly answer each other, and the average of what they did.

Each half-iteration is the same for both families: value the leaves, answer the opponent's reach by regret matching or by a best
response, and compute the answer's own reach, which is what the opponent answers next. A tabular solve is one game without
leaves, a search a batch of games with them; passes hide the difference, and where the arrays lie.
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
    """What a driver does beside iterating.

    Attributes:
      evaluator: Values the leaves; None: they are worth nothing.
      decomposition: At which beliefs regret matching values leaves (`valuation.DECOMPOSITIONS`); fictitious play takes
        averages.
      period: Iterations that use the same leaf values.
      gadget: Constrains what the opponent of a re-solving player may hold at the roots.
      values_roots: Whether the roots' values are summed up on the way.
      values_rows: A player whose counterfactual values of all rows are summed up, what a search promises it; None for nobody.
      seed: Of noisy responses; nothing else is random.
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
      passes: The games.
      clock: The iteration and its weights.
      lean: Whether only regrets and averages are kept: strategies are what regrets say.
      strategy: Entries: both players' current strategies; None where it is lean.
      average: Entries: sums of weight times reach times strategy, for fictitious play their mean.
      regret: Entries: cumulative regrets.
      reaches: Each player's reach under the current strategy, or None.
      mean_reaches: Each player's reach under the mean strategy, where an algorithm needs it; else its latest reach.
      root_sum: For each player the sum over iterations of weight times root values, if it was asked for.
      responds: Whether it is fictitious play.
      options: What it does beside iterating.
      row_sum: For `values_rows`, the sum over iterations of weight times the values of its rows.
      sampled: Entries: the strategies of the iteration that each game samples, where `sample` was called.
      believed: Entries: what defines the beliefs of that iteration, the strategies themselves in CFR-D and else the average's
        weights.
      sampled_roots: With a gadget, the root reach of its player that leaves were valued at in the iteration that each game
        samples, laid out like `Passes.get_roots`.
    """

    def __init__(self, passes: AnyPasses, schedule: AnySchedule, options: DriverOptions = DEFAULTS) -> None:
        self.schedule, self.options = schedule, options
        self.responds = isinstance(schedule, ResponseSchedule)
        self._keeps_means = self.responds or options.decomposition != CFR_D
        self.start(passes)

    def start(self, passes: AnyPasses) -> None:
        """Begins before the first iteration, over the given games."""
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
        """Iterations so far."""
        return self.clock.iteration

    def sample(self, iterations: Any) -> None:
        """Keeps the strategies of one iteration of each game, counted from 1, in the passes' layout of games."""
        self._sample_iterations, self.sampled = iterations, self.passes.zeros()
        self.believed = self.passes.zeros() if self._keeps_means else self.sampled
        if self.options.gadget is not None:
            player = self.options.gadget.player
            self.sampled_roots = self.passes.get_roots(player, self.mean_reaches[player])

    def step(self) -> None:
        """Runs one iteration: both players answer once."""
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
        """Runs some iterations, in one compiled call where nothing else is wanted of them.

        Where passes can be captured, all but a few are replays of a CUDA graph.
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
        """Returns whether an iteration is two updates of regrets and nothing else."""
        other = (self.options.gadget, self.valuation, self._sample_iterations)
        return not self._keeps_means and not self.options.values_roots and all(part is None for part in other)

    def _replay(self, iterations: int, period: int) -> None:
        """Runs iterations as a CUDA graph, captured once and replayed, so that nothing returns to Python inside.

        A graph has as many as leaf values are used for, its `period`, and so begins by asking for them; what is left over
        comes last.
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
        """Returns for each player what the roots are worth when averages are played, leaves valued at their beliefs.

        Sums over iterations (`root_sum`) remember every early mistake, and these hardly any: the averages' values are near the
        truth after half as many iterations.
        """
        strategy = self.passes.normalise(self.average)
        reaches = [self.passes.reach(player, strategy) for player in (0, 1)]
        return root_values(self.passes, strategy, reaches, self.options.evaluator)

    def settle(self, player: int) -> None:
        """Follows a player's new strategy: its reach, its mean, and its beliefs at the leaves."""
        average, clock = (self.average, self.clock) if self.responds else (None, None)
        self.passes.reach(player, self.strategy, self.reaches[player], average, clock)
        if self._keeps_means:
            self.passes.move(self.mean_reaches[player], self.reaches[player], self.clock.share())
        if self.valuation is not None:
            self.valuation.follow(player, self)

    def _answer(self, player: int) -> None:
        """Replaces the player's strategy by its answer to the opponent."""
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
        """Returns what responses prefer beside value, or None."""
        return None

    def start_average(self, strategy: Any) -> None:
        """Makes a strategy the whole average, whatever it was before.

        Mixtures of strategies mix their reaches, so what is answered is a mean of reaches; it never needs to be normalised. The
        average is such a mean as well, not a sum: steps of a constant size would let the weights in a sum grow without bound.
        """
        clock = OneStep().clock(self.passes.device if self.passes.capturable else "cpu")
        for player in (0, 1):
            self.passes.reach(player, strategy, self.mean_reaches[player], self.average, clock)

    def follow_leaves(self) -> None:
        """Takes both players' reaches into the beliefs at the leaves."""
        if self.valuation is not None:
            for player in (0, 1):
                self.valuation.follow(player, self)

    def _take_roots(self) -> None:
        """Keeps what enters the subgames of the games that sample this iteration."""
        gadget = self.options.gadget
        if self._sample_iterations is not None and gadget is not None:
            entering = self.passes.get_roots(gadget.player, self.mean_reaches[gadget.player])
            self.passes.take_roots(gadget.player, self._sample_iterations, self.clock, entering, self.sampled_roots)

    def _take_samples(self, source: Any, target: Any) -> None:
        if self._sample_iterations is not None:
            self.passes.take_samples(self._sample_iterations, self.clock, source, target)
