"""Slow, obvious implementations from the rules alone, which the array code is tested against."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_matrix, hstack

from tacit.games import CHANCE, TERMINAL
from tacit.solvers.lp import _Sequences
from tacit.tree.navigate import NOWHERE, Navigator, Place
from tacit.tree.observations import Arrival, resolve_chance
from tacit.tree.public_tree import NO_ACTION, PublicTree


def histories(tree: PublicTree) -> Iterator[tuple[Arrival, Place, list[tuple[int, int, int]], float]]:
    """Yields every decision and terminal history: arrival, place, (player, infostate, action number) moves, chance."""
    game, navigator = tree.game, Navigator(tree)

    def walk(arrival: Arrival, place: Place, moves: list[tuple[int, int, int]], chance: float) -> Iterator[Any]:
        yield arrival, place, moves, chance
        if arrival.actor == TERMINAL:
            return
        infostate = navigator.infostate(place)
        for number, action in enumerate(game.legal_actions(arrival.state)):
            for after in resolve_chance(game, game.apply(arrival.state, action)):
                below = place if after.actor == TERMINAL else navigator.follow(place, arrival.actor, action, after)
                yield from walk(after, below, [*moves, (arrival.actor, infostate, number)], chance * after.chance)

    for arrival in resolve_chance(game, game.initial_state()):
        yield from walk(arrival, navigator.follow(NOWHERE, CHANCE, NO_ACTION, arrival), [], arrival.chance)


def expected_value(tree: PublicTree, strategy: np.ndarray) -> float:
    """Returns player 0's expected return by summing over all terminal histories."""
    total = 0.0
    for arrival, _, moves, chance in histories(tree):
        if arrival.actor == TERMINAL:
            probability = np.prod([strategy[tree.entry_start[s] + a] for _, s, a in moves]) * chance
            total += probability * tree.game.returns(arrival.state)[0]
    return float(total)


def best_response_value(tree: PublicTree, strategy: np.ndarray, player: int) -> float:
    """Returns the value of a best response by trying every pure strategy of `player`."""
    mine = np.flatnonzero(tree.infostate_player == player)
    sizes = np.diff(tree.entry_start)[mine]
    ends = [
        (moves, chance * tree.game.returns(arrival.state)[player])
        for arrival, _, moves, chance in histories(tree)
        if arrival.actor == TERMINAL
    ]
    weights = [
        (
            [(s, a) for p, s, a in moves if p == player],
            payoff * np.prod([strategy[tree.entry_start[s] + a] for p, s, a in moves if p != player]),
        )
        for moves, payoff in ends
    ]
    best = -np.inf
    for choice in product(*(range(size) for size in sizes)):
        plan = dict(zip(mine, choice, strict=True))
        best = max(best, sum(w for moves, w in weights if all(plan[s] == a for s, a in moves)))
    return float(best)


def count_pure_strategies(tree: PublicTree, player: int) -> int:
    """Returns how many pure strategies `best_response_value` would try."""
    return int(np.prod(np.diff(tree.entry_start)[tree.infostate_player == player], dtype=np.float64))


def public_posterior(tree: PublicTree, strategy: np.ndarray, node: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns both players' beliefs at a node by enumerating histories and conditioning."""
    nodes = tree.require_nodes()
    beliefs = [np.zeros(start[node + 1] - start[node]) for start in nodes.row_start]
    for arrival, place, moves, chance in histories(tree):
        if arrival.actor != TERMINAL and place.node == node:
            probability = chance * np.prod([strategy[tree.entry_start[s] + a] for _, s, a in moves])
            for player in (0, 1):
                beliefs[player][place.rows[player] - nodes.row_start[player][node]] += probability
    return beliefs[0] / beliefs[0].sum(), beliefs[1] / beliefs[1].sum()


def random_strategy(tree: PublicTree, seed: int) -> np.ndarray:
    """Returns a random strategy that plays every action with positive probability."""
    return tree.normalise(np.random.default_rng(seed).random(tree.num_entries) + 1e-3)


def canonical(tree: PublicTree) -> tuple[dict[Any, Any], dict[Any, float]]:
    """Returns a tree's decisions and payoffs, keyed by what the players know and so independent of numbering."""
    decisions = {}
    for s in range(tree.num_infostates):
        decisions[tree.infostate_label(s)] = tuple(tree.entry_action[tree.entry_start[s] : tree.entry_start[s + 1]])
    payoffs: dict[Any, float] = {}
    for first, second, payoff in zip(*tree.payoff_rows, tree.payoff, strict=True):
        node = tree.node_of_row(0, int(first))
        key = (tree.public_label(node), tree.private_label(0, int(first)), tree.private_label(1, int(second)))
        payoffs[key] = payoffs.get(key, 0.0) + payoff
    return decisions, payoffs


def guaranteed_value(tree: PublicTree, player: int, fixed: dict[int, float]) -> float:
    """Returns what `player` can guarantee when some entries, none below another, have fixed plan weights.

    A linear program over the player's realisation plan against the opponent's best response. With nothing fixed it gives the
    value of the game; a trunk strategy is optimal if fixing it costs nothing.
    """
    mine, theirs = _Sequences(tree, player), _Sequences(tree, 1 - player)
    sign = 1.0 - 2.0 * player
    payoffs = csr_matrix(
        (sign * tree.payoff, (mine.of_row[tree.payoff_rows[player]], theirs.of_row[tree.payoff_rows[1 - player]])),
        shape=(mine.count, theirs.count),
    )
    roots, their_roots = mine.num_roots, theirs.num_roots
    by_plan, by_roots = payoffs[roots:], payoffs[:roots].T @ tree.rows[player].root_reach
    children, reach = theirs.children(), tree.rows[1 - player].root_reach
    actions = theirs.count - their_roots
    own = csr_matrix((np.ones(actions), (np.arange(actions), theirs.infostate)), shape=(actions, theirs.num_infostates))
    matrix, right = mine.plan_constraints()
    bounds: list[tuple[float | None, float | None]] = [(0.0, None)] * (mine.count - roots)
    for number, entry in enumerate(mine.entry):
        if int(entry) in fixed:
            bounds[number] = (fixed[int(entry)], fixed[int(entry)])
    solution = linprog(
        -np.concatenate([by_plan[:, :their_roots] @ reach, children[:their_roots].T @ reach]),
        A_ub=hstack([-by_plan[:, their_roots:].T, own - children[their_roots:]]),
        b_ub=by_roots[their_roots:],
        A_eq=hstack([matrix, csr_matrix((mine.num_infostates, theirs.num_infostates))]),
        b_eq=right,
        bounds=bounds + [(None, None)] * theirs.num_infostates,
        method="highs",
    )
    assert solution.success, solution.message
    return -float(solution.fun) + float(by_roots[:their_roots] @ reach)
