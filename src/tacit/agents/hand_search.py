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

from tacit.cards.hands import NUM_HANDS, possible_hands
from tacit.games.betting import ALL_IN, BOARD_CARDS, DEAL, TURN, Betting, BettingRules, NoLimitBetting
from tacit.games.holdem import Holdem
from tacit.games.public_hand import CARD, PublicHand
from tacit.kernels.numba_hands import HandPasses
from tacit.leaves.check_down import CheckDownLeaves
from tacit.solvers.driver import DriverOptions
from tacit.solvers.schedules import find_schedule
from tacit.solvers.tabular import TabularDriver
from tacit.tree.hand_builder import build_hand_tree, num_hand_entries
from tacit.tree.hand_strategy import HandStrategy
from tacit.tree.hand_tree import DEALS, START, Spot
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

Ranges = tuple[Floats, Floats]


@dataclass(frozen=True)
class Situation:
    """Where a hand stands, and in which solution.

    Attributes:
      betting: the street it stands on may still wait for its cards.
      board: the cards that lie.
      ranges: for both players `[1326]` what they can hold here, on any scale, where there is no solution yet.
      strategy: the solution, or None.
      spot: where the hand stands in it.
    """

    betting: Betting
    board: tuple[int, ...]
    ranges: Ranges
    strategy: HandStrategy | None = None
    spot: Spot = START

    @property
    def solution(self) -> HandStrategy:
        """The solution, which is there."""
        assert self.strategy is not None
        return self.strategy

    def ranges_here(self) -> Ranges:
        """Returns for both players `[1326]` what they can hold here."""
        if self.strategy is None:
            return self.ranges
        return self.strategy.range_at(self.spot, 0), self.strategy.range_at(self.spot, 1)


class HandSearch:
    """A policy for hold'em that searches when it is asked (see `HandPolicy`).

    Args:
      game: the rules; of the bets that they offer, a search considers some or all.
      solver: the algorithm of the search, and
      iterations: its length.
    """

    def __init__(self, game: Holdem, *, solver: str = "dcfr", iterations: int = 100) -> None:
        self.game, self._schedule, self._iterations = game, find_schedule(solver), iterations
        self._solutions: OrderedDict[bytes, HandStrategy] = OrderedDict()
        self.searches = 0

    def probabilities(self, public: PublicHand) -> Floats:
        now = self.situation(public)
        played, tree = np.zeros((len(public.actions), NUM_HANDS)), now.solution.tree
        for action, shares in zip(tree.actions(now.spot.node), now.solution.played(now.spot), strict=True):
            played[public.actions.index(action)] = shares
        return played

    def situation(self, public: PublicHand) -> Situation:
        """Returns a decision in its solution, after all the searches on the way there."""
        now = Situation(self.game.rules.start(), self.game.known_board, self.game.ranges)
        for player, what in public.path:
            now = _deal(now, what) if player == CARD else self._act(now, what)
        return self._solved(now)

    def _act(self, now: Situation, action: int) -> Situation:
        """Returns what follows an action."""
        now = self._solved(now)
        if not now.solution.tree.knows(now.spot, action):
            now = self._solved(Situation(now.betting, now.board, now.ranges_here()), action)
        betting = self.game.rules.apply(now.betting, action)
        if betting.actor == DEAL:
            betting = self.game.rules.deal(betting)
        return replace(now, betting=betting, spot=now.solution.tree.after(now.spot, action))

    def _solved(self, now: Situation, *extra: int) -> Situation:
        """Returns a situation with a solution, an earlier one if the same was asked before.

        `extra` are actions that it must know.
        """
        if now.strategy is not None:
            return now
        key = repr((now.betting, now.board, extra)).encode() + b"".join(part.tobytes() for part in now.ranges)
        if key not in self._solutions:
            self._solutions[key] = self._search(now, extra)
            while len(self._solutions) > KEPT_SOLUTIONS:
                self._solutions.popitem(last=False)
        self._solutions.move_to_end(key)
        return replace(now, strategy=self._solutions[key])

    def _search(self, now: Situation, extra: tuple[int, ...]) -> HandStrategy:
        """Solves from a situation on."""
        self.searches += 1
        possible = possible_hands(now.board)
        # A hand nobody would hold here may be held all the same: a trace of every one keeps answers to it sensible.
        first, second = ((part + 1e-6 * (part.max() or 1.0)) * possible for part in now.ranges)
        depth = None if len(now.board) >= BOARD_CARDS[TURN] else ROUND
        rules = self._rules(now, (first, second), depth)
        more = {now.betting: extra} if extra else {}
        tree = build_hand_tree(self.game, rules, now.board, (first, second), now.betting, more, depth)
        driver = TabularDriver(HandPasses(tree), self._schedule, DriverOptions(CheckDownLeaves()))
        driver.run(self._iterations)
        return tree.strategy(driver.average_strategy())

    def _rules(self, now: Situation, ranges: Ranges, depth: Depth) -> BettingRules:
        """Returns the game's rules with as many bets as can be searched in time."""
        offered = rules = self.game.rules
        if isinstance(offered, NoLimitBetting):
            for bets, raises in SMALLER_MENUS:
                if num_hand_entries(rules, now.board, ranges, now.betting, depth) <= MAX_ENTRIES[depth]:
                    break
                kept = _nearest(offered.bets, bets), _nearest(offered.raises or offered.bets, raises)
                rules = replace(offered, bets=kept[0], raises=kept[1])
        return rules


def _deal(now: Situation, card: int) -> Situation:
    """Returns what follows a card: the next board of the same solution, or where that ended a situation without one."""
    board = (*now.board, card)
    if now.strategy is not None and now.strategy.tree.kind[now.spot.node] == DEALS:
        return replace(now, board=board, spot=now.strategy.tree.after(now.spot, card))
    first, second = (part * possible_hands(board) for part in now.ranges_here())
    return Situation(now.betting, board, (first, second))


def _nearest(offered: Sequence[float], wanted: Sequence[float]) -> tuple[float, ...]:
    """Returns the sizes offered that are nearest to those wanted."""
    largest = max(100.0, *(size for size in (*offered, *wanted) if size != ALL_IN))
    return tuple(
        sorted({min(offered, key=lambda size: abs(min(size, 2 * largest) - min(want, 2 * largest))) for want in wanted})
    )
