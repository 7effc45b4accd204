"""Loops that numba compiles twice: for the calling thread, and shared by all."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from numba import njit


def for_one_and_all(function: Callable[..., Any]) -> tuple[Any, Any]:
    """Returns a function compiled with its `prange` on the calling thread, and shared by all threads.

    numba's cache tells functions apart by name and not by whether they are parallel, so the second goes by another name.
    """
    assert isinstance(function, FunctionType)
    shared = FunctionType(function.__code__, function.__globals__, f"{function.__name__}_shared", function.__defaults__)
    shared.__qualname__ = f"{function.__qualname__}_shared"
    return njit(cache=True)(function), njit(cache=True, parallel=True)(shared)
