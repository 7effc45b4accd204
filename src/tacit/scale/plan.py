"""The engine that a run asks for."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.errors import TacitError

ENGINES = ("local", "ray")


@dataclass(frozen=True)
class EnginePlan:
    """The workers that generate for a run.

    Attributes:
      kind: `local` for processes on this machine, `ray` for actors of a cluster.
      workers: The number of workers.
      device: Where they search: `cpu` or `cuda`.
      address: `HOST:PORT` of the head of a Ray cluster; None starts one on this machine.
      gpus_per_worker: GPUs of each worker on Ray, or a fraction of one; None means one GPU on `cuda`. Processes on this
        machine share its GPUs evenly.

    Raises:
      TacitError: the options contradict each other.
    """

    kind: str
    workers: int = 1
    device: str = "cpu"
    address: str | None = None
    gpus_per_worker: float | None = None

    def __post_init__(self) -> None:
        if self.kind not in ENGINES:
            raise TacitError(f"unknown engine {self.kind!r}: choose one of {', '.join(ENGINES)}")
        if self.kind != "ray":
            for option, value in (("--ray-address", self.address), ("--gpus-per-worker", self.gpus_per_worker)):
                if value is not None:
                    raise TacitError(f"{option} is for --engine ray")
        asked = self.gpus_per_worker or 0.0
        if asked and self.device != "cuda":
            raise TacitError("--gpus-per-worker is for --device cuda")
        if asked > 1 and asked != int(asked):
            raise TacitError(f"--gpus-per-worker {asked:g}: give a worker whole GPUs, or a fraction of one")

    @property
    def gpus(self) -> float:
        """The GPUs of each worker on Ray."""
        if self.gpus_per_worker is not None:
            return self.gpus_per_worker
        return 1.0 if self.device == "cuda" else 0.0
