"""Networks of Student of Games and DeepStack: run folders and network files."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.agents.options import RE_SOLVING
from tacit.artifacts.base import Monitor
from tacit.artifacts.networks import NetworkArtifact
from tacit.games import AnyGame
from tacit.learning.trained import Trained, read_trained
from tacit.sog.config import QueryConfig, SogConfig
from tacit.sog.system import DEEPSTACK, SOG
from tacit.training.folder import network_file, system_of
from tacit.training.system import System

_SYSTEMS: dict[str, System[Any, Any]] = {SOG.name: SOG, DEEPSTACK.name: DEEPSTACK}


class SogArtifact(NetworkArtifact[QueryConfig]):
    """Networks whose agents re-solve at each of their decisions."""

    safety, at_decisions = RE_SOLVING, True

    def load(self, name: str) -> Trained[QueryConfig]:
        config: type[QueryConfig] = _SYSTEMS[system_of(name) or SOG.name].config
        return read_trained(network_file(name), name, config)

    def system(self) -> System[QueryConfig, Any]:
        return _SYSTEMS[self._trained.config.system]

    def judged_search(self) -> tuple[str, int]:
        return self._trained.config.solver, self._trained.config.iterations

    def play_search(self) -> tuple[str, int]:
        return self.judged_search()

    def learnt_classes(self) -> NDArray[np.int64]:
        config, space = self._trained.config, self._space
        inner = isinstance(config, SogConfig) and config.inner_queries > 0
        return np.arange(space.num_classes, dtype=np.int64) if inner else np.unique(space.tables.leaf_class).astype(np.int64)


def find(name: str, game: AnyGame | None, monitor: Monitor | None) -> SogArtifact | None:
    """Returns the artifact of a folder or file, or None unless Student of Games or DeepStack trained it."""
    return SogArtifact(name, game, monitor) if system_of(name) in _SYSTEMS else None
