"""ReBeL's networks: run folders, network files, and the networks that are shipped as `pretrained:NAME`."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.agents.options import SAMPLED
from tacit.artifacts.base import Evaluation, Monitor
from tacit.artifacts.networks import NetworkArtifact
from tacit.games import AnyGame
from tacit.learning.trained import Trained
from tacit.rebel.config import RebelConfig
from tacit.rebel.network_error import network_error
from tacit.rebel.system import REBEL
from tacit.rebel.trained import load_trained
from tacit.training.shipped import PRETRAINED
from tacit.training.system import System

PLAY_ITERATIONS = 512
"""Default search iterations of an agent."""


class RebelArtifact(NetworkArtifact[RebelConfig]):
    """Networks of ReBeL, whose agents play random iterations of their searches."""

    safety, at_decisions = SAMPLED, False

    def load(self, name: str) -> Trained[RebelConfig]:
        return load_trained(name)

    def system(self) -> System[RebelConfig, Any]:
        return REBEL

    def judged_search(self) -> tuple[str, int]:
        return "dcfr", 128

    def play_search(self) -> tuple[str, int]:
        return self._trained.config.solver, PLAY_ITERATIONS

    def learnt_classes(self) -> NDArray[np.int64]:
        return self._space.start_classes()

    def measures(self) -> dict[str, Callable[..., Evaluation]]:
        return {**super().measures(), **({"network-error": self.network_error} if self._space.compiled else {})}

    def network_error(self, *, samples: int = 200, seed: int = 0) -> Evaluation:
        """Returns the mean absolute error of infostate values against exact ones, over belief states of self-play."""
        error = network_error(
            self.leaf(self._space),
            self._space,
            self._trained.config,
            samples,
            np.random.default_rng(seed),
            lambda done: self.monitor.step("solving exactly", done, samples, "belief states"),
        )
        return self.evaluation(
            "network-error", error.absolute, "sampled", interval=error.interval, rms=error.rms, value_error=error.value,
            typical_return=error.typical_return, relative=error.absolute / error.typical_return, samples=error.samples,
        )  # fmt: skip


def find(name: str, game: AnyGame | None, monitor: Monitor | None) -> RebelArtifact | None:
    """Returns the artifact of a path or `pretrained:NAME`. This kind is asked last: loading says what is wrong with a path."""
    return RebelArtifact(name, game, monitor) if name.startswith(PRETRAINED) or os.path.exists(name) else None
