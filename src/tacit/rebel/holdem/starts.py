"""The values of betting rounds at their beginnings, by networks that only training uses: they take the noise out of targets.

A round's end is worth the mean over the next cards of what follows, and self-play searches after one of them. With `R` for
a network of beginnings, the target is

    mean over all cards of R  +  what the search found after the card that came  -  R there.

Its mean is right whatever `R` says (a control variate), and its noise is that of `R`'s error alone. On the turn a single
card moves values by .13 to .30 of what either player has put in, while the network of round ends errs by .03 to .08. The
networks of beginnings learn from the same searches, without any noise: the card is known there.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from tacit.cards.board_tensors import BoardTensors
from tacit.cards.dealing import Tables, with_next_cards
from tacit.cards.deck import NUM_CARDS
from tacit.games.betting import Betting
from tacit.kernels.street_passes import StreetStates
from tacit.nets.round_end_leaves import RoundEndLeaves
from tacit.nets.round_net import RoundNet

BOARDS_AT_ONCE = 3_072
"""Boards after the next card that are valued together."""


class RoundStarts:
    """Values the beginnings of betting rounds; call `refresh` after training steps.

    Args:
      nets: the networks, by the number of cards on the board, which include the round's.
      tables: the tables of boards.
    """

    def __init__(self, nets: Mapping[int, RoundNet], tables: Tables) -> None:
        self.nets, self._tables = nets, tables
        self._leaves = RoundEndLeaves(nets) if nets else None

    def knows(self, boards: BoardTensors) -> bool:
        """Returns whether there is a network for the round after the next card."""
        return boards.board.shape[1] + 1 in self.nets

    def set_num_sizes(self, num_sizes: int) -> None:
        """Sets how many raises the betting offers (`RoundEndLeaves.num_sizes`)."""
        if self._leaves is not None:
            self._leaves.num_sizes = num_sizes

    def refresh(self) -> None:
        """Takes over the networks' current weights."""
        if self._leaves is not None:
            self._leaves.refresh()

    def values(self, boards: BoardTensors, bettings: list[Betting], stack: int, reaches: Tensor) -> Tensor:
        """Returns counterfactual values in units of what either player has put in, from reaches `[2, L, G, H]`."""
        assert self._leaves is not None
        total = reaches.sum(3, keepdim=True).clamp(min=1e-12)
        found = self._leaves.evaluate(StreetStates(boards, bettings, 1.0, stack), reaches / total)
        unit = torch.tensor([float(betting.facing) for betting in bettings], device=boards.device)
        return found * total.flip(0) / unit[:, None, None]

    def expected(self, boards: BoardTensors, bettings: list[Betting], stack: int, beliefs: Tensor) -> Tensor:
        """Returns `[2, L, G, H]` the mean of `values` over the cards that can come next, for beliefs of that shape."""
        result, (games, hands) = torch.zeros_like(beliefs), beliefs.shape[2:]
        left = NUM_CARDS - boards.board.shape[1]
        at_once = max(1, BOARDS_AT_ONCE // left)
        for first in range(0, games, at_once):
            some = torch.arange(first, min(first + at_once, games), device=boards.device)
            parent, dealt = with_next_cards(boards, some, self._tables)
            lane = dealt.lane.expand(*beliefs.shape[:2], -1, -1)
            values = self.values(dealt.boards, bettings, stack, beliefs[:, :, parent].gather(3, lane))
            place = (parent[:, None] * hands + dealt.lane).flatten().expand(*beliefs.shape[:2], -1)
            result.flatten(2).scatter_add_(2, place, values.flatten(2))
        return result / (left - 4)  # two hands hold four of the cards that could come
