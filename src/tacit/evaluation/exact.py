"""Exact values, best responses and exploitability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.html import card, facts
from tacit.kernels.base import AnyPasses, AnyTreePasses, LeafEvaluator, LeafValues
from tacit.tree.base import Floats, Strategy


@dataclass(frozen=True, repr=False)
class Quality:
    """How far a strategy profile is from equilibrium.

    Attributes:
      value: player 0's expected return when both play the strategy.
      best_response_values: each player's expected return from a best response to the other's strategy.
    """

    value: float
    best_response_values: tuple[float, float]

    @property
    def nash_conv(self) -> float:
        """The sum of both players' gains from a best response; zero exactly at equilibrium."""
        return sum(self.best_response_values)

    @property
    def exploitability(self) -> float:
        """`nash_conv / 2`: the mean gain of a deviation."""
        return self.nash_conv / 2

    def __repr__(self) -> str:
        return f"<value {self.value:.6g}, exploitability {self.exploitability:.4g}>"


@dataclass(frozen=True, repr=False)
class BestResponse:
    """A best response to the other player's strategy.

    Attributes:
      player: The player who responds.
      value: The responder's expected return.
      strategy: The responder's pure best response, together with the other player's strategy.
    """

    player: int
    value: float
    strategy: Strategy

    def __repr__(self) -> str:
        return f"<best response of player {self.player}: worth {self.value:.6g} to it>"

    def _repr_html_(self) -> str:
        return card(f"best response of player {self.player}", facts({"worth to it": self.value}))


_ASKED = ((0, False), (0, True), (1, True))
"""The three values of a `Quality`: the player, and whether it plays a best response."""


def evaluate(passes: AnyTreePasses, strategy: Floats, evaluator: LeafEvaluator | None = None) -> Quality:
    """Returns the value and the exact exploitability of a strategy `[E]`.

    Args:
      passes: the passes over the game.
      strategy: both players' strategies.
      evaluator: values the leaves of a depth-limited tree at the strategy's beliefs; the values stay the same for best
        responses. None for leaves worth nothing.
    """
    if passes.lean:
        return evaluate_weights(passes, passes.weights(strategy))
    strategy = passes.entries(strategy)
    reaches = [passes.reach(player, strategy) for player in (0, 1)]
    leaves = leaf_values(passes, evaluator, reaches)
    value = passes.root_value(0, passes.values(0, strategy, reaches[1], leaves[0]))
    del strategy  # frees a large array before the best responses
    responses = [passes.root_value(p, passes.best_response(p, reaches[1 - p], leaves=leaves[p])[0]) for p in (0, 1)]
    return Quality(value, (responses[0], responses[1]))


def evaluate_weights(passes: AnyTreePasses, weights: Any) -> Quality:
    """Returns the quality of the strategy that normalising `weights` gives; `weights` are entries of lean passes."""
    values = [passes.root_value(p, passes.played_values(p, weights, respond)) for p, respond in _ASKED]
    return Quality(values[0], (values[1], values[2]))


def evaluate_exactly(passes: AnyTreePasses, strategy: Floats) -> Quality:
    """Returns the same as `evaluate`, computed in float64 whatever the dtype of the passes and the strategy.

    In float32 the probabilities at an infostate sum to 1 only roughly. So the strategy is normalised before it is evaluated.
    """
    exact = passes.exact()
    if exact.lean or strategy.dtype == np.float64:
        return evaluate(exact, strategy)
    return evaluate(exact, passes.tree.normalise(strategy.astype(np.float64)))  # no name keeps the copy alive


def leaf_values(
    passes: AnyPasses, evaluator: LeafEvaluator | None, reaches: Sequence[Any]
) -> tuple[LeafValues | None, LeafValues | None]:
    """Returns each player's leaf values, given both players' reaches."""
    if evaluator is None or passes.leaf_states is None:
        return None, None
    beliefs = passes.new_beliefs()
    for player in (0, 1):
        passes.leaf_beliefs(player, reaches[player], beliefs)
    values = evaluator.evaluate(passes.leaf_states, beliefs)
    if not evaluator.counterfactual:
        return LeafValues(values), LeafValues(values)
    first, second = (values * passes.leaf_weight(player, reaches[1 - player]).to(values) for player in (0, 1))
    return LeafValues(first, counterfactual=True), LeafValues(second, counterfactual=True)


def root_values(passes: AnyPasses, strategy: Any, reaches: Sequence[Any], evaluator: LeafEvaluator | None) -> list[Any]:
    """Returns for each player the counterfactual values at the roots under a strategy, in the passes' layouts.

    Args:
      passes: the passes over the games.
      strategy: both players' strategies, as entries.
      reaches: both players' reaches under the strategy.
      evaluator: values the leaves at the strategy's beliefs.
    """
    leaves = leaf_values(passes, evaluator, reaches)
    return [passes.values(player, strategy, reaches[1 - player], leaves[player]) + 0.0 for player in (0, 1)]


def best_response(passes: AnyTreePasses, strategy: Floats, player: int) -> BestResponse:
    """Returns `player`'s best response to the other player's part of a strategy `[E]`."""
    reach = passes.reach(1 - player, passes.entries(strategy))
    cfv, response = passes.best_response(player, reach)
    answer = np.where(passes.tree.entry_player == player, passes.to_numpy(response), strategy)
    return BestResponse(player, passes.root_value(player, cfv), passes.tree.strategy(answer))


def infostate_values(
    passes: AnyTreePasses, strategy: Floats, player: int, node: int, evaluator: LeafEvaluator | None = None
) -> Floats:
    """Returns `[H]` the expected return of `player` in each private state at a decision, given that it is reached.

    These are counterfactual values divided by the probability that the opponent and chance lead there; zero where that is zero.
    """
    layout = passes.entries(strategy)
    reaches = [passes.reach(either, layout) for either in (0, 1)]
    passes.values(player, layout, reaches[1 - player], leaf_values(passes, evaluator, reaches)[player])
    cfv, likelihood = passes.node_values(player, node), passes.node_likelihood(player, node, reaches[1 - player])
    return np.divide(cfv, likelihood, out=np.zeros_like(cfv), where=likelihood > 0)
