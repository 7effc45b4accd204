"""An agent for hold'em: from the turn on it solves what is left of the hand, for all hands at once, and plays the solution.

The first search is at the start of the turn (or where the game starts, if that is later), from the ranges the players can hold
there. Its solution covers the river, too, so that nothing is searched again unless the opponent makes a bet the solution does
not know: then the search starts anew at that decision, with the ranges that came there and the bet added to the tree (as
ReBeL adds off-tree actions). Solutions are kept for when the same situation comes up again.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace

import numpy as np

from tacit.agents.base import Agent, Sight
from tacit.agents.hand_policy import HandAgent
from tacit.agents.public_hand import CARD, PublicHand, read_action
from tacit.agents.view import View
from tacit.cards.deck import parse_cards
from tacit.cards.hands import NUM_HANDS, hand_index, possible_hands
from tacit.errors import TacitError
from tacit.games.betting import ALL_IN, BOARD_CARDS, DEAL, TURN, Betting, BettingRules, NoLimitBetting
from tacit.games.holdem import Holdem
from tacit.kernels import make_passes
from tacit.solvers.learner import make_learner
from tacit.solvers.schedules import find_schedule
from tacit.tree.hand_builder import build_hand_tree, num_hand_entries
from tacit.tree.hand_strategy import HandStrategy
from tacit.tree.public_tree import Floats

MAX_ENTRIES = 10_000_000
"""Numbers of a strategy that are solved in a few seconds; with more, the menu is cut down."""
SMALLER_MENUS = (((0.5, 1.0, ALL_IN), (1.0, ALL_IN)), ((1.0, ALL_IN), (ALL_IN,)))
"""Bets and raises, in pots, for games that offer too many."""
KEPT_SOLUTIONS = 16


@dataclass
class _Search:
    """A solution and where the hand stands in it.

    Attributes:
      strategy: what is played.
      node: the present node.
    """

    strategy: HandStrategy
    node: int


class HoldemAgent:
    """Plays hold'em by solving it from the turn on; before that another agent plays.

    Args:
      game: the rules; its bets are those offered to this agent, a subset of which it considers.
      generator: draws the moves.
      before: plays before the turn.
      solver: the algorithm of the search, and
      iterations: its length.
    """

    def __init__(
        self, game: Holdem, generator: np.random.Generator, before: Agent, *, solver: str = "dcfr", iterations: int = 100
    ) -> None:
        self.name = "holdem-search"
        self._game, self._generator, self._before = game, generator, before
        self._schedule, self._iterations = find_schedule(solver), iterations
        self._solutions: OrderedDict[bytes, HandStrategy] = OrderedDict()
        self.searches = 0
        self.start(0)

    def start(self, player: int) -> None:
        self._player, self._hand = player, -1
        self._betting, self._board = self._game.rules.start(), self._game.known_board
        self._steps: list[tuple[Betting, int]] = []  # since the search's root: betting and what was done, or the card with DEAL
        self._ranges: tuple[Floats, Floats] = self._game.ranges if self._board else (np.ones(NUM_HANDS), np.ones(NUM_HANDS))
        self._search: _Search | None = None
        self._root = (self._betting, self._board)
        self._before.start(player)

    def observe(self, sight: Sight) -> None:
        self._before.observe(sight)
        for told in sight.private:
            self._hand = hand_index(*parse_cards(told))
        for told in sight.public:
            self._follow(told)

    def act(self) -> int:
        if self._betting.street < TURN:
            return self._before.act()
        search = self._searched()
        shares = search.strategy.played(search.node)[:, self._hand]
        actions = search.strategy.tree.actions(search.node)
        return int(self._generator.choice(actions, p=shares / shares.sum()))

    def view(self) -> View | None:
        return None

    def probabilities(self, public: PublicHand) -> Floats:
        """Returns `[A, 1326]` what it plays with every hand at a public state (see `HandPolicy`), whatever it is playing now.

        Raises:
          TacitError: before the turn an agent plays that cannot say, or it plays a bet that the game's menu does not have.
        """
        if public.betting.street < TURN:
            if not isinstance(self._before, HandAgent):
                raise TacitError(f"what {self.name} does before the turn is not known: {self._before.name} plays there")
            return self._before.policy.probabilities(public)
        search = self._search_at(public)
        tree, spread = search.strategy.tree, np.zeros((len(public.actions), NUM_HANDS))
        for action, shares in zip(tree.actions(search.node), search.strategy.played(search.node), strict=True):
            if action in public.actions:
                spread[public.actions.index(action)] = shares
            elif shares.any():
                raise TacitError(f"{self.name} considers {action}, which is not on the menu of {self._game}")
        return spread

    def _search_at(self, public: PublicHand) -> _Search:
        """Returns the search at a public state from the turn on: the one that is made when a hand comes there."""
        betting, board = self._game.rules.start(), self._game.known_board
        root, steps = (betting, board), list[tuple[Betting, int]]()
        for player, what in public.path:
            if player != CARD:
                steps.append((betting, what))
                betting = self._after(betting, what)
                continue
            board = (*board, what)
            if len(board) == BOARD_CARDS[TURN]:
                root, steps = (betting, board), []
            else:
                steps.append((betting, what))
        search = self._solve(root[0], root[1], self._ranges, {})
        for before, what in steps:
            search = self._step(search, before, what)
        return search

    def _after(self, betting: Betting, action: int) -> Betting:
        """Returns the betting after an action, on the next street if this one is over."""
        rules = self._game.rules
        after = rules.apply(betting, action)
        return rules.deal(after) if after.actor == DEAL else after

    def _follow(self, told: str) -> None:
        """Takes in what everyone saw: cards, or an action in words."""
        action = read_action(told)
        if action is None:
            cards = parse_cards(told)
            if cards == self._board:
                return  # the board that lay from the start
            self._board = (*self._board, *cards)
            if len(self._board) == BOARD_CARDS[TURN] and self._search is None:
                self._root, self._steps = (self._betting, self._board), []
            else:
                self._steps.append((self._betting, cards[-1]))
            return
        self._steps.append((self._betting, action))
        self._betting = self._after(self._betting, action)

    def _searched(self) -> _Search:
        """Returns the search at the present point, made anew where something happened that it does not know."""
        search = self._search or self._solve(self._root[0], self._root[1], self._ranges, {})
        for betting, what in self._steps:
            search = self._step(search, betting, what)
        self._search, self._steps = search, []
        return search

    def _step(self, search: _Search, betting: Betting, what: int) -> _Search:
        """Returns the search one action or card later."""
        tree = search.strategy.tree
        if not tree.knows(search.node, what):
            ranges = search.strategy.range_at(search.node, 0), search.strategy.range_at(search.node, 1)
            board = tree.blocks.board[tree.block[search.node]]
            search = self._solve(betting, board, ranges, {betting: (what,)})
            tree = search.strategy.tree
        node = int(tree.children(search.node)[tree.step(search.node, what)])
        return _Search(search.strategy, node)

    def _solve(
        self, betting: Betting, board: tuple[int, ...], ranges: tuple[Floats, Floats], extra: dict[Betting, tuple[int, ...]]
    ) -> _Search:
        """Returns the solution from a point on, an earlier one if the same was asked before."""
        key = repr((betting, board, sorted(extra.values()))).encode() + b"".join(part.tobytes() for part in ranges)
        if key not in self._solutions:
            self.searches += 1
            possible = possible_hands(board)
            # A hand nobody would hold here may be held all the same: a trace of every one keeps answers to it sensible.
            whole = [(part + 1e-6 * part.max()) * possible for part in ranges]
            rules = self._rules(betting, len(board))
            tree = build_hand_tree(self._game, rules, board, (whole[0], whole[1]), betting, extra)
            learner = make_learner(make_passes(tree), self._schedule)
            for _ in range(self._iterations):
                learner.step()
            self._solutions[key] = HandStrategy(tree, learner.average_strategy())
            while len(self._solutions) > KEPT_SOLUTIONS:
                self._solutions.popitem(last=False)
        self._solutions.move_to_end(key)
        return _Search(self._solutions[key], 0)

    def _rules(self, betting: Betting, num_cards: int) -> BettingRules:
        """Returns the game's rules with as many bets as can be searched in time."""
        rules = self._game.rules
        if isinstance(rules, NoLimitBetting):
            for bets, raises in SMALLER_MENUS:
                if num_hand_entries(rules, num_cards, betting) <= MAX_ENTRIES:
                    break
                rules = replace(rules, bets=bets, raises=raises)
        return rules
