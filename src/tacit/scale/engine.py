"""The engine: orders go out to workers, what they make comes in, and the learner waits for whichever is first.

Every worker has one order at a time and gets the next one, with the latest weights, the moment its examples arrive. So nothing
piles up while the learner is busy, a slow worker holds up nobody, and the learner's ratio of training to generation holds as it
does in one process: it learns from every lot once, when it takes it. A worker that died is started again with random numbers of
its own; an answer to another order than its last is dropped, so no example counts twice.
"""

from __future__ import annotations

import itertools
from typing import Any, Protocol

from torch import Tensor

from tacit.errors import TacitError
from tacit.scale.frames import pack, unpack
from tacit.training.system import Trainer

MOST_DEATHS = 5
"""Deaths in a row, without an example in between, after which a run stops: the next worker would die, too."""


class Crew(Protocol):
    """Some workers and a way to reach them.

    Attributes:
      size: how many there are.
    """

    size: int

    def start(self, number: int, life: int) -> None:
        """Starts a worker, in place of the one that had its number."""
        ...

    def send(self, number: int, weights: bytes | None, order: int) -> None:
        """Has a worker `make`; one that is dead is told of by `wait`."""
        ...

    def wait(self) -> tuple[int, bytes | None]:
        """Returns the next answer and whose it is; None where that worker died.

        Raises:
          TacitError: the crew is out of reach as a whole.
        """
        ...

    def close(self) -> None:
        """Ends all workers."""
        ...


class Engine:
    """A trainer's source of examples, made by a crew.

    Attributes:
      deaths: workers that died so far.
    """

    def __init__(self, trainer: Trainer[Any, Any], crew: Crew) -> None:
        self._trainer, self._crew = trainer, crew
        self._orders = itertools.count()
        self._pending: dict[int, int] = {}
        self._lives = [0] * crew.size
        self._version, self._packed_version, self._packed = 0, -1, b""
        self._known = [-1] * crew.size
        self._deaths_in_a_row = 0
        self.deaths = 0

    def __enter__(self) -> Engine:
        try:
            for number in range(self._crew.size):
                self._crew.start(number, 0)
            for number in range(self._crew.size):
                self._order(number)
        except BaseException:
            self._crew.close()
            raise
        self._trainer.example_source = self
        return self

    def __exit__(self, *_: object) -> None:
        self._crew.close()

    def next(self) -> dict[str, Tensor]:
        """Returns the next examples that arrive.

        Raises:
          TacitError: a worker cannot go on, workers die again and again, or the crew is out of reach.
        """
        while True:
            number, answer = self._crew.wait()
            if answer is None:
                self._replace(number)
                continue
            examples, facts = unpack(answer)
            if facts["order"] != self._pending.get(number):
                continue
            if "error" in facts:
                raise TacitError(f"worker {number}: {facts['error']}")
            self._deaths_in_a_row = 0
            self._order(number)
            return examples

    def publish(self) -> None:
        """Has the next orders carry the trainer's weights."""
        self._version += 1

    def _order(self, number: int) -> None:
        """Gives a worker its next order, with weights if it does not have the latest."""
        if self._packed_version != self._version:
            self._packed = pack(self._trainer.weights(), epoch=self._trainer.epoch)
            self._packed_version = self._version
        order = self._pending[number] = next(self._orders)
        new = self._known[number] != self._version
        self._known[number] = self._version
        self._crew.send(number, self._packed if new else None, order)

    def _replace(self, number: int) -> None:
        """Starts a worker again that died."""
        self.deaths += 1
        self._deaths_in_a_row += 1
        if self._deaths_in_a_row > MOST_DEATHS * self._crew.size:
            raise TacitError("workers die again and again, perhaps for want of memory: use fewer of them")
        self._lives[number] += 1
        self._known[number] = -1
        self._crew.start(number, self._lives[number])
        self._order(number)
