"""Many search trees over positions of a board game, which grow by one position at a time.

With perfect information every public state is one position, so a tree is dense: its nodes have room for all actions of the
game, whether or not the positions they lead to are in the tree yet. Values are player 0's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.games.boards import Boards, Positions
from tacit.search.boards import kernels
from tacit.threads import num_threads, run_together

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]

NOT_OPENED = kernels.NOT_OPENED
PENDING = kernels.PENDING


class Findings(NamedTuple):
    """What the rules and the network say about positions.

    Attributes:
      positions: `[n, W]` the positions.
      actor: `[n]` the player to act, or `TERMINAL`.
      legal: `[n, A]` the legal actions, none where the game is over.
      policy: `[n, A]` weights of the actions.
      worth: `[n]` their values for player 0.
    """

    positions: Positions
    actor: NDArray[np.int8]
    legal: NDArray[np.bool_]
    policy: Floats
    worth: Floats


@dataclass(frozen=True)
class BoardForest:
    """`B` trees with room for `N` nodes each, of a game with `A` actions. A node comes after its parent; node 0 is the root.

    Attributes:
      num_nodes: `[B]` nodes so far.
      position: `[B, N, W]` the position at each node.
      parent: `[B, N]` the node above.
      action: `[B, N]` the action that led here.
      actor: `[B, N]` the player to act, `TERMINAL`, or `PENDING` until the rules and the network have been asked.
      child: `[B, N, A]` the node that an action leads to, or `NOT_OPENED`.
      prior: `[B, N, A]` the network's policy mixed with uniform play, 0 for illegal actions.
      leaf_value: `[B, N]` the network's value of a node, or the payoff where the game is over.
      value: `[B, N]` the search's value of a node: a mean over its regret updates, later ones with more weight.
      updates: `[B, N]` how many updates are in `value`.
      visits: `[B, N, A]` how often a walk took an action.
      regret: `[B, N, A]` cumulative regrets, never negative.
      strategy: `[B, N, A]` the current strategy by regret matching, among the opened actions.
      average: `[B, N, A]` sums of weight times own reach times strategy.
      random: `[B]` the state of each tree's own random numbers, so that results do not depend on threads.
    """

    num_nodes: Ints
    position: Positions
    parent: Ints
    action: NDArray[np.int16]
    actor: NDArray[np.int8]
    child: Ints
    prior: Floats
    leaf_value: Floats
    value: Floats
    updates: Ints
    visits: Ints
    regret: Floats
    strategy: Floats
    average: Floats
    random: NDArray[np.uint64]

    def expand(self, walks: int, exploration: float) -> NDArray[np.int64]:
        """Walks down every tree and returns `[2, n]` trees and nodes of the positions that were added.

        Args:
          walks: the walks down each tree; each adds at most one position.
          exploration: the factor of the prior in PUCT.
        """
        before = self.num_nodes.copy()
        self._together(
            kernels.expand, walks, np.float32(exploration), self.num_nodes, self.parent, self.action, self.actor, self.child,
            self.prior, self.leaf_value, self.value, self.visits, self.strategy, self.random,
        )  # fmt: skip
        added = self.num_nodes - before
        tree = np.repeat(np.arange(len(before)), added)
        return np.stack([tree, np.arange(added.sum()) - np.repeat(np.cumsum(added) - added - before, added)])

    def positions(self, pending: NDArray[np.int64], boards: Boards) -> Positions:
        """Returns `[n, W]` the positions of pending nodes `[2, n]`: roots as they were given, others by the rules."""
        tree, node = pending
        if not node.any():
            roots: Positions = self.position[tree, 0]
            return roots
        return boards.apply(self.position[tree, self.parent[tree, node]], self.action[tree, node].astype(np.int64))

    def settle(self, pending: NDArray[np.int64], found: Findings, doubt: float) -> None:
        """Stores what was found about pending nodes `[2, n]`; `doubt` is the share of uniform play in their priors."""
        to = self.position, self.actor, self.prior, self.leaf_value, self.value
        self._together(kernels.settle, np.float32(doubt), pending, *found, *to)

    def update(self, iteration: int) -> None:
        """Updates all regrets and averages, for both players at once; iterations count from 1."""
        self._together(
            kernels.update, np.float32(iteration), self.num_nodes, self.actor, self.child, self.leaf_value, self.value,
            self.updates, self.regret, self.strategy, self.average,
        )  # fmt: skip

    def policy(self) -> Floats:
        """Returns `[B, A]` the average strategies at the roots; before any update, the priors."""
        average = self.average[:, 0]
        total = average.sum(1, keepdims=True)
        return np.where(total > 0, average / np.where(total > 0, total, 1.0), self.prior[:, 0]).astype(np.float32)

    def _together(self, kernel: Any, *arguments: Any) -> None:
        run_together(min(num_threads(), max(1, len(self.num_nodes))), kernel, *arguments)


def make_forest(roots: Positions, num_actions: int, capacity: int, seeds: NDArray[np.uint64]) -> BoardForest:
    """Returns trees that hold only their roots `[B, W]`, all pending, with room for `capacity` nodes each."""
    nodes, words = (len(roots), capacity), roots.shape[1]
    actions = (*nodes, num_actions)
    position = np.zeros((*nodes, words), np.int64)
    position[:, 0] = roots
    return BoardForest(
        num_nodes=np.ones(len(roots), np.int32),
        position=position,
        parent=np.zeros(nodes, np.int32),
        action=np.zeros(nodes, np.int16),
        actor=np.full(nodes, PENDING, np.int8),
        child=np.full(actions, NOT_OPENED, np.int32),
        prior=np.zeros(actions, np.float32),
        leaf_value=np.zeros(nodes, np.float32),
        value=np.zeros(nodes, np.float32),
        updates=np.zeros(nodes, np.int32),
        visits=np.zeros(actions, np.int32),
        regret=np.zeros(actions, np.float32),
        strategy=np.zeros(actions, np.float32),
        average=np.zeros(actions, np.float32),
        random=seeds.copy(),
    )
