"""AIVAT for the two kinds of games it supports: public trees of rows, for any game that sends observations, and hold'em.

Hold'em needs no tree of the whole game, so hands from before the flop on work, too. The cards of a player with an unknown
strategy must be known in every hand, folded ones included: leaving out hands without them would bias the estimate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial, reduce
from itertools import pairwise
from typing import Any

import numpy as np

from tacit.agents.base import Agent
from tacit.agents.bots import PokerBot, RandomBot
from tacit.agents.hand_policy import HandPolicy, played, policy_of
from tacit.agents.tabular import TabularAgent
from tacit.arena.aivat import AivatEstimator, Branch, Reaches, Step, Values
from tacit.arena.hand_values import hand_values
from tacit.arena.match import Sights
from tacit.cards.deck import parse_cards
from tacit.cards.hands import NUM_HANDS, hand_index
from tacit.errors import TacitError
from tacit.games import AnyGame
from tacit.games.base import CHANCE, InfostateGame
from tacit.games.holdem import Holdem
from tacit.games.public_hand import CARD, PublicHand
from tacit.tree.compiler import compile_game
from tacit.tree.estimate import Progress
from tacit.tree.navigate import NOWHERE, Navigator, Place
from tacit.tree.public_tree import NO_PARENT, Floats, PublicTree

_OFF_MENU = -1
"""Index of an off-menu bet, which no policy makes."""


def make_estimator(game: AnyGame, agents: Sequence[Agent], on_compile: Progress = lambda _: None) -> AivatEstimator:
    """Returns the estimator for a match between two agents; `on_compile` reports progress if the game has to be compiled.

    Raises:
      TacitError: The game names infostates, or neither agent's strategy is known.
    """
    tree = next((agent.strategy.tree for agent in agents if isinstance(agent, TabularAgent)), None)
    return _CASES[game.tree_layout](game, agents, on_compile) if tree is None else row_estimator(tree, agents)


def _compiled(game: AnyGame, agents: Sequence[Agent], on_compile: Progress) -> AivatEstimator:
    return row_estimator(compile_game(game, progress=on_compile), agents)


def _followed(game: Any, agents: Sequence[Agent], on_compile: Progress) -> AivatEstimator:
    del on_compile
    policies = [policy_of(agent) for agent in agents]
    if policies == [None, None]:
        raise _unknown(agents)
    return hand_estimator(game, policies)


_CASES = {"rows": _compiled, "hands": _followed}
"""The functions that make an estimator, by the layout of the game's trees."""


def row_estimator(tree: PublicTree, agents: Sequence[Agent]) -> AivatEstimator:
    """Returns the estimator on a tree, with self-play of the first known agent as the value function."""
    if isinstance(tree.game, InfostateGame):
        raise TacitError(f"AIVAT needs a game that sends observations: {tree.game} names infostates")
    strategies = [known_strategy(agent, tree) for agent in agents]
    known = [strategy for strategy in strategies if strategy is not None]
    if not known:
        raise _unknown(agents)
    navigator = Navigator(tree)

    def line(sights: Sights) -> Iterator[Step]:
        place = NOWHERE
        for seen in sights:
            place = navigator.follow_sights(place, seen[0].actor, seen)
        return row_line(tree, place)

    return AivatEstimator(strategies, [pair_values(tree, known[0])] * 2, line)


def row_line(tree: PublicTree, end: Place) -> Iterator[Step]:
    """Yields the steps of the game that ended at a place. A policy is a strategy `[E]`, an action its entry."""
    nodes, above = tree.require_nodes(), NO_PARENT
    first, second = (tree.row_path(player, end.rows[player]) for player in (0, 1))
    for node, *rows in zip(tree.node_path(end.node), first, second, strict=True):
        dealt, start = above == NO_PARENT, nodes.row_start
        actor = CHANCE if dealt else int(nodes.actor[above])
        first_below = 0 if dealt else int(nodes.first_child[above])
        siblings = range(first_below, first_below + (nodes.num_roots if dealt else int(nodes.num_children[above])))
        branches = []
        for reached in (siblings, range(node, node + 1)):
            chosen = [slice(start[player][reached[0]], start[player][reached[-1] + 1]) for player in (0, 1)]
            come_from = [tree.rows[p].parent[chosen[p]] - (NO_PARENT if dealt else start[p][above]) for p in (0, 1)]
            branches.append(Branch(reached, (come_from[0], come_from[1]), tree.rows[actor].entry[chosen[actor]]))
        held = [row - int(start[player][node]) for player, row in enumerate(rows)]
        yield Step(actor, int(tree.rows[actor].entry[rows[actor]]), lambda strategy: strategy, branches[:1], branches[1], held)
        above = node


def pair_values(tree: PublicTree, strategy: Floats) -> Values:
    """Returns the value function of self-play with a strategy `[E]`; its public states are ranges of sibling nodes."""
    nodes, width = tree.require_nodes(), len(tree.rows[1])
    rows = np.concatenate([nodes.joint_rows, tree.payoff_rows], axis=1).astype(np.int64)
    order = np.argsort(rows[0] * width + rows[1])
    rows = rows[:, order]
    chance = np.concatenate([nodes.joint_chance, tree.payoff_chance])[order]
    worth = np.concatenate([np.zeros(len(nodes.joint_chance)), tree.payoff])[order]
    start = np.searchsorted(rows[0], nodes.row_start[0])  # a node's pairs are contiguous
    above = [tree.rows[player].parent[rows[player]].astype(np.int64) for player in (0, 1)]
    parent = np.searchsorted(rows[0] * width + rows[1], above[0] * width + above[1])
    shares = np.append(strategy, 1.0)
    played = shares[tree.rows[0].entry[rows[0]]] * shares[tree.rows[1].entry[rows[1]]]
    for last, first in pairwise(start[nodes.level_start[:0:-1]]):
        np.add.at(worth, parent[first:last], played[first:last] * worth[first:last])

    def values(public: range, reaches: Reaches) -> tuple[float, float]:
        pairs = slice(start[public.start], start[public.stop])
        here = [rows[player, pairs] - nodes.row_start[player][public.start] for player in (0, 1)]
        both = reaches[0][here[0]] * reaches[1][here[1]]
        return float(both @ worth[pairs]), float(both @ chance[pairs])

    return values


def known_strategy(agent: Agent, tree: PublicTree) -> Floats | None:
    """Returns the strategy `[E]` that an agent plays in either seat, or None if it is unknown."""
    if isinstance(agent, TabularAgent):
        return agent.strategy.probabilities if agent.strategy.tree.num_entries == tree.num_entries else None
    if isinstance(agent, RandomBot):
        return tree.uniform_strategy()
    if not isinstance(agent, PokerBot):
        return None
    strategy = np.zeros(tree.num_entries)
    chosen = [agent.choose(list(decision.probabilities)) for decision in tree.strategy(strategy)]
    strategy[tree.entry_start[:-1] + np.array(chosen)] = 1.0
    return strategy


def hand_estimator(
    game: Holdem, policies: Sequence[HandPolicy | None], values: Sequence[Values] | None = None
) -> AivatEstimator:
    """Returns the estimator for hold'em.

    Args:
      game: The rules.
      policies: Each player's policy; None if it is unknown.
      values: The value functions for the first player in either seat; None for the best known, which may take minutes to make.
    """

    def line(sights: Sights) -> Iterator[Step]:
        words = (word for seen in sights for word in seen[0].public)
        cards = [next(word for seen in sights for word in seen[player].private) for player in (0, 1)]
        return hand_line(reduce(PublicHand.hear, words, PublicHand.start(game)), [hand_index(*parse_cards(w)) for w in cards])

    return AivatEstimator(policies, hand_values(game, policies) if values is None else values, line)


def hand_line(end: PublicHand, held: Sequence[int]) -> Iterator[Step]:
    """Yields the steps of the hand that ended at a public state, given the hand of each player.

    The value of a state before a deal is the mean over the next cards, so one option that awaits cards stands for all of them.
    """
    state = PublicHand.start(end.game).dealt(end.game.known_board)
    moves: list[tuple[int, int, list[int]]] = [(CHANCE, 0, [])]
    for player, what in end.path:
        if player == CARD:
            moves[-1][2].append(what)
        else:
            moves.append((player, what, []))
    nothing, same = np.zeros(NUM_HANDS, np.int64), slice(None)
    options = {0: Branch(state, (nothing, nothing), 0)}
    for player, action, cards in moves:
        before = state
        if player != CHANCE:
            menu = {action: _OFF_MENU} | {choice: number for number, choice in enumerate(state.actions)}
            options = {choice: Branch(state.after(choice), (same, same), number) for choice, number in menu.items()}
        taken = options[action]
        state = taken.public.dealt(tuple(cards))
        arrived = taken._replace(public=state)
        yield Step(player, taken.action, partial(_shares, before), list(options.values()), arrived, held)


def _shares(state: PublicHand, policy: HandPolicy) -> Floats:
    """Returns `[A + 1, 1326]` a policy's probabilities at a state; the last row, `_OFF_MENU`, is 0."""
    return np.pad(played(policy, state), ((0, 1), (0, 0)))


def _unknown(agents: Sequence[Agent]) -> TacitError:
    names = " or ".join(agent.name for agent in agents)
    return TacitError(f"AIVAT needs an agent whose strategy is known: that of {names} is not")
