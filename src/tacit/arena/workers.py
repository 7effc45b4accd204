"""Deals of a match played by several processes, the same whoever plays them: every deal has random numbers of its own.

A *plan* says how deals are played and can be sent to another process. Worker `w` of `n` plays deals `w`, `w + n` and so on, and
deals are handed on in their order, so that sums are the same to the last bit.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterable, Iterator
from queue import Empty
from typing import Any, Protocol

from tacit.arena.match import Deal
from tacit.errors import TacitError
from tacit.processes import environment, limit_threads

PATIENCE = 1.0
"""Seconds after which it is checked that workers still live."""
AHEAD = 64
"""Deals that a worker may be ahead of what was handed on."""


class DealPlan(Protocol):
    """How deals are played."""

    def deals(self, numbers: Iterable[int]) -> Iterator[Deal]:
        """Yields the deals of some numbers, each the same whatever was played before."""
        ...


def play_plan(plan: DealPlan, num_deals: int, workers: int = 1) -> Iterator[Deal]:
    """Yields the first deals of a plan in their order.

    Args:
      plan: how they are played.
      num_deals: how many.
      workers: processes that play them, each on one thread; with one they are played here.

    Raises:
      TacitError: a worker failed.
    """
    if workers == 1:
        yield from plan.deals(range(num_deals))
        return
    context = multiprocessing.get_context("spawn")
    workers = min(workers, num_deals)
    queues = [context.Queue(AHEAD) for _ in range(workers)]
    processes = [
        context.Process(target=_work, args=(plan, range(worker, num_deals, workers), queues[worker]), daemon=True)
        for worker in range(workers)
    ]
    try:
        with environment(limit_threads(1)):
            for process in processes:
                process.start()
        for number in range(num_deals):
            yield _next_deal(processes[number % workers], queues[number % workers])
    finally:
        for process in processes:
            if process.is_alive():
                process.terminate()
            if process.pid is not None:
                process.join()


def _next_deal(process: Any, queue: Any) -> Deal:
    """Returns the next deal of a worker."""
    while True:
        try:
            found = queue.get(timeout=PATIENCE)
        except Empty:
            if not process.is_alive() and queue.empty():
                raise TacitError(f"a worker ended with code {process.exitcode}: try fewer --workers") from None
            continue
        if isinstance(found, Deal):
            return found
        raise TacitError(found)


def _work(plan: DealPlan, numbers: Iterable[int], queue: Any) -> None:
    """Plays deals in a process of its own, and puts them into a queue; what goes wrong as a line of text."""
    import torch

    torch.set_num_threads(1)
    try:
        for deal in plan.deals(numbers):
            queue.put(deal)
    except KeyboardInterrupt:  # the process that started this one tells the user
        pass
    except TacitError as error:
        queue.put(str(error))
