"""Work dealt to several processes, each on one thread: what every layer needs to know of it.

A job is said by names and numbers, so that any process can open it, and answers orders. `HERE` does it in this process;
`tacit.scale` has workers on this machine and on others.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from torch import Tensor

Message: TypeAlias = "tuple[dict[str, Tensor], dict[str, Any]]"
"""Tensors by name, and facts that JSON can hold; the names `order`, `version` and `error` are taken."""


class Work(Protocol):
    """A job that was opened."""

    def hear(self, shared: Message) -> None:
        """Takes over what everybody who works on the job is told."""
        ...

    def answer(self, order: Message) -> Message:
        """Returns the answer to an order.

        Raises:
          TacitError: the whole job cannot go on.
        """
        ...


class Job(Protocol):
    """A plan of work: a small object that can be sent to another process or machine.

    Its module must import neither torch nor numba at its top: workers set the number of threads before these are loaded.
    """

    def open(self, number: int, life: int) -> Work:
        """Returns the work, opened in the process that does it.

        Args:
          number: which worker it is.
          life: how often workers of this number were started before. What the last one made and did not deliver is lost, and
            what it delivered must not be made again: work that draws random numbers draws others in each life.
        """
        ...


class Hands(Protocol):
    """Those who work on a job whose answers are the same whoever gives them."""

    def share(self, tensors: dict[str, Tensor]) -> None:
        """Tells all of them something; all orders before were answered."""
        ...

    def answers(self, orders: Iterable[dict[str, Any]]) -> Iterator[tuple[int, Message]]:
        """Yields the answers to some orders as they come, each with its place; an order is asked for when somebody is free."""
        ...


class Workers(Protocol):
    """Who can be given jobs.

    Attributes:
      size: How many they are.
    """

    size: int

    def on(self, job: Job, most: int) -> AbstractContextManager[Hands]:
        """Has them work on a job: no more of them than there can be orders at once."""
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


class _Here:
    size = 1

    @contextmanager
    def on(self, job: Job, most: int) -> Iterator[Hands]:
        del most
        yield OwnHands(job.open(0, 0))


HERE: Workers = _Here()


def in_turn(answers: Iterable[tuple[int, Message]]) -> Iterator[Message]:
    """Yields answers in the order of their places, each as soon as those before it have come."""
    early: dict[int, Message] = {}
    place = 0
    for at, answer in answers:
        early[at] = answer
        while place in early:
            yield early.pop(place)
            place += 1


def limit_threads(count: int) -> dict[str, str]:
    """Returns the variables that keep a process to so many threads."""
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
    return dict.fromkeys(names, str(count))


def num_cores() -> int:
    """Returns how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def environment(values: dict[str, str]) -> Iterator[None]:
    """Has processes that are started meanwhile see other variables."""
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
