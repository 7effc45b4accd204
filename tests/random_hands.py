"""Random hands of hold'em."""

from __future__ import annotations

import numpy as np

from tacit.arena.hands import HandRecord
from tacit.games.base import CHANCE, TERMINAL
from tacit.games.betting import CALL, FOLD
from tacit.games.holdem import Holdem


def random_hand(game: Holdem, generator: np.random.Generator, gentle: float = 0.5) -> tuple[HandRecord, tuple[float, float]]:
    """Returns a hand with random legal actions, on and off the menu; folds are rare, so that some boards are complete."""
    cards, actions = generator.permutation(52).tolist(), []
    state = game.initial_state()
    while (actor := game.actor(state)) != TERMINAL:
        if actor == CHANCE:
            state = game.apply(state, cards.pop())
            continue
        limits = game.rules.all_raises(state.betting)
        action = CALL
        if limits is not None and generator.random() > gentle:
            low, high = limits
            action = int(generator.choice([low, high, int(np.exp(generator.uniform(np.log(low), np.log(high + 1)))) + 1]))
            action = min(max(action, low), high)
        elif state.betting.to_call and generator.random() < 0.2:
            action = FOLD
        actions.append(action)
        state = game.apply(state, action)
    first, second, third, fourth = state.hands
    return HandRecord((first, second, third, fourth), state.board, tuple(actions)), game.returns(state)
