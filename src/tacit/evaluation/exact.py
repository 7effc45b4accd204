"""Exact values, best responses and exploitability."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.kernels import AnyPasses
from tacit.tree.public_tree import Floats


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class BestResponse:
    """A best response to the other player's strategy.

    Attributes:
      value: its expected return.
      strategy: `[E]`, pure at the responder's infostates and zero elsewhere.
    """

    value: float
    strategy: Floats


def evaluate(passes: AnyPasses, strategy: Floats) -> Quality:
    """Returns the value and the exact exploitability of a strategy `[E]`."""
    layout = passes.entries(strategy)
    reaches = [passes.reach(player, layout) for player in (0, 1)]
    responses = [passes.root_value(p, passes.best_response(p, reaches[1 - p])[0]) for p in (0, 1)]
    value = passes.root_value(0, passes.values(0, layout, reaches[1]))
    return Quality(value, (responses[0], responses[1]))


def best_response(passes: AnyPasses, strategy: Floats, player: int) -> BestResponse:
    """Returns `player`'s best response to the other side of a strategy `[E]`."""
    reach = passes.reach(1 - player, passes.entries(strategy))
    cfv, response = passes.best_response(player, reach)
    return BestResponse(passes.root_value(player, cfv), passes.to_numpy(response))


def infostate_values(passes: AnyPasses, strategy: Floats, player: int) -> Floats:
    """Returns `[R]` the expected return of `player` at each of its rows, given that the row was reached.

    Counterfactual values divided by the chance that the opponent and nature let the row happen; zero where they do not,
    and at terminal rows, whose chance is not kept.
    """
    tree, other = passes.tree, 1 - player
    nodes = tree.require_nodes()
    layout = passes.entries(strategy)
    opponent_reach = passes.reach(other, layout)
    cfv = passes.rows_to_numpy(player, passes.values(player, layout, opponent_reach))
    reach = passes.rows_to_numpy(other, opponent_reach)
    likelihood = np.bincount(
        nodes.joint_rows[player], nodes.joint_chance * reach[nodes.joint_rows[other]], minlength=len(tree.rows[player])
    )
    return np.divide(cfv, likelihood, out=np.zeros_like(cfv), where=likelihood > 0)
