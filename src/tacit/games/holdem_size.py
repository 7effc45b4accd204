"""How large hold'em is: betting states counted with how many ways lead to each, times the cards."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from heapq import heappop, heappush
from math import comb, perm

from tacit.games.base import GameSize
from tacit.games.betting import BOARD_CARDS, DEAL, FLOP, FOLDED, RIVER, SHOWDOWN, Betting, BettingRules

MAX_STATES = 100_000
"""Betting states to count (a second or two); what has more is far too large anyway and is estimated."""


@dataclass
class StreetCounts:
    """Sequences of actions, of this street and those before it, that lead to some kind of state on a street."""

    decisions: int = 0
    folds: int = 0
    showdowns: int = 0


def count_betting(rules: BettingRules) -> list[StreetCounts] | None:
    """Returns the counts of each street with the actions of the menu, or None if there are too many states.

    Sequences that lead to equal states are counted together: states are taken in an order in which all that lead to one come
    before it (by street, by what is to be called, and by whether anybody has acted).
    """
    counts = [StreetCounts() for _ in BOARD_CARDS]
    ways: defaultdict[Betting, int] = defaultdict(int)
    queue: list[tuple[int, int, bool, int, Betting]] = []

    def reach(betting: Betting, number: int) -> None:
        if betting not in ways:
            heappush(queue, (betting.street, betting.facing, betting.acted, len(ways), betting))
        ways[betting] += number

    reach(rules.start(), 1)
    while queue:
        if len(ways) > MAX_STATES:
            return None
        betting = heappop(queue)[-1]
        street, number = counts[betting.street], ways[betting]
        if betting.actor == DEAL:
            reach(rules.deal(betting), number)
        elif betting.actor == FOLDED:
            street.folds += number
        elif betting.actor == SHOWDOWN:
            street.showdowns += number
        else:
            street.decisions += number
            for action in rules.actions(betting):
                reach(rules.apply(betting, action), number)
    return counts


def holdem_size(rules: BettingRules, cards_known: int) -> GameSize | None:
    """Returns the size of a game of hold'em, or None if it would take long to count.

    Args:
      rules: of its betting.
      cards_known: how many board cards are the same in every hand.
    """
    counts = count_betting(rules)
    if counts is None:
        return None
    histories = public_states = infostates = 0
    for street, number in enumerate(counts):
        on_board, ends = BOARD_CARDS[street], number.decisions + number.folds
        histories += ends * _deals(on_board, cards_known) + number.showdowns * _deals(BOARD_CARDS[RIVER], cards_known)
        public_states += ends * _boards(on_board, cards_known) + number.showdowns * _boards(BOARD_CARDS[RIVER], cards_known)
        infostates += number.decisions * _boards(on_board, cards_known) * comb(52 - on_board, 2)
    return GameSize(histories, public_states, infostates)


def _deals(on_board: int, cards_known: int) -> int:
    """Returns in how many ways four private cards and then the rest of a board can be dealt, one by one."""
    return perm(52 - cards_known, 4 + max(on_board - cards_known, 0))


def _boards(on_board: int, cards_known: int) -> int:
    """Returns how many boards look different: the flop has no order."""
    if on_board <= cards_known:
        return 1
    flops = comb(52, 3) if cards_known < BOARD_CARDS[FLOP] else 1
    seen = max(cards_known, BOARD_CARDS[FLOP])
    return flops * perm(52 - seen, on_board - seen)
