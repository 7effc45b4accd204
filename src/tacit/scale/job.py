"""A worker, which opens a job (`tacit.processes.Job`) and then answers orders."""

from __future__ import annotations

import sys
import traceback

from tacit.errors import TacitError
from tacit.processes import Job, Work


class Worker:
    """Answers frames with frames; the first order opens the job.

    Args:
      job: the job to work on.
      number: the worker's number in the crew.
      life: how often workers with this number were started before.
    """

    def __init__(self, job: Job, number: int, life: int) -> None:
        self._job, self._number, self._life = job, number, life
        self._work: Work | None = None
        self._shared: bytes | None = None
        self._version = -1

    def hear(self, frame: bytes) -> None:
        """Keeps a shared frame until the next order."""
        self._shared = frame

    def answer(self, frame: bytes) -> bytes:
        """Returns the answer to an order, with its number and the version of the last shared frame, or with an error."""
        from tacit.scale.frames import pack, unpack

        order = unpack(frame)
        number = order[1]["order"]
        try:
            if self._work is None:
                self._work = self._job.open(self._number, self._life)
            if self._shared is not None:
                shared, self._shared = unpack(self._shared), None
                self._work.hear(shared)
                self._version = shared[1]["version"]
            tensors, facts = self._work.answer(order)
            return pack(tensors, **facts, order=number, version=self._version)
        except TacitError as error:
            return pack({}, order=number, error=str(error))
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            return pack({}, order=number, error=f"{type(error).__name__}: {error}")
