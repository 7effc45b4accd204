"""A crew: some workers and a way to reach them."""

from __future__ import annotations

from typing import Protocol

READY = b""
"""The first message of a worker, sent once it has started."""


class Crew(Protocol):
    """Some workers and a way to reach them.

    Attributes:
      size: the number of workers.
      cause: why the last worker to die did so, in a few words.
    """

    size: int
    cause: str

    def start(self, number: int, life: int) -> None:
        """Starts a worker, replacing the one with its number; `wait` reports when it is ready, if it ever is."""
        ...

    def share(self, version: int, frame: bytes) -> None:
        """Shares a frame with all workers, including those that start later. Each gets the latest frame before an order."""
        ...

    def send(self, number: int, order: bytes) -> None:
        """Queues a small order for a worker. It never waits for the worker; `wait` reports one that is dead."""
        ...

    def wait(self, seconds: float) -> tuple[int, bytes | None] | None:
        """Returns the next worker to report and its message: `READY`, an answer, or None if it died; None after a timeout.

        Raises:
          TacitError: the whole crew is out of reach.
        """
        ...

    def close(self) -> None:
        """Ends all workers, within seconds."""
        ...
