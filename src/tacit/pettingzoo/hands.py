"""A player's view of a hand of hold'em as numbers: limit as in NFSP (section 4.1), no-limit with the sizes of raises.

Four times 52 numbers are k-hot vectors of the cards of each street: the player's hand, the flop, the turn, the river. The
others are the betting as a tensor {player, street, raises before, call or raise}. Calls are 1. A raise is 1 if raises have
only one size, else the share of the stack that the raiser has then put in, so no two betting sequences look alike.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tacit.cards.deck import NUM_CARDS
from tacit.games.betting import BOARD_CARDS, CALL, DEAL, Betting, BettingRules
from tacit.games.sizes import NUM_STREETS


def max_raises_on_a_street(rules: BettingRules) -> int:
    """Returns the most raises that a street can have: the longest chain of smallest raises, starting with the smallest pot."""
    most, betting = 0, rules.start()
    while True:
        opens = [betting] if betting.acted else [betting, rules.apply(betting, CALL)]  # either player may bet first
        most = max([most, *(_chain(rules, one) for one in opens if one.actor >= 0)])
        while betting.actor >= 0:  # check or call to the next street
            betting = rules.apply(betting, CALL)
        if betting.actor != DEAL:
            return most
        betting = rules.deal(betting)


def _chain(rules: BettingRules, betting: Betting) -> int:
    """Returns the number of raises in a row if each is the smallest offered."""
    count = 0
    while betting.actor >= 0 and (raises := [action for action in rules.actions(betting) if action > CALL]):
        betting, count = rules.apply(betting, min(raises)), count + 1
    return count


def betting_shape(max_raises: int) -> tuple[int, int, int, int]:
    """Returns the shape of the betting tensor: player, street, raises before, call or raise."""
    return 2, NUM_STREETS, max_raises + 1, 2


def encode_hand(own: Sequence[int], board: Sequence[int], betting: NDArray[np.float32]) -> NDArray[np.float32]:
    """Returns `[F]`, what a player knows.

    Args:
      own: The player's two cards.
      board: The board cards.
      betting: The betting so far, in the shape of `betting_shape`.
    """
    cards = np.zeros((NUM_STREETS, NUM_CARDS), np.float32)
    cards[0, list(own)] = 1.0
    for street in range(1, NUM_STREETS):
        cards[street, list(board[BOARD_CARDS[street - 1] : BOARD_CARDS[street]])] = 1.0
    return np.concatenate((cards.ravel(), betting.ravel()))
