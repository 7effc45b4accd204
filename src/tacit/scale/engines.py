"""Engines by name."""

from __future__ import annotations

from typing import Any

from tacit.errors import TacitError
from tacit.games import game_source
from tacit.scale.engine import Engine
from tacit.scale.local import LocalCrew
from tacit.scale.worker import WorkerPlan
from tacit.training.system import System, Trainer

ENGINES = ("local",)


def check_engine(kind: str, system: System[Any, Any]) -> None:
    """Refuses what cannot be trained by workers, before a folder is made.

    Raises:
      TacitError: there is no such engine, or the system generates its examples itself.
    """
    if kind not in ENGINES:
        raise TacitError(f"unknown engine {kind!r}: choose one of {', '.join(ENGINES)}")
    if getattr(system.trainer, "generate", Trainer.generate) is Trainer.generate:
        raise TacitError(f"{system.name} generates its examples itself: train it without --engine")


def open_engine(trainer: Trainer[Any, Any], system: str, workers: int, device: str = "cpu") -> Engine:
    """Returns the engine that generates for a run in processes of this machine; entering it starts them.

    Args:
      trainer: the run.
      system: the name by which it was opened.
      workers: how many processes.
      device: where they search.
    """
    game = game_source(trainer.game) or str(trainer.game)
    plan = WorkerPlan(system, game, trainer.config.as_dict(), device, (trainer.config.seed, trainer.epoch))
    return Engine(trainer, LocalCrew(plan, workers))
