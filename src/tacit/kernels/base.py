"""The passes that every algorithm is made of, whatever computes them.

A *pass* sweeps once over a tree: reaches flow down, values flow up, regrets and averages are updated where they lie. Solvers,
best responses and exploitability are written once above this interface; numba (CPU) and torch (CPU or GPU) implement it.
Arrays belong to the backend, in its own layout: `entries` and `to_numpy` convert the tree's flat `[E]`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from tacit.tree.public_tree import Floats, PublicTree

Array = TypeVar("Array")


class RegretStep(NamedTuple):
    """How one update of cumulative regrets is done.

    The new regret is `max(old * discount + instant, floor)`; the next strategy is proportional to its positive part, after
    `prediction` times the instant regret is added once more. The strategy that is replaced joins the average.

    Attributes:
      positive_discount: factor on positive old regrets.
      negative_discount: factor on negative old regrets.
      floor: 0 for the "plus" variants, minus infinity otherwise.
      prediction: 1 for predictive regret matching, 0 otherwise.
      average_weight: weight of the replaced strategy in the average.
    """

    positive_discount: float = 1.0
    negative_discount: float = 1.0
    floor: float = -np.inf
    prediction: float = 0.0
    average_weight: float = 1.0


class Passes(ABC, Generic[Array]):
    """Passes over one tree. `reach` and `cfv` are over a player's rows, the rest over entries.

    Leaves, where a depth limit cut the tree, are worth zero.
    """

    tree: PublicTree
    backend: str
    device: str

    @abstractmethod
    def entries(self, values: Floats) -> Array:
        """Returns `[E]` values in this backend's layout."""

    @abstractmethod
    def to_numpy(self, entries: Array) -> Floats:
        """Returns entries as the tree's `[E]`."""

    @abstractmethod
    def rows_to_numpy(self, player: int, rows: Array) -> Floats:
        """Returns a player's reach or cfv as the tree's `[R]`."""

    @abstractmethod
    def reach(self, player: int, strategy: Array, out: Array | None = None) -> Array:
        """Returns the player's own probability of reaching each of its rows, in `out` (an earlier reach) if given."""

    @abstractmethod
    def reach_and_average(self, player: int, strategy: Array, average: Array, share: float, out: Array | None = None) -> Array:
        """Returns `reach`; the player's part of `average` becomes `(1 - share) * average + share * reach * strategy`."""

    @abstractmethod
    def values(self, player: int, strategy: Array, opponent_reach: Array) -> Array:
        """Returns the counterfactual value of each of the player's rows when `strategy` is played."""

    @abstractmethod
    def best_response(self, player: int, opponent_reach: Array, bonus: Array | None = None) -> tuple[Array, Array]:
        """Returns the counterfactual values of a best response, and that response as a pure strategy (ties: first action).

        Args:
          player: who responds.
          opponent_reach: what is responded to.
          bonus: entries, added to the actions' values where these are compared, but not to what the chosen one is worth:
            the response is then the best among those that choose so. A bonus beyond all payoffs forces an action.
        """

    @abstractmethod
    def update_regrets(
        self, player: int, strategy: Array, regret: Array, average: Array, reaches: Sequence[Array], step: RegretStep
    ) -> None:
        """Updates one player in place: regrets and average take `strategy` in, and the next strategy replaces it.

        Args:
          player: whose regrets, average and strategy change.
          strategy: the player's current strategy.
          regret: cumulative regrets.
          average: sum of weight times own reach times strategy.
          reaches: each player's reach under the current strategies.
          step: the weights of this update.
        """

    @abstractmethod
    def mix(self, rows: Array, other: Array, weight: float) -> Array:
        """Returns `(1 - weight) * rows + weight * other`: the reach of a mixture of two strategies."""

    def zeros(self) -> Array:
        """Returns entries of zeros."""
        return self.entries(np.zeros(self.tree.num_entries))

    def uniform(self) -> Array:
        """Returns the uniform strategy."""
        return self.entries(self.tree.uniform_strategy())

    def root_values(self, player: int, cfv: Array) -> Floats:
        """Returns `[root rows]` the root part of a player's counterfactual values, times its own root reach."""
        rows = self.tree.rows[player]
        values: Floats = self.rows_to_numpy(player, cfv)[: rows.level_start[1]] * rows.root_reach
        return values

    def root_value(self, player: int, cfv: Array) -> float:
        """Returns the expected return of a player whose counterfactual values are `cfv`."""
        return float(self.root_values(player, cfv).sum())


AnyPasses = Passes[Any]
