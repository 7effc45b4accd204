"""Converts strategies to OpenSpiel's tabular policies, and any OpenSpiel policy to a strategy of ours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol, runtime_checkable

import numpy as np

from tacit.errors import TacitError
from tacit.games import AnyGame
from tacit.games.base import CHANCE, TERMINAL
from tacit.games.openspiel import OpenSpielGame
from tacit.tree.compiler import compile_game
from tacit.tree.navigate import NOWHERE, Navigator, Place
from tacit.tree.observations import resolve_chance
from tacit.tree.public_tree import NO_ACTION, PublicTree
from tacit.tree.strategy import RowStrategy

OpenSpielTable = dict[str, dict[int, float]]


@runtime_checkable
class SpielPolicy(Protocol):
    """An OpenSpiel policy, written in Python or C++."""

    def action_probabilities(self, state: Any) -> dict[int, float]:
        """Returns the probability of each legal action at a state."""
        ...


def openspiel_table(strategy: RowStrategy) -> OpenSpielTable:
    """Returns action probabilities by OpenSpiel's infostate strings and action numbers.

    Raises:
      TacitError: OpenSpiel has no game with the same moves.
    """
    starts, played = strategy.tree.entry_start, strategy.probabilities.tolist()
    if isinstance(strategy.tree.game, OpenSpielGame):
        names = [strategy.tree.infostate_label(s)[2] for s in range(strategy.tree.num_infostates)]
        actions = strategy.tree.entry_action.tolist()
        entries = [slice(starts[s], starts[s + 1]) for s in range(len(names))]
        return {name: dict(zip(actions[own], played[own], strict=True)) for name, own in zip(names, entries, strict=True)}
    return {
        spiel.information_state_string(): dict(zip(spiel.legal_actions(), played[starts[s] : starts[s + 1]], strict=True))
        for spiel, s in spiel_decisions(strategy.tree)
    }


def openspiel_policy(strategy: RowStrategy) -> Any:
    """Returns the strategy as a `pyspiel.TabularPolicy`, for OpenSpiel's own evaluators."""
    import pyspiel

    return pyspiel.TabularPolicy({name: list(row.items()) for name, row in openspiel_table(strategy).items()})


def spiel_strategy(policy: SpielPolicy, game: AnyGame) -> RowStrategy:
    """Returns an OpenSpiel policy as a strategy of a game.

    Args:
      policy: the policy, which is queried at one state of every infostate.
      game: a game of OpenSpiel, or one of ours with a counterpart there.

    Raises:
      TacitError: OpenSpiel has no game with the same moves, or the policy's probabilities do not sum to 1.
    """
    tree = compile_game(game)
    played = np.full(tree.num_entries, np.nan)
    for spiel, infostate in spiel_decisions(tree):
        start, end = tree.entry_start[infostate], tree.entry_start[infostate + 1]
        if not np.isnan(played[start]):
            continue
        given = policy.action_probabilities(spiel)
        played[start:end] = [given.get(action, 0.0) for action in spiel.legal_actions()]
        if not (played[start:end] >= 0).all() or abs(played[start:end].sum() - 1.0) > 1e-6:
            where = " ".join(spiel.information_state_string().split())
            raise TacitError(f"the policy's probabilities {given} at {where!r} do not sum to 1 over the legal actions")
    return RowStrategy(tree=tree, probabilities=tree.normalise(played))


def spiel_decisions(tree: PublicTree) -> Iterator[tuple[Any, int]]:
    """Yields all decision states of OpenSpiel's game, each with our infostate for it.

    A state's legal actions are in the order of the infostate's entries.

    Raises:
      TacitError: OpenSpiel has no game with the same moves.
    """
    if isinstance(tree.game, OpenSpielGame):
        yield from _named_decisions(tree, tree.game)
        return
    twin = tree.game.openspiel_twin()
    if twin is None:
        raise TacitError(f"{tree.game} has no counterpart in OpenSpiel; export to .json or .csv")
    import pyspiel

    game, navigator = tree.game, Navigator(tree)

    def walk(arrival: Any, spiel: Any, place: Place) -> Iterator[tuple[Any, int]]:
        """Yields the decisions from `place` on, while both games stay at the same history."""
        if arrival.actor == TERMINAL:
            return
        yield spiel, navigator.infostate(place)
        for action, spiel_action in zip(game.legal_actions(arrival.state), spiel.legal_actions(), strict=True):
            after = game.apply(arrival.state, action)
            for next_arrival, next_spiel in _arrive(game, after, spiel.child(spiel_action)):
                if next_arrival.actor != TERMINAL:
                    yield from walk(next_arrival, next_spiel, navigator.follow(place, arrival.actor, action, next_arrival))

    spiel_root = pyspiel.load_game(twin).new_initial_state()
    for arrival, spiel in _arrive(game, game.initial_state(), spiel_root):
        yield from walk(arrival, spiel, navigator.follow(NOWHERE, CHANCE, NO_ACTION, arrival))


def _named_decisions(tree: PublicTree, game: OpenSpielGame) -> Iterator[tuple[Any, int]]:
    """Yields the decision states, with infostates, of a game whose infostates have OpenSpiel's own names."""
    labels = [tree.infostate_label(s) for s in range(tree.num_infostates)]
    infostate = {(player, name): s for s, (player, _, name) in enumerate(labels)}
    stack = [game.initial_state()]
    while stack:
        state = stack.pop()
        actor = game.actor(state)
        if actor == TERMINAL:
            continue
        if actor == CHANCE:
            stack += [state.child(outcome) for outcome, _ in game.chance_outcomes(state)]
            continue
        yield state, infostate[actor, game.infostate(state, actor)]
        stack += [state.child(action) for action in state.legal_actions()]


def _arrive(game: Any, state: Any, spiel: Any) -> list[tuple[Any, Any]]:
    """Returns our game's arrivals paired with OpenSpiel's states; both take chance outcomes in the same order."""
    spiel_states, stack = [], [spiel]
    while stack:
        spiel = stack.pop()
        if spiel.is_chance_node():
            stack.extend(spiel.child(action) for action, _ in reversed(spiel.chance_outcomes()))
        else:
            spiel_states.append(spiel)
    return list(zip(resolve_chance(game, state), spiel_states, strict=True))
