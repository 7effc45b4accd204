"""The agent that searches as it plays, in any game from dice to hold'em: a planner searches, the agent draws the moves.

How a search deals with the searches below it is its safety (`solvers/safety.py`).
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from tacit.agents.base import Sight
from tacit.agents.hand_policy import HandPolicy
from tacit.agents.view import View
from tacit.tree.base import Floats


class Planner(Protocol):
    """Follows one player's game and searches where it stands.

    Attributes:
      safety: How it searches again below a search (`options.SAFETY`).
    """

    safety: str

    @property
    def policy(self) -> HandPolicy | None:
        """What it plays with every hand of hold'em; None in other games, or where that depends on random choices."""

    def start(self, player: int) -> None:
        """Takes a seat for a new game."""

    def observe(self, sight: Sight) -> None:
        """Takes in what the seat sees at a decision."""

    def weights(self) -> tuple[list[int], Floats]:
        """Returns the legal actions and how often the own private state takes each, after all searches on the way."""
        ...

    def view(self) -> View | None:
        """Returns what it thinks at the last decision it saw."""
        ...


class SearchAgent:
    """Plays what a planner plans.

    Attributes:
      name: How results call it.
      planner: What searches.
    """

    def __init__(self, planner: Planner, generator: np.random.Generator, name: str = "search") -> None:
        self.name, self.planner, self._generator = name, planner, generator
        planner.start(0)

    @property
    def safety(self) -> str:
        """What it does about searches below a search."""
        return self.planner.safety

    @property
    def policy(self) -> HandPolicy | None:
        """What it plays with every hand of hold'em, where that is known."""
        return self.planner.policy

    def start(self, player: int) -> None:
        self.planner.start(player)

    def observe(self, sight: Sight) -> None:
        if sight.actor >= 0:  # the last decision is what is shown after the end
            self.planner.observe(sight)

    def act(self) -> int:
        actions, weights = self.planner.weights()
        return int(self._generator.choice(actions, p=weights / weights.sum()))

    def view(self) -> View | None:
        return self.planner.view()
