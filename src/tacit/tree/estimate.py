"""What a game will cost in memory, before anything is allocated."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from itertools import count
from typing import Any

from tacit.errors import TacitError
from tacit.games.base import CHANCE, TERMINAL, Game, GameSize, InfostateGame, check_depth
from tacit.games.check import blame_rules

BYTES_PER_HISTORY_WALKED = 1_000
"""A history in the compiler for games that name infostates: Python tuples, dictionary entries and names (measured)."""
BYTES_PER_HISTORY_GROWN = 700
"""A history in the compiler for games that send observations, at most: one with a public state of its own (measured)."""
BYTES_PER_HISTORY = 160
"""A pair of rows with its chance and payoff, while it is sorted, and its place in a payoff matrix (measured)."""
BYTES_PER_STRING = 50
"""A Python string, beside its characters."""
BYTES_PER_INFOSTATE = 400
"""Rows, entries, regrets, strategy, average and values of an infostate with a few actions."""
MAX_DEALS = 100_000
"""Histories at the start of a game that is expanded from its rules: every class is walked through with about as many."""
Progress = Callable[[int], None]
_CHECK_EVERY = 4_096
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
    with blame_rules(game):
        size, characters = game.size(), 0
    exact = size is not None
    if size is None:
        with blame_rules(game):
            histories, characters = _knuth_estimate(game)
        size = GameSize(histories, histories, histories)
    walked = BYTES_PER_HISTORY_WALKED if isinstance(game, InfostateGame) else BYTES_PER_HISTORY_GROWN
    per_history = BYTES_PER_HISTORY + (0 if direct else walked)
    return Estimate(size, size.histories * per_history + size.infostates * BYTES_PER_INFOSTATE + characters, exact)


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


def resident_memory() -> int:
    """Returns the bytes this process takes now (at most so far, where the system does not say more)."""
    try:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


def fits_memory(game: Game[Any], direct: bool) -> bool:
    """Returns whether `game` can be compiled as a whole, by its estimate."""
    return estimate(game, direct).num_bytes <= memory_limit()


def can_expand(game: Game[Any]) -> bool:
    """Returns whether classes of public states can be expanded from the rules one by one, each with all of its histories."""
    with blame_rules(game):
        state, deals = game.initial_state(), 1
        while game.actor(state) == CHANCE:
            outcomes = game.chance_outcomes(state)
            deals *= len(outcomes)
            state = game.apply(state, outcomes[0][0])
        return deals <= MAX_DEALS and game.actor(state) != TERMINAL and game.public_key(state) is not None


def memory_budget(game: Game[Any], direct: bool) -> int:
    """Returns the bytes that `game` may take; refuses one whose estimate says it will not fit.

    Raises:
      TacitError: with the estimate and the limit.
    """
    needed, limit = estimate(game, direct), memory_limit()
    if needed.num_bytes > limit:
        about = "" if needed.exact else "about "
        raise TacitError(
            f"{game} does not fit: {about}{readable_count(needed.size.histories)} histories need "
            f"{readable_bytes(needed.num_bytes)}, {readable_bytes(limit)} of memory are free to use; choose smaller parameters"
        )
    return limit


class MemoryWatch:
    """Follows a walk over histories: every few thousand it reports progress and checks the memory taken so far."""

    def __init__(self, game: Game[Any], budget: int, progress: Progress) -> None:
        """Starts counting memory from here.

        Args:
          game: the game that is walked over.
          budget: bytes of memory after which to give up.
          progress: called now and then with the number of histories walked.
        """
        self._game = game
        self._budget = budget
        self._progress = progress
        self._memory_before = resident_memory()
        self._checked_at = 0

    def check(self, num_histories: int) -> None:
        """Reports progress, and refuses a game that outgrows its budget.

        Raises:
          TacitError: with the memory taken and the budget.
        """
        if abs(num_histories - self._checked_at) < _CHECK_EVERY:
            return
        self._checked_at = num_histories
        taken = resident_memory() - self._memory_before
        if taken > self._budget:
            raise TacitError(
                f"{self._game} does not fit: {num_histories:,} histories, and not all, took {readable_bytes(taken)} of memory, "
                f"{readable_bytes(self._budget)} are free to use; choose smaller parameters"
            )
        self._progress(num_histories)


def _knuth_estimate(game: Game[Any]) -> tuple[int, int]:
    """Returns unbiased estimates of the number of histories and of the bytes of all the names of their infostates.

    On a random descent, these are sums over the nodes on the way, weighted by the products of the branch counts above them.
    """
    generator = random.Random(0)
    nodes = characters = 0.0
    for _ in range(_DESCENTS):
        state, weight = game.initial_state(), 1.0
        for depth in count():
            check_depth(game, depth)
            actor = game.actor(state)
            if actor != CHANCE:
                nodes += weight
            if actor == TERMINAL or weight > 1e30:
                break
            if isinstance(game, InfostateGame) and actor != CHANCE:
                characters += weight * sum(len(game.infostate(state, player)) + BYTES_PER_STRING for player in (0, 1))
            moves = [o for o, _ in game.chance_outcomes(state)] if actor == CHANCE else list(game.legal_actions(state))
            if not moves:
                break  # against the rules, which the compiler explains
            weight *= len(moves)
            state = game.apply(state, generator.choice(moves))
    return int(nodes / _DESCENTS), int(characters / _DESCENTS)


def readable_count(number: int) -> str:
    """Returns a number in words, rounded where it is large."""
    return f"{number:,}" if number < 10**9 else _power_of_ten(number)


def readable_bytes(number: int) -> str:
    """Returns a number of bytes in words."""
    if number < 2**30:
        return f"{number / 2**20:.0f} MiB"
    return f"{number / 2**30:.1f} GiB" if number < 2**50 else f"{_power_of_ten(number >> 30)} GiB"


def _power_of_ten(number: int) -> str:
    """Returns `1.5e+10` also for integers that no float can hold."""
    return f"{Decimal(number):.1e}"
