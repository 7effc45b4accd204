"""The size of hold'em games: the number of ways to reach each betting state, times the number of deals."""

from __future__ import annotations

from collections import Counter
from heapq import heappop, heappush
from math import comb, perm

from tacit.games.base import GameSize
from tacit.games.betting import BOARD_CARDS, DEAL, FLOP, RIVER, SHOWDOWN, Betting, BettingRules

MAX_STATES = 100_000
"""The most betting states to count (a second or two). A game with more is far too large anyway, and its size is estimated."""
DECISION = 0
"""The kind of a state where a player acts."""


def count_betting(rules: BettingRules) -> Counter[tuple[int, int]] | None:
    """Returns how many sequences of menu actions lead to each (street, kind of state), or None if there are too many states.

    Kinds are `DECISION`, `FOLDED` and `SHOWDOWN`. Sequences that lead to equal states are counted together. For this, states
    are visited after all their predecessors (ordered by street, amount to call, and whether anybody has acted).
    """
    counts, ways = Counter[tuple[int, int]](), Counter[Betting]()
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
        number = ways[betting]
        if betting.actor == DEAL:
            reach(rules.deal(betting), number)
            continue
        counts[betting.street, min(betting.actor, DECISION)] += number
        if betting.actor >= 0:
            for action in rules.actions(betting):
                reach(rules.apply(betting, action), number)
    return counts


def holdem_size(rules: BettingRules, cards_known: int) -> GameSize | None:
    """Returns the size of a game of hold'em, or None if counting would take too long.

    Args:
      rules: The betting rules.
      cards_known: The number of board cards known from the start.
    """
    counts = count_betting(rules)
    if counts is None:
        return None
    histories = public_states = infostates = 0
    for (street, kind), number in counts.items():
        on_board = BOARD_CARDS[RIVER if kind == SHOWDOWN else street]
        boards = _boards(on_board, cards_known)
        histories += number * _deals(on_board, cards_known)
        public_states += number * boards
        infostates += number * boards * comb(52 - on_board, 2) * (kind == DECISION)
    return GameSize(histories, public_states, infostates)


def _deals(on_board: int, cards_known: int) -> int:
    """Returns the number of ways to deal four private cards and then the rest of a board, one by one."""
    return perm(52 - cards_known, 4 + max(on_board - cards_known, 0))


def _boards(on_board: int, cards_known: int) -> int:
    """Returns the number of different boards; the order of the flop does not matter."""
    if on_board <= cards_known:
        return 1
    flops = comb(52, 3) if cards_known < BOARD_CARDS[FLOP] else 1
    seen = max(cards_known, BOARD_CARDS[FLOP])
    return flops * perm(52 - seen, on_board - seen)
