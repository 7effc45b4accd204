"""The common interface of networks for betting rounds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from tacit.cards.board_tensors import BoardTable, BoardTensors, FullBoards


@dataclass(frozen=True)
class Helps:
    """What a network need not learn.

    Attributes:
      odds: The network is given what hands would win if nobody bet any more, and predicts only what betting adds to that.
        Without it the network predicts the whole value.
      zero_sum: The players' combined surplus is subtracted from all their hands alike.
      suits: The network sees boards with suits renamed so that few different ones are left. Networks that treat all hands
        alike do not depend on the names of suits anyway.
    """

    odds: bool = True
    zero_sum: bool = True
    suits: bool = True


ALL_HELPS = Helps()


class RoundNet(nn.Module, ABC):
    """Values of both players' hands at the end or the start of a betting round.

    Attributes:
      helps: What the network need not learn.
      out: The last layer.
    """

    out: nn.Linear

    def __init__(self, helps: Helps = ALL_HELPS) -> None:
        super().__init__()
        self.helps = helps

    @abstractmethod
    def know(self, boards: BoardTensors, dtype: torch.dtype) -> Any:
        """Returns the network's encoding of boards, the first argument of `forward`."""

    @abstractmethod
    def know_kind(self, table: BoardTable | FullBoards, kind: Tensor, public: Tensor) -> Any:
        """Returns the same from the numbers of boards `[G]` in a table and public features `[G, NUM_PUBLIC]`."""

    @abstractmethod
    def forward(self, hands: Any, public: Tensor, beliefs: Tensor, odds: Tensor, met: Tensor) -> Tensor:
        """Returns `[2, L, G, H]` what hands win, beyond their odds or in total, in units of each player's contribution.

        Args:
          hands: the result of `know`.
          public: `[L, G, NUM_PUBLIC]`.
          beliefs: `[2, L, G, H]`, each sums to 1 over hands.
          odds: `[2, L, G, H]` each hand's probability of winning less that of losing against the opponent's beliefs.
          met: `[2, L, G, H]` the share of the opponent's beliefs that shares no card with each hand.
        """

    def values(self, hands: Any, public: Tensor, beliefs: Tensor, odds: Tensor, met: Tensor) -> Tensor:
        """Returns `[2, L, G, H]` what hands win in total; the network is given the odds only if `helps` says so."""
        told = odds if self.helps.odds else torch.zeros_like(odds)
        result: Tensor = told + self(hands, public, beliefs, told, met)
        return result


def without_surplus(values: Tensor, beliefs: Tensor, met: Tensor) -> Tensor:
    """Returns `[2, L, G, H]` values less the players' combined surplus, so that they are zero-sum."""
    both = beliefs * met
    surplus = (both * values).sum(3).sum(0) / both.sum(3).sum(0).clamp(min=1e-12)
    return values - surplus[None, :, :, None]
