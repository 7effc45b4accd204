"""The interface of the passes that every algorithm is built from.

A *pass* sweeps once over a tree or a batch of trees: reaches flow down, values flow up, regrets and averages are updated in
place. Solvers, search, best responses and exploitability are written once on top of this interface; each layout (rows, lanes,
hands, groups of games) implements it on its devices. The array layout belongs to the implementation; passes over one tree can
convert their arrays (`TreePasses`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np

from tacit.kernels.clock import Clock, OneStep
from tacit.tree.base import Floats, Tree

if TYPE_CHECKING:
    from torch import Tensor

Array = TypeVar("Array")
Numbers = tuple[Any, Any, Any, Any]

FOLLOW, MATCH, RESPOND = 0, 1, 2
"""What an upward pass does at a player's decisions: follow the strategy, match regrets, or respond."""


class LeafValues(NamedTuple):
    """The values of a tree's `L` leaves for both players.

    Attributes:
      values: `[2 * H, L]` for player 0's private states, then for player 1's.
      counterfactual: True for counterfactual values in the tree's units. False for infostate values, which a pass multiplies
        by the private state's probability under chance and the opponent.
    """

    values: Tensor
    counterfactual: bool = False


class LeafEvaluator(Protocol):
    """Anything that values the public belief states at leaves, many at once.

    Attributes:
      counterfactual: The kind of values. False: infostate values, the expected returns given one's private state. True: those
        times the probability of the private state under chance and an opponent with the given beliefs, in the game's units.
    """

    counterfactual: bool

    def evaluate(self, states: Any, beliefs: Tensor) -> Tensor:
        """Returns both players' values.

        Args:
          states: the public states of `L` leaves, as `Passes.leaf_states` gives them.
          beliefs: `[2 * H, L]` player 0's beliefs over its private states, then player 1's; each sums to 1 (the player's own
            reach, normalised), unused private states are 0.

        Returns:
          `[2 * H, L]`, laid out like `beliefs`.
        """
        ...


@runtime_checkable
class RememberingEvaluator(Protocol):
    """An evaluator that caches its work on one player's beliefs while the other player's change."""

    def evaluate_changed(self, states: Any, beliefs: Tensor, changed: Collection[int]) -> Tensor:
        """Returns the same as `evaluate`.

        Args:
          states: see `evaluate`.
          beliefs: see `evaluate`.
          changed: the players whose beliefs changed since the last call for these states; both in the first call.
        """
        ...


@runtime_checkable
class LeafOracle(Protocol):
    """An evaluator that solves the game below a leaf, and so knows the strategies played there."""

    def evaluate_played(self, states: Any, beliefs: Tensor, played: Tensor) -> Tensor:
        """Returns `[2 * H, L]` infostate values when the true beliefs are `played` but both go on as solved for `beliefs`."""
        ...


class LeafDecisions(Protocol):
    """The players' decisions at the leaves of one search. They are updated in every iteration, like those in the tree."""

    def answer(self, player: int, beliefs: Tensor, weight: Tensor, clock: Clock) -> Tensor:
        """Returns `[2 * H, L]` leaf values under the current strategies at the leaves, and computes the player's next one.

        Args:
          player: who is updated. Only this player's half of the result is meaningful.
          beliefs: see `LeafEvaluator.evaluate`.
          weight: `[L]` the factor that makes values against the opponent's beliefs counterfactual (`Passes.leaf_weight`), so
            that regrets of different iterations add up in the same units.
          clock: the weights of this update.
        """
        ...

    def settle(self, player: int) -> None:
        """Makes the strategy that the player's latest `answer` computed the current one."""
        ...


@runtime_checkable
class DecidingEvaluator(Protocol):
    """An evaluator whose leaves are decisions: search under CFR-D iterates them together with its own.

    To value leaves once, call `evaluate`, which solves the decisions at the given beliefs.
    """

    def begin(self, states: Any) -> LeafDecisions:
        """Returns the decisions at the leaves of a new search, one per column of its beliefs.

        Args:
          states: see `LeafEvaluator.evaluate`.
        """
        ...


class Passes(ABC, Generic[Array]):
    """Passes over a tree or a batch of trees. Reaches are over a player's rows, strategies and regrets over entries.

    After an upward pass `root_cfv` has the counterfactual values of the player's root rows.

    Attributes:
      backend: `numba` or `torch`.
      device: Where the arrays are.
      capturable: Whether an iteration can be captured as a CUDA graph, because no pass reads anything from the host.
      span: How many iterations `repeat` should run in one call, about ten milliseconds' worth; 0 if there is no `repeat`.
      lean: Whether `repeat` needs neither strategies nor reaches, because it derives them from regrets. If True,
        `played_values` exists too.
    """

    backend: str
    device: str
    capturable = False
    span = 0
    lean = False

    @abstractmethod
    def zeros(self) -> Array:
        """Returns entries of zeros."""

    def new_regrets(self) -> Array:
        """Returns the regrets before the first update. Where play is fixed and read from regrets, they encode that play."""
        return self.zeros()

    @abstractmethod
    def uniform(self) -> Array:
        """Returns the uniform strategy."""

    @abstractmethod
    def normalise(self, weights: Array) -> Array:
        """Returns entries scaled to sum to 1 at each infostate; uniform where they are all zero."""

    @abstractmethod
    def new_reach(self, player: int) -> Array:
        """Returns an array for a player's reach in which only the root rows are set."""

    @abstractmethod
    def walk_down(self, player: int, strategy: Array, reach: Array, average: Array | None, clock: Clock | None) -> None:
        """Fills a player's reach below the roots and updates `average`, if given, as described in `reach`."""

    @abstractmethod
    def walk_up(self, mode: int, player: int, faced: Array, leaves: LeafValues | None, numbers: Numbers, clock: Clock) -> None:
        """Computes values from the leaves up to the roots; `mode` says what happens at the player's decisions.

        Args:
          mode: `FOLLOW`, `MATCH` or `RESPOND`.
          player: whose values are computed.
          faced: the opponent's reach.
          leaves: the leaf values; None means zero.
          numbers: the player's own reach, and entries: the strategy, regrets (when responding: the bonus, see `best_response`)
            and averages. Those that a mode does not need are None.
          clock: the weights of an update.
        """

    def reach(
        self, player: int, strategy: Array, out: Array | None = None, average: Array | None = None, clock: Clock | None = None
    ) -> Array:
        """Returns the player's own probability of reaching each of its rows, in `out` (an earlier reach) if given.

        If `average` is given, the player's part of it moves towards reach times strategy by `clock.share`.
        """
        reach = self.new_reach(player) if out is None else out
        self.walk_down(player, strategy, reach, average, clock)
        return reach

    def values(self, player: int, strategy: Array, faced: Array, leaves: LeafValues | None = None) -> Array:
        """Returns the root's counterfactual values when `strategy` is played against the opponent's reach `faced`."""
        self.walk_up(FOLLOW, player, faced, leaves, (None, strategy, None, None), self.any_clock)
        return self.root_cfv(player)

    def best_response(
        self,
        player: int,
        faced: Array,
        bonus: Array | None = None,
        leaves: LeafValues | None = None,
        out: Array | None = None,
    ) -> tuple[Array, Array]:
        """Returns the root's values under a best response, and that response as a pure strategy (ties: first action).

        Args:
          player: who responds.
          faced: the opponent's reach.
          bonus: entries, added to the actions' values when these are compared but not to the value of the chosen action: the
            response is then the best one among those that choose this way. A bonus larger than all payoffs forces an action.
          leaves: the leaf values.
          out: entries; the response overwrites the player's. If None, the opponent's are zero.
        """
        response = self.zeros() if out is None else out
        self.walk_up(RESPOND, player, faced, leaves, (None, response, bonus, None), self.any_clock)
        return self.root_cfv(player), response

    def update_regrets(
        self,
        player: int,
        strategy: Array,
        regret: Array,
        average: Array,
        reaches: Sequence[Array],
        clock: Clock,
        leaves: LeafValues | None = None,
    ) -> None:
        """Updates one player's regrets, average and strategy in place.

        The new regret is `max(old * discount + instant, floor)`. The next strategy is proportional to the positive part of that
        regret plus `prediction` times the instant regret. The replaced strategy is added to the average.

        Args:
          player: whose regrets, average and strategy change.
          strategy: the player's current strategy.
          regret: cumulative regrets.
          average: sum of weight times own reach times strategy.
          reaches: each player's reach under the current strategies.
          clock: the weights of this update (`RegretStep`).
          leaves: the leaf values.
        """
        self.walk_up(MATCH, player, reaches[1 - player], leaves, (reaches[player], strategy, regret, average), clock)

    def repeat(
        self, strategy: Array, regret: Array, average: Array, reaches: Sequence[Array], steps: Floats, alternating: bool
    ) -> None:
        """Runs whole iterations of regret matching in one call: for both players `update_regrets`, then `reach`.

        Args:
          strategy: both players' current strategies; None if the passes are lean.
          regret: cumulative regrets.
          average: sum of weight times own reach times strategy.
          reaches: each player's reach under the current strategies, or None.
          steps: `[T, 5]` the `RegretStep` of each iteration.
          alternating: whether player 1 answers player 0's new strategy within an iteration.
        """
        raise NotImplementedError

    def played_values(self, player: int, weights: Array, respond: bool) -> Array:
        """Returns the root's counterfactual values of a player, laid out like `root_cfv`.

        Args:
          player: whose values.
          weights: entries, not normalised: both players' strategies.
          respond: whether the player plays a best response to the opponent instead.
        """
        raise NotImplementedError

    @cached_property
    def any_clock(self) -> Clock:
        """A clock for passes that use no weights."""
        return OneStep().clock(self.device if self.capturable else "cpu")

    @abstractmethod
    def root_cfv(self, player: int) -> Array:
        """Returns the counterfactual values of the player's root rows; the latest upward pass must be the player's."""

    def row_cfv(self, player: int) -> Array:
        """Returns the counterfactual values of all of the player's rows; the latest upward pass must be the player's."""
        raise NotImplementedError

    @abstractmethod
    def set_roots(self, player: int, reach: Array, roots: Array) -> None:
        """Overwrites the root rows of a reach. Roots are laid out like `root_cfv`."""

    @abstractmethod
    def get_roots(self, player: int, reach: Array) -> Array:
        """Returns the root rows of a reach."""

    @property
    def leaf_states(self) -> Any:
        """The public states at the leaves, in the form that this tree's evaluators take; None if nothing was cut."""
        return None

    def new_beliefs(self) -> Tensor:
        """Returns an array for `leaf_beliefs`, `[2 * H, L]`."""
        raise NotImplementedError

    def leaf_beliefs(self, player: int, reach: Array, beliefs: Tensor) -> None:
        """Writes a player's reach at every leaf, scaled to sum to 1, into its half of `beliefs` `[2 * H, L]`."""
        raise NotImplementedError

    def leaf_likelihood(self, player: int, opponent_reach: Array) -> Tensor:
        """Returns `[H, L]` the probability of each of the player's private states at leaves under chance and the opponent."""
        raise NotImplementedError

    def leaf_weight(self, player: int, opponent_reach: Array) -> Tensor:
        """Returns `[L]` the factor that turns values against an opponent's beliefs into counterfactual values.

        It is the opponent's reach of the leaf, times chance's reach if the states do not contain it (classes do not).
        """
        raise NotImplementedError

    @property
    def knows_leaves(self) -> bool:
        """Whether all private states are known at every leaf, so that leaf values do not depend on strategies."""
        return False

    def mix(self, rows: Array, other: Array, weight: Any) -> Array:
        """Returns `(1 - weight) * rows + weight * other`: the reach of a mixture of two strategies."""
        mixed: Array = rows + 0.0  # type: ignore[operator,assignment]
        self.move(mixed, other, weight)
        return mixed

    def move(self, rows: Array, other: Array, weight: Any) -> None:
        """Does the same as `mix`, in place in `rows`."""
        rows += weight * (other - rows)  # type: ignore[operator]

    def over_infostates(self, numbers: Array) -> Array:
        """Returns for every entry the sum over the entries of its infostate."""
        raise NotImplementedError

    def mean_over_private_states(self, numbers: Array) -> Array:
        """Returns for every entry the mean over all private states that decide at its public state."""
        raise NotImplementedError

    def add_roots(self, player: int, total: Array, weight: Any) -> None:
        """Adds a weight times `root_cfv` to `total`, in place."""
        total += weight * self.root_cfv(player)

    def take_samples(self, sample_iteration: Array, clock: Clock, source: Array, target: Array) -> None:
        """Copies `source` to `target` in the games whose sample iteration is the current one; here there is one game."""
        if sample_iteration == clock.iteration:
            target[...] = source  # type: ignore[index]

    def take_roots(self, player: int, sample_iteration: Array, clock: Clock, source: Array, target: Array) -> None:
        """Does the same for a player's root rows, laid out like `root_cfv`."""
        self.take_samples(sample_iteration, clock, source, target)


class TreePasses(Passes[Array]):
    """Passes over one tree, which can convert their arrays.

    Attributes:
      tree: The tree.
    """

    tree: Tree

    @abstractmethod
    def entries(self, values: Floats) -> Array:
        """Returns `[E]` values in this implementation's layout."""

    def weights(self, values: Floats) -> Array:
        """Returns `[E]` values laid out for `played_values`, which takes any dtype, so that nothing is converted needlessly."""
        return self.entries(values)

    @abstractmethod
    def to_numpy(self, entries: Array) -> Floats:
        """Returns entries as the tree's `[E]`."""

    @abstractmethod
    def rows_to_numpy(self, player: int, rows: Array) -> Floats:
        """Returns a player's reach as the tree's `[R]`."""

    @abstractmethod
    def node_values(self, player: int, node: int) -> Floats:
        """Returns `[H]` the values of the player's private states at a node from the latest upward pass."""

    def values_by_node(self, player: int) -> Callable[[int], Floats]:
        """Returns `node_values` of a player as a function of the node, for many nodes; it is valid until the next pass."""
        return partial(self.node_values, player)

    @abstractmethod
    def node_likelihood(self, player: int, node: int, opponent_reach: Array) -> Floats:
        """Returns `[H]` the probability of each of the player's private states at a node under chance and the opponent."""

    def roots(self, values: Floats) -> Any:
        """Returns `[H]` values of the tree's root rows, root by root, laid out like `root_cfv`."""
        return np.asarray(values)

    def exact(self) -> TreePasses[Any]:
        """Returns passes over the same tree in float64, for results reported to more digits than searches need."""
        return self

    def keeping(self) -> TreePasses[Any]:
        """Returns passes over the same tree in float64 that keep the values of all nodes after a pass (`node_values`)."""
        return self.exact()

    def zeros(self) -> Array:
        return self.entries(np.zeros(self.tree.num_entries))

    def uniform(self) -> Array:
        return self.entries(self.tree.uniform_strategy())

    def normalise(self, weights: Array) -> Array:
        return self.entries(self.tree.normalise(self.to_numpy(weights)))

    def root_value(self, player: int, cfv: Array) -> float:
        """Returns the expected return of a player whose root's counterfactual values are `cfv`."""
        return float((np.asarray(_on_host(cfv), np.float64).ravel() * self.root_weights(player)).sum())

    def root_weights(self, player: int) -> Floats:
        """Returns the player's own reach of the root rows, laid out like `root_cfv`."""
        return self.tree.root_reach[player]


def _on_host(array: Any) -> Any:
    return array if isinstance(array, np.ndarray) else array.cpu().numpy()


_ENTRIES_AT_ONCE = 2_000_000
"""How many updates of entries take about ten milliseconds."""


def span_of(num_entries: int) -> int:
    """Returns how many iterations over `num_entries` entries take about ten milliseconds, at least one."""
    return max(1, _ENTRIES_AT_ONCE // max(1, num_entries))


AnyPasses = Passes[Any]
AnyTreePasses = TreePasses[Any]
