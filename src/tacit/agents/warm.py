"""Searches of hold'em that start from what policy networks propose for their betting round."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.games.betting import Betting
from tacit.kernels.board_passes import BoardPasses
from tacit.nets.round_policies import RoundPolicies
from tacit.solvers.driver import Driver
from tacit.solvers.warm import STEADINESS, start_warm


@dataclass(frozen=True)
class WarmStart:
    """What searches start from.

    Attributes:
      policies: Propose strategies.
      iterations: That these stand for.
    """

    policies: RoundPolicies
    iterations: int

    def start(self, driver: Driver, passes: BoardPasses, betting: list[Betting]) -> None:
        """Begins a search from what is proposed on its board, if it matches regrets and there is a network for such boards.

        Args:
          driver: before any iteration.
          passes: over its tree.
          betting: the state of each node of the tree.
        """
        if passes.boards.board.shape[1] in self.policies.nets and not driver.responds:
            start_warm(driver, self.policies.propose(passes, betting), self.iterations, STEADINESS)
