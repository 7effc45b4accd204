"""Searches of hold'em that start from what policy networks propose for their betting round."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from tacit.cards.board_tensors import BoardTensors
from tacit.kernels.street_passes import StreetPasses
from tacit.nets.round_policies import RoundPolicies
from tacit.solvers.tabular import TabularDriver
from tacit.solvers.warm import STEADINESS, start_warm
from tacit.tree.betting_street import BettingStreet
from tacit.tree.hand_tree import START, HandTree


@dataclass(frozen=True)
class WarmStart:
    """What searches start from.

    Attributes:
      policies: Propose strategies.
      iterations: That these stand for.
    """

    policies: RoundPolicies
    iterations: int

    def start(self, driver: TabularDriver, street: BettingStreet, board: tuple[int, ...], stack: int) -> None:
        """Begins a search from what is proposed on its board, if there is a network for such boards.

        Args:
          driver: over a tree that has this street alone, before any iteration.
          street: the betting of that tree.
          board: that lies.
          stack: the chips of either player at the start of the hand.
        """
        tree = driver.passes.tree
        if len(board) not in self.policies.nets or driver.responds:
            return
        assert isinstance(tree, HandTree)
        boards = BoardTensors(torch.tensor([board], dtype=torch.int64))
        lane = np.searchsorted(boards.hand[0].numpy(), tree.hands(START))
        reaches = torch.zeros(1, 2, boards.hand.shape[1])
        for player in (0, 1):
            reaches[0, player, torch.from_numpy(lane)] = torch.from_numpy(tree.root_reach[player]).float()
        proposed = self.policies.propose(StreetPasses(street, boards, reaches, 1.0, stack))[:, 0].numpy()
        plan = np.zeros(tree.num_entries)
        for node in tree.decisions.tolist():
            first = int(tree.first_entry[node])
            tree.decision(plan, node)[:] = proposed[first : first + int(tree.num_actions[node])][:, lane]
        start_warm(driver, driver.passes.entries(plan), self.iterations, STEADINESS)
