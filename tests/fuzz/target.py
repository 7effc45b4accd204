"""What is fuzzed: a function of bytes, valid inputs to start from, and the bounds that hold for every input."""

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
"""Bytes of address space that inputs may take on top of what the process had before them."""
MOST_LETTERS = 4_000
"""Letters of a message that are ours, at most, beside what it quotes of the input."""

LETTERS_A_BYTE = 30
"""Letters of a message for each byte of the input: some quote it twice, and odd bytes as `\\udcff`."""


class Prepared(NamedTuple):
    """A target that is ready.

    Attributes:
      seeds: Valid inputs.
      run: Takes an input. It returns, or raises a `TacitError`; all else is a failure.
    """

    seeds: tuple[bytes, ...]
    run: Callable[[bytes], object]


@dataclass(frozen=True)
class Target:
    """An input from outside.

    Attributes:
      name: What the command line calls it.
      prepare: Makes it ready, given an empty folder to write to.
      seconds: Processor time that one input may take.
      examples: Inputs that the fast tests give it.
    """

    name: str
    prepare: Callable[[Path], Prepared]
    seconds: float = 2.0
    examples: int = 200


class SlowError(BaseException):
    """An input took more than its time. No `except Exception` of what runs may hide that."""


def attempt(run: Callable[[bytes], object], data: bytes, seconds: float) -> None:
    """Gives a target an input.

    Raises:
      Exception: it failed, took too long, or was refused by a message that is none.
    """
    try:
        with _at_most(seconds):
            run(data)
    except TacitError as error:
        message = str(error)
        if not is_message(message, data):
            raise AssertionError(f"refused with {len(message)} letters: {message[:200]!r}") from error


def is_message(message: str, data: bytes) -> bool:
    """Returns whether a refusal of an input says something, and does not say too much."""
    return bool(message.strip()) and len(message) <= MOST_LETTERS + LETTERS_A_BYTE * len(data)


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Raises a `SlowError` where the code inside takes more processor time; other programs on the machine count for nothing."""

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
    """Raises what the first call is refused with, if all of them are: an input need not suit every game."""
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
    """Has allocations fail that would take this process `MEMORY` beyond what it has now."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * os.sysconf("SC_PAGE_SIZE") + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))
