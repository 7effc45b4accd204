"""Ends of the turn valued by solving the river after every card that can come, all cards of a leaf in one batch."""

from __future__ import annotations

import torch
from torch import Tensor

from tacit.cards.board_tensors import BoardTensors
from tacit.cards.deck import NUM_CARDS
from tacit.cards.hands import NUM_HANDS
from tacit.games.betting import BOARD_CARDS, RIVER, TURN, Betting, BettingRules
from tacit.kernels.hand_leaves import HandStates
from tacit.kernels.street_passes import StreetPasses, StreetStates
from tacit.solvers.driver import Driver
from tacit.solvers.schedules import plain_schedule
from tacit.tree.betting_street import betting_streets


class SolvedRivers:
    """Leaves at the end of the turn's betting are worth the mean over rivers of what a search of each finds (`LeafEvaluator`).

    Args:
      rules: of the betting that follows.
      iterations: of each search.
      solver: its algorithm.
      device: where they run.
    """

    counterfactual = True

    def __init__(self, rules: BettingRules, iterations: int = 100, solver: str = "dcfr", device: str = "cpu") -> None:
        self._rules, self._iterations, self._device = rules, iterations, device
        self._schedule = plain_schedule(solver)
        self._rivers: dict[tuple[int, ...], BoardTensors] = {}

    def evaluate(self, states: HandStates | StreetStates, beliefs: Tensor) -> Tensor:
        """Returns counterfactual values, laid out like `beliefs` (see `LeafEvaluator`)."""
        if isinstance(states, StreetStates):
            return self._evaluate_games(states, beliefs)
        halves = beliefs.to(self._device, torch.float32).view(2, NUM_HANDS, -1)
        found = [
            self._solve(board, betting, halves[..., leaf])
            for leaf, (board, betting) in enumerate(zip(states.board, states.betting, strict=True))
        ]
        return torch.stack(found, 2).view(beliefs.shape).to(beliefs)

    def _evaluate_games(self, states: StreetStates, beliefs: Tensor) -> Tensor:
        """Returns `[2, L, G, H]` the same for a batch of games."""
        values = torch.empty_like(beliefs)
        for game, (board, hands) in enumerate(zip(states.boards.board.tolist(), states.boards.hand, strict=True)):
            for leaf, betting in enumerate(states.betting):
                held = torch.zeros(2, NUM_HANDS, device=self._device)
                held[:, hands.to(self._device)] = beliefs[:, leaf, game].to(self._device)
                worth = self._solve(tuple(board), betting, held) / states.unit
                values[:, leaf, game] = worth[:, hands.to(self._device)].to(values)
        return values

    def _solve(self, board: tuple[int, ...], betting: Betting, beliefs: Tensor) -> Tensor:
        """Returns `[2, 1326]` both players' values at one leaf, from `[2, 1326]` beliefs."""
        rivers, after = self._boards(board), self._rules.deal(betting)
        street = betting_streets(self._rules, BOARD_CARDS[RIVER], after)[0]
        reaches = beliefs[:, rivers.hand].transpose(0, 1).contiguous()  # [cards, 2, H]
        passes = StreetPasses(street, rivers, reaches, after.facing, self._rules.stack)
        driver = Driver(passes, self._schedule)
        driver.run(self._iterations)
        values = torch.stack(driver.average_values()) * after.facing
        total = torch.zeros_like(beliefs).index_add_(1, rivers.hand.flatten(), values.flatten(1))
        return total / (len(rivers) - 4)  # of the cards that come, two hands hold four

    def _boards(self, board: tuple[int, ...]) -> BoardTensors:
        """Returns a turn's rivers; what is known of them is kept."""
        assert len(board) == BOARD_CARDS[TURN]
        if board not in self._rivers:
            cards = [[*board, card] for card in range(NUM_CARDS) if card not in board]
            self._rivers[board] = BoardTensors(torch.tensor(cards, device=self._device))
        return self._rivers[board]
