"""Orders given to a crew: each is answered once, even if workers die or stall.

A worker has at most `AHEAD` orders at a time: one in progress and one waiting, so that it does not idle while its last answer
is processed, and nothing piles up. The orders of a dead worker go to the next free one. Once no new order is left, free workers
also try orders that others have not answered yet, first those that nobody works on, and the first answer counts: the slowest
worker holds up nothing.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from torch import Tensor

from tacit.errors import TacitError
from tacit.scale.crew import READY, Crew
from tacit.scale.frames import pack, unpack

AHEAD = 2
"""The most orders that a worker has at a time: the one in progress, and the next."""
MOST_DEATHS = 5
"""After this many deaths per worker of a crew, without an answer in between, a job ends: the next worker would die, too."""
PATIENCE = 3600.0
"""Seconds of silence from a whole crew after which a job ends."""
GLANCE = 1.0
"""Seconds between two looks at a silent crew."""


class Answer(NamedTuple):
    """The answer to an order.

    Attributes:
      order: The order's number, from 0.
      tensors: The answer's tensors.
      facts: The answer's facts.
      age: The number of frames shared after the one that the answer was made with.
    """

    order: int
    tensors: dict[str, Tensor]
    facts: dict[str, Any]
    age: int


class Orders:
    """Hands out orders to a crew; entering it starts the workers, leaving it ends them.

    Args:
      crew: the workers.
      orders: the facts of each order, taken one by one when a worker is free.
      patience: seconds of silence from the whole crew after which the job ends.

    Attributes:
      deaths: The number of workers that have died.
      ready: The numbers of the workers that have started and are alive.
      waited: The seconds spent waiting for answers.
    """

    def __init__(self, crew: Crew, orders: Iterable[dict[str, Any]], patience: float = PATIENCE) -> None:
        self._crew, self._patience = crew, patience
        self._orders, self._count = iter(orders), 0
        self._again: deque[int] = deque()
        self._open: dict[int, bytes] = {}
        self._all_taken = False
        self._given: list[list[int]] = [[] for _ in range(crew.size)]
        self._lives = [0] * crew.size
        self._version = -1
        self._deaths_in_a_row = 0
        self.deaths, self.waited = 0, 0.0
        self.ready: set[int] = set()

    def __enter__(self) -> Orders:
        try:
            for number in range(self._crew.size):
                self._crew.start(number, 0)
        except BaseException:
            self._crew.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._crew.close()

    def __iter__(self) -> Iterator[Answer]:
        while (answer := self.next()) is not None:
            yield answer

    def share(self, tensors: dict[str, Tensor], **facts: Any) -> None:
        """Shares tensors and facts, such as new weights, with all workers before their next orders."""
        self._version += 1
        self._crew.share(self._version, pack(tensors, **facts, version=self._version))

    def add(self, orders: Iterable[dict[str, Any]]) -> int:
        """Returns the number of the first of the given orders, after queueing them; all earlier orders must be answered."""
        first, self._orders, self._all_taken = self._count, iter(orders), False
        for number in sorted(self.ready):
            self._occupy(number)
        return first

    def next(self) -> Answer | None:
        """Returns the next answer, or None if every order has been answered.

        Raises:
          TacitError: a worker cannot go on, workers keep dying, or the crew is silent or out of reach.
        """
        while self._open or not self._all_taken:
            number, said = self._wait()
            if said is None:
                self._replace(number)
            elif said == READY:
                self.ready.add(number)
                self._occupy(number)
            elif (answer := self._taken(number, said)) is not None:
                return answer
        return None

    def _wait(self) -> tuple[int, bytes | None]:
        """Returns the next worker to report and its message; None for a worker that died."""
        began = time.monotonic()
        try:
            while (heard := self._crew.wait(GLANCE)) is None:
                if time.monotonic() - began > self._patience:
                    raise TacitError(f"none of the {self._crew.size} workers has answered for {self._patience:,.0f} s")
        finally:
            self.waited += time.monotonic() - began
        return heard

    def _taken(self, number: int, frame: bytes) -> Answer | None:
        """Returns an answer after giving its worker more to do; None if the order was answered before."""
        tensors, facts = unpack(frame)
        order = facts.pop("order")
        if order in self._given[number]:
            self._given[number].remove(order)
        wanted = self._open.pop(order, None) is not None
        if wanted and "error" in facts:
            raise TacitError(f"worker {number}: {facts['error']}")
        self._deaths_in_a_row = 0
        self._occupy(number)
        return Answer(order, tensors, facts, self._version - facts.pop("version")) if wanted else None

    def _occupy(self, number: int) -> None:
        """Gives a worker as many orders as it may have."""
        given = self._given[number]
        while len(given) < AHEAD and (order := self._take(number)) is not None:
            given.append(order)
            self._crew.send(number, self._open[order])

    def _take(self, number: int) -> int | None:
        """Returns an order for a worker: a dead worker's, a new one, or another worker's; None if there is none."""
        while self._again:
            order = self._again.popleft()
            if order in self._open:
                return order
        facts = next(self._orders, None)
        if facts is not None:
            order, self._count = self._count, self._count + 1
            self._open[order] = pack({}, **facts, order=order)
            return order
        self._all_taken = True
        if self._given[number] or not self._open:
            return None
        return min(self._open, key=self._tried)

    def _tried(self, order: int) -> tuple[int, bool]:
        """Returns how many workers have an order, and whether one of them works on it already instead of keeping it waiting."""
        having = [given for given in self._given if order in given]
        return len(having), any(given[0] == order for given in having)

    def _replace(self, number: int) -> None:
        """Restarts a worker that died; its orders go to free workers."""
        self.deaths += 1
        self._deaths_in_a_row += 1
        if self._deaths_in_a_row > MOST_DEATHS * self._crew.size:
            raise TacitError(f"workers die again and again, perhaps for lack of memory: use fewer of them ({self._crew.cause})")
        self.ready.discard(number)
        self._lives[number] += 1
        self._again.extend(self._given[number])
        self._given[number].clear()
        self._crew.start(number, self._lives[number])
        for other in sorted(self.ready):
            self._occupy(other)
