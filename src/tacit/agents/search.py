"""The agent that searches as it plays, in any game from dice to hold'em: a planner searches, the agent samples the moves.

A search's safety says how it deals with the searches below it (`solvers/safety.py`).
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from tacit.agents.base import Sight
from tacit.agents.hand_policy import HandPolicy
from tacit.agents.view import View
from tacit.tree.base import Floats


class Planner(Protocol):
    """Follows one player's game and searches its current state.

    Attributes:
      safety: How a search deals with the searches below it (`options.SAFETY`).
    """

    safety: str

    @property
    def policy(self) -> HandPolicy | None:
        """Its hold'em policy; None in other games, or if the policy depends on random choices."""

    def start(self, player: int) -> None:
        """Takes a seat for a new game."""

    def observe(self, sight: Sight) -> None:
        """Takes in what the seat sees at a decision."""

    def weights(self) -> tuple[list[int], Floats]:
        """Returns the legal actions and the weight of each with the player's private state, after all searches on the path."""
        ...

    def view(self) -> View | None:
        """Returns the planner's view of the last decision it saw."""
        ...


class SearchAgent:
    """Samples its moves from the strategies of a planner.

    Attributes:
      name: Its name in results.
      planner: Follows the game and searches.
    """

    def __init__(self, planner: Planner, generator: np.random.Generator, name: str = "search") -> None:
        self.name, self.planner, self._generator = name, planner, generator
        planner.start(0)

    @property
    def safety(self) -> str:
        """How a search deals with the searches below it."""
        return self.planner.safety

    @property
    def policy(self) -> HandPolicy | None:
        """Its hold'em policy, if that is known."""
        return self.planner.policy

    def start(self, player: int) -> None:
        self.planner.start(player)

    def observe(self, sight: Sight) -> None:
        if sight.actor >= 0:  # after the end, `view` still shows the last decision
            self.planner.observe(sight)

    def act(self) -> int:
        actions, weights = self.planner.weights()
        return int(self._generator.choice(actions, p=weights / weights.sum()))

    def view(self) -> View | None:
        return self.planner.view()
