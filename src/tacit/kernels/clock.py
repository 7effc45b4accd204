"""The current iteration of an algorithm and its weights: on the host, and on a device for captured graphs."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np


class RegretStep(NamedTuple):
    """The weights of one update of cumulative regrets (`Passes.update_regrets`).

    Attributes:
      positive_discount: Factor on positive old regrets.
      negative_discount: Factor on negative old regrets.
      floor: 0 for the "plus" variants, minus infinity otherwise.
      prediction: 1 for predictive regret matching, 0 otherwise.
      average_weight: Weight of the replaced strategy in the average.
    """

    positive_discount: float = 1.0
    negative_discount: float = 1.0
    floor: float = -np.inf
    prediction: float = 0.0
    average_weight: float = 1.0


class Schedule(Protocol):
    """The weights of all iterations, counted from 1."""

    def step(self, t: int) -> RegretStep:
        """Returns the weights of the regret update in iteration t."""
        ...

    def share(self, t: int) -> float:
        """Returns the weight of the strategy that iteration t produces in the mean of all strategies so far; 1 for t = 0."""
        ...

    def optimism(self, t: int) -> float:
        """Returns how far responses in iteration t lean from the opponent's mean strategy towards its latest one."""
        ...


class Clock:
    """Counts iterations from 1 and holds the weights of the current one.

    On a device the weights are tensors, which every replay of a captured graph reads again.

    Attributes:
      iteration: The current iteration; 0 before the first.
      step: The weights of its regret update, on the host.
      table: On a device `[T, 5]` float32, the `RegretStep` of each iteration; None on the host.
      shares: On a device `[T + 1]` float32, the share of iterations 0 to T; None on the host.
      counter: On a device `[1]` int64, the current iteration; None on the host.
    """

    def __init__(self, schedule: Schedule, device: str = "cpu") -> None:
        """Starts before the first iteration.

        Args:
          schedule: the weights of all iterations.
          device: where passes read them; the host needs no tables.
        """
        self._schedule, self.iteration, self.step, self._horizon = schedule, 0, RegretStep(), 0
        self._average_weight: Any = None
        self.table: Any = None
        self.shares: Any = None
        self.counter: Any = None
        if device != "cpu":
            import torch

            self.counter = torch.zeros(1, dtype=torch.int64, device=device)
            self.reserve(1)

    @property
    def predicts(self) -> bool:
        """Whether strategies follow predicted regrets, so that they cannot be derived from the regrets alone."""
        return bool(self._schedule.step(1).prediction)

    def tick(self) -> None:
        """Moves to the next iteration."""
        self.iteration += 1
        if self.counter is None:
            self.step = self._schedule.step(self.iteration)
        else:
            self.reserve(self.iteration)
            self.counter += 1
            self._average_weight = self.table[self.counter - 1, -1]

    def reserve(self, iterations: int) -> bool:
        """Returns whether the device's tables had to grow for this many iterations; captured graphs are then outdated."""
        if self.counter is None or iterations <= self._horizon:
            return False
        import torch

        self._horizon = max(iterations, 2 * self._horizon)
        times = range(1, self._horizon + 1)
        numbers = (
            [tuple(self._schedule.step(t)) for t in times],
            [self._schedule.share(t) for t in (0, *times)],
            [self._schedule.optimism(t) for t in (0, *times)],
        )
        self.table, self.shares, self._optimism = (
            torch.tensor(part, dtype=torch.float32, device=self.counter.device) for part in numbers
        )  # kernels only compile for this dtype
        return True

    def go_to(self, iteration: int) -> None:
        """Makes `iteration` the current one."""
        self.iteration = iteration
        if self.counter is None:
            self.step = self._schedule.step(max(1, iteration))
        else:
            self.counter.fill_(iteration)

    def weights(self) -> RegretStep:
        """Returns the weights of the current regret update; on a device as tensors."""
        return self.step if self.counter is None else RegretStep(*self.table[self.counter - 1][0])

    @property
    def average_weight(self) -> Any:
        """The weight of the current strategies in the average."""
        return self.step.average_weight if self.counter is None else self._average_weight

    def share(self, back: int = 0) -> Any:
        """Returns the share of the current iteration, or of the one `back` iterations ago (see `Schedule`)."""
        if self.counter is None:
            return self._schedule.share(self.iteration - back)
        return self.shares[self.counter - back]

    @property
    def optimism(self) -> Any:
        """How far responses lean towards the opponent's latest strategy."""
        return self._schedule.optimism(self.iteration) if self.counter is None else self._optimism[self.counter]


class OneStep(NamedTuple):
    """A schedule of a single iteration, for one pass with given weights.

    Attributes:
      weights: The weights of the regret update.
      mean_share: The strategy's share in the mean.
    """

    weights: RegretStep = RegretStep()
    mean_share: float = 1.0

    def step(self, _t: int) -> RegretStep:
        """Returns the weights of the only iteration."""
        return self.weights

    def share(self, _t: int) -> float:
        """Returns the share of the only iteration."""
        return self.mean_share

    def optimism(self, _t: int) -> float:
        """Returns 0."""
        return 0.0

    def clock(self, device: str = "cpu") -> Clock:
        """Returns a clock in the only iteration."""
        clock = Clock(self, device)
        clock.tick()
        return clock
