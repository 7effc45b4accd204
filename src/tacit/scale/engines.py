"""Opens engines from a plan: reaches a crew, and has it generate for a run."""

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
    """Checks that a system can be trained by workers.

    Raises:
      TacitError: it can only generate its examples itself.
    """
    if getattr(system.trainer, "generate", Trainer.generate) is Trainer.generate:
        why = getattr(system.trainer, "why_alone", Trainer.why_alone)
        raise TacitError(f"{system.name} {why}: train it without --engine")


@contextmanager
def reached(plan: EnginePlan) -> Iterator[CrewMaker]:
    """Yields a function that makes a crew for a job, once there is certain to be room for it; leaves a cluster at the end.

    Raises:
      TacitError: Ray is not installed, no cluster answers, or it has no room for that many workers.
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
    """Returns the names in `CUDA_VISIBLE_DEVICES` of the GPUs that we may use on this machine."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named is not None:
        return tuple(name for name in named.split(",") if name)
    import torch

    return tuple(map(str, range(torch.cuda.device_count())))


def open_engine(trainer: Trainer[Any, Any], system: str, plan: EnginePlan, make_crew: CrewMaker) -> Engine:
    """Returns the engine that generates for a run; entering it starts the workers.

    Args:
      trainer: the run.
      system: the name of the run's system.
      plan: the plan of the engine.
      make_crew: makes the crew; `reached` yields it.
    """
    game = game_source(trainer.game) or str(trainer.game)
    settings = trainer.worker_settings(plan.workers).as_dict()
    job = SelfPlayJob(system, game, settings, plan.device, (trainer.config.seed, trainer.epoch))
    return Engine(trainer, make_crew(job))
