"""Workers in processes of this machine, each on one thread.

Orders and answers go through pipes. Shared frames go through a file: it is written once, and each worker reads the latest
version before it works on an order. One thread per worker receives its answers, so no worker waits for the learner, and a
worker that stalls in the middle of an answer does not block the others.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import tempfile
import threading
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from tacit.processes import Job, environment, limit_threads
from tacit.scale.crew import READY
from tacit.scale.job import Worker

_VERSION_BYTES = 8
_GRACE = 1.0
"""How long a process may take to end after it has closed its pipe, in seconds."""


class LocalCrew:
    """Worker processes that end with this one.

    Args:
      job: the job to work on.
      size: the number of workers.
      gpus: names for `CUDA_VISIBLE_DEVICES`, assigned to workers in turn; empty leaves the variable unchanged.

    Attributes:
      size: the number of workers.
      cause: the exit code of the last worker to die, in words.
      processes: the processes by number.
    """

    def __init__(self, job: Job, size: int, gpus: tuple[str, ...] = ()) -> None:
        self._job, self.size, self._gpus = job, size, gpus
        self._context = multiprocessing.get_context("spawn")
        self._folder = Path(tempfile.mkdtemp(prefix="tacit-"))
        self._connections: dict[int, Connection] = {}
        self._said: SimpleQueue[tuple[Connection, int, bytes | None]] = SimpleQueue()
        self.cause = ""
        self.processes: dict[int, Any] = {}

    def start(self, number: int, life: int) -> None:
        self._end(number)
        here, there = self._context.Pipe()
        process = self._context.Process(
            target=_work, args=(self._job, number, life, there, self._folder), name=f"worker {number}", daemon=True
        )
        gpu = {"CUDA_VISIBLE_DEVICES": self._gpus[number % len(self._gpus)]} if self._gpus else {}
        with environment({**limit_threads(1), **gpu}):
            process.start()
        there.close()  # while this end is open, the worker's death would go unnoticed
        self._connections[number], self.processes[number] = here, process
        threading.Thread(target=self._listen, args=(here, number), daemon=True).start()

    def share(self, version: int, frame: bytes) -> None:
        with open(self._folder / "next", "wb") as file:
            file.write(version.to_bytes(_VERSION_BYTES, "little"))
            file.write(frame)
        os.replace(file.name, self._folder / "shared")  # a worker that is reading the old file can finish it

    def send(self, number: int, order: bytes) -> None:
        with suppress(OSError):
            self._connections[number].send_bytes(order)

    def wait(self, seconds: float) -> tuple[int, bytes | None] | None:
        while True:
            try:
                connection, number, said = self._said.get(timeout=seconds)
            except Empty:
                return None
            if self._connections.get(number) is connection:  # else it comes from the worker's previous life
                if said is None:
                    self.processes[number].join(_GRACE)
                    self.cause = f"the last one with code {self.processes[number].exitcode}"
                return number, said

    def close(self) -> None:
        for number in list(self.processes):
            self._end(number)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _listen(self, connection: Connection, number: int) -> None:
        """Receives a worker's messages until it ends."""
        try:
            while True:
                self._said.put((connection, number, connection.recv_bytes()))
        except (EOFError, OSError, TypeError):  # a connection closed in the meantime has no handle
            self._said.put((connection, number, None))

    def _end(self, number: int) -> None:
        """Ends the worker with that number, if there is one."""
        process = self.processes.pop(number, None)
        if process is not None:
            process.kill()
            process.join()
            self._connections.pop(number).close()


def _work(job: Job, number: int, life: int, connection: Connection, folder: Path) -> None:
    """Answers orders until the learner is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the learner handles Ctrl-C and ends its workers
    import torch

    torch.set_num_threads(1)
    worker, known = Worker(job, number, life), -1
    try:
        connection.send_bytes(READY)
        while True:
            order = connection.recv_bytes()
            known = _hear(worker, folder / "shared", known)
            connection.send_bytes(worker.answer(order))
    except (EOFError, OSError):
        shutil.rmtree(folder, ignore_errors=True)  # a learner that was killed could not remove it


def _hear(worker: Worker, file: Path, known: int) -> int:
    """Returns the version of the shared frame, after passing it to the worker if it is new."""
    with suppress(FileNotFoundError), open(file, "rb") as shared:
        version = int.from_bytes(shared.read(_VERSION_BYTES), "little")
        if version != known:
            worker.hear(shared.read())
            return version
    return known
