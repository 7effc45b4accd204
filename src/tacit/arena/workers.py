"""Deals of a match played by whoever is free, the same whoever plays them: every deal has random numbers of its own.

Deals are handed on in their order, so that sums are the same to the last bit.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tacit.arena.match import Deal
from tacit.processes import HERE, Message, Workers, in_turn

SHORT, LONG = 0.1, 1.0
"""Seconds: an order that takes less is followed by larger ones, one that takes more by smaller ones."""
PIECES = 4
"""Orders that each worker has before it at least, as far as there are deals: nobody waits long for the last one."""

Table = Callable[[Iterable[int]], Iterator[Deal]]
"""Yields the deals of some numbers, each the same whatever was played before."""


class DealPlan(ABC):
    """How deals are played: names and numbers, if it is to be sent to other processes."""

    @abstractmethod
    def table(self) -> Table:
        """Returns what plays deals, its agents loaded."""

    def deals(self, numbers: Iterable[int]) -> Iterator[Deal]:
        """Yields the deals of some numbers."""
        yield from self.table()(numbers)

    def open(self, number: int, life: int) -> DealWork:
        """Returns the plan as work for a process."""
        del number, life  # no deal depends on who plays it
        return DealWork(self.table())


class DealWork:
    """Answers an order for some deals in a row."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def hear(self, shared: Message) -> None:
        """Takes no notice: nothing is shared."""

    def answer(self, order: Message) -> Message:
        began, first = time.perf_counter(), order[1]["first"]
        deals = [deal._asdict() for deal in self._table(range(first, first + order[1]["count"]))]
        return {}, {"deals": deals, "seconds": time.perf_counter() - began}


def play_plan(plan: DealPlan, num_deals: int, workers: Workers = HERE) -> Iterator[Deal]:
    """Yields the first deals of a plan in their order.

    Args:
      plan: how they are played.
      num_deals: how many.
      workers: who plays them; in this process every deal is yielded as soon as it was played.

    Raises:
      TacitError: a deal cannot be played, or workers die again and again.
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
    """How many deals an order asks for: enough that sending it takes no time, few enough that somebody sees them come."""

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
        """Hears how long an order took."""
        if seconds < SHORT:
            self._count *= 2
        elif seconds > LONG:
            self._count = max(1, self._count // 2)
