"""Checks that a game's public keys tell apart all public states that play differently."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from tacit.games.base import CHANCE, TERMINAL, Game, Moves

_PublicState = tuple[int, Hashable, Moves, list[int]]
"""The actor, what `public_key` gave at the first history, that history, and the numbers of all histories."""


def key_problem(game: Game[Any], after: Callable[[Moves], str]) -> tuple[str, Moves] | None:
    """Returns what is wrong with a game's public keys and a history that shows it, or None.

    It walks all histories. Public states with the same key must have the same futures: actors, legal actions, chance,
    observations and returns in everything that can follow.

    Args:
      game: The rules.
      after: Describes moves as the time of an event, such as "after ...".
    """
    if type(game).public_key is Game.public_key:
        return None
    numbers: dict[Hashable, int] = {}

    def number(what: Hashable) -> int:
        return numbers.setdefault(what, len(numbers))

    visits: list[tuple[int, Hashable, Hashable]] = []  # the parent history, the step from it, and what happens here
    public_states: dict[int, _PublicState] = {}
    stack: list[tuple[Any, int, int, float, int, tuple[str, ...], Moves]] = [(game.initial_state(), -1, -1, 1.0, 0, (), ())]
    while stack:
        state, above, move, chance, view, seen, moves = stack.pop()
        actor, history = game.actor(state), len(visits)
        observed = (game.public_observation(state), *(game.private_observation(state, player) for player in (0, 1)))
        seen = (*seen, observed[0]) if observed[0] else seen
        way = (move, round(chance, 12), observed)
        if actor == TERMINAL:
            visits.append((above, way, (actor, *game.returns(state))))
            continue
        outcomes = list(game.chance_outcomes(state)) if actor == CHANCE else [(a, 1.0) for a in game.legal_actions(state)]
        visits.append((above, way, actor))
        if actor != CHANCE:
            view, seen = number((view, actor, seen)), ()
            key = game.public_key(state)
            if key is not None:
                _, known, _, histories = public_states.setdefault(view, (actor, key, moves, []))
                if known != key:
                    return f"public_key() gives {known!r} and {key!r} within one public state", moves
                histories.append(history)
        for outcome, probability in outcomes:
            stack.append((game.apply(state, outcome), history, outcome, probability, view, seen, (*moves, outcome)))
    return _different_futures(public_states, _futures(visits, number), after)


def _futures(visits: list[tuple[int, Hashable, Hashable]], number: Callable[[Hashable], int]) -> list[int]:
    """Returns a number for the future of each history; equal futures have equal numbers."""
    futures = [0] * len(visits)
    below: list[list[Hashable]] = [[] for _ in visits]
    for history in range(len(visits) - 1, -1, -1):  # children come after their parents
        above, way, here = visits[history]
        futures[history] = number((here, tuple(below[history])))
        if above >= 0:
            below[above].append((way, futures[history]))
    return futures


def _different_futures(
    public_states: dict[int, _PublicState], futures: list[int], after: Callable[[Moves], str]
) -> tuple[str, Moves] | None:
    first: dict[Hashable, tuple[Moves, set[int]]] = {}
    for actor, key, moves, histories in public_states.values():
        following = {futures[history] for history in histories}
        like, expected = first.setdefault((actor, key), (moves, following))
        if following != expected:
            other = f"the one {after(like)}"
            return f"public_key() does not tell this public state from {other}, where play goes on differently", moves
    return None
