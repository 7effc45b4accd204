"""The engine: a crew makes the examples that a run learns from, and the learner takes whichever come first.

The ratio of training to generation holds as it does in one process: the learner learns from every lot once, when it takes it.
Workers generate with the latest weights that were out when they began (or when their order was queued), and lots that were made
with far older ones are thrown away.
"""

from __future__ import annotations

import itertools
import math
import time
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from tacit.errors import TacitError
from tacit.scale.crew import Crew
from tacit.scale.orders import AHEAD, Answer, Orders
from tacit.training.system import Trainer

MOST_AGE = 16
"""Age of weights at which lots are thrown away, in lots that the whole crew has under way at a time."""


@dataclass(frozen=True)
class EngineReport:
    """How a crew does.

    Attributes:
      workers: Workers that there should be.
      live: Those that have started and not died.
      deaths: Workers that died and were replaced.
      examples_per_second: Examples taken since the first ones came.
      wait_share: The share of that time for which the learner waited for examples.
      weights_age: How many steps of learning had been made, on average, since the weights that a lot was made with.
      oldest_weights: The same at most, over all lots that were learnt from.
      thrown_away: Lots that were made with weights too old.
    """

    workers: int
    live: int
    deaths: int
    examples_per_second: float
    wait_share: float
    weights_age: float
    oldest_weights: int
    thrown_away: int


class Engine:
    """A trainer's source of examples, made by a crew; entering it starts the workers.

    Attributes:
      orders: What the crew is working on.
    """

    def __init__(self, trainer: Trainer[Any, Any], crew: Crew) -> None:
        self._trainer, self._size = trainer, crew.size
        self.orders = Orders(crew, itertools.repeat({}))
        self._news = True
        self._began = self._waited_before = 0.0
        self._lots = self._examples = self._ages = self._oldest = self._thrown_away = 0

    def __enter__(self) -> Engine:
        self.orders.__enter__()
        self._trainer.example_source = self
        return self

    def __exit__(self, *_: object) -> None:
        self.orders.__exit__()

    def next(self) -> dict[str, Tensor]:
        """Returns the next lot of examples that arrives.

        Raises:
          TacitError: a worker cannot go on, workers die again and again, or the crew is silent or out of reach.
        """
        if self._news:
            self.orders.share(self._trainer.weights(), epoch=self._trainer.epoch)
            self._news = False
        while (answer := self.orders.next()) is not None:
            if answer.age > MOST_AGE * AHEAD * self._size:
                self._thrown_away += 1
                continue
            self._count(answer)
            return answer.tensors
        raise TacitError("the crew has no orders left")

    def publish(self) -> None:
        """Has the next orders carry the trainer's weights."""
        self._news = True

    def _count(self, answer: Answer) -> None:
        """Counts a lot that is learnt from; the time that the first one takes says nothing about the others."""
        if self._lots:
            self._examples += max((len(part) for part in answer.tensors.values()), default=0)
        else:
            self._began, self._waited_before = time.monotonic(), self.orders.waited
        self._lots += 1
        self._ages += answer.age
        self._oldest = max(self._oldest, answer.age)

    def report(self) -> EngineReport:
        """Returns how the crew does."""
        seconds = max(time.monotonic() - self._began, 1e-9) if self._lots else math.inf
        orders = self.orders
        return EngineReport(
            workers=self._size,
            live=len(orders.ready),
            deaths=orders.deaths,
            examples_per_second=self._examples / seconds,
            wait_share=min(1.0, (orders.waited - self._waited_before) / seconds),
            weights_age=self._ages / max(self._lots, 1),
            oldest_weights=self._oldest,
            thrown_away=self._thrown_away,
        )
