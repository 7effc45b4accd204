"""Work shared by several processes, each on one thread: the protocols that every layer needs.

A job consists of names and numbers, so that any process can open it. The opened job answers orders. `HERE` runs jobs in this
process; `tacit.scale` has workers on this machine and on others.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from torch import Tensor

Message: TypeAlias = "tuple[dict[str, Tensor], dict[str, Any]]"
"""Tensors by name, and facts that JSON can hold; the names `order`, `version` and `error` are reserved."""


class Work(Protocol):
    """An opened job."""

    def hear(self, shared: Message) -> None:
        """Receives a message that goes to every worker on the job."""
        ...

    def answer(self, order: Message) -> Message:
        """Returns the answer to an order.

        Raises:
          TacitError: the whole job cannot continue.
        """
        ...


class Job(Protocol):
    """A plan of work: a small object that can be sent to another process or machine.

    Its module must not import torch or numba at the top: workers set the number of threads before they load these.
    """

    def open(self, number: int, life: int) -> Work:
        """Returns the work, opened in the process that does it.

        Args:
          number: the worker's number.
          life: how often a worker with this number was started before. Results that it did not deliver are lost, and results
            that it delivered must not be repeated: work that draws random numbers draws different ones in each life.
        """
        ...


class Hands(Protocol):
    """The workers on one job; an answer does not depend on which worker gives it."""

    def share(self, tensors: dict[str, Tensor]) -> None:
        """Sends tensors to all workers; all earlier orders must have been answered."""
        ...

    def answers(self, orders: Iterable[dict[str, Any]]) -> Iterator[tuple[int, Message]]:
        """Yields answers as they arrive, each with its order's place; the next order is drawn when a worker is free."""
        ...


class Workers(Protocol):
    """The workers that can be given jobs.

    Attributes:
      size: The number of workers.
    """

    size: int

    def on(self, job: Job, most: int) -> AbstractContextManager[Hands]:
        """Returns a context in which workers do a job: at most `most`, as many as orders can be open at once."""
        ...


class OwnHands:
    """Work in this process."""

    def __init__(self, work: Work) -> None:
        self._work = work

    def share(self, tensors: dict[str, Tensor]) -> None:
        self._work.hear((tensors, {}))

    def answers(self, orders: Iterable[dict[str, Any]]) -> Iterator[tuple[int, Message]]:
        for place, order in enumerate(orders):
            yield place, self._work.answer(({}, order))


class _ThisProcess:
    size = 1

    @contextmanager
    def on(self, job: Job, most: int) -> Iterator[Hands]:
        del most
        yield OwnHands(job.open(0, 0))


HERE: Workers = _ThisProcess()


def in_turn(answers: Iterable[tuple[int, Message]]) -> Iterator[Message]:
    """Yields answers in the order of their places, each as soon as all earlier ones have arrived."""
    early: dict[int, Message] = {}
    place = 0
    for at, answer in answers:
        early[at] = answer
        while place in early:
            yield early.pop(place)
            place += 1


def limit_threads(count: int) -> dict[str, str]:
    """Returns the environment variables that limit a process to `count` threads."""
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
    return dict.fromkeys(names, str(count))


def num_cores() -> int:
    """Returns how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def environment(values: dict[str, str]) -> Iterator[None]:
    """Sets environment variables for processes started inside a `with` block."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
