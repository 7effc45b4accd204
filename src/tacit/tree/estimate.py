"""Estimates of the memory a game takes, made before anything is allocated."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

from tacit.errors import TacitError
from tacit.games.base import CHANCE, TERMINAL, Game, GameSize, InfostateGame
from tacit.games.check import blame_rules
from tacit.tree.sweeps import count_tree

BYTES_PER_HISTORY_WALKED = 1_000
"""Peak cost of a history in the compiler for games that name infostates: tuples, dictionary entries, names (measured)."""
BYTES_PER_HISTORY_GROWN = 700
"""Peak cost of a history in the compiler for games that send observations, with a public state of its own (measured)."""
BYTES_PER_HISTORY_BUILT = 56
"""A pair of rows when a direct builder writes the tree: 26 to 52 measured, in lanes, in sequences and with searches."""
BYTES_PER_HISTORY = 160
"""A pair of rows with its chance and payoff while it is sorted, plus its cell in a payoff matrix (measured)."""
LEAST_BYTES_WALKED = 200
"""Least cost of a history in the compiler for games that name infostates: 520 to 1,300 measured."""
LEAST_BYTES_GROWN = 50
"""Least cost of a history in the compiler for games that send observations: 110 to 690 measured."""
BYTES_PER_INFOSTATE = 400
"""An infostate with a few actions: its rows, entries, regrets, strategy, average and values."""
MAX_DEALS = 100_000
"""Limit on the histories that open a game expanded from its rules: every class has about as many."""
Progress = Callable[[int], None]
_CHECK_EVERY = 4_096
_TRUSTED_AFTER = 8 * _CHECK_EVERY
"""Histories after which their memory predicts that of the rest.

In depth-first walks (games that name infostates), later histories took at least 3/4 as much as the first ones. In trees grown
level by level they took 2/5, since the first are decisions and the last terminal. Refusals assume 1/2 and 1/4 to be safe.
"""
_SHARE_OF_MEMORY = 0.7


@dataclass(frozen=True)
class Estimate:
    """The size of a game and the memory to compile and solve it.

    Attributes:
      size: histories, public states and infostates.
      num_bytes: upper bound of the peak memory.
      exact: whether the size comes from a closed form; otherwise it comes from random sweeps (`count_tree`).
      least_histories: a number of histories that the game very likely reaches.
      least_bytes: lower bound of the peak memory.
    """

    size: GameSize
    num_bytes: int
    exact: bool
    least_histories: int
    least_bytes: int


class Budget(NamedTuple):
    """Limits of a walk over a game's histories.

    Attributes:
      num_bytes: the memory beyond which to give up.
      least_histories: the least number of histories there are; 0 if unknown.
    """

    num_bytes: int
    least_histories: int = 0


def estimate(game: Game[Any], direct: bool = False) -> Estimate:
    """Returns the size of `game` and the memory to compile and solve it.

    Args:
      game: any game.
      direct: whether a direct builder makes the tree, without walking over histories in Python.
    """
    with blame_rules(game):
        size, names = game.size(), 0
        exact = size is not None
        if size is None:
            histories, least, names = count_tree(game)
            size = GameSize(histories, histories, histories)
        else:
            least = size.histories
    named = isinstance(game, InfostateGame)
    walked = BYTES_PER_HISTORY + (BYTES_PER_HISTORY_WALKED if named else BYTES_PER_HISTORY_GROWN)
    per_history = BYTES_PER_HISTORY_BUILT if direct else walked
    num_bytes = size.histories * per_history + size.infostates * BYTES_PER_INFOSTATE + names
    least_bytes = num_bytes if direct else least * (LEAST_BYTES_WALKED if named else LEAST_BYTES_GROWN)
    return Estimate(size, num_bytes, exact, least, least_bytes)


def available_memory() -> int:
    """Returns the bytes that can be allocated without swapping."""
    try:
        with open("/proc/meminfo") as meminfo:
            fields = dict(line.split(":") for line in meminfo)
        return int(fields["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def memory_limit() -> int:
    """Returns the bytes a game may take: most of the available memory."""
    return int(available_memory() * _SHARE_OF_MEMORY)


def resident_memory() -> int:
    """Returns the resident memory of this process in bytes (its peak, where the system reports nothing else)."""
    try:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


def fits_memory(game: Game[Any], direct: bool) -> bool:
    """Returns whether `game` fits into memory as a whole, by its estimate."""
    return estimate(game, direct).num_bytes <= memory_limit()


def can_expand(game: Game[Any]) -> bool:
    """Returns whether public-state classes can be expanded from the rules one by one, each with all its histories."""
    with blame_rules(game):
        state, deals = game.initial_state(), 1
        while game.actor(state) == CHANCE:
            outcomes = game.chance_outcomes(state)
            deals *= len(outcomes)
            state = game.apply(state, outcomes[0][0])
        return deals <= MAX_DEALS and game.actor(state) != TERMINAL and game.public_key(state) is not None


def memory_budget(game: Game[Any], direct: bool) -> Budget:
    """Returns the budget of `game`.

    Raises:
      TacitError: Even the lower estimate exceeds the available memory; the message has both figures.
    """
    needed, limit = estimate(game, direct), memory_limit()
    if needed.least_bytes > limit:
        about, at_least = ("", "") if needed.exact else ("about ", "at least ")
        raise TacitError(
            f"{game} does not fit: {about}{readable_count(needed.size.histories)} histories need "
            f"{at_least}{readable_bytes(needed.least_bytes)} of memory, but only {readable_bytes(limit)} is available; "
            "choose smaller parameters"
        )
    return Budget(limit, needed.least_histories)


class MemoryWatch:
    """Follows a walk over histories: reports progress and checks the memory taken every few thousand of them."""

    def __init__(self, game: Game[Any], budget: Budget, progress: Progress) -> None:
        """Starts counting memory from here.

        Args:
          game: the game that is walked over.
          budget: the limits of the walk.
          progress: called from time to time with the number of histories walked so far.
        """
        self._game = game
        self._budget = budget
        self._progress = progress
        self._memory_before = resident_memory()
        self._checked_at = self._most = 0
        self._first: tuple[int, int] | None = None

    def check(self, num_histories: int) -> None:
        """Reports progress and checks the memory taken.

        Raises:
          TacitError: The game has outgrown its budget or is going to; the message has the figures.
        """
        if abs(num_histories - self._checked_at) < _CHECK_EVERY:
            return
        self._checked_at = num_histories
        taken = resident_memory() - self._memory_before
        needed = max(taken, self._needed(num_histories, taken))
        if needed > self._budget.num_bytes:
            more = f" and all need at least {readable_bytes(needed)}" if needed > taken else ""
            raise TacitError(
                f"{self._game} does not fit: the first {num_histories:,} histories took {readable_bytes(taken)} of memory"
                f"{more}, but only {readable_bytes(self._budget.num_bytes)} is available; choose smaller parameters"
            )
        self._progress(num_histories)

    def _needed(self, num_histories: int, taken: int) -> int:
        """Returns a lower estimate of the memory for all histories, with a safety factor on those to come; 0 if unknown."""
        if num_histories <= self._most:
            return 0  # a second walk over the same histories
        self._most = num_histories
        if self._first is None:  # what the process takes apart from histories
            self._first = num_histories, taken
            return 0
        if num_histories < _TRUSTED_AFTER:
            return 0
        walked, to_come = num_histories - self._first[0], max(0, self._budget.least_histories - num_histories)
        factor = 2 if isinstance(self._game, InfostateGame) else 4
        return taken + to_come * max(0, taken - self._first[1]) // (factor * walked)


def readable_count(number: int) -> str:
    """Returns a count as text, rounded if it is large."""
    return f"{number:,}" if number < 10**9 else _power_of_ten(number)


def readable_bytes(number: int) -> str:
    """Returns a number of bytes as text."""
    if number < 2**30:
        return f"{number / 2**20:.0f} MiB"
    return f"{number / 2**30:.1f} GiB" if number < 2**50 else f"{_power_of_ten(number >> 30)} GiB"


def _power_of_ten(number: int) -> str:
    """Returns a number like `1.5e+10`, even for integers too large for a float."""
    return f"{Decimal(number):.1e}"
