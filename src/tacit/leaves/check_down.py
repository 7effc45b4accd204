"""Leaves of hold'em valued as if nobody bet any more: exact odds, but a crude guess about the betting."""

from __future__ import annotations

from collections.abc import Collection
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor

from tacit.cards.hands import possible_hands
from tacit.cards.run_outs import run_out_margins
from tacit.kernels.hand_leaves import HandStates, margins_times
from tacit.kernels.street_passes import StreetStates


class CheckDownLeaves:
    """The better hand wins what either player has put in so far.

    A player's values depend only on the opponent's beliefs, so they are kept while these stay the same.
    """

    counterfactual = True

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[HandStates | StreetStates, Tensor] = WeakKeyDictionary()

    def evaluate(self, states: HandStates | StreetStates, beliefs: Tensor) -> Tensor:
        """Returns both players' values, laid out like `beliefs` (see `LeafEvaluator`)."""
        return _fill(states, beliefs, torch.empty_like(beliefs), (0, 1))

    def evaluate_changed(self, states: HandStates | StreetStates, beliefs: Tensor, changed: Collection[int]) -> Tensor:
        """Returns the same values (see `RememberingEvaluator`)."""
        if states not in self._known:
            self._known[states] = torch.empty_like(beliefs)
        return _fill(states, beliefs, self._known[states], changed)


def _fill(states: HandStates | StreetStates, beliefs: Tensor, values: Tensor, changed: Collection[int]) -> Tensor:
    """Returns `values`, updated for the opponents of the players whose beliefs changed."""
    half = len(beliefs) // 2
    for player in changed:
        theirs = beliefs[player * half : (player + 1) * half]
        values[(1 - player) * half : (2 - player) * half] = _against(states, theirs)
    return values


def _against(states: HandStates | StreetStates, theirs: Tensor) -> Tensor:
    """Returns each hand's mean winnings against beliefs, times the likelihood that it can meet them."""
    if isinstance(states, HandStates):
        return _against_in_tree(states, theirs)
    return states.boards.leads(theirs[0])[None] * states.chips[:, None, None]


def _against_in_tree(states: HandStates, theirs: Tensor) -> Tensor:
    """Returns `[1326, L]` these winnings for the leaves of a tree of hands."""
    values, beliefs = np.zeros(tuple(theirs.shape), theirs.numpy().dtype), theirs.numpy()
    for board, here in states.by_board().items():
        hands = np.flatnonzero(possible_hands(board))
        stakes = np.array([states.betting[leaf].facing for leaf in here])
        cells = np.ix_(hands, np.array(here))
        values[cells] = margins_times(run_out_margins(board, beliefs.dtype.name), beliefs[cells]) * stakes
    return torch.from_numpy(values)
