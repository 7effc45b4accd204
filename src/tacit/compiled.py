"""Compiles functions with numba and caches them on disk until the source of any of them changes.

numba's own cache only checks the file that defines the function. If code from another file was compiled into the function and
that file changed, numba would silently keep running the old code.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

import numba

_PREFIX = "kernels-"
_MARKS = b"numba", b"compiled import"
"""Every file with functions that numba compiles contains one of these. Its constants may come from the modules it imports."""


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Returns a decorator: `numba.njit(cache=True, **options)` with a cache that depends on all sources."""

    def decorate(function: Callable[..., Any]) -> Any:
        with _caching_in(cache_folder(Path(__file__).parent)):
            return numba.njit(cache=True, **options)(function)

    return decorate


def inner(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Returns a decorator like `compiled`, for functions called only from compiled code; they compile a third faster.

    They have no wrapper for calls from Python. numba would jump to missing code there, so such calls raise TypeError.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        def refuse(*_arguments: object, **_named: object) -> None:
            raise TypeError(f"{function.__name__} cannot be called from Python, only from compiled functions")

        dispatcher = compiled(no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)(function)
        dispatcher._compile_for_args = refuse
        dispatcher._insert = lambda *_: None  # the C dispatcher must not find the compiled code, which Python cannot call
        return dispatcher

    return decorate


def for_one_and_all(function: Callable[..., Any]) -> tuple[Any, Any]:
    """Returns a function compiled twice: with its `prange` on the calling thread, and with it shared by all threads.

    numba's cache tells functions apart by name and not by whether they are parallel, so the second one gets another name.
    """
    assert isinstance(function, FunctionType)
    shared = FunctionType(function.__code__, function.__globals__, f"{function.__name__}_shared", function.__defaults__)
    shared.__qualname__ = f"{function.__qualname__}_shared"
    return compiled()(function), compiled(parallel=True)(shared)


@cache
def cache_folder(package: Path) -> Path:
    """Returns the cache folder for code compiled from a package's current sources; removes the folders of older sources.

    It is in NUMBA_CACHE_DIR if that is set, else in the package if that is writable, else among the user's caches.
    """
    stamp = hashlib.sha256()
    for file, source in sorted(_sources(package).items()):
        stamp.update(f"{file}\0".encode() + source)
    chosen = numba.config.CACHE_DIR
    place = Path(chosen) if chosen else package / "__pycache__"
    if not chosen and not os.access(package, os.W_OK):
        place = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / package.name
    folder = place / f"{_PREFIX}{stamp.hexdigest()[:16]}"
    if not folder.exists():
        for older in place.glob(f"{_PREFIX}*"):
            shutil.rmtree(older, ignore_errors=True)
    return folder


def _sources(package: Path) -> dict[str, bytes]:
    """Returns the contents, by name, of the package's files that numba sees and of the files they import."""
    everything = {file.relative_to(package).with_suffix("").as_posix(): file.read_bytes() for file in package.rglob("*.py")}
    seen = {name for name, source in everything.items() if any(mark in source for mark in _MARKS)}
    imports = re.compile(rf"^from {package.name}\.([\w.]+) import".encode(), re.MULTILINE)
    for name in tuple(seen):
        seen |= {module.decode().replace(".", "/") for module in imports.findall(everything[name])}
    return {name: everything[name] for name in seen if name in everything}


@contextmanager
def _caching_in(folder: Path) -> Iterator[None]:
    """Makes numba use a cache folder for the functions decorated inside a `with` block, and only for those."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before
