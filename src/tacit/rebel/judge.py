"""How good trained networks are: the exploitability of search with each of them, and the mean over the last few."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tacit.errors import TacitError
from tacit.evaluation import Quality
from tacit.rebel.system import REBEL
from tacit.rebel.trained import Trained, load_trained
from tacit.search.playthroughs import max_searches, playthrough_quality
from tacit.search.tables import SearchSpace
from tacit.training.folder import RunFolder


@dataclass(frozen=True)
class EvaluationProtocol:
    """How a network is judged: exactly, for the average policy of some playthroughs, which is an upper bound.

    Attributes:
      solver: the search algorithm.
      iterations: search iterations; each updates both players, so the paper's 1,024 are 512.
      playthroughs: policies averaged; more give a tighter bound.
      seed: of the sampled iterations.
    """

    solver: str = "dcfr"
    iterations: int = 128
    playthroughs: int = 64
    seed: int = 0


@dataclass(frozen=True)
class Judged:
    """A network and what search makes of it."""

    game: str
    epoch: int
    quality: Quality


def judge(
    network: str | Path | Trained,
    protocol: EvaluationProtocol,
    device: str = "cpu",
    on_search: Callable[[int, int], None] = lambda *_: None,
    space: SearchSpace | None = None,
) -> Judged:
    """Returns the quality of search with a network.

    Args:
      network: what was trained, or where it is: a run folder, a network file, or `pretrained:NAME`.
      protocol: how it is judged.
      device: `cpu` or `cuda`.
      on_search: called with the number of searches done and the most there can be.
      space: its game, where that has been prepared before.
    """
    trained = network if isinstance(network, Trained) else load_trained(network)
    search = trained.search(space or trained.space(), protocol.solver, protocol.iterations, device)
    most = max_searches(search.space) * protocol.playthroughs
    generator = np.random.default_rng(protocol.seed)
    quality = playthrough_quality(search, protocol.playthroughs, generator, lambda done: on_search(done, most))
    return Judged(trained.game, trained.epoch, quality)


def last_networks(run: str | Path, count: int) -> list[Path]:
    """Returns the files of the last networks a run was evaluated with, oldest first.

    Raises:
      TacitError: the run kept fewer.
    """
    kept = list(RunFolder(run, REBEL).kept_networks().values())
    if len(kept) < count:
        raise TacitError(f"{run} keeps the networks of {len(kept)} evaluations, not of {count}")
    return kept[len(kept) - count :]
