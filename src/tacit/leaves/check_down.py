"""Leaves of hold'em valued as if nobody bet any more: exact odds, and a plain guess about the betting."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from tacit.cards.hands import possible_hands
from tacit.cards.run_outs import run_out_margins
from tacit.kernels.hand_leaves import HandStates, margins_times
from tacit.kernels.street_passes import StreetStates


class CheckDownLeaves:
    """The better hand wins what either player has put in so far.

    A player's values depend on the opponent's beliefs alone, so those of beliefs that stayed the same are kept from one
    question to the next: players who are updated in turn change one half at a time.
    """

    counterfactual = True

    def __init__(self) -> None:
        self._known: dict[int, tuple[HandStates | StreetStates, Tensor, Tensor]] = {}

    def evaluate(self, states: HandStates | StreetStates, beliefs: Tensor) -> Tensor:
        """Returns both players' values, laid out like `beliefs` (see `LeafEvaluator`)."""
        values, half = torch.empty_like(beliefs), len(beliefs) // 2
        for player in (0, 1):
            theirs = beliefs[(1 - player) * half : (2 - player) * half]
            values[player * half : (player + 1) * half] = self._worth(states, player, theirs)
        return values

    def _worth(self, states: HandStates | StreetStates, player: int, theirs: Tensor) -> Tensor:
        """Returns one player's values against the other's beliefs."""
        if theirs.is_cuda:  # in a captured graph nothing can be compared
            return _against(states, theirs)
        known = self._known.get(player)
        if known is None or known[0] is not states or not torch.equal(known[1], theirs):
            known = self._known[player] = (states, theirs.clone(), _against(states, theirs))
        return known[2]


def _against(states: HandStates | StreetStates, theirs: Tensor) -> Tensor:
    """Returns what each hand wins on the mean against beliefs, times how likely it can meet them."""
    if isinstance(states, HandStates):
        return _against_in_tree(states, theirs)
    return states.boards.leads(theirs[0])[None] * states.chips[:, None, None]


def _against_in_tree(states: HandStates, theirs: Tensor) -> Tensor:
    """Returns `[1326, L]` the same for the leaves of a tree of hands."""
    values, beliefs = np.zeros(tuple(theirs.shape), theirs.numpy().dtype), theirs.numpy()
    for board, here in states.by_board().items():
        hands = np.flatnonzero(possible_hands(board))
        stakes = np.array([states.betting[leaf].facing for leaf in here])
        cells = np.ix_(hands, np.array(here))
        values[cells] = margins_times(run_out_margins(board, beliefs.dtype.name), beliefs[cells]) * stakes
    return torch.from_numpy(values)
