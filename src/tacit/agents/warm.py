"""Warm starts of hold'em searches from a strategy that policy networks propose for the betting round."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.games.betting import Betting
from tacit.kernels.board_passes import BoardPasses
from tacit.nets.round_policies import RoundPolicies
from tacit.solvers.driver import Driver
from tacit.solvers.warm import STEADINESS, start_warm


@dataclass(frozen=True)
class WarmStart:
    """The strategy that searches start from, and its weight.

    Attributes:
      policies: Propose the strategies.
      iterations: The number of iterations that a proposed strategy stands for.
    """

    policies: RoundPolicies
    iterations: int

    def start(self, driver: Driver, passes: BoardPasses, betting: list[Betting]) -> None:
        """Warm-starts a search from the proposal for its board, if it uses regret matching and a network fits such boards.

        Args:
          driver: the search, before its first iteration.
          passes: over its tree.
          betting: the betting state of each node of the tree.
        """
        if passes.boards.board.shape[1] in self.policies.nets and not driver.responds:
            start_warm(driver, self.policies.propose(passes, betting), self.iterations, STEADINESS)
