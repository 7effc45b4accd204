"""The players' observations between two decisions, while chance moves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from tacit.games import answers
from tacit.games.base import CHANCE, Game, check_depth


class Draws(Protocol):
    """The source of random numbers: a `numpy.random.Generator`, or recorded draws."""

    def random(self) -> float:
        """Returns a number from 0 (included) to 1 (excluded)."""
        ...


class Arrival(NamedTuple):
    """A decision or terminal state reached through chance, with what was seen on the way."""

    state: Any
    actor: int
    chance: float
    public: tuple[str, ...]
    private: tuple[tuple[str, ...], tuple[str, ...]]


def resolve_chance(game: Game[Any], state: Any) -> Iterator[Arrival]:
    """Yields the decision and terminal states that chance leads to, with the observations from `state` on."""
    stack: list[tuple[Any, int, float, tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = [(state, 0, 1.0, (), (), ())]
    while stack:
        state, depth, chance, public, first, second = stack.pop()
        check_depth(game, depth)
        public = _extend(public, game.public_observation(state))
        first = _extend(first, game.private_observation(state, 0))
        second = _extend(second, game.private_observation(state, 1))
        actor = game.actor(state)
        if actor == CHANCE:
            seen = (public, first, second)
            outcomes = [(game.apply(state, o), depth + 1, chance * p, *seen) for o, p in answers.chance_outcomes(game, state)]
            stack.extend(reversed(outcomes))
        else:
            yield Arrival(state, actor, chance, public, (first, second))


def draw_chance(game: Game[Any], state: Any, draws: Draws) -> Arrival:
    """Returns a random arrival of `resolve_chance` with its own probability, without listing the others.

    Each chance move uses one number: the same numbers give the same outcomes wherever the same outcomes are possible.
    """
    chance = 1.0
    public: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    second: tuple[str, ...] = ()
    while True:
        public = _extend(public, game.public_observation(state))
        first = _extend(first, game.private_observation(state, 0))
        second = _extend(second, game.private_observation(state, 1))
        actor = game.actor(state)
        if actor != CHANCE:
            return Arrival(state, actor, chance, public, (first, second))
        outcomes, probabilities = zip(*game.chance_outcomes(state), strict=True)
        upto = np.cumsum(probabilities)
        drawn = int(np.searchsorted(upto / upto[-1], draws.random(), side="right"))
        chance *= probabilities[drawn]
        state = game.apply(state, outcomes[drawn])


def _extend(seen: tuple[str, ...], observation: str) -> tuple[str, ...]:
    return (*seen, observation) if observation else seen
