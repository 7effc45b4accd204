"""Orders given to a crew: every one is answered once, whichever workers die or stand still.

A worker has at most `AHEAD` orders at a time: one that it works on and one that waits, so that it does not idle while its
last answer is looked at, and nothing piles up. Orders of a worker that died go to whichever is free next. Once no order is
left, free workers try those that others have not answered yet, and the first answer counts: nobody waits for the slowest one.
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
"""Orders that a worker has at most: the one that it works on, and the next."""
MOST_DEATHS = 5
"""Deaths for each worker of a crew, without an answer in between, after which a job ends: the next worker would die, too."""
PATIENCE = 3600.0
"""Seconds of silence of a whole crew after which a job ends."""
GLANCE = 1.0
"""Seconds between two looks at a crew that says nothing."""


class Answer(NamedTuple):
    """What came of an order.

    Attributes:
      order: Its place among the orders, from 0 on.
      tensors: The answer's tensors.
      facts: The answer's facts.
      age: How many versions of what is shared had come out since the one that it was made with.
    """

    order: int
    tensors: dict[str, Tensor]
    facts: dict[str, Any]
    age: int


class Orders:
    """Orders in the hands of a crew; entering it starts the workers, leaving it ends them.

    Args:
      crew: who works.
      orders: the facts of each order, taken one by one when somebody is free.
      patience: seconds of silence of the whole crew after which the job ends.

    Attributes:
      deaths: Workers that died so far.
      ready: The numbers of the workers that live and have started.
      waited: Seconds spent on waiting for answers.
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
        """Tells all workers something before their next orders, such as new weights."""
        self._version += 1
        self._crew.share(self._version, pack(tensors, **facts, version=self._version))

    def add(self, orders: Iterable[dict[str, Any]]) -> int:
        """Goes on with more orders, now that all before were answered; returns the place of the first of them."""
        first, self._orders, self._all_taken = self._count, iter(orders), False
        for number in sorted(self.ready):
            self._occupy(number)
        return first

    def next(self) -> Answer | None:
        """Returns the next answer, None where every order has been answered.

        Raises:
          TacitError: a worker cannot go on, workers die again and again, or the crew is silent or out of reach.
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
        """Returns what the next worker says, and whose it is."""
        began = time.monotonic()
        try:
            while (heard := self._crew.wait(GLANCE)) is None:
                if time.monotonic() - began > self._patience:
                    raise TacitError(f"none of {self._crew.size} workers has said anything for {self._patience:,.0f} s")
        finally:
            self.waited += time.monotonic() - began
        return heard

    def _taken(self, number: int, frame: bytes) -> Answer | None:
        """Returns an answer after giving its worker more to do; None where the order was answered before."""
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
        """Returns an order for a worker, None where there is none: one of the dead, a new one, or somebody else's."""
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
        return min(self._open, key=lambda order: sum(order in given for given in self._given))

    def _replace(self, number: int) -> None:
        """Starts a worker again that died; its orders go to whoever is free."""
        self.deaths += 1
        self._deaths_in_a_row += 1
        if self._deaths_in_a_row > MOST_DEATHS * self._crew.size:
            raise TacitError(f"workers die again and again, perhaps for want of memory: use fewer of them ({self._crew.cause})")
        self.ready.discard(number)
        self._lives[number] += 1
        self._again.extend(self._given[number])
        self._given[number].clear()
        self._crew.start(number, self._lives[number])
        for other in sorted(self.ready):
            self._occupy(other)
