"""Work dealt to several processes, each on one thread."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import TypeVar

from tacit.errors import TacitError

K = TypeVar("K")
R = TypeVar("R")


def limit_threads(count: int) -> dict[str, str]:
    """Returns the variables that keep a process to so many threads."""
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
    return dict.fromkeys(names, str(count))


def num_cores() -> int:
    """Returns how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_jobs(jobs: Mapping[K, Callable[[], R]], workers: int) -> Iterator[tuple[K, R]]:
    """Yields each job's key and what it returned, in the order in which jobs end.

    Args:
      jobs: what to call, by key; anything that can be pickled.
      workers: processes at most; with one, jobs are called here.

    Raises:
      TacitError: a job raised one, or a process died.
    """
    if workers == 1 or len(jobs) <= 1:
        for key, job in jobs.items():
            yield key, job()
        return
    with (
        environment(limit_threads(1)),
        ProcessPoolExecutor(min(workers, len(jobs)), multiprocessing.get_context("spawn"), _start) as pool,
    ):
        pending = {pool.submit(job): key for key, job in jobs.items()}
        try:
            for done in as_completed(pending):
                yield pending[done], done.result()
        except BrokenProcessPool:
            raise TacitError("a process died, perhaps for want of memory: use fewer of them") from None
        finally:
            for future in pending:
                future.cancel()


def _start() -> None:
    """Keeps torch, which may count threads by itself, to one."""
    import torch

    torch.set_num_threads(1)


@contextmanager
def environment(values: dict[str, str]) -> Iterator[None]:
    """Has processes that are started meanwhile see other variables."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
