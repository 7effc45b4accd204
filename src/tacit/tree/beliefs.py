"""Public belief states: a public state with the common beliefs about the private states."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacit.errors import TacitError
from tacit.tree.public_tree import Floats, PublicTree

_NO_REACH = 1e-20
"""Total reach below this counts as zero, here and in the search kernels."""


@dataclass(frozen=True)
class PublicBeliefState:
    """A node of a tree and each player's own reach of its private states.

    The probability of a pair of private states is proportional to `reach_0 * reach_1 * chance`. Keeping the players' parts
    apart stays exact where private states exclude each other (card removal), which two marginal beliefs cannot express.

    Attributes:
      tree: the tree the node belongs to.
      node: the public state.
      reaches: for each player `[H]`, any positive scale.
    """

    tree: PublicTree
    node: int
    reaches: tuple[Floats, Floats]

    @cached_property
    def joint(self) -> Floats:
        """`[H0, H1]`: reach times reach times chance, not normalised."""
        return self.tree.require_nodes().joint(self.node) * np.outer(*self.reaches)

    @property
    def probability(self) -> float:
        """The sum of `joint`: the chance of this public state when the reaches are not rescaled."""
        return float(self.joint.sum())

    def require_possible(self) -> float:
        """Returns `probability` if it is positive.

        Raises:
          TacitError: no deal has positive probability.
        """
        if self.probability <= 0.0:
            raise TacitError("the beliefs exclude each other: no deal has positive probability at this public state")
        return self.probability

    @cached_property
    def beliefs(self) -> tuple[Floats, Floats]:
        """For each player, `[H]` posterior probabilities of its private states, which sum to 1.

        Raises:
          TacitError: no deal has positive probability.
        """
        joint = self.joint / self.require_possible()
        return joint.sum(axis=1), joint.sum(axis=0)

    def rescaled(self) -> PublicBeliefState:
        """Returns the state with reaches that sum to 1; uniform for a player whose total reach is zero."""
        first, second = (
            reach / reach.sum() if reach.sum() > _NO_REACH else np.full(len(reach), 1.0 / len(reach)) for reach in self.reaches
        )
        return PublicBeliefState(self.tree, self.node, (first, second))


def initial_belief_state(tree: PublicTree, node: int = 0) -> PublicBeliefState:
    """Returns the public belief state at a root, before anyone has acted."""
    nodes = tree.require_nodes()
    chosen = [slice(start[node], start[node + 1]) for start in nodes.row_start]
    return PublicBeliefState(tree, node, (tree.rows[0].root_reach[chosen[0]], tree.rows[1].root_reach[chosen[1]]))


def belief_state(tree: PublicTree, strategy: Floats, node: int) -> PublicBeliefState:
    """Returns the public belief state at `node` when both play `strategy` `[E]`, by Bayes' rule for each player."""
    return descend(initial_belief_state(tree, tree.node_path(node)[0]), strategy, node)


def descend(pbs: PublicBeliefState, strategy: Floats, node: int) -> PublicBeliefState:
    """Returns the public belief state at `node`, at or below `pbs`, when both play `strategy` `[E]` on the way."""
    tree, row_start = pbs.tree, pbs.tree.require_nodes().row_start
    extended = np.append(strategy, 1.0)
    reaches = []
    for player, rows in enumerate(tree.rows):
        here = np.arange(row_start[player][node], row_start[player][node + 1])
        first, end = row_start[player][pbs.node], row_start[player][pbs.node + 1]
        reach = np.ones(len(here))
        while here[0] >= end:  # breadth-first: rows below come later
            reach *= extended[rows.entry[here]]
            here = rows.parent[here]
        reaches.append(reach * pbs.reaches[player][here - first])
    return PublicBeliefState(tree, node, (reaches[0], reaches[1]))
