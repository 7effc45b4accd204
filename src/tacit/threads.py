"""Threads that compute together: how many there are, and how compiled code synchronises them."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from tacit.compiled import inner

PATIENCE = 2_000
"""How often a waiting thread checks whether the others have arrived before it yields its core."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Makes torch compute on the calling thread alone inside a `with` block."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


_most = ContextVar("most", default=sys.maxsize)


@contextmanager
def at_most(threads: int) -> Iterator[None]:
    """Limits the threads of solves that are created inside a `with` block."""
    before = _most.set(threads)
    try:
        yield
    finally:
        _most.reset(before)


def num_threads() -> int:
    """Returns how many threads compiled code may use: one per core unless `OMP_NUM_THREADS` or `NUMBA_NUM_THREADS` says fewer.

    numba itself is not asked: it would start its threads and make torch use as many, whatever `OMP_NUM_THREADS` says.
    """
    wanted, most = os.environ.get("OMP_NUM_THREADS", ""), min(int(numba.config.NUMBA_NUM_THREADS), _most.get())
    return min(int(wanted), most) if wanted.isdecimal() and int(wanted) else most


def run_together(members: int, function: Callable[..., object], *arguments: Any) -> None:
    """Calls a compiled function on several threads at once, the calling thread among them, and waits until all return.

    Args:
      members: how many threads.
      function: compiled with `nogil`; called with the thread's number, `members`, the counter for `meet`, and `arguments`.
      *arguments: the same for all threads.
    """
    place = np.zeros(1, np.int64)
    others = [_pool(members).submit(function, member, members, place, *arguments) for member in range(1, members)]
    function(0, members, place, *arguments)
    for other in others:
        other.result()


@cache
def _pool(members: int) -> ThreadPoolExecutor:
    """Returns a thread pool that lives as long as the process; every member of a team needs a thread of its own."""
    return ThreadPoolExecutor(members, thread_name_prefix="tacit")


@intrinsic  # type: ignore[untyped-decorator]
def _arrive(_context: Any, counter: Any) -> Any:
    """Atomically adds 1 to the only element of an array and returns its old value."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = cgutils.create_struct_proxy(signature.args[0])(context, builder, arguments[0]).data
        return builder.atomic_rmw("add", data, ir.Constant(ir.IntType(64), 1), "seq_cst")

    return types.int64(counter), generate


@intrinsic  # type: ignore[untyped-decorator]
def _arrived(_context: Any, counter: Any) -> Any:
    """Returns the current value of the counter, including other threads' changes."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = cgutils.create_struct_proxy(signature.args[0])(context, builder, arguments[0]).data
        return builder.load_atomic(data, "seq_cst", 8)

    return types.int64(counter), generate


@intrinsic  # type: ignore[untyped-decorator]
def _give_way(_context: Any) -> Any:
    """Lets another thread run on this core."""
    name = "SwitchToThread" if sys.platform == "win32" else "sched_yield"

    def generate(_target: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(32), [])
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [])

    return types.int32(), generate


@intrinsic  # type: ignore[untyped-decorator]
def _rest(_context: Any) -> Any:
    """Pauses briefly, leaving the core's execution units to the other hardware thread."""
    is_arm = platform.machine() in ("arm64", "aarch64")

    def generate(context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        name, hints = ("llvm.aarch64.hint", [ir.Constant(ir.IntType(32), 1)]) if is_arm else ("llvm.x86.sse2.pause", [])
        kind = ir.FunctionType(ir.VoidType(), [hint.type for hint in hints])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, name), hints)
        return context.get_dummy_value()

    return types.void(), generate


@inner()
def meet(members, place):  # type: ignore[no-untyped-def]
    """Waits until all threads of a team have called it; their earlier writes are visible afterwards.

    Args:
      members: how many threads the team has.
      place: `[1]` int64, the number of arrivals so far; each meeting ends at a multiple of `members`.
    """
    if members == 1:
        return
    number = _arrive(place)
    last, looked = (number // members + 1) * members, 0
    while _arrived(place) < last:
        _rest()
        looked += 1
        if looked > PATIENCE:
            _give_way()
