"""Moves from one public state to the next by one public action, for many games at once, each at its own class.

Private states are summed out, as in `walk.py`: a move is drawn by its total probability under both players' ranges. The
children of a class have the same order in every search tree that contains it, so a move also identifies a child in the trees
of players who searched further up.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from tacit.games.base import TERMINAL
from tacit.search.continual import until_next
from tacit.search.odds import normalised_reach
from tacit.tree.growth import starts
from tacit.tree.search_space import SearchSpace

MOST_NUMBERS = 1 << 24
"""The most chance weights that are looked up at once."""


class PublicMoves:
    """The public moves of all `C` classes, up to `K` from each.

    Attributes:
      actor: `[C]` the player to act.
    """

    def __init__(self, space: SearchSpace, device: str | torch.device) -> None:
        nodes = [subgame.tree.require_nodes() for subgame in space.subgames]
        C, H, K = space.num_classes, space.tables.num_private_states, max(int(part.num_children[0]) for part in nodes)
        child_class, chance = np.full((C, K), -1, np.int64), np.zeros((C, K), np.float32)
        parent, real = np.zeros((2, C, K, H), np.int64), np.zeros((2, C, K, H), bool)
        action = np.zeros((C, K, H), np.int64)
        for c, (subgame, part) in enumerate(zip(space.subgames, nodes, strict=True)):
            tree, first = subgame.tree, int(part.first_child[0])
            for move, node in enumerate(range(first, first + int(part.num_children[0]))):
                if part.actor[node] == TERMINAL:
                    continue
                child_class[c, move], chance[c, move] = subgame.node_class[node], part.joint(node).sum()
                for player in (0, 1):
                    rows = np.arange(*part.row_start[player][node : node + 2])
                    parent[player, c, move, : len(rows)] = tree.rows[player].parent[rows]
                    real[player, c, move, : len(rows)] = True
                    if player == part.actor[0]:
                        entry = tree.rows[player].entry[rows]
                        action[c, move, : len(rows)] = entry - tree.entry_start[tree.entry_infostate[entry]]
        put = [torch.from_numpy(table).to(device) for table in (child_class, chance, action, space.tables.deals)]
        self._child_class, self._chance, self._action, self._deals = put
        self._parent, self._real = torch.from_numpy(parent).to(device), torch.from_numpy(real).to(device)
        self.actor = torch.tensor([int(part.actor[0]) for part in nodes], device=device)

    def chances(self, classes: Tensor, ranges: Tensor, strategy: Tensor) -> Tensor:
        """Returns `[G, K]` the probability of each move that does not end the game; the remainder is that of its end.

        Args:
          classes: `[G]`.
          ranges: `[G, 2, H]` both players' reaches.
          strategy: `[G, H, A]` the acting player's strategy.
        """
        first, second = self._below(classes, ranges, strategy)
        here = self._meet(classes, ranges[:, 0], ranges[:, 1]).clamp_min(1e-30)
        child, chance = self._child_class[classes], self._chance[classes]
        there = self._meet(child.clamp_min(0).flatten(), first.flatten(0, 1), second.flatten(0, 1)).view_as(chance)
        return there * chance * (child >= 0) / here[:, None]

    def follow(self, classes: Tensor, ranges: Tensor, strategy: Tensor, move: Tensor) -> tuple[Tensor, Tensor]:
        """Returns `[G]` the classes after moves `[G]` and `[G, 2, H]` the ranges there, given the strategy that was played."""
        game = torch.arange(len(classes), device=classes.device)
        halves = [
            normalised_reach(part[game, move], self._real[player][classes, move], dim=1)
            for player, part in enumerate(self._below(classes, ranges, strategy))
        ]
        return self._child_class[classes, move], torch.stack(halves, dim=1)

    def _below(self, classes: Tensor, ranges: Tensor, strategy: Tensor) -> list[Tensor]:
        """Returns for each player `[G, K, H]` its reaches after each move."""
        game, reaches = torch.arange(len(classes), device=classes.device)[:, None, None], []
        for player in (0, 1):
            parent = self._parent[player][classes]
            reach = ranges[:, player][game, parent] * self._real[player][classes]
            acts = (self.actor[classes] == player)[:, None, None]
            reaches.append(torch.where(acts, reach * strategy[game, parent, self._action[classes]], reach))
        return reaches

    def _meet(self, classes: Tensor, first: Tensor, second: Tensor) -> Tensor:
        """Returns `[n]` the chance that two players with reaches `[n, H]` are at public states of the given classes."""
        size = max(1, MOST_NUMBERS // self._deals.shape[1] ** 2)
        parts = [
            (torch.bmm(first[at : at + size, None], self._deals[classes[at : at + size]])[:, 0] * second[at : at + size]).sum(1)
            for at in range(0, len(classes), size)
        ]
        return torch.cat(parts)


class PlanTables:
    """The next searches of players who re-solve at each of their decisions, in the search trees of all classes.

    Attributes:
      most_spots: The most nodes of one tree where a player searches next.
    """

    def __init__(self, space: SearchSpace) -> None:
        trees = [subgame.tree for subgame in space.subgames]
        self._start = starts([len(tree.require_nodes()) for tree in trees]).astype(np.int64)
        self._first_child = np.concatenate([tree.require_nodes().first_child for tree in trees])
        self._spot = np.full((2, self._start[-1]), -1)
        self.most_spots = 1
        for tree, start in zip(trees, self._start, strict=False):
            for player in (0, 1):
                nodes = until_next(tree, player, True)[1]
                self._spot[player, start + np.array(nodes, np.int64)] = np.arange(len(nodes))
                self.most_spots = max(self.most_spots, len(nodes))

    def child(self, plan_class: np.ndarray, node: np.ndarray, move: np.ndarray) -> np.ndarray:
        """Returns `[n]` the nodes that moves lead to from nodes of the classes' search trees."""
        below: np.ndarray = self._first_child[self._start[plan_class] + node] + move
        return below

    def spot(self, player: int, plan_class: np.ndarray, node: np.ndarray) -> np.ndarray:
        """Returns `[n]` the indices in `Resolved.nodes` of nodes where a player searches next; -1 where it does not."""
        number: np.ndarray = self._spot[player, self._start[plan_class] + node]
        return number
