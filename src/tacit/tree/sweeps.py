"""Estimates the number of histories of a game by random sweeps over its tree (stochastic enumeration, Vaisman & Kroese 2017).

A sweep goes down level by level and keeps at most `WIDTH` random states of each level, which stand for all of them. Its count
is unbiased, like that of random descents (Knuth 1975), but it does not miss a few long histories among many short ones: only
the long ones are left on the deeper levels.
"""

from __future__ import annotations

import random
from itertools import count
from typing import Any, NamedTuple

from tacit.games import answers
from tacit.games.base import CHANCE, TERMINAL, Game, InfostateGame, check_depth

WIDTH = 64
"""States kept of each level."""
NUM_SWEEPS = 8
"""All 8 overcount with probability 1/256 if each does so half of the time; long tails make that rarer."""
MAX_VISITS = 10_000
"""States after which a sweep stops and leaves deeper levels uncounted: a second's work if the rules are slow."""
_PLENTY = 1e30
BYTES_PER_STRING = 50
"""Overhead of a Python string, without its characters."""


class TreeCount(NamedTuple):
    """The size of a game's tree.

    Attributes:
      histories: the number of decision and terminal histories, the mean over all sweeps.
      least: the smallest count of any sweep.
      name_bytes: the memory for infostate names at all histories, in games that have names.
    """

    histories: int
    least: int
    name_bytes: int


def count_tree(game: Game[Any]) -> TreeCount:
    """Returns estimates from a few sweeps; they are exact if no level has more than `WIDTH` states."""
    generator = random.Random(0)
    counts = [_sweep(game, generator) for _ in range(NUM_SWEEPS)]
    histories, name_bytes = (sum(part) / NUM_SWEEPS for part in zip(*counts, strict=True))
    return TreeCount(round(histories), round(min(counts)[0]), round(name_bytes))


def _sweep(game: Game[Any], generator: random.Random) -> tuple[float, float]:
    """Returns one sweep's count of histories, and the bytes of their infostate names."""
    states, weight = [game.initial_state()], 1.0  # the number of states of its level that each one stands for
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
