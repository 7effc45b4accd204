"""Leaf values of hold'em by solving all that can follow: as exact as its iterations are many, and slow. For tests."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.cards.hands import HANDS, NUM_HANDS, possible_hands
from tacit.games.betting import Betting, BettingRules
from tacit.kernels.hand_leaves import HandLeaves
from tacit.kernels.numba_hands import HandPasses
from tacit.solvers.learner import make_learner
from tacit.solvers.schedules import find_schedule
from tacit.tree.hand_builder import build_hand_tree, total_meeting

Array = NDArray[Any]


class SolvedHandLeaves:
    """Leaves on the flop or the turn are worth what a best response wins from the opponent's solved strategy.

    Args:
      rules: of the betting that follows.
      iterations: of each solve, by
      solver: an algorithm.
    """

    def __init__(self, rules: BettingRules, iterations: int = 100, solver: str = "dcfr") -> None:
        self._rules, self._iterations, self._schedule = rules, iterations, find_schedule(solver)

    def evaluate(self, leaves: HandLeaves, player: int, reaches: tuple[Array, Array]) -> Array:
        values = np.zeros_like(reaches[player])
        for leaf, (board, betting) in enumerate(zip(leaves.board, leaves.betting, strict=True)):
            values[leaf] = self._solve(board, betting, player, (reaches[0][leaf], reaches[1][leaf]))
        return values

    def _solve(self, board: tuple[int, ...], betting: Betting, player: int, reaches: tuple[Array, Array]) -> Array:
        """Returns `[H]` a player's values at one leaf."""
        scale = float(reaches[1 - player].max())
        if scale <= 0.0:
            return np.zeros_like(reaches[player])
        hands = np.flatnonzero(possible_hands(board))
        ranges = []
        for reach in reaches:  # a player who never comes here could hold anything
            spread = np.zeros(NUM_HANDS)
            spread[hands] = reach / reach.max() if reach.max() > 0.0 else 1.0
            ranges.append(spread)
        meeting = total_meeting(HANDS, ranges[0], ranges[1])
        if meeting <= 0.0:
            return np.zeros_like(reaches[player])
        passes = HandPasses(build_hand_tree(None, self._rules, board, (ranges[0], ranges[1]), betting))
        learner = make_learner(passes, self._schedule)
        for _ in range(self._iterations):
            learner.step()
        theirs = passes.reach(1 - player, passes.entries(learner.average_strategy()))
        # The tree's values are divided by the weight of all pairs; `betting.facing` is what either has put in.
        return passes.best_response(player, theirs)[0] * (meeting * scale / betting.facing)
