"""An agent that plays a solved strategy from its table."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tacit.agents.base import Sight, action_weights, follow
from tacit.agents.view import View, make_view
from tacit.evaluation.exact import infostate_values
from tacit.games.base import TERMINAL
from tacit.kernels import AnyTreePasses, make_passes
from tacit.tree.beliefs import descend, initial_belief_state
from tacit.tree.navigate import START, player_navigator
from tacit.tree.public_tree import NO_PARENT
from tacit.tree.strategy import RowStrategy


class TabularAgent:
    """Plays a strategy of the whole game, and assumes that everyone does."""

    def __init__(self, strategy: RowStrategy, generator: np.random.Generator, name: str = "tabular") -> None:
        self.name, self.strategy = name, strategy
        self._tree, self._strategy = strategy.tree, strategy.probabilities
        self._generator = generator
        self._navigator = player_navigator(strategy.tree)
        self._player, self._spot = 0, START

    def start(self, player: int) -> None:
        self._player, self._spot = player, START

    def observe(self, sight: Sight) -> None:
        if sight.actor != TERMINAL:
            self._spot = follow(self._navigator, self._player, self._spot, sight)

    def act(self) -> int:
        actions, weights = action_weights(self._tree, self._strategy, self._player, self._spot.row)
        return int(self._generator.choice(actions, p=weights / weights.sum()))

    def view(self) -> View | None:
        """Returns the view, beliefs by Bayes' rule; after a move the strategy never makes, any private state is possible."""
        nodes, node = self._tree.nodes, self._spot.node
        if nodes is None or node == NO_PARENT:
            return None
        path = self._tree.node_path(node)
        pbs = initial_belief_state(self._tree, path[0])
        for step in path:
            pbs = descend(pbs, self._strategy, step).rescaled()
        first, second = (infostate_values(self._passes, self._strategy, player, node) for player in (0, 1))
        return make_view(pbs, self._strategy, (first, second))

    @cached_property
    def _passes(self) -> AnyTreePasses:
        return make_passes(self._tree)
