"""Search in hold'em: solves what is left of a street or of the hand, for all hands at once, and plays the solution.

Before the turn a search ends with the betting round, and hands are worth their equity there (`CheckDownLeaves`): no later bet
is foreseen. From the turn on it goes to the end of the hand. The ranges that a search starts from follow by Bayes' rule from
the solution before it. Nothing is searched again within a solution, unless somebody makes a bet that it does not know: then
search starts anew at that decision, with the ranges that came there and the bet added to the tree (as ReBeL adds off-tree
actions). Solutions are kept for when the same situation comes up again, as the start of a hand always does.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tacit.agents.public_hand import CARD, PublicHand
from tacit.cards.hands import NUM_HANDS, possible_hands
from tacit.games.betting import ALL_IN, BOARD_CARDS, DEAL, TURN, Betting, BettingRules, NoLimitBetting
from tacit.games.holdem import Holdem
from tacit.kernels.hand_leaves import CheckDownLeaves
from tacit.kernels.numba_hands import HandPasses
from tacit.solvers.learner import make_learner
from tacit.solvers.schedules import find_schedule
from tacit.tree.hand_builder import build_hand_tree, num_hand_entries
from tacit.tree.hand_strategy import HandStrategy
from tacit.tree.hand_tree import DEALS
from tacit.tree.public_tree import Floats
from tacit.tree.subgame import ROUND, Depth

MAX_ENTRIES: dict[Depth, int] = {None: 5_000_000, ROUND: 400_000}
"""Numbers of a strategy that are solved in about two seconds, by depth; with more, the menu is cut down."""
SMALLER_MENUS = (
    ((0.5, 1.0, 2.0, ALL_IN), (1.0, ALL_IN)),
    ((0.5, 1.0, ALL_IN), (1.0, ALL_IN)),
    ((1.0, ALL_IN), (1.0, ALL_IN)),
    ((1.0, ALL_IN), (ALL_IN,)),
)
"""Bets and raises, in pots, for games that offer too many: the sizes nearest to these are kept."""
KEPT_SOLUTIONS = 16
LEAVES = CheckDownLeaves()

Ranges = tuple[Floats, Floats]


@dataclass(frozen=True)
class Spot:
    """Where a hand stands, and in which solution.

    Attributes:
      betting: the street it stands on may still wait for its cards.
      board: the cards that lie.
      ranges: for both players `[1326]` what they can hold here, on any scale, where there is no solution yet.
      strategy: the solution, or None.
      node: its node.
    """

    betting: Betting
    board: tuple[int, ...]
    ranges: Ranges
    strategy: HandStrategy | None = None
    node: int = 0

    @property
    def solution(self) -> HandStrategy:
        """The solution, which is there."""
        assert self.strategy is not None
        return self.strategy

    def ranges_here(self) -> Ranges:
        """Returns for both players `[1326]` what they can hold here."""
        if self.strategy is None:
            return self.ranges
        return self.strategy.range_at(self.node, 0), self.strategy.range_at(self.node, 1)


class HandSearch:
    """A policy for hold'em that searches when it is asked (see `HandPolicy`).

    Args:
      game: the rules; of the bets that they offer, a search considers some or all.
      solver: the algorithm of the search, and
      iterations: its length.
    """

    def __init__(self, game: Holdem, *, solver: str = "dcfr", iterations: int = 100) -> None:
        self._game, self._schedule, self._iterations = game, find_schedule(solver), iterations
        self._solutions: OrderedDict[bytes, HandStrategy] = OrderedDict()
        self.searches = 0

    def probabilities(self, public: PublicHand) -> Floats:
        spot = self.spot(public)
        played = np.zeros((len(public.actions), NUM_HANDS))
        for action, shares in zip(spot.solution.tree.actions(spot.node), spot.solution.played(spot.node), strict=True):
            played[public.actions.index(action)] = shares
        return played

    def spot(self, public: PublicHand) -> Spot:
        """Returns a decision in its solution, after all the searches on the way there."""
        rules, board = self._game.rules, self._game.known_board
        spot = Spot(rules.start(), board, self._game.ranges)
        for player, what in public.path:
            spot = _deal(spot, what) if player == CARD else self._act(spot, what)
        return self._solved(spot)

    def _act(self, spot: Spot, action: int) -> Spot:
        """Returns what follows an action."""
        spot = self._solved(spot)
        if not spot.solution.tree.knows(spot.node, action):
            spot = self._solved(Spot(spot.betting, spot.board, spot.ranges_here()), action)
        tree = spot.solution.tree
        node = int(tree.children(spot.node)[tree.step(spot.node, action)])
        betting = self._game.rules.apply(spot.betting, action)
        if betting.actor == DEAL:
            betting = self._game.rules.deal(betting)
        return replace(spot, betting=betting, node=node)

    def _solved(self, spot: Spot, *extra: int) -> Spot:
        """Returns a spot with a solution, an earlier one if the same was asked before; `extra` are actions it must know."""
        if spot.strategy is not None:
            return spot
        key = repr((spot.betting, spot.board, extra)).encode() + b"".join(part.tobytes() for part in spot.ranges)
        if key not in self._solutions:
            self._solutions[key] = self._search(spot, extra)
            while len(self._solutions) > KEPT_SOLUTIONS:
                self._solutions.popitem(last=False)
        self._solutions.move_to_end(key)
        return replace(spot, strategy=self._solutions[key])

    def _search(self, spot: Spot, extra: tuple[int, ...]) -> HandStrategy:
        """Solves from a spot on."""
        self.searches += 1
        possible = possible_hands(spot.board)
        # A hand nobody would hold here may be held all the same: a trace of every one keeps answers to it sensible.
        whole = [(part + 1e-6 * (part.max() or 1.0)) * possible for part in spot.ranges]
        depth = None if len(spot.board) >= BOARD_CARDS[TURN] else ROUND
        rules = self._rules(spot, depth)
        more = {spot.betting: extra} if extra else {}
        tree = build_hand_tree(self._game, rules, spot.board, (whole[0], whole[1]), spot.betting, more, depth)
        learner = make_learner(HandPasses(tree, leaves=LEAVES), self._schedule)
        for _ in range(self._iterations):
            learner.step()
        return HandStrategy(tree, learner.average_strategy())

    def _rules(self, spot: Spot, depth: Depth) -> BettingRules:
        """Returns the game's rules with as many bets as can be searched in time."""
        offered = rules = self._game.rules
        if isinstance(offered, NoLimitBetting):
            for bets, raises in SMALLER_MENUS:
                if num_hand_entries(rules, len(spot.board), spot.betting, depth) <= MAX_ENTRIES[depth]:
                    break
                kept = _nearest(offered.bets, bets), _nearest(offered.raises or offered.bets, raises)
                rules = replace(offered, bets=kept[0], raises=kept[1])
        return rules


def _deal(spot: Spot, card: int) -> Spot:
    """Returns what follows a card: the next board of the same solution, or where that ended a spot without one."""
    board = (*spot.board, card)
    if spot.strategy is not None and spot.strategy.tree.kind[spot.node] == DEALS:
        tree = spot.strategy.tree
        return replace(spot, board=board, node=int(tree.children(spot.node)[tree.step(spot.node, card)]))
    first, second = (part * possible_hands(board) for part in spot.ranges_here())
    return Spot(spot.betting, board, (first, second))


def _nearest(offered: Sequence[float], wanted: Sequence[float]) -> tuple[float, ...]:
    """Returns the sizes offered that are nearest to those wanted."""
    largest = max(100.0, *(size for size in (*offered, *wanted) if size != ALL_IN))
    return tuple(
        sorted({min(offered, key=lambda size: abs(min(size, 2 * largest) - min(want, 2 * largest))) for want in wanted})
    )
