"""Random numbers inside kernels: splitmix64 (Steele et al. 2014), whose whole state is one integer that a checkpoint keeps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.compiled import compiled

_STEP, _FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31)
_HIGH, _TO_UNIT = np.uint64(11), 2.0**-53
_HIGH_32, _TO_UNIT_32 = np.uint64(40), np.float32(2.0**-24)


def make_streams(seed: int, count: int) -> NDArray[np.uint64]:
    """Returns the states `[count]` of independent streams."""
    return np.random.SeedSequence(seed).generate_state(count, np.uint64).astype(np.uint64)


@compiled(inline="always")
def _next_bits(streams, stream):  # type: ignore[no-untyped-def]
    streams[stream] += _STEP
    z = streams[stream]
    z = (z ^ (z >> _SHIFTS[0])) * _FIRST
    z = (z ^ (z >> _SHIFTS[1])) * _SECOND
    return z ^ (z >> _SHIFTS[2])


@compiled(inline="always")
def uniform(streams, stream):  # type: ignore[no-untyped-def]
    """Returns the next number of a stream, in [0, 1)."""
    return (_next_bits(streams, stream) >> _HIGH) * _TO_UNIT


@compiled(inline="always")
def uniform_32(streams, stream):  # type: ignore[no-untyped-def]
    """Returns the next number of a stream as a float32 in [0, 1); rounding never yields 1."""
    return np.float32(_next_bits(streams, stream) >> _HIGH_32) * _TO_UNIT_32


@compiled(inline="always")
def below(streams, stream, count):  # type: ignore[no-untyped-def]
    """Returns an integer from 0 to `count - 1`, all equally likely (up to `count` times 2**-53)."""
    return int(uniform(streams, stream) * count)
