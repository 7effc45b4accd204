"""Finds out whether a game has betting rounds."""

from __future__ import annotations

import random

from tacit.games.base import CHANCE, TERMINAL
from tacit.games.registry import AnyGame

TRIALS = 200
"""The number of random games played to find out; they are the same every time."""


def has_rounds(game: AnyGame) -> bool:
    """Returns whether chance moves after a decision in any of `TRIALS` random games."""
    generator = random.Random(0)
    for _ in range(TRIALS):
        state, decided = game.initial_state(), False
        while (actor := game.actor(state)) != TERMINAL:
            if actor == CHANCE:
                if decided:
                    return True
                state = game.apply(state, generator.choice(game.chance_outcomes(state))[0])
            else:
                decided, state = True, game.apply(state, generator.choice(game.legal_actions(state)))
    return False
