"""What a game will cost in memory, before anything is allocated."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from itertools import count
from typing import Any

from tacit.errors import TacitError
from tacit.games.base import CHANCE, TERMINAL, Game, GameSize, check_depth

BYTES_PER_HISTORY_WALKED = 900
"""A history in the generic compiler: Python tuples, dictionary entries and the states of a level (measured)."""
BYTES_PER_HISTORY = 60
"""A pair of rows with its chance and payoff, while it is sorted and after."""
BYTES_PER_INFOSTATE = 400
"""Rows, entries, regrets, strategy, average and values of an infostate with a few actions."""
_DESCENTS = 200
_SHARE_OF_MEMORY = 0.7


@dataclass(frozen=True)
class Estimate:
    """The size of a game and the memory to compile and solve it.

    Attributes:
      size: histories, public states and infostates.
      num_bytes: peak memory.
      exact: whether the size is a closed form; otherwise it comes from random descents (Knuth 1975) and may be far off.
    """

    size: GameSize
    num_bytes: int
    exact: bool


def estimate(game: Game[Any], direct: bool = False) -> Estimate:
    """Returns what compiling and solving `game` takes.

    Args:
      game: any game.
      direct: whether a direct builder makes the tree, so that no histories are walked in Python.
    """
    size = game.size()
    exact = size is not None
    if size is None:
        histories = _knuth_estimate(game)
        size = GameSize(histories, histories, histories)
    per_history = BYTES_PER_HISTORY + (0 if direct else BYTES_PER_HISTORY_WALKED)
    return Estimate(size, size.histories * per_history + size.infostates * BYTES_PER_INFOSTATE, exact)


def available_memory() -> int:
    """Returns the bytes that can still be taken without swapping."""
    try:
        with open("/proc/meminfo") as meminfo:
            fields = dict(line.split(":") for line in meminfo)
        return int(fields["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def memory_limit() -> int:
    """Returns the bytes a game may take: most of what is free."""
    return int(available_memory() * _SHARE_OF_MEMORY)


def history_budget(game: Game[Any], direct: bool) -> int:
    """Returns how many histories fit into memory; refuses a game whose estimate says it will not fit.

    Raises:
      TacitError: with the estimate and the limit.
    """
    needed, limit = estimate(game, direct), memory_limit()
    if needed.num_bytes > limit:
        about = "" if needed.exact else "about "
        raise TacitError(
            f"{game} does not fit: {about}{_count(needed.size.histories)} histories need {_gigabytes(needed.num_bytes)}, "
            f"{_gigabytes(limit)} of memory are free to use; choose smaller parameters"
        )
    return limit // (BYTES_PER_HISTORY_WALKED + BYTES_PER_HISTORY)


def _knuth_estimate(game: Game[Any]) -> int:
    """Returns an unbiased estimate of the number of histories: on a random descent, the sum of products of branch counts."""
    generator = random.Random(0)
    total = 0.0
    for _ in range(_DESCENTS):
        state, weight, nodes = game.initial_state(), 1.0, 0.0
        for depth in count():
            check_depth(game, depth)
            actor = game.actor(state)
            if actor != CHANCE:
                nodes += weight
            if actor == TERMINAL or weight > 1e30:
                break
            moves = [o for o, _ in game.chance_outcomes(state)] if actor == CHANCE else list(game.legal_actions(state))
            if not moves:
                break  # against the rules, which the compiler explains
            weight *= len(moves)
            state = game.apply(state, generator.choice(moves))
        total += nodes
    return int(total / _DESCENTS)


def _count(number: int) -> str:
    return f"{number:,}" if number < 1e9 else f"{number:.1e}"


def _gigabytes(number: float) -> str:
    return f"{number / 2**30:.1f} GiB" if number < 2**50 else f"{number / 2**30:.0e} GiB"
