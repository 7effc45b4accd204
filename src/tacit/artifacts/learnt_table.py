"""Runs and network files of Deep CFR, Single Deep CFR and policy gradients, opened as the tables they play."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

from tacit.artifacts.base import Evaluation, Monitor, trained_game
from tacit.artifacts.table import TableArtifact
from tacit.deep_cfr.system import DEEP_CFR, SD_CFR
from tacit.games import AnyGame
from tacit.nets.checkpoint import load_tensors
from tacit.policy_gradient.system import RPG
from tacit.training.folder import network_file, system_of
from tacit.training.headers import run_facts
from tacit.training.system import System
from tacit.tree.strategy import RowStrategy

SYSTEMS: dict[str, System[Any, Any]] = {system.name: system for system in (DEEP_CFR, SD_CFR, RPG)}
"""The systems whose trainers have a `strategy()`, by name."""


class LearntTableArtifact(TableArtifact):
    """Trained networks as the table of probabilities they play."""

    def __init__(self, name: str, game: AnyGame | None = None, monitor: Monitor | None = None) -> None:
        self._weights, header = load_tensors(network_file(name))
        self._system = SYSTEMS[header["system"]]
        self._facts = run_facts(header, self._system.config, name)
        super().__init__(name, trained_game(name, self._facts.game, game, self._facts.source), monitor)

    @cached_property
    def _strategy(self) -> RowStrategy:
        trainer = self._system.trainer(self.game, self._facts.config, "cpu")
        trainer.load_weights(self._weights)
        return RowStrategy(trainer.encoded.tree, trainer.strategy())

    def strategy(self) -> RowStrategy:
        return self._strategy

    def exploitability(self) -> Evaluation:
        """Returns the exact exploitability of its strategy."""
        evaluation = super().exploitability()
        return replace(evaluation, details=evaluation.details | {"epoch": self._facts.epoch})


def find(name: str, game: AnyGame | None, monitor: Monitor | None) -> LearntTableArtifact | None:
    """Returns the artifact of a folder or file, or None unless one of `SYSTEMS` trained it."""
    return LearntTableArtifact(name, game, monitor) if system_of(name) in SYSTEMS else None
