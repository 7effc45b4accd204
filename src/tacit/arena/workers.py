"""Plays the deals of a match on any free worker. Every deal has its own random numbers, so results do not depend on the worker.

Deals are returned in order, so sums are the same to the last bit.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tacit.arena.match import Deal
from tacit.processes import HERE, Message, Workers, in_turn

SHORT, LONG = 0.1, 1.0
"""In seconds: orders grow after one that takes less than `SHORT` and shrink after one that takes more than `LONG`."""
PIECES = 4
"""The remaining deals make at least this many orders per worker, so the wait for the last one is short."""

Table = Callable[[Iterable[int]], Iterator[Deal]]
"""Yields the deals with given numbers; each is independent of what was played before."""


class DealPlan(ABC):
    """How deals are played; a plan sent to other processes holds only names and numbers."""

    @abstractmethod
    def table(self) -> Table:
        """Returns the function that plays deals, with its agents loaded."""

    def deals(self, numbers: Iterable[int]) -> Iterator[Deal]:
        """Yields the deals with given numbers."""
        yield from self.table()(numbers)

    def open(self, number: int, life: int) -> DealWork:
        """Returns the plan as work for a process."""
        del number, life  # no deal depends on who plays it
        return DealWork(self.table())


class DealWork:
    """Answers orders for consecutive deals."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def hear(self, shared: Message) -> None:
        """Does nothing, since deals share nothing."""

    def answer(self, order: Message) -> Message:
        began, first = time.perf_counter(), order[1]["first"]
        deals = [deal._asdict() for deal in self._table(range(first, first + order[1]["count"]))]
        return {}, {"deals": deals, "seconds": time.perf_counter() - began}


def play_plan(plan: DealPlan, num_deals: int, workers: Workers = HERE) -> Iterator[Deal]:
    """Yields the first deals of a plan, in order.

    Args:
      plan: how the deals are played.
      num_deals: the number of deals.
      workers: the processes that play them; this process itself yields every deal as soon as it has played it.

    Raises:
      TacitError: a deal cannot be played, or workers keep dying.
    """
    if workers is HERE:
        yield from plan.deals(range(num_deals))
        return
    pace = _Pace(num_deals, workers.size)
    with workers.on(plan, num_deals) as hands:
        for _, facts in in_turn(hands.answers(pace.orders())):
            pace.hear(facts["seconds"])
            for deal in facts["deals"]:
                yield Deal(deal["number"], tuple(deal["seats"]), tuple(deal["payoffs"]), tuple(deal["estimates"]))


class _Pace:
    """Chooses the number of deals per order: large enough to make sending cheap, small enough for steady progress."""

    def __init__(self, num_deals: int, num_workers: int) -> None:
        self._num_deals, self._num_workers = num_deals, num_workers
        self._count = 1

    def orders(self) -> Iterator[dict[str, Any]]:
        """Yields orders for all deals."""
        first = 0
        while first < self._num_deals:
            count = min(self._count, max(1, (self._num_deals - first) // (PIECES * self._num_workers)))
            yield {"first": first, "count": count}
            first += count

    def hear(self, seconds: float) -> None:
        """Adapts the size of orders to how long one took."""
        if seconds < SHORT:
            self._count *= 2
        elif seconds > LONG:
            self._count = max(1, self._count // 2)
