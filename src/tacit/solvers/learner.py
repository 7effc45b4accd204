"""The one loop: two players who repeatedly answer each other, and the average of what they did.

Each half-iteration is the same for both families: answer the opponent's reach, by regret matching or by a best response, and
compute the answer's own reach, which is what the opponent answers next.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from tacit.kernels import AnyPasses
from tacit.solvers.schedules import RegretSchedule, ResponseSchedule, Schedule
from tacit.tree.public_tree import Floats

FORCING = 1e30
"""A bonus beyond all payoffs, and within float32."""


def make_learner(passes: AnyPasses, schedule: Schedule, seed: int = 0) -> Learner:
    """Returns the learner that runs `schedule`; `seed` is for noisy responses."""
    if isinstance(schedule, RegretSchedule):
        return RegretLearner(passes, schedule)
    return ResponseLearner(passes, schedule, seed)


class Learner(ABC):
    """Iterates an algorithm on a tree. `state()` is all there is to it, so a solve can be saved and continued."""

    def __init__(self, passes: AnyPasses, alternating: bool) -> None:
        self.passes = passes
        self.iteration = 0
        self._alternating = alternating
        # Each player reads and writes its own entries only, so that both have room in one array until a response replaces it.
        self._strategies = [passes.uniform()] * 2
        self._average = passes.zeros()
        self._regret = passes.zeros()
        self._reaches: list[Any] = [passes.reach(player, self._strategies[player]) for player in (0, 1)]

    def step(self) -> None:
        """Runs one iteration: both players answer once."""
        self.iteration += 1
        if self._alternating:
            for player in (0, 1):
                self._answer(player)
                self._settle(player)
        else:
            for player in (0, 1):
                self._answer(player)
            for player in (0, 1):
                self._settle(player)

    def average_strategy(self) -> Floats:
        """Returns `[E]` the average strategy, which is what converges; uniform before the first iteration."""
        return self.passes.tree.normalise(self.passes.to_numpy(self._average))

    def current_strategy(self) -> Floats:
        """Returns `[E]` the strategy of the latest iteration."""
        first, second = (self.passes.to_numpy(strategy) for strategy in self._strategies)
        return np.where(self.passes.tree.entry_player == 0, first, second)

    def state(self) -> dict[str, Floats]:
        """Returns the arrays `[E]` from which `restore` continues."""
        return {
            "strategy": self.current_strategy(),
            "average": self.passes.to_numpy(self._average),
            "regret": self.passes.to_numpy(self._regret),
        }

    def restore(self, state: dict[str, Floats], iteration: int) -> None:
        """Continues after `iteration` from a saved state."""
        self.iteration = iteration
        self._strategies = [self.passes.entries(state["strategy"])] * 2
        self._average, self._regret = self.passes.entries(state["average"]), self.passes.entries(state["regret"])
        self._reaches = [self.passes.reach(player, self._strategies[player]) for player in (0, 1)]

    @abstractmethod
    def _answer(self, player: int) -> None:
        """Replaces the player's strategy by its answer to the opponent."""

    @abstractmethod
    def _settle(self, player: int) -> None:
        """Computes the reach of the player's new strategy."""


class RegretLearner(Learner):
    """Counterfactual regret minimisation in all its weightings."""

    def __init__(self, passes: AnyPasses, schedule: RegretSchedule) -> None:
        super().__init__(passes, schedule.alternating)
        self._schedule = schedule

    def _answer(self, player: int) -> None:
        step = self._schedule.step(self.iteration)
        self.passes.update_regrets(player, self._strategies[player], self._regret, self._average, self._reaches, step)

    def _settle(self, player: int) -> None:
        self._reaches[player] = self.passes.reach(player, self._strategies[player], out=self._reaches[player])


class ResponseLearner(Learner):
    """Fictitious play in all its step sizes.

    Mixtures of strategies mix their reaches, so what is answered is a mean of reaches; it never needs to be normalised. The
    average is such a mean as well, not a sum: steps of a constant size would let the weights in a sum grow beyond all bounds.
    """

    def __init__(self, passes: AnyPasses, schedule: ResponseSchedule, seed: int) -> None:
        super().__init__(passes, schedule.alternating)
        self._schedule, self._seed = schedule, seed
        self._mean_reaches = self._start_average(self._strategies[0])

    def restore(self, state: dict[str, Floats], iteration: int) -> None:
        super().restore(state, iteration)
        self._mean_reaches = self._start_average(self.passes.entries(self.average_strategy()))

    def _start_average(self, strategy: Any) -> list[Any]:
        """Makes a strategy the whole average, whatever it was before, and returns its reaches."""
        return [self.passes.reach_and_average(player, strategy, self._average, 1.0) for player in (0, 1)]

    def _answer(self, player: int) -> None:
        faced = self._mean_reaches[1 - player]
        optimism = self._schedule.optimism(self.iteration)
        if optimism:
            faced = self.passes.mix(faced, self._reaches[1 - player], optimism)
        bonus = self._random_bonus() if self._schedule.noise else None
        _, self._strategies[player] = self.passes.best_response(player, faced, bonus)

    def _random_bonus(self) -> Any:
        """Returns what forces an action at each infostate with the schedule's probability, each action equally often.

        It depends on the seed and the iteration alone, so that a solve that is continued meets the same noise. Each of an
        infostate's n actions is drawn on its own, with probability 1 - (1 - noise)^(1/n); of several the smallest draw wins.
        """
        draws = np.random.default_rng((self._seed, self.iteration)).random(self.passes.tree.num_entries)
        drawn = draws < 1.0 - (1.0 - self._schedule.noise) ** self.passes.tree.uniform_strategy()
        return self.passes.entries(np.where(drawn, FORCING * (2.0 - draws), 0.0))

    def _settle(self, player: int) -> None:
        share = self._schedule.step_size(self.iteration)
        self._reaches[player] = self.passes.reach_and_average(player, self._strategies[player], self._average, share)
        self._mean_reaches[player] = self.passes.mix(self._mean_reaches[player], self._reaches[player], share)
