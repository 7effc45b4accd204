"""Off-tree bets, answered as if they were the nearest bets in the solved tree.

The size of a raise is a share of the pot after the call. A raise x between two sizes A < B of the solved menu counts as A where
the pseudo-harmonic mapping (Ganzfried and Sandholm 2013), `f(x) = (B - x)(1 + A) / ((B - A)(1 + x))`, is at least a half, else
as B. Answers are mapped back the same way: a raise becomes the one of the real menu nearest in size.

Where we differ: the paper draws A with probability f(x). Here the choice is fixed, so the strategy is a function of what
everyone saw. Where the solved tree is all in but the real betting goes on, the player checks and calls.
"""

from __future__ import annotations

import numpy as np

from tacit.cards.hands import NUM_HANDS
from tacit.games.betting import CALL, DEAL, FOLD, Betting
from tacit.games.public_hand import CARD, PublicHand
from tacit.tree.hand_strategy import HandStrategy
from tacit.tree.hand_tree import DEALS, DECIDES, START
from tacit.tree.public_tree import Floats


def translated(strategy: HandStrategy, public: PublicHand) -> Floats:
    """Returns `[A, 1326]` a solved strategy at a public state, whatever was bet on the way."""
    tree, rules = strategy.tree, public.game.rules
    spot, known, real = START, rules.start(), rules.start()
    for player, what in public.path:
        if player == CARD:
            if tree.kind[spot.node] == DEALS:
                spot = tree.after(spot, what)
            continue
        if tree.kind[spot.node] == DECIDES:
            action = nearest_action(what, real, tree.actions(spot.node), known)
            spot, known = tree.after(spot, action), _after(public, known, action)
        real = _after(public, real, what)
    if tree.kind[spot.node] != DECIDES:
        return spread_answers(public, known, [CALL], np.ones((1, NUM_HANDS)))
    return spread_answers(public, known, tree.actions(spot.node), strategy.played(spot))


def spread_answers(public: PublicHand, known: Betting, actions: list[int], shares: Floats) -> Floats:
    """Returns `[A, 1326]` shares of the legal actions, translated from shares of the solved tree's actions."""
    legal, spread = public.actions, np.zeros((len(public.actions), NUM_HANDS))
    for action, share in zip(actions, shares, strict=True):
        spread[legal.index(nearest_action(action, known, list(legal), public.betting))] += share
    return spread


def nearest_action(action: int, betting: Betting, choices: list[int], there: Betting) -> int:
    """Returns the one of `choices`, at the betting state `there`, that stands for an action at `betting`."""
    if action in (FOLD, CALL):
        return action if action in choices else CALL
    raises = [choice for choice in choices if choice > CALL]
    if not raises or (betting.spent == there.spent and action in raises):
        return action if raises else CALL
    size, sizes = _size(action, betting), [_size(choice, there) for choice in raises]
    above = int(np.searchsorted(sizes, size))
    if above in (0, len(sizes)):
        return raises[min(above, len(sizes) - 1)]
    low, high = sizes[above - 1], sizes[above]
    return raises[above - 1] if (high - size) * (1 + low) >= 0.5 * (high - low) * (1 + size) else raises[above]


def _size(action: int, betting: Betting) -> float:
    """Returns the size of a raise as a share of the pot after the call."""
    return (action - betting.facing) / (2 * betting.facing)


def _after(public: PublicHand, betting: Betting, action: int) -> Betting:
    after = public.game.rules.apply(betting, action)
    return public.game.rules.deal(after) if after.actor == DEAL else after
