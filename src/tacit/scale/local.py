"""Workers in processes of this machine, each on one thread."""

from __future__ import annotations

import multiprocessing
import signal
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any

from tacit.processes import environment, limit_threads
from tacit.scale.worker import Worker, WorkerPlan

_NO_WEIGHTS = b""


class LocalCrew:
    """Worker processes that end with this one.

    Attributes:
      size: how many there are.
      processes: them, by number.
    """

    def __init__(self, plan: WorkerPlan, size: int) -> None:
        self._plan, self.size = plan, size
        self._context = multiprocessing.get_context("spawn")
        self._connections: dict[int, Connection] = {}
        self.processes: dict[int, Any] = {}

    def start(self, number: int, life: int) -> None:
        self._end(number)
        here, there = self._context.Pipe()
        process = self._context.Process(target=_work, args=(self._plan, number, life, there), daemon=True)
        with environment(limit_threads(1)):
            process.start()
        there.close()  # or the end of the worker would not be seen here
        self._connections[number], self.processes[number] = here, process

    def send(self, number: int, weights: bytes | None, order: int) -> None:
        with suppress(OSError):
            self._connections[number].send_bytes(order.to_bytes(8, "little"))
            self._connections[number].send_bytes(_NO_WEIGHTS if weights is None else weights)

    def wait(self) -> tuple[int, bytes | None]:
        ready = wait(list(self._connections.values()))
        number = next(number for number, connection in self._connections.items() if connection in ready)
        try:
            return number, self._connections[number].recv_bytes()
        except (EOFError, OSError):
            return number, None

    def close(self) -> None:
        for number in list(self.processes):
            self._end(number)

    def _end(self, number: int) -> None:
        """Ends a worker, if there is one of that number."""
        process = self.processes.pop(number, None)
        if process is not None:
            self._connections.pop(number).close()
            process.kill()
            process.join()


def _work(plan: WorkerPlan, number: int, life: int, connection: Connection) -> None:
    """Answers orders until the learner is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the learner hears Ctrl-C, and ends its workers
    import torch

    torch.set_num_threads(1)
    worker = Worker(plan, number, life)
    with suppress(EOFError, OSError):
        while True:
            order = int.from_bytes(connection.recv_bytes(), "little")
            weights = connection.recv_bytes()
            connection.send_bytes(worker.make(weights or None, order))
