"""AIVAT (Burch et al. 2018): an unbiased estimate of a game's outcome, with most of the luck removed.

Two ideas, applied to chance and to the players whose strategies are known:

- *Imaginary observations*: the estimate ignores which private state a known player held. It averages over all private states
  that the player could have held, weighted by how likely its strategy makes them.
- *Corrections*: whenever chance or a known player moves, the estimate gains the value function's expectation before the move
  minus its value after it. The mean of that is 0 for any function that was fixed before the game.

We walk down the line of play with each player's *reach*: the probability that its own actions lead here, for each private
state. An unknown player has reach 1 with the private state it held. Let `W` be the sum of the value function over all pairs of
private states, each weighted by chance and both reaches, and `w` the same sum without the value. Then `V = W / w`, and

    estimate = V(end) + sum over steps of  (sum over options of W) / (sum over options of w) - V(arrived).

Where we differ: a move and the chance events right after it are one step, which merges terms of the same sum. An unknown
player's move has one option, the action it took, so only the chance events after it are corrected for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tacit.arena.match import Sights
from tacit.errors import TacitError
from tacit.games.base import CHANCE
from tacit.tree.public_tree import Floats

Reaches = tuple[Floats, Floats]
Values = Callable[[Any, Reaches], tuple[float, float]]
"""A value function, fixed before the game: returns player 0's `W` and `w` of a public state for both players' reaches `[H]`."""


class Branch(NamedTuple):
    """One possible outcome of a step.

    Attributes:
      public: The public state it leads to, in the value function's terms. It may stand for several that chance chooses from.
      above: For each player an index `[H]`: the private state before the step from which each private state here follows.
      action: The actor's action as an index into `Step.shares`: one number, or one for each of its private states here.
    """

    public: Any
    above: tuple[Any, Any]
    action: Any


class Step(NamedTuple):
    """A move and the chance events right after it. The first step of every game is the deal.

    Attributes:
      actor: The player who moved, or `CHANCE` for the deal.
      action: The action taken, as in `Branch`.
      shares: Returns the probability of each action under a policy of the actor.
      options: All branches that could have been taken.
      arrived: The branch that was taken, with the outcome of chance.
      held: The private state of each player after the step.
    """

    actor: int
    action: int
    shares: Callable[[Any], Floats]
    options: Sequence[Branch]
    arrived: Branch
    held: Sequence[int]


def estimate(line: Iterable[Step], policies: Sequence[Any], values: Values) -> float:
    """Returns the estimated outcome of a game for player 0, with most of the luck removed.

    Args:
      line: The steps of the game.
      policies: Each player's policy, as `Step.shares` takes it; None if it is unknown.
      values: Any value function. The closer to the strategies played, the less the estimates vary.

    Raises:
      TacitError: A player made a move that its policy never makes.
    """
    total = value = 0.0
    reaches: Reaches = np.ones(1), np.ones(1)  # before the deal there is one private state
    for step in line:
        policy = None if step.actor == CHANCE else policies[step.actor]
        shares = None if policy is None else step.shares(policy)
        worth, weight = np.sum([values(to.public, _follow(step, to, shares, reaches)) for to in step.options], axis=0)
        first, second = _follow(step, step.arrived, shares, reaches)
        reaches = (
            first if policies[0] is not None else np.eye(1, len(first), step.held[0])[0],
            second if policies[1] is not None else np.eye(1, len(second), step.held[1])[0],
        )
        worth_here, weight_here = values(step.arrived.public, reaches)
        if not weight_here > 0:
            raise TacitError(f"player {step.actor} made a move that its policy never makes: AIVAT needs the policy it played")
        value = worth_here / weight_here
        total += float(worth / weight) - value
    return total + value


def _follow(step: Step, branch: Branch, shares: Floats | None, reaches: Reaches) -> Reaches:
    """Returns the reaches after a branch; an actor without shares, an unknown one, takes the action it took."""
    played = branch.action == step.action if shares is None else shares[branch.action]
    first, second = reaches[0][branch.above[0]], reaches[1][branch.above[1]]
    return (first * played if step.actor == 0 else first, second * played if step.actor == 1 else second)


@dataclass(frozen=True)
class AivatEstimator:
    """Estimates what games were worth to the first of two agents (`arena/aivat_cases.py` makes it).

    Attributes:
      policies: Each agent's policy; None if it is unknown.
      values: The value functions for the first agent in seat 0 and in seat 1.
      line: Returns the steps of a game from the sights of both players at all its states.
    """

    policies: Sequence[Any]
    values: Sequence[Values]
    line: Callable[[Sights], Iterable[Step]]

    def __call__(self, sights: Sights, seat: int) -> float:
        return self.value(self.line(sights), seat)

    def value(self, line: Iterable[Step], seat: int) -> float:
        """Returns the estimated outcome of a game for the first agent, in its seat."""
        sign = 1 - 2 * seat
        return sign * estimate(line, self.policies[::sign], self.values[seat])
