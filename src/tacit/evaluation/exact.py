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
      best_response_values: what each player gets by answering the other's strategy as well as possible.
    """

    value: float
    best_response_values: tuple[float, float]

    @property
    def nash_conv(self) -> float:
        """What both players together gain by deviating; zero exactly at equilibrium."""
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
      player: Who responds.
      value: The responder's expected return.
      strategy: The responder's answer, which is pure, beside what the other player plays.
    """

    player: int
    value: float
    strategy: Strategy

    def __repr__(self) -> str:
        return f"<best response of player {self.player}: worth {self.value:.6g} to it>"

    def _repr_html_(self) -> str:
        return card(f"best response of player {self.player}", facts({"worth to it": self.value}))


_ASKED = ((0, False), (0, True), (1, True))
"""Whose values make a `Quality`, and whether it responds."""


def evaluate(passes: AnyTreePasses, strategy: Floats, evaluator: LeafEvaluator | None = None) -> Quality:
    """Returns the value and the exact exploitability of a strategy `[E]`.

    Args:
      passes: over the game.
      strategy: what both play.
      evaluator: values the leaves of a tree that a depth limit cut, at the beliefs of the strategy; they stay the same for
        those who deviate. None: leaves are worth nothing.
    """
    if passes.lean:
        return evaluate_weights(passes, passes.weights(strategy))
    strategy = passes.entries(strategy)
    reaches = [passes.reach(player, strategy) for player in (0, 1)]
    leaves = leaf_values(passes, evaluator, reaches)
    value = passes.root_value(0, passes.values(0, strategy, reaches[1], leaves[0]))
    del strategy  # a large one need not lie beside the responses
    responses = [passes.root_value(p, passes.best_response(p, reaches[1 - p], leaves=leaves[p])[0]) for p in (0, 1)]
    return Quality(value, (responses[0], responses[1]))


def evaluate_weights(passes: AnyTreePasses, weights: Any) -> Quality:
    """Returns the quality of what weights say, entries of lean passes: they are shares of actions once they are normalised."""
    values = [passes.root_value(p, passes.played_values(p, weights, respond)) for p, respond in _ASKED]
    return Quality(values[0], (values[1], values[2]))


def evaluate_exactly(passes: AnyTreePasses, strategy: Floats) -> Quality:
    """Returns the same as `evaluate` in float64, whatever the passes and the strategy are in.

    In float32 the probabilities at an infostate sum to 1 only roughly. So what is evaluated is the strategy in the same
    proportions whose probabilities do.
    """
    exact = passes.exact()
    if exact.lean or strategy.dtype == np.float64:
        return evaluate(exact, strategy)
    return evaluate(exact, passes.tree.normalise(strategy.astype(np.float64)))  # no name keeps the copy alive


def leaf_values(
    passes: AnyPasses, evaluator: LeafEvaluator | None, reaches: Sequence[Any]
) -> tuple[LeafValues | None, LeafValues | None]:
    """Returns what the leaves are worth to each player when both come there with the given reaches."""
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
    """Returns for each player the counterfactual values of the roots when a strategy is played, in the passes' layouts.

    Args:
      passes: over the games.
      strategy: entries: what both play.
      reaches: its reaches.
      evaluator: values the leaves at its beliefs.
    """
    leaves = leaf_values(passes, evaluator, reaches)
    return [passes.values(player, strategy, reaches[1 - player], leaves[player]) + 0.0 for player in (0, 1)]


def best_response(passes: AnyTreePasses, strategy: Floats, player: int) -> BestResponse:
    """Returns `player`'s best response to the other side of a strategy `[E]`."""
    reach = passes.reach(1 - player, passes.entries(strategy))
    cfv, response = passes.best_response(player, reach)
    answer = np.where(passes.tree.entry_player == player, passes.to_numpy(response), strategy)
    return BestResponse(player, passes.root_value(player, cfv), passes.tree.strategy(answer))


def infostate_values(
    passes: AnyTreePasses, strategy: Floats, player: int, node: int, evaluator: LeafEvaluator | None = None
) -> Floats:
    """Returns `[H]` the expected return of `player` in each private state at a decision, given that it was reached.

    Counterfactual values divided by the chance that the opponent and nature let the private state happen; zero where they
    do not.
    """
    layout = passes.entries(strategy)
    reaches = [passes.reach(one, layout) for one in (0, 1)]
    passes.values(player, layout, reaches[1 - player], leaf_values(passes, evaluator, reaches)[player])
    cfv, likelihood = passes.node_values(player, node), passes.node_likelihood(player, node, reaches[1 - player])
    return np.divide(cfv, likelihood, out=np.zeros_like(cfv), where=likelihood > 0)
