"""What all networks of betting rounds have in common, whatever they are made of."""

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
      odds: It is told what hands would win if nobody bet any more, and says what betting adds to that; else it says all.
      zero_sum: What both players together would win beyond nothing is taken from all their hands alike.
      suits: It sees boards with suits renamed so that few are left; of networks that treat hands alike all do.
    """

    odds: bool = True
    zero_sum: bool = True
    suits: bool = True


ALL_HELPS = Helps()


class RoundNet(nn.Module, ABC):
    """Values of both players' hands where a betting round ends or begins.

    Attributes:
      helps: What it need not learn.
      out: Its last layer.
    """

    out: nn.Linear

    def __init__(self, helps: Helps = ALL_HELPS) -> None:
        super().__init__()
        self.helps = helps

    @abstractmethod
    def know(self, boards: BoardTensors, dtype: torch.dtype) -> Any:
        """Returns what the network makes of boards: the first argument of `forward`."""

    @abstractmethod
    def know_kind(self, table: BoardTable | FullBoards, kind: Tensor, public: Tensor) -> Any:
        """Returns the same from numbers of boards `[G]` and what is known to all `[G, NUM_PUBLIC]`."""

    @abstractmethod
    def forward(self, hands: Any, public: Tensor, beliefs: Tensor, odds: Tensor, met: Tensor) -> Tensor:
        """Returns `[2, L, G, H]` what hands win, beyond their odds or in all, in units of what either player has put in.

        Args:
          hands: what `know` returned.
          public: `[L, G, NUM_PUBLIC]`.
          beliefs: `[2, L, G, H]`, each sums to 1 over hands.
          odds: `[2, L, G, H]` how often a hand wins less how often it loses against the other's beliefs, from -1 to 1.
          met: `[2, L, G, H]` how likely the other's beliefs let a hand be held.
        """

    def values(self, hands: Any, public: Tensor, beliefs: Tensor, odds: Tensor, met: Tensor) -> Tensor:
        """Returns `[2, L, G, H]` what hands win in all: odds are what they are, or not told."""
        told = odds if self.helps.odds else torch.zeros_like(odds)
        result: Tensor = told + self(hands, public, beliefs, told, met)
        return result


def without_surplus(values: Tensor, beliefs: Tensor, met: Tensor) -> Tensor:
    """Returns `[2, L, G, H]` values less what both players together would win beyond nothing."""
    both = beliefs * met
    surplus = (both * values).sum(3).sum(0) / both.sum(3).sum(0).clamp(min=1e-12)
    return values - surplus[None, :, :, None]
