"""AIVAT (Burch et al. 2018): an unbiased estimate of what a game was worth, with most of the luck removed.

Two ideas, applied to chance and to the players whose strategies are known:

- *Imaginary observations*: the private state that a known player held is not looked at. All private states it could have held
  count, each as likely as its strategy makes it.
- *Corrections*: whenever chance or a known player moves, the estimate gains what a value function expected before the move
  less what it expects after it. The mean of that is 0 whatever the function says, if it was fixed before the game.

We walk down the line that was played with each player's *reach*: how likely its own actions lead here with each private state.
An unknown player has reach 1 with the private state it held. Let `W` be the value function summed over all pairs of private
states, each times chance and both reaches, and `w` the same sum without the value. Then `V = W / w`, and

    estimate = V(end) + sum over steps of  (sum over options of W) / (sum over options of w) - V(arrived).

Where we differ: a move and the chance events right after it are one step, which merges terms of the same sum. An unknown
player's move has one option, the action it took, so only the chance events after it are corrected.
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
"""A value function, fixed before the game: `W` (player 0's) and `w` of a public state for both players' reaches `[H]`."""


class Branch(NamedTuple):
    """Where a step can lead.

    Attributes:
      public: The public state it leads to, in the value function's terms. It may stand for several that chance chooses from.
      above: For each player an index `[H]`: the private state before the step that each one here comes from.
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
      shares: Returns how often a policy of the actor takes each action.
      options: All branches that could have been taken.
      arrived: The branch that was taken, with the outcome of chance.
      held: The private state of each player on arrival.
    """

    actor: int
    action: int
    shares: Callable[[Any], Floats]
    options: Sequence[Branch]
    arrived: Branch
    held: Sequence[int]


def estimate(line: Iterable[Step], policies: Sequence[Any], values: Values) -> float:
    """Returns what a game was worth to player 0, with most of the luck removed.

    Args:
      line: The steps of the game.
      policies: What each player plays, as `Step.shares` takes it; None where that is unknown.
      values: Any value function. One close to what is played makes estimates vary less.

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
            raise TacitError(f"player {step.actor} made a move that its policy never makes: AIVAT needs the one it played by")
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
      policies: What each agent plays; None where that is unknown.
      values: The value functions for the first agent in seat 0 and in seat 1.
      line: Returns the steps of a game, given what was seen at its states.
    """

    policies: Sequence[Any]
    values: Sequence[Values]
    line: Callable[[Sights], Iterable[Step]]

    def __call__(self, sights: Sights, seat: int) -> float:
        return self.value(self.line(sights), seat)

    def value(self, line: Iterable[Step], seat: int) -> float:
        """Returns what a game was worth to the first agent, who sat in a seat."""
        sign = 1 - 2 * seat
        return sign * estimate(line, self.policies[::sign], self.values[seat])
