"""The continuations that players choose from at leaves: biased versions of a blueprint, or best responses.

- *Biased* (the paper's bias approach, and what Pluribus does): the blueprint, and for each kind of action a version in which
  actions of that kind are multiplied by a factor before probabilities are normalised again. A kind is the name of an action
  without its numbers, such as "bet to". If all actions have one name, each of them is a kind.
- *Responses*: the blueprint, and the best responses of fictitious play that starts from it. Each answers the mean of all before
  it, so it is a good answer at every public state to the beliefs that this mean leads to.

A strategy may play differently at two public states of one class. A continuation may not: it plays the mean over the states of
a class, weighted by the player's own reach of its private state there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from tacit.games import AnyGame
from tacit.kernels import make_passes
from tacit.leaves.continuations import Play, one_action_subgames
from tacit.tree.public_tree import Floats, PublicTree
from tacit.tree.search_space import SearchSpace

_RARE = 1e-9
"""The least reach of a public state in means over a class: where a strategy never leads, all states count equally."""


def play_of(space: SearchSpace, strategies: Sequence[Floats]) -> Play:
    """Returns strategies `[E]` of a compiled game as the continuations of both players."""
    by_strategy = [_by_class(space, strategy) for strategy in strategies]
    by_class = [np.stack(versions) for versions in zip(*by_strategy, strict=True)]
    return Play((len(strategies), len(strategies)), by_class, _actors(space))


def uniform_play(space: SearchSpace) -> Play:
    """Returns uniform play as the only continuation; the game need not be compiled."""
    return Play((1, 1), [step.tree.uniform_strategy()[None] for step in one_action_subgames(space)], _actors(space))


def biased_play(space: SearchSpace, play: Play, factor: float) -> Play:
    """Returns each player's first continuation and its biased versions, one for each kind of the player's actions."""
    trees = [step.tree for step in one_action_subgames(space)]
    kinds = [action_kinds(space.game, player, _actions_of(player, trees)) for player in (0, 1)]
    by_class = []
    for tree, actor, versions in zip(trees, play.actors, play.by_class, strict=True):
        kind = np.array([kinds[actor][action] for action in tree.entry_action.tolist()])
        biased = [versions[0] * np.where(kind == favoured, factor, 1.0) for favoured in sorted(set(kinds[actor].values()))]
        by_class.append(np.stack([versions[0], *(tree.normalise(version) for version in biased)]))
    first, second = (1 + len(set(of_player.values())) for of_player in kinds)
    return Play((first, second), by_class, play.actors)


def action_kinds(game: AnyGame, player: int, actions: Iterable[int]) -> dict[int, int]:
    """Returns the kind of each of a player's actions, as a number from 0."""
    names = {action: re.sub(r"[\d.,]+", "", game.action_name_for(player, action)).strip() for action in sorted(actions)}
    if len(set(names.values())) == 1:
        return {action: number for number, action in enumerate(names)}
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names.values()))}
    return {action: numbers[name] for action, name in names.items()}


def responses(tree: PublicTree, blueprint: Floats, count: int) -> list[Floats]:
    """Returns `count` strategies `[E]`: the blueprint, then best responses to the mean of all earlier ones."""
    strategies, plans = [blueprint], realisation_plan(tree, blueprint)
    while len(strategies) < count:
        strategies.append(answer_to(tree, plans))
        plans = plans + realisation_plan(tree, strategies[-1])
    return strategies


def answer_to(tree: PublicTree, plans: Floats) -> Floats:
    """Returns `[E]` both players' best responses to realisation plans `[E]`, which need not be normalised."""
    passes = make_passes(tree)
    faced, answer = passes.entries(tree.normalise(plans)), np.zeros(tree.num_entries)
    for player in (0, 1):
        response = passes.to_numpy(passes.best_response(player, passes.reach(1 - player, faced))[1])
        answer = np.where(tree.entry_player == player, response, answer)
    return answer


def realisation_plan(tree: PublicTree, strategy: Floats) -> Floats:
    """Returns `[E]` the product of the player's own probabilities up to and including each entry."""
    return _own_reach(tree, strategy) * strategy


def _own_reach(tree: PublicTree, strategy: Floats) -> Floats:
    """Returns `[E]` the player's own reach of the infostate of each entry."""
    passes, row = make_passes(tree), tree.infostate_row[tree.entry_infostate]
    layout = passes.entries(strategy)
    reaches = [passes.rows_to_numpy(player, passes.reach(player, layout)) for player in (0, 1)]
    first = tree.entry_player == 0
    return np.where(first, reaches[0][np.where(first, row, 0)], reaches[1][np.where(first, 0, row)])


def _by_class(space: SearchSpace, strategy: Floats) -> list[Floats]:
    """Returns for each class `[E]` what a strategy plays in its one-action subgame, on average over the class's nodes."""
    tree, classes = space.tree, space.classes
    weight = (_own_reach(tree, strategy) + _RARE) * strategy
    first, second = tree.require_nodes().of_row
    row, mine = tree.infostate_row[tree.entry_infostate], tree.entry_player == 0
    node = np.where(mine, first[np.where(mine, row, 0)], second[np.where(mine, 0, row)])
    order = np.argsort(node, kind="stable")  # by node, and there in the same order at all nodes of a class
    start = np.searchsorted(node[order], np.arange(tree.num_nodes + 1))
    within = np.arange(len(order)) - start[node[order]]
    shown = order[start[classes.representative[classes.of_node[node[order]]]] + within]  # the same at the class's first node
    mean = tree.normalise(np.bincount(shown, weight[order], tree.num_entries).astype(np.float64))
    return [mean[order[start[node] : start[node + 1]]] for node in classes.representative]


def _actors(space: SearchSpace) -> NDArray[np.int8]:
    return np.array([subgame.tree.require_nodes().actor[0] for subgame in space.subgames])


def _actions_of(player: int, trees: Iterable[PublicTree]) -> set[int]:
    return {action for tree in trees if tree.entry_player[0] == player for action in tree.entry_action.tolist()}
