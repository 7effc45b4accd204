"""A fuzz target: a function of bytes, valid inputs to start from, and the bounds that every input must respect."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tacit.errors import TacitError

MEMORY = 3 * 2**30
"""Bytes of address space that inputs may take beyond what the process already had."""
MOST_LETTERS = 4_000
"""Most characters of a message that are ours, besides what it quotes from the input."""

LETTERS_A_BYTE = 30
"""Letters of a message for each byte of the input: some quote it twice, and odd bytes as `\\udcff`."""


class Prepared(NamedTuple):
    """A target that is ready to run.

    Attributes:
      seeds: Valid inputs.
      run: Takes an input; either returns or raises a `TacitError`. Anything else is a failure.
    """

    seeds: tuple[bytes, ...]
    run: Callable[[bytes], object]


@dataclass(frozen=True)
class Target:
    """One kind of input from outside.

    Attributes:
      name: Its name on the command line.
      prepare: Gets the target ready, given an empty folder to write to.
      seconds: Most processor time that one input may take.
      examples: How many inputs the fast tests give it.
    """

    name: str
    prepare: Callable[[Path], Prepared]
    seconds: float = 2.0
    examples: int = 200


class SlowError(BaseException):
    """An input took too long. A `BaseException`, so that no `except Exception` in the tested code can hide it."""


def attempt(run: Callable[[bytes], object], data: bytes, seconds: float) -> None:
    """Gives a target one input.

    Raises:
      Exception: The target failed, took too long, or refused the input with an empty or overlong message.
    """
    try:
        with _at_most(seconds):
            run(data)
    except TacitError as error:
        message = str(error)
        if not is_message(message, data):
            raise AssertionError(f"refused with {len(message)} letters: {message[:200]!r}") from error


def is_message(message: str, data: bytes) -> bool:
    """Returns whether a refusal says something, and not too much."""
    return bool(message.strip()) and len(message) <= MOST_LETTERS + LETTERS_A_BYTE * len(data)


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Raises a `SlowError` if the code inside takes more processor time; other programs on the machine do not count."""

    def stop(*_: object) -> None:
        raise SlowError(f"more than {seconds:g} s of processor time")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def first_refusal(calls: Iterable[Callable[[], object]]) -> None:
    """Raises the first refusal if every call is refused: an input need not suit every game."""
    refusals: list[TacitError] = []
    accepted = False
    for call in calls:
        try:
            call()
            accepted = True
        except TacitError as error:
            refusals.append(error)
    if refusals and not accepted:
        raise refusals[0]


def limit_memory() -> None:
    """Makes allocations fail that would take this process more than `MEMORY` above its current size."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * os.sysconf("SC_PAGE_SIZE") + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))
