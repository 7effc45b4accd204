"""Blueprints: run folders, files, and those that are shipped."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from tacit.agents.base import Agent
from tacit.agents.blueprint import BlueprintPolicy
from tacit.agents.hand_policy import HandAgent
from tacit.agents.options import SearchOptions
from tacit.artifacts.base import Artifact, Evaluation, Monitor, trained_game
from tacit.artifacts.holdem import endgame_measures, hand_measures
from tacit.blueprint.system import BLUEPRINT
from tacit.blueprint.trained import load_blueprint
from tacit.games import AnyGame
from tacit.games.holdem import require_holdem
from tacit.training.folder import system_of


class BlueprintArtifact(Artifact):
    """A strategy over buckets, from which the strategy for every hand is known."""

    def __init__(self, name: str, game: AnyGame | None = None, monitor: Monitor | None = None) -> None:
        self._trained = load_blueprint(name)
        super().__init__(name, trained_game(name, str(self._trained.game), game), monitor)

    def make_agent(self, generator: np.random.Generator, options: SearchOptions) -> Agent:
        return HandAgent(require_holdem(self.game, self.name), self.policy(), generator, self.name)

    def policy(self) -> BlueprintPolicy:
        return self._policy

    @cached_property
    def _policy(self) -> BlueprintPolicy:
        return BlueprintPolicy(self._trained)

    def measures(self) -> dict[str, Callable[..., Evaluation]]:
        return endgame_measures(self) if self._trained.game.known_board else hand_measures(self)


def find(name: str, game: AnyGame | None, monitor: Monitor | None) -> BlueprintArtifact | None:
    """Returns the artifact of a folder or file, or None unless it is a blueprint."""
    return BlueprintArtifact(name, game, monitor) if system_of(name) == BLUEPRINT.name else None
