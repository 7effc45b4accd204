"""Crews for work whose answers do not depend on the worker: matches, local best responses, playthroughs."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor

from tacit.processes import HERE, Hands, Job, Message, Work, Workers
from tacit.scale.engines import reached
from tacit.scale.orders import PATIENCE, Orders
from tacit.scale.plan import EnginePlan


def find_workers(size: int, engine: str | None = None, ray_address: str | None = None, patience: float = PATIENCE) -> Workers:
    """Returns the workers to use: this process if one is enough and no engine is named.

    Args:
      size: the number of processes.
      engine: where they run, `local` or `ray`; None for this machine.
      ray_address: the address of the cluster; None starts one on this machine.
      patience: seconds of silence from all workers after which a job ends with an error.

    Raises:
      TacitError: there is no such engine, or it takes no address.
    """
    if size == 1 and engine is None and ray_address is None:
        return HERE
    return CrewWorkers(EnginePlan(engine or "local", size, address=ray_address), patience)


@dataclass(frozen=True)
class Sealed:
    """A job whose module is only imported when it is opened, after the worker has set its number of threads.

    Attributes:
      content: The job, pickled by the process that starts the workers.
    """

    content: bytes

    def open(self, number: int, life: int) -> Work:
        """Returns the job's work."""
        job: Job = pickle.loads(self.content)
        return job.open(number, life)


class CrewWorkers:
    """Workers that are started for a job and end with it; those that die are replaced, and their work is repeated.

    Attributes:
      size: The number of workers.
    """

    def __init__(self, plan: EnginePlan, patience: float = PATIENCE) -> None:
        self.size, self._plan, self._patience = plan.workers, plan, patience

    @contextmanager
    def on(self, job: Job, most: int) -> Iterator[Hands]:
        plan = replace(self._plan, workers=min(self.size, most))
        with reached(plan) as make_crew, Orders(make_crew(Sealed(pickle.dumps(job))), [], self._patience) as orders:
            yield _CrewHands(orders)


class _CrewHands:
    """A crew at work."""

    def __init__(self, orders: Orders) -> None:
        self._orders = orders

    def share(self, tensors: dict[str, Tensor]) -> None:
        self._orders.share(tensors)

    def answers(self, orders: Iterable[dict[str, Any]]) -> Iterator[tuple[int, Message]]:
        first = self._orders.add(orders)
        for answer in self._orders:
            yield answer.order - first, (answer.tensors, answer.facts)
