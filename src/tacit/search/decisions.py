"""The decisions inside search trees: the public states that a policy network is asked about and learns from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from tacit.games.base import TERMINAL
from tacit.search.odds import normalised_reach
from tacit.tree.public_tree import LEAF
from tacit.tree.search_space import SearchSpace


@dataclass(frozen=True)
class Decisions:
    """The `D` decisions of one class's search tree, from the root down.

    Attributes:
      level: `[D]` actions from the root.
      public_class: `[D]` the class of the public state.
      rows: `[2, D, H]` both players' rows there, 0 beyond a player's private states.
      real: `[2, D, H]` False beyond a player's private states.
      entries: `[D, H, A]` the entries of the acting player's private states and actions, 0 where `legal` is False.
      legal: `[D, H, A]` which private states and actions of the acting player exist.
    """

    level: Tensor
    public_class: Tensor
    rows: Tensor
    real: Tensor
    entries: Tensor
    legal: Tensor

    def beliefs(self, reach: list[Tensor], chosen: Tensor, games: Tensor) -> Tensor:
        """Returns `[n, 2 * H]` both players' normalised reaches at decisions `[n]` of games `[n]`.

        Args:
          reach: both players' reaches of all rows, `[rows, games]`.
          chosen: the decisions.
          games: the game of each.
        """
        halves = []
        for player in (0, 1):
            real = self.real[player][chosen]
            there = reach[player][self.rows[player][chosen], games[:, None]] * real
            halves.append(normalised_reach(there, real, dim=1))
        return torch.cat(halves, dim=1)


class DecisionTables:
    """The decisions of all classes of a space, on a device.

    Attributes:
      num_actions: `A`: the most actions of any infostate.
      by_class: each class's decisions.
      legal: `[C, H, A]` which private states and actions of the acting player exist at each class.
    """

    def __init__(self, space: SearchSpace, device: str | torch.device) -> None:
        self.num_actions = int(space.tables.num_entry_actions.max())
        self.by_class = [_decisions(space, c, self.num_actions, device) for c in range(space.num_classes)]
        self.legal = torch.stack([decisions.legal[0] for decisions in self.by_class])  # a search tree's root comes first


def _decisions(space: SearchSpace, public_class: int, num_actions: int, device: str | torch.device) -> Decisions:
    subgame, H = space.subgames[public_class], space.tables.num_private_states
    tree, nodes = subgame.tree, subgame.tree.require_nodes()
    at = np.flatnonzero((nodes.actor != LEAF) & (nodes.actor != TERMINAL))
    starts, states = np.stack(nodes.row_start, axis=0)[..., None], np.arange(H)
    real = states < starts[:, at + 1] - starts[:, at]
    rows = np.where(real, starts[:, at] + states, 0)
    first = nodes.actor[at, None] == 0
    acting, acts = np.where(first, rows[0], rows[1]), np.where(first, real[0], real[1])
    infostate = np.zeros_like(acting)
    for player in (0, 1):
        mine = acts & (nodes.actor[at, None] == player)
        infostate[mine] = tree.rows[player].infostate[acting[mine]]
    legal = (np.arange(num_actions) < np.diff(tree.entry_start)[infostate][:, :, None]) & acts[:, :, None]
    entries = np.where(legal, tree.entry_start[infostate][:, :, None] + np.arange(num_actions), 0)
    level = np.searchsorted(nodes.level_start, at, side="right") - 1

    def put(numbers: np.ndarray) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(numbers if numbers.dtype == bool else numbers.astype(np.int64))).to(device)

    return Decisions(
        level=put(level),
        public_class=put(subgame.node_class[at]),
        rows=put(rows),
        real=put(real),
        entries=put(entries),
        legal=put(legal),
    )
