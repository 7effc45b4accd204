"""The runner's worker: feeds one target mutated inputs for a while, in a process that may crash.

The current input is kept in a memory-mapped file, so that it is known even after a crash.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from tacit.errors import TacitError
from tests.fuzz.mutations import mutate
from tests.fuzz.target import SlowError, Target, attempt, limit_memory
from tests.fuzz.targets import TARGETS

MOST_BYTES = 2**25
"""Longest input, in bytes."""
MEMORY_DISK = Path("/dev/shm")
"""Where targets write files if it exists: on a disk, writing would take most of their time."""
KEPT = 400
"""Most refused or accepted inputs that are mutated further, besides the seeds."""


class Current:
    """The current input in a memory-mapped file: its length, then its bytes."""

    def __init__(self, path: Path) -> None:
        with open(path, "wb") as file:
            file.truncate(MOST_BYTES + 8)
        with open(path, "r+b") as file:
            self._map = mmap.mmap(file.fileno(), 0)

    def set(self, data: bytes) -> None:
        self._map[8 : 8 + len(data)] = data
        self._map[:8] = len(data).to_bytes(8, "little")

    @staticmethod
    def read(path: Path) -> bytes:
        """Returns the input that a process was working on when it ended."""
        content = path.read_bytes()
        return content[8 : 8 + int.from_bytes(content[:8], "little")]


def where(error: BaseException) -> str:
    """Returns the kind of a failure: the exception, and the last line of the package in its traceback."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/tacit/" in frame.filename] or list(frames)[-1:]
    place = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else "?"
    return f"{type(error).__name__} at {place}"


def fuzz(target: Target, seed: int, inputs: int, seconds: float, out: Path) -> Iterator[dict[str, Any]]:
    """Yields a report for each kind of failure, and finally one with the counts."""
    random, current = Random(seed), Current(out / f"{target.name}.current")
    with tempfile.TemporaryDirectory(prefix="tacit-fuzz-", dir=MEMORY_DISK if MEMORY_DISK.is_dir() else None) as folder:
        prepared = target.prepare(Path(folder))
        pool = list(prepared.seeds)
        for data in prepared.seeds:
            current.set(data)
            try:
                prepared.run(data)
            except TacitError as error:
                sys.stderr.write(f"{target.name}: the seed {data[:80]!r} is refused: {error}\n")
        limit_memory()
        began, done, refused, known = time.monotonic(), 0, 0, set[str]()
        slowest = 0.0
        while done < inputs and time.monotonic() - began < seconds:
            data = mutate(random.choice(pool), prepared.seeds, random)[:MOST_BYTES]
            current.set(data)
            started, accepted = time.process_time(), False
            try:
                attempt(_noting(prepared.run), data, target.seconds)
                accepted = True
            except _RefusedError:
                refused += 1
            except (Exception, SlowError) as error:
                kind = where(error)
                if kind not in known:
                    known.add(kind)
                    file = save(out, target.name, data)
                    yield {"target": target.name, "failure": kind, "message": str(error)[:300], "file": str(file)}
            took = time.process_time() - started
            slowest = max(slowest, took)
            done += 1
            quick = len(data) < 50_000 and took < target.seconds / 10
            if quick and len(pool) < len(prepared.seeds) + KEPT and random.random() < (0.2 if accepted else 0.02):
                pool.append(data)
        yield {
            "target": target.name, "inputs": done, "seconds": time.monotonic() - began, "refused": refused,
            "failures": len(known), "slowest": slowest,
        }  # fmt: skip


class _RefusedError(Exception):
    """The target refused an input in one line."""


def _noting(run: Any) -> Any:
    def noted(data: bytes) -> None:
        try:
            run(data)
        except TacitError as error:
            message = str(error)
            if message.strip() and len(message) < 4_000 + 4 * len(data):
                raise _RefusedError from None
            raise

    return noted


def save(out: Path, target: str, data: bytes) -> Path:
    """Writes a failing input to a file and returns the file."""
    file = out / f"{target}-{hashlib.sha256(data).hexdigest()[:8]}"
    file.write_bytes(data)
    return file


def work(name: str, seed: int, inputs: int, seconds: float, out: Path, said: str) -> None:
    """Fuzzes a target and writes its findings to a file line by line, so that they survive a crash of this process."""
    with open(said, "w") as file:
        for line in fuzz(TARGETS[name], seed, inputs, seconds, out.resolve()):
            file.write(json.dumps(line) + "\n")
            file.flush()
