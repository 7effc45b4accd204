"""Exact equilibria by linear programming in sequence form (Koller, Megiddo & von Stengel 1996), on scipy's HiGHS.

The variables are player 0's realisation plan x (the probability of its own actions along each sequence) and player 1's best
value V at each of its infostates. Player 0 maximises the total value at player 1's roots, where at every infostate J

    V(J) <= g(J, a) + sum of V over the infostates right after (J, a)      for each action a,    g = A^T x,

A holding the payoffs by pairs of sequences. The duals of these constraints are player 1's equilibrium plan.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack

from tacit.errors import TacitError
from tacit.tree.base import Floats, Tree
from tacit.tree.public_tree import NO_PARENT, PublicTree

MAX_PAYOFFS = 1_000_000
"""Pairs of terminal rows beyond which HiGHS takes hours."""
LIMIT_REACHED = 1
"""Scipy's `status` of a program that was stopped at a limit."""


def solve_lp(tree: Tree, time_limit: float | None = None) -> tuple[Floats, float]:
    """Returns an equilibrium strategy `[E]` and the value of the game for player 0.

    Args:
      tree: the game.
      time_limit: seconds after which HiGHS gives up; None for no limit.

    Raises:
      TacitError: The game is too large for linear programming, or the time is up.
    """
    if not isinstance(tree, PublicTree):
        raise TacitError("lp solves only small games: choose another --solver for hold'em")
    if len(tree.payoff) > MAX_PAYOFFS:
        raise TacitError(
            f"{tree.game} has {len(tree.payoff):,} payoffs, too many for lp (at most {MAX_PAYOFFS:,}): choose --solver dcfr"
        )
    from scipy.optimize import linprog  # slow to load, and most solves do not need it

    first, second = _Sequences(tree, 0), _Sequences(tree, 1)
    payoffs = csr_matrix(
        (tree.payoff, (first.of_row[tree.payoff_rows[0]], second.of_row[tree.payoff_rows[1]])),
        shape=(first.count, second.count),
    )
    num_roots, mine = first.num_roots, first.count - first.num_roots
    by_plan, by_roots = payoffs[num_roots:], payoffs[:num_roots].T @ tree.rows[0].root_reach
    children = second.children()  # [sequences of player 1, infostates of player 1]
    root_reach = tree.rows[1].root_reach
    objective = -np.concatenate([by_plan[:, : second.num_roots] @ root_reach, children[: second.num_roots].T @ root_reach])
    own_value = csr_matrix(
        (np.ones(second.count - second.num_roots), (np.arange(second.count - second.num_roots), second.infostate)),
        shape=(second.count - second.num_roots, second.num_infostates),
    )
    solution = linprog(
        objective,
        A_ub=hstack([-by_plan[:, second.num_roots :].T, own_value - children[second.num_roots :]]),
        b_ub=by_roots[second.num_roots :],
        A_eq=hstack([first.plan_constraints()[0], csr_matrix((first.num_infostates, second.num_infostates))]),
        b_eq=first.plan_constraints()[1],
        bounds=[(0, None)] * mine + [(None, None)] * second.num_infostates,
        method="highs",
        options={} if time_limit is None else {"time_limit": time_limit},
    )
    if solution.status == LIMIT_REACHED and time_limit is not None:
        raise TacitError(f"lp did not solve {tree.game} within {time_limit:g} s: allow more time, or choose --solver dcfr")
    if not solution.success:
        raise TacitError(f"the linear program of {tree.game} was not solved: {solution.message}")
    plan = np.zeros(tree.num_entries)
    plan[first.entry] = solution.x[:mine]
    plan[second.entry] = -solution.ineqlin.marginals
    value = -float(solution.fun) + float(by_roots[: second.num_roots] @ root_reach)
    return tree.normalise(np.maximum(plan, 0.0)), value


class _Sequences:
    """A player's sequences: its root rows first, then its entries in the tree's order.

    Attributes:
      of_row: `[R]` the sequence of own actions that leads to each row.
      entry: the tree's entries of this player.
      infostate: `[len(entry)]` the infostate of each entry, numbered from 0 for this player.
    """

    def __init__(self, tree: PublicTree, player: int) -> None:
        rows = tree.rows[player]
        self.num_roots = int(rows.level_start[1])
        self.entry = np.flatnonzero(tree.entry_player == player)
        self.count = self.num_roots + len(self.entry)
        owned = np.flatnonzero(tree.infostate_player == player)
        self.num_infostates = len(owned)
        self.infostate = np.searchsorted(owned, tree.entry_infostate[self.entry])
        number = np.full(tree.num_entries + 1, NO_PARENT, np.int64)
        number[self.entry] = self.num_roots + np.arange(len(self.entry))
        self.of_row = number[rows.entry]
        self.of_row[: self.num_roots] = np.arange(self.num_roots)
        for start, end in zip(rows.level_start[1:-1], rows.level_start[2:], strict=True):
            here = self.of_row[start:end]
            self.of_row[start:end] = np.where(here == NO_PARENT, self.of_row[rows.parent[start:end]], here)
        self.parent: NDArray[np.int64] = self.of_row[tree.infostate_row[owned]]
        self._root_reach = rows.root_reach

    def children(self) -> csr_matrix:
        """Returns `[sequences, infostates]`: 1 where the infostate directly follows the sequence."""
        ones = np.ones(self.num_infostates)
        return csr_matrix((ones, (self.parent, np.arange(self.num_infostates))), shape=(self.count, self.num_infostates))

    def plan_constraints(self) -> tuple[csr_matrix, Floats]:
        """Returns the equations of a realisation plan: an infostate's actions sum to the sequence that leads to it."""
        at_root = self.parent < self.num_roots
        inner = np.flatnonzero(~at_root)
        rows = np.concatenate([self.infostate, inner])
        columns = np.concatenate([np.arange(len(self.entry)), self.parent[inner] - self.num_roots])
        values = np.concatenate([np.ones(len(self.entry)), -np.ones(len(inner))])
        matrix = csr_matrix((values, (rows, columns)), shape=(self.num_infostates, len(self.entry)))
        return matrix, np.where(at_root, self._root_reach[np.where(at_root, self.parent, 0)], 0.0)
