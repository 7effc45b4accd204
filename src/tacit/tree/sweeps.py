"""How many histories a game has, from random sweeps over its tree (stochastic enumeration, Vaisman & Kroese 2017).

A sweep goes down level by level and keeps at most `WIDTH` random states of each, which stand for all of them. Its count is
unbiased, like that of random descents (Knuth 1975), but it does not miss a few long histories among many short ones: they are
all that is left in the deeper levels.
"""

from __future__ import annotations

import random
from itertools import count
from typing import Any, NamedTuple

from tacit.games import answers
from tacit.games.base import CHANCE, TERMINAL, Game, InfostateGame, check_depth

WIDTH = 64
"""States kept of a level."""
NUM_SWEEPS = 8
"""All of them count too many with probability 1/256 if a sweep does so half of the time; long tails make that rarer."""
MAX_VISITS = 10_000
"""States after which a sweep ends and leaves deeper levels uncounted: a second's work where rules are slow."""
_PLENTY = 1e30
BYTES_PER_STRING = 50
"""A Python string, beside its characters."""


class TreeCount(NamedTuple):
    """The size of a game's tree.

    Attributes:
      histories: decision and terminal histories, the mean of all sweeps.
      least: the smallest count of a sweep.
      name_bytes: the names of infostates at all histories, for a game that has names.
    """

    histories: int
    least: int
    name_bytes: int


def count_tree(game: Game[Any]) -> TreeCount:
    """Returns estimates from a few sweeps, exact where no level was larger than a sweep keeps."""
    generator = random.Random(0)
    counts = [_sweep(game, generator) for _ in range(NUM_SWEEPS)]
    histories, name_bytes = (sum(part) / NUM_SWEEPS for part in zip(*counts, strict=True))
    return TreeCount(round(histories), round(min(counts)[0]), round(name_bytes))


def _sweep(game: Game[Any], generator: random.Random) -> tuple[float, float]:
    """Returns the histories that one sweep counts, and the bytes of their infostates' names."""
    states, weight = [game.initial_state()], 1.0  # how many states of its level each one stands for
    histories = name_bytes = 0.0
    visits = 0
    for depth in count():
        check_depth(game, depth)
        visits += len(states)
        moves: list[tuple[Any, int]] = []
        for state in states:
            actor = game.actor(state)
            if actor == CHANCE:
                moves.extend((state, outcome) for outcome, _ in answers.chance_outcomes(game, state))
                continue
            histories += weight
            if actor != TERMINAL:
                moves.extend((state, action) for action in answers.legal_actions(game, state))
                if isinstance(game, InfostateGame):
                    name_bytes += weight * sum(len(game.infostate(state, player)) + BYTES_PER_STRING for player in (0, 1))
        if not moves or visits > MAX_VISITS or weight > _PLENTY:
            return histories, name_bytes
        kept = moves if len(moves) <= WIDTH else generator.sample(moves, WIDTH)
        weight *= len(moves) / len(kept)
        states = [game.apply(state, move) for state, move in kept]
    raise AssertionError  # unreachable: `count` does not end
