"""Ends of the turn valued by solving the river after every card that can come, all cards of a leaf in one batch."""

from __future__ import annotations

import torch
from torch import Tensor

from tacit.cards.dealing import NextBoards, with_next_cards
from tacit.games.betting import BOARD_CARDS, RIVER, Betting, BettingRules
from tacit.kernels.street_passes import StreetPasses, StreetStates
from tacit.solvers.driver import Driver
from tacit.solvers.schedules import plain_schedule
from tacit.tree.betting_street import betting_streets


class SolvedRivers:
    """Leaves at the end of the turn's betting are worth the mean over rivers of what a search of each finds.

    Args:
      rules: the rules of the betting that follows.
      iterations: the iterations of each search.
      solver: the algorithm of each search.
    """

    def __init__(self, rules: BettingRules, iterations: int = 100, solver: str = "dcfr") -> None:
        self._rules, self._iterations, self._schedule = rules, iterations, plain_schedule(solver)

    def evaluate(self, states: StreetStates, beliefs: Tensor) -> Tensor:
        """Returns `[2, L, G, H]` counterfactual values, laid out like `beliefs`."""
        values, boards = torch.empty_like(beliefs), states.boards
        rivers = with_next_cards(boards, torch.arange(len(boards), device=boards.device))
        for leaf, betting in enumerate(states.betting):
            values[:, leaf] = self.values(betting, rivers, beliefs[:, leaf]) * (betting.facing / states.unit)
        return values

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
