"""The generic compiler for games that send observations: public states and rows by what was seen on the way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from tacit.games.base import CHANCE, TERMINAL, Game, check_depth
from tacit.tree.assemble import NO_ACTION
from tacit.tree.draft import Progress, TreeDraft
from tacit.tree.public_tree import NO_PARENT, PublicTree, join_observations


class Draws(Protocol):
    """Where chance comes from: a `numpy.random.Generator`, or draws that were recorded."""

    def random(self) -> float:
        """Returns a number from 0 to 1, 1 left out."""
        ...


class Arrival(NamedTuple):
    """A decision or terminal state reached through chance, and what was seen on the way."""

    state: Any
    actor: int
    chance: float
    public: tuple[str, ...]
    private: tuple[tuple[str, ...], tuple[str, ...]]


class _History(NamedTuple):
    """A history of the level being expanded."""

    state: Any
    actor: int
    node: int
    rows: tuple[int, int]
    chance: float


_NOWHERE = _History(None, CHANCE, NO_PARENT, (NO_PARENT, NO_PARENT), 1.0)


def compile_observations(game: Game[Any], budget: int, progress: Progress) -> PublicTree:
    """Returns the public tree of `game`, walking all of its histories level by level.

    Args:
      game: any game of the protocol.
      budget: bytes of memory after which to give up.
      progress: called now and then with the number of histories walked.
    """
    draft = TreeDraft(game, budget, progress)
    count = depth = 0
    level = [_add(draft, arrival, _NOWHERE, NO_ACTION, 0) for arrival in resolve_chance(game, game.initial_state())]
    while level:
        check_depth(game, depth)
        next_level = []
        for history in level:
            if history.actor == TERMINAL:
                continue
            actions = tuple(game.legal_actions(history.state))
            draft.set_legal(history.actor, history.rows[history.actor], actions)
            for slot, action in enumerate(actions):
                for arrival in resolve_chance(game, game.apply(history.state, action)):
                    next_level.append(_add(draft, arrival, history, action, slot))
            draft.check_budget(count + len(next_level))
        level = next_level
        count += len(level)
        depth += 1
    return draft.assemble()


def resolve_chance(game: Game[Any], state: Any) -> Iterator[Arrival]:
    """Yields the decision and terminal states that chance leads to, with what all and each saw from `state` on."""
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
            outcomes = [(game.apply(state, o), depth + 1, chance * p, *seen) for o, p in game.chance_outcomes(state)]
            stack.extend(reversed(outcomes))
        else:
            yield Arrival(state, actor, chance, public, (first, second))


def draw_chance(game: Game[Any], state: Any, draws: Draws) -> Arrival:
    """Returns one of the arrivals of `resolve_chance`, as often as chance leads there, without listing the others.

    Each chance move takes one number: the same numbers give the same outcomes wherever the same ones are possible.
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


def _add(draft: TreeDraft, arrival: Arrival, parent: _History, action: int, slot: int) -> _History:
    """Returns the history at `arrival`, entered into the draft."""
    over = arrival.actor == TERMINAL
    # Terminal nodes are split by the last action: nobody decides there, and the finer grouping keeps payoffs dense.
    key = (parent.node, arrival.actor, arrival.public, action if over else NO_ACTION)
    node = draft.find_node(key, parent.node, arrival.actor, slot, join_observations(arrival.public))
    first, second = (
        draft.rows[player].find(
            node,
            parent.rows[player],
            action if parent.actor == player else NO_ACTION,
            arrival.private[player],
            join_observations(arrival.private[player]),
        )
        for player in (0, 1)
    )
    chance = arrival.chance * parent.chance
    draft.add_history(node, (first, second), chance, float(draft.game.returns(arrival.state)[0]) if over else 0.0)
    return _History(arrival.state, arrival.actor, node, (first, second), chance)


def _extend(seen: tuple[str, ...], observation: str) -> tuple[str, ...]:
    return (*seen, observation) if observation else seen
