"""A crew: some workers and a way to reach them."""

from __future__ import annotations

from typing import Protocol

READY = b""
"""What a worker that has started says first."""


class Crew(Protocol):
    """Some workers and a way to reach them.

    Attributes:
      size: how many there are.
      cause: why the last worker that died did, in a few words.
    """

    size: int
    cause: str

    def start(self, number: int, life: int) -> None:
        """Starts a worker, in place of the one that had its number; `wait` tells when it is ready, if it ever is."""
        ...

    def share(self, version: int, frame: bytes) -> None:
        """Tells all workers something, and those that start later. Each of them hears the last such frame before an order."""
        ...

    def send(self, number: int, order: bytes) -> None:
        """Queues an order for a worker, in a few bytes. It never waits for the worker; `wait` tells of one that is dead."""
        ...

    def wait(self, seconds: float) -> tuple[int, bytes | None] | None:
        """Returns what the next worker says and its number: `READY`, an answer, or None if it died. None after so many seconds.

        Raises:
          TacitError: the crew is out of reach as a whole.
        """
        ...

    def close(self) -> None:
        """Ends all workers, within seconds."""
        ...
