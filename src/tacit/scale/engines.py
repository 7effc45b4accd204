"""Engines as they are asked for: crews that can be reached, and what they do for a run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from tacit.errors import TacitError
from tacit.games import game_source
from tacit.processes import Job
from tacit.scale.crew import Crew
from tacit.scale.engine import Engine
from tacit.scale.plan import EnginePlan
from tacit.scale.self_play import SelfPlayJob
from tacit.training.system import System, Trainer

CrewMaker: TypeAlias = Callable[[Job], Crew]


def check_generates(system: System[Any, Any]) -> None:
    """Refuses a system that cannot be trained by workers.

    Raises:
      TacitError: it generates its examples itself.
    """
    if getattr(system.trainer, "generate", Trainer.generate) is Trainer.generate:
        why = getattr(system.trainer, "why_alone", Trainer.why_alone)
        raise TacitError(f"{system.name} {why}: train it without --engine")


@contextmanager
def reached(plan: EnginePlan) -> Iterator[CrewMaker]:
    """Yields what makes a crew for a job, once it is certain that there is room for it; a cluster is left at the end.

    Raises:
      TacitError: Ray is not installed, no cluster answers, or it has no room for so many workers.
    """
    if plan.kind == "local":
        from tacit.scale.local import LocalCrew

        gpus = visible_gpus() if plan.device == "cuda" else ()
        yield lambda job: LocalCrew(job, plan.workers, gpus)
        return
    from tacit.scale.ray_crew import RayCluster, RayCrew

    with RayCluster(plan.address) as cluster:
        cluster.require_room(plan.workers, plan.gpus)
        yield lambda job: RayCrew(cluster, job, plan.workers, plan.gpus)


def visible_gpus() -> tuple[str, ...]:
    """Returns what `CUDA_VISIBLE_DEVICES` calls the GPUs of this machine that we may use."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named is not None:
        return tuple(name for name in named.split(",") if name)
    import torch

    return tuple(map(str, range(torch.cuda.device_count())))


def open_engine(trainer: Trainer[Any, Any], system: str, plan: EnginePlan, make_crew: CrewMaker) -> Engine:
    """Returns the engine that generates for a run; entering it starts the workers.

    Args:
      trainer: the run.
      system: the name by which it was opened.
      plan: the engine that is asked for.
      make_crew: what `reached` yields.
    """
    game = game_source(trainer.game) or str(trainer.game)
    settings = trainer.worker_settings(plan.workers).as_dict()
    job = SelfPlayJob(system, game, settings, plan.device, (trainer.config.seed, trainer.epoch))
    return Engine(trainer, make_crew(job))
