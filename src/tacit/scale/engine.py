"""The engine: a crew makes the examples that a run learns from, and the learner takes them in order of arrival.

The ratio of training to generation is the same as in one process: the learner learns from every lot once, when it takes it.
Workers generate with the latest weights published when they began (or when their order was queued). Lots made with much older
weights are thrown away.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from tacit.errors import TacitError
from tacit.nets.checkpoint import unprefixed
from tacit.scale.crew import Crew
from tacit.scale.orders import AHEAD, Answer, Orders
from tacit.scale.self_play import next_lots
from tacit.training.system import Trainer

MOST_AGE = 16
"""The largest age of weights of a lot that is kept, in multiples of the orders that the whole crew has at one time."""


@dataclass(frozen=True)
class EngineReport:
    """The performance of a crew.

    Attributes:
      workers: The number of workers requested.
      live: The number of workers that have started and are alive.
      deaths: The number of workers that died and were replaced.
      examples_per_second: The rate of examples since the first lot arrived.
      wait_share: The share of that time for which the learner waited for examples.
      weights_age: The mean number of newer versions of the weights that were published when a lot arrived.
      oldest_weights: The largest such number among the lots that were learnt from.
      thrown_away: The number of lots made with weights that were too old.
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
      orders: The orders that the crew works on.
    """

    def __init__(self, trainer: Trainer[Any, Any], crew: Crew) -> None:
        self._trainer, self._size = trainer, crew.size
        self.orders = Orders(crew, self._requests())
        self._lots_each, self._here = 1, deque[Answer]()
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
          TacitError: a worker cannot go on, workers keep dying, or the crew is silent or out of reach.
        """
        while not self._here:
            self._take()
        lot = self._here.popleft()
        self._count(lot)
        return lot.tensors

    def publish(self) -> None:
        """Has workers use the trainer's current weights from their next orders on."""
        self._news = True

    def _requests(self) -> Iterator[dict[str, Any]]:
        """Yields orders endlessly, each for a number of lots that suits the workers' speed."""
        while True:
            yield {"lots": self._lots_each}

    def _take(self) -> None:
        """Waits for the next answer and queues its lots, unless they were made with weights that are too old."""
        if self._news:
            self.orders.share(self._trainer.weights(), epoch=self._trainer.epoch)
            self._news = False
        answer = self.orders.next()
        if answer is None:
            raise TacitError("the crew has no orders left")
        count, first = answer.facts["lots"], answer.facts["lot"]
        self._lots_each = next_lots(count, answer.facts["seconds"], self._trainer.lots_at_once)
        if answer.age > MOST_AGE * AHEAD * self._size:
            self._thrown_away += count
            return
        for place in range(count):
            facts = {**answer.facts, "lot": first + place}
            self._here.append(answer._replace(tensors=unprefixed(str(place), answer.tensors), facts=facts))

    def _count(self, answer: Answer) -> None:
        """Counts a lot that is learnt from; rates start after the first lot, whose time is mostly start-up."""
        if self._lots:
            self._examples += max((len(part) for part in answer.tensors.values()), default=0)
        else:
            self._began, self._waited_before = time.monotonic(), self.orders.waited
        self._lots += 1
        self._ages += answer.age
        self._oldest = max(self._oldest, answer.age)

    def report(self) -> EngineReport:
        """Returns the performance of the crew so far."""
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
