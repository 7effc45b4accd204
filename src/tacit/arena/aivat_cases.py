"""The two kinds of games that AIVAT follows: public trees of rows, for any game that sends observations, and hands of hold'em.

Hold'em needs no tree of the whole game, so it works from before the flop. An unknown player's hand has to be known in every
game, folded ones included: leaving out the others would be biased.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from tacit.agents.base import Agent
from tacit.agents.bots import PokerBot, RandomBot
from tacit.agents.hand_policy import HandPolicy, played
from tacit.agents.registry import policy_of
from tacit.agents.tabular import TabularAgent
from tacit.arena.aivat import AivatEstimator, Branch, Sights, Step
from tacit.arena.aivat_values import PairValues, hand_values
from tacit.cards.deck import parse_cards
from tacit.cards.hands import NUM_HANDS, hand_index
from tacit.errors import TacitError
from tacit.games import AnyGame
from tacit.games.base import CHANCE, InfostateGame
from tacit.games.holdem import Holdem
from tacit.games.public_hand import CARD, PublicHand
from tacit.tree.compiler import compile_game
from tacit.tree.draft import Progress
from tacit.tree.navigate import NOWHERE, Navigator, Place
from tacit.tree.public_tree import NO_PARENT, Floats, PublicTree
from tacit.tree.strategy import Strategy

_OFF_MENU = -1
"""Index of a bet that the menu does not have, which no policy makes."""


def make_estimator(game: AnyGame, agents: Sequence[Agent], on_compile: Progress = lambda _: None) -> AivatEstimator:
    """Returns the estimator for a match between two agents; `on_compile` hears of progress where the game is compiled.

    Raises:
      TacitError: The game names infostates, or neither agent's strategy is known.
    """
    tree = next((agent.strategy.tree for agent in agents if isinstance(agent, TabularAgent)), None)
    if tree is None and isinstance(game, Holdem):
        return hand_estimator(game, agents)
    return row_estimator(tree or compile_game(game, progress=on_compile), agents)


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
        for actor, seen in sights:
            place = navigator.follow_sights(place, actor, seen)
        return row_line(tree, place)

    return AivatEstimator(strategies, [PairValues(tree, known[0])] * 2, line)


def row_line(tree: PublicTree, end: Place) -> Iterator[Step]:
    """Yields the steps of the game that ended at a place. A policy is a strategy `[E]`, an action its entry."""
    nodes, above = tree.require_nodes(), NO_PARENT
    first, second = (tree.row_path(player, end.rows[player]) for player in (0, 1))
    for node, *rows in zip(tree.node_path(end.node), first, second, strict=True):
        dealt, start = above == NO_PARENT, nodes.row_start
        actor = CHANCE if dealt else int(nodes.actor[above])
        siblings = range(nodes.num_roots) if dealt else range(*nodes.first_child[above : above + 2].tolist())
        branches = []
        for reached in (siblings, range(node, node + 1)):
            chosen = [slice(start[player][reached[0]], start[player][reached[-1] + 1]) for player in (0, 1)]
            come_from = [tree.rows[p].parent[chosen[p]] - (NO_PARENT if dealt else start[p][above]) for p in (0, 1)]
            branches.append(Branch(reached, (come_from[0], come_from[1]), tree.rows[actor].entry[chosen[actor]]))
        held = [row - int(start[player][node]) for player, row in enumerate(rows)]
        yield Step(actor, int(tree.rows[actor].entry[rows[actor]]), lambda strategy: strategy, branches[:1], branches[1], held)
        above = node


def known_strategy(agent: Agent, tree: PublicTree) -> Floats | None:
    """Returns the strategy `[E]` that an agent plays in either seat, or None where it is unknown."""
    if isinstance(agent, TabularAgent):
        return agent.strategy.probabilities if agent.strategy.tree.num_entries == tree.num_entries else None
    if isinstance(agent, RandomBot):
        return tree.uniform_strategy()
    if not isinstance(agent, PokerBot):
        return None
    strategy = np.zeros(tree.num_entries)
    chosen = [agent.choose(list(decision.probabilities)) for decision in Strategy(tree, strategy)]
    strategy[tree.entry_start[:-1] + np.array(chosen)] = 1.0
    return strategy


def hand_estimator(game: Holdem, agents: Sequence[Agent]) -> AivatEstimator:
    """Returns the estimator for hold'em. With one agent its opponent is unknown."""
    policies = [*(policy_of(agent) for agent in agents), None][:2]
    if policies == [None, None]:
        raise _unknown(agents)

    def line(sights: Sights) -> Iterator[Step]:
        end, held = PublicHand.start(game), [0, 0]
        for _, seen in sights:
            for player, sight in enumerate(seen):
                assert sight is not None
                for word in sight.private:
                    held[player] = hand_index(*parse_cards(word))
                for word in sight.public if player == 0 else ():
                    end = end.hear(word)
        return hand_line(end, held)

    return AivatEstimator(policies, hand_values(game, policies), line)


def hand_line(end: PublicHand, held: Sequence[int]) -> Iterator[Step]:
    """Yields the steps of the hand that ended at a public state, given the hand of each player.

    Value functions keep their mean over the next cards, so an option that waits for cards stands for all that can come.
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
    """Returns `[A + 1, 1326]` what a policy plays at a state; the last row, `_OFF_MENU`, is 0."""
    return np.pad(played(policy, state), ((0, 1), (0, 0)))


def _unknown(agents: Sequence[Agent]) -> TacitError:
    names = " or ".join(agent.name for agent in agents)
    return TacitError(f"AIVAT needs a strategy that is known: what {names} plays with every hand is not")
