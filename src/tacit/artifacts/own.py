"""The user's own agents and leaf evaluators: `FILE.py:CLASS(key=value,...)`.

A class asks for arguments by the names of its parameters: an agent for `game` and `generator`, a leaf evaluator for `space`,
`game` and `device`. The user gives all other parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.agents.base import Agent
from tacit.agents.options import SearchOptions
from tacit.artifacts.base import Artifact, Evaluation, Monitor
from tacit.artifacts.objects import artifact_of
from tacit.errors import TacitError
from tacit.games import AnyGame
from tacit.games.own import load_own, make_own, parse_own
from tacit.tree.base import Strategy

if TYPE_CHECKING:
    from tacit.kernels.base import LeafEvaluator
    from tacit.tree.search_space import SearchSpace


class OwnArtifact(Artifact):
    """A class in the user's file; each agent or evaluator is a new instance."""

    def __init__(self, name: str, game: AnyGame | None = None, monitor: Monitor | None = None) -> None:
        own = parse_own(name)
        assert own is not None
        self._own, self._maker = own, load_own(own.path, own.class_name)
        if not callable(self._maker):
            raise TacitError(f"{own.path} defines no class called {own.class_name}")
        super().__init__(name, game, monitor)

    def make_agent(self, generator: np.random.Generator, options: SearchOptions) -> Agent:
        return self._made(generator).agent(generator)

    def strategy(self) -> Strategy:
        return self._made(np.random.default_rng(0)).strategy()

    def measures(self) -> dict[str, Callable[..., Evaluation]]:
        return self._made(np.random.default_rng(0)).measures()

    def leaf(self, space: SearchSpace, device: str = "cpu") -> LeafEvaluator:
        from tacit.leaves.checked import CheckedLeaves

        given: dict[str, Callable[[], Any]] = {"space": lambda: space, "game": lambda: space.game, "device": lambda: device}
        made = make_own(self._maker, self._own, given, self._own.class_name)
        if not callable(getattr(made, "evaluate", None)):
            raise TacitError(f"{self.name} values no leaves: it must have evaluate(states, beliefs)")
        return CheckedLeaves(made, self.name)

    def _made(self, generator: np.random.Generator) -> Artifact:
        game = self.game
        given: dict[str, Callable[[], Any]] = {"game": lambda: game, "generator": lambda: generator}
        made = make_own(self._maker, self._own, given, self._own.class_name)
        return artifact_of(made, game, self.monitor, self.name)


def find(name: str, game: AnyGame | None, monitor: Monitor | None) -> OwnArtifact | None:
    """Returns the artifact of a `FILE.py:CLASS`, or None if the name is of another kind."""
    return None if parse_own(name) is None else OwnArtifact(name, game, monitor)
