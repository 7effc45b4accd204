"""Leaves of hold'em valued by solving everything that can follow: slow, and more exact with more iterations."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from tacit.cards.hands import NUM_HANDS, possible_hands
from tacit.games.betting import Betting, BettingRules
from tacit.kernels.hand_leaves import HandStates
from tacit.kernels.numba_hands import HandPasses
from tacit.kernels.street_passes import StreetStates
from tacit.solvers.schedules import find_schedule
from tacit.solvers.tabular import TabularDriver
from tacit.tree.base import Floats
from tacit.tree.hand_builder import build_hand_tree, meeting_weight


class SolvedHandLeaves:
    """Leaves on the flop or the turn are worth what solved strategies win from each other (`LeafEvaluator`).

    Hands that a player never holds have no solved strategy: they are worth what a best response wins with them.

    Args:
      rules: the rules of the betting that follows.
      iterations: the iterations of each solve.
      solver: the algorithm of each solve.
    """

    counterfactual = True

    def __init__(self, rules: BettingRules, iterations: int = 100, solver: str = "dcfr") -> None:
        self._rules, self._iterations, self._schedule = rules, iterations, find_schedule(solver)

    def evaluate(self, states: HandStates | StreetStates, beliefs: Tensor) -> Tensor:
        """Returns counterfactual values, laid out like `beliefs`: in chips, or in the unit of `StreetStates`."""
        if isinstance(states, StreetStates):
            return self._evaluate_games(states, beliefs)
        values, halves = np.zeros(tuple(beliefs.shape)), beliefs.double().numpy().reshape(2, NUM_HANDS, -1)
        for leaf, (board, betting) in enumerate(zip(states.board, states.betting, strict=True)):
            values[:, leaf] = self._solve(board, betting, (halves[0, :, leaf], halves[1, :, leaf])).ravel()
        return torch.from_numpy(values).to(beliefs.dtype)

    def _evaluate_games(self, states: StreetStates, beliefs: Tensor) -> Tensor:
        """Returns `[2, L, G, H]` counterfactual values for a batch of games."""
        values = torch.empty_like(beliefs)
        for game, (board, hand) in enumerate(zip(states.boards.board.tolist(), states.boards.hand.numpy(), strict=True)):
            for leaf, betting in enumerate(states.betting):
                ranges = np.zeros((2, NUM_HANDS))
                ranges[:, hand] = beliefs[:, leaf, game].numpy()
                found = self._solve(tuple(board), betting, (ranges[0], ranges[1]))[:, hand] / states.unit
                values[:, leaf, game] = torch.from_numpy(found)
        return values

    def _solve(self, board: tuple[int, ...], betting: Betting, ranges: tuple[Floats, Floats]) -> Floats:
        """Returns `[2, 1326]` both players' counterfactual values at one leaf."""
        values = np.zeros((2, NUM_HANDS))
        possible = possible_hands(board)  # not only those of the ranges: every hand needs a value
        hands = np.flatnonzero(possible)
        weight = meeting_weight(ranges[0][hands], ranges[1][hands], hands)
        if weight <= 0.0:
            return values
        passes = HandPasses(build_hand_tree(None, self._rules, board, ranges, betting, held=possible))
        driver = TabularDriver(passes, self._schedule)
        driver.run(self._iterations)
        average = passes.entries(driver.average_strategy())
        for player in (0, 1):
            faced = passes.reach(1 - player, average)
            played = passes.values(player, average, faced)
            found = np.where(ranges[player][hands] > 0.0, played, passes.best_response(player, faced)[0])
            values[player, hands] = weight * found  # the tree's values are divided by the weight of all pairs
        return values
