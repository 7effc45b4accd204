"""The solver loop on one tree, with its state as the tree's arrays, so that a solve can be saved and continued."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from tacit.kernels.base import AnyTreePasses
from tacit.solvers.driver import Driver
from tacit.solvers.schedules import ResponseSchedule
from tacit.tree.base import Floats

FORCING = 1e30
"""A bonus beyond all payoffs that still fits float32."""


class TabularDriver(Driver):
    """Iterates an algorithm on a tree. `state()` is its complete state.

    Attributes:
      passes: The passes over the tree.
    """

    passes: AnyTreePasses

    @property
    def stride(self) -> int:
        """The largest number of iterations in one call; in between, a user can stop the solve."""
        return sys.maxsize if self.passes.capturable else max(1, self.passes.span)

    def average_strategy(self) -> Floats:
        """Returns `[E]` the average strategy, which is the one that converges; uniform before the first iteration."""
        return self.passes.tree.normalise(self.passes.to_numpy(self.average))

    def current_strategy(self) -> Floats:
        """Returns `[E]` the strategy of the latest iteration."""
        return self._matched(self.passes.to_numpy(self.regret)) if self.lean else self.passes.to_numpy(self.strategy)

    def _matched(self, regret: Floats) -> Floats:
        """Returns `[E]` the regret-matching strategy."""
        return self.passes.tree.normalise(np.maximum(regret, 0.0))

    def state(self) -> dict[str, Floats]:
        """Returns the arrays `[E]` from which `restore` continues."""
        state = {"average": self.passes.to_numpy(self.average), "regret": self.passes.to_numpy(self.regret)}
        return state if self.lean else {"strategy": self.current_strategy(), **state}

    def restore(self, state: dict[str, Floats], iteration: int) -> None:
        """Continues after `iteration` from a saved state."""
        self.clock.go_to(iteration)
        held = self.passes.tree.held
        regret = held.put(state["regret"].copy()) if len(held.entry) else state["regret"]  # other passes may store others there
        self.average, self.regret = self.passes.entries(state["average"]), self.passes.entries(regret)
        if self.lean:
            return
        strategy = state["strategy"] if "strategy" in state else self._matched(state["regret"])
        self.strategy = self.passes.entries(strategy)
        for player in (0, 1):
            self.passes.reach(player, self.strategy, out=self.reaches[player])
        if self.responds:
            self.start_average(self.passes.entries(self.average_strategy()))
        self.follow_leaves()

    def grow(self, passes: AnyTreePasses) -> None:
        """Continues on a tree that has grown (`GrowingTree`): the old part keeps its numbers, new infostates start uniform."""
        state, iteration, tree = self.state(), self.iteration, passes.tree
        for name, numbers in state.items():
            new = tree.uniform_strategy() if name == "strategy" else np.zeros(tree.num_entries)
            new[: len(numbers)] = numbers
            state[name] = new
        self.start(passes)
        self.restore(state, iteration)

    def _bonus(self) -> Any:
        """Returns a bonus that forces a uniformly random action at each infostate with the schedule's probability.

        It depends on the seed and the iteration alone, so a continued solve meets the same noise. Each of an infostate's n
        actions is drawn independently, with probability 1 - (1 - noise)^(1/n); if several are, the smallest draw wins.
        """
        if not isinstance(self.schedule, ResponseSchedule) or not self.schedule.noise:
            return None
        tree = self.passes.tree
        draws = np.random.default_rng((self.options.seed, self.iteration)).random(tree.num_entries)
        drawn = draws < 1.0 - (1.0 - self.schedule.noise) ** tree.uniform_strategy()
        return self.passes.entries(np.where(drawn, FORCING * (2.0 - draws), 0.0))
