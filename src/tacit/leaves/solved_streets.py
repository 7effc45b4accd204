"""Ends of the turn valued by solving the river after every card that can come, all cards of a leaf in one batch."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from tacit.cards.board_tensors import BoardTensors
from tacit.cards.dealing import NextBoards, with_next_cards
from tacit.cards.hands import NUM_HANDS
from tacit.games.betting import BOARD_CARDS, RIVER, Betting, BettingRules
from tacit.kernels.hand_leaves import HandStates
from tacit.kernels.street_passes import StreetPasses, StreetStates
from tacit.solvers.driver import Driver
from tacit.solvers.schedules import plain_schedule
from tacit.tree.betting_street import betting_streets


class SolvedRivers:
    """Leaves at the end of the turn's betting are worth the mean over rivers of what a search of each finds (`LeafEvaluator`).

    Args:
      rules: the rules of the betting that follows.
      iterations: the iterations of each search.
      solver: the algorithm of each search.
      device: where searches run.
    """

    counterfactual = True

    def __init__(self, rules: BettingRules, iterations: int = 100, solver: str = "dcfr", device: str = "cpu") -> None:
        self._rules, self._iterations, self._device = rules, iterations, device
        self._schedule = plain_schedule(solver)
        self._turns: dict[tuple[int, ...], tuple[Tensor, NextBoards]] = {}
        self._games: WeakKeyDictionary[StreetStates, NextBoards] = WeakKeyDictionary()

    def evaluate(self, states: HandStates | StreetStates, beliefs: Tensor) -> Tensor:
        """Returns counterfactual values, laid out like `beliefs` (see `LeafEvaluator`)."""
        if isinstance(states, StreetStates):
            return self._evaluate_games(states, beliefs)
        halves = beliefs.to(self._device, torch.float32).view(2, NUM_HANDS, -1)
        values = torch.zeros_like(halves)
        for leaf, (board, betting) in enumerate(zip(states.board, states.betting, strict=True)):
            hand, rivers = self._boards(board)
            here = halves[:, hand, leaf][:, None]
            values[:, hand, leaf] = self.values(betting, rivers, here)[:, 0] * betting.facing
        return values.view(beliefs.shape).to(beliefs)

    def _evaluate_games(self, states: StreetStates, beliefs: Tensor) -> Tensor:
        """Returns `[2, L, G, H]` counterfactual values for a batch of games."""
        values, boards = torch.empty_like(beliefs), states.boards
        if states not in self._games:
            self._games[states] = with_next_cards(boards, torch.arange(len(boards), device=boards.device))
        for leaf, betting in enumerate(states.betting):
            values[:, leaf] = self.values(betting, self._games[states], beliefs[:, leaf]) * (betting.facing / states.unit)
        return values

    def _boards(self, board: tuple[int, ...]) -> tuple[Tensor, NextBoards]:
        """Returns the hands that a turn allows and its rivers, made once for each turn."""
        if board not in self._turns:
            turn = BoardTensors(torch.tensor([board], device=self._device))
            self._turns[board] = turn.hand[0], with_next_cards(turn, torch.zeros(1, dtype=torch.int64, device=self._device))
        return self._turns[board]

    def values(self, betting: Betting, rivers: NextBoards, beliefs: Tensor) -> Tensor:
        """Returns `[2, G, H]` both players' values at the turn's end, in units of what either has put in.

        Args:
          betting: how the turn's betting ended, the same in all `G` games.
          rivers: every board that can follow, of all games.
          beliefs: `[2, G, H]`.
        """
        after, (games, hands), (parent, dealt) = self._rules.deal(betting), beliefs.shape[1:], rivers
        reaches = beliefs[:, parent].gather(2, dealt.lane.expand(2, -1, -1)).transpose(0, 1).contiguous()
        street = betting_streets(self._rules, BOARD_CARDS[RIVER], after)[0]
        driver = Driver(StreetPasses(street, dealt.boards, reaches, after.facing, self._rules.stack), self._schedule)
        driver.run(self._iterations)
        values, place = torch.stack(driver.average_values()), (parent[:, None] * hands + dealt.lane).flatten()
        total = torch.zeros(2, games * hands, device=values.device).index_add_(1, place, values.flatten(1))
        return total.view(beliefs.shape) / (len(parent) // games - 4)  # two hands hold four of the cards that could come
