"""Leaves of hold'em valued as if nobody bet any more: exact odds, and a plain guess about the betting."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from tacit.cards.hands import NUM_HANDS, possible_hands
from tacit.cards.run_outs import run_out_margins
from tacit.kernels.hand_leaves import HandStates, margins_times


class CheckDownLeaves:
    """The better hand wins what either player has put in so far.

    A player's values depend on the opponent's beliefs alone, so those of beliefs that stayed the same are kept from one
    question to the next: players who are updated in turn change one half at a time.
    """

    counterfactual = True

    def __init__(self) -> None:
        self._known: dict[int, tuple[HandStates, Tensor, Tensor]] = {}

    def evaluate(self, states: HandStates, beliefs: Tensor) -> Tensor:
        """Returns `[2 * 1326, L]` (see `LeafEvaluator`), in chips."""
        values = torch.empty_like(beliefs)
        for player in (0, 1):
            theirs = beliefs[(1 - player) * NUM_HANDS : (2 - player) * NUM_HANDS]
            known = self._known.get(player)
            if known is None or known[0] is not states or not torch.equal(known[1], theirs):
                known = self._known[player] = (states, theirs.clone(), _against(states, theirs))
            values[player * NUM_HANDS : (player + 1) * NUM_HANDS] = known[2]
        return values


def _against(states: HandStates, theirs: Tensor) -> Tensor:
    """Returns `[1326, L]` what each hand wins on the mean against beliefs, times how likely it can meet them."""
    values, beliefs = np.zeros(tuple(theirs.shape), theirs.numpy().dtype), theirs.numpy()
    for board, here in states.by_board().items():
        hands = np.flatnonzero(possible_hands(board))
        stakes = np.array([states.betting[leaf].facing for leaf in here])
        cells = np.ix_(hands, np.array(here))
        values[cells] = margins_times(run_out_margins(board, beliefs.dtype.name), beliefs[cells]) * stakes
    return torch.from_numpy(values)
