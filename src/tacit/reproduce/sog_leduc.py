"""Figure 2 of "The Cost of Uncertainty in Self-play Reinforcement Learning and Search": Student of Games in pot-limit Leduc.

The figure shows the exploitability of continual re-solving against the number of CFR iterations. Leaves are valued by a network
trained by self-play, by one trained on random situations (which the paper tried without giving figures), or by an untrained
network; without leaves, searches reach the end of the game. Uniform play stands beside them. A network is trained with as many
iterations as it is used with.

The paper shows curves and gives no numbers. Beside our figures stand those we measured with its public code at 200 iterations,
as it is and with its gadget's range corrected (docs/LOG.md).

Every curve is made twice. The paper's settings are regret matching+, simultaneous updates, averages without the first half of
the iterations, and leaves valued at the current strategies. The better ones are PCFR+, alternating updates, no warm-up, and
leaves valued at averages. All figures are exact; the spread is over training seeds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tacit import artifacts
from tacit.artifacts.base import Monitor
from tacit.evaluation import evaluate
from tacit.games import load_game
from tacit.kernels import make_passes
from tacit.kernels.base import LeafEvaluator
from tacit.learning.returns import typical_return
from tacit.leaves.evaluators import RandomLeaves, ZeroLeaves
from tacit.search.resolving import resolving_strategy
from tacit.search.search import BatchSearch
from tacit.sog.config import NO_POLICIES, PRESETS, QueryConfig
from tacit.sog.system import DEEPSTACK, SOG
from tacit.training.folder import RunFolder
from tacit.training.system import System
from tacit.tree.compiler import compile_game
from tacit.tree.search_space import SearchSpace, search_space

GAME = "pot_limit_leduc"
ANTE = 300
PAPER, BETTER = PROTOCOLS = ("paper", "better")
LEARNED: dict[str, System[Any, Any]] = {"network of self-play": SOG, "network of random situations": DEEPSTACK}
UNLIMITED, UNTRAINED, UNIFORM = "unlimited depth", "untrained network", "uniform play"
PUBLIC_CODE = {UNLIMITED: (18.6, 5.9), "network of self-play": (28.8, 11.0)}
"""At 200 iterations, thousandths of the ante: the paper's public code as it is, and with the gadget's range corrected."""
PUBLIC_ITERATIONS = 200


@dataclass(frozen=True)
class LeducScale:
    """The amount of work at a scale.

    Attributes:
      preset: The preset of the runs with the better settings; the paper's settings differ from it only in their searches.
      settings: Changes to the preset.
      iterations: The numbers of iterations at which curves have points.
      trained: Those of `iterations` for which networks are trained.
      seeds: The number of training runs for each network of the figure.
    """

    preset: str
    settings: dict[str, str]
    iterations: tuple[int, ...]
    trained: tuple[int, ...]
    seeds: int


SCALES = {
    "smoke": LeducScale("smoke", {"epochs": "2", "cycle_queries": "256"}, (5, 10), (10,), 1),
    "cpu": LeducScale("cpu", {}, (10, 20, 50, 100, 200, 500), (50, 200), 3),  # half an hour on one core
    # The largest scale trains networks at more points. It also uses the CPU: the game is too small for a GPU.
    "gpu": LeducScale("cpu", {}, (10, 20, 50, 100, 200, 500, 1_000), (10, 20, 50, 100, 200, 500), 3),
}


class LeducJob(NamedTuple):
    """A network of the figure: its protocol and curve, and the run that trains it."""

    protocol: str
    curve: str
    iterations: int
    seed: int
    folder: RunFolder[Any, Any]
    config: QueryConfig


class LeducPoint(NamedTuple):
    """A point of a curve.

    Attributes:
      protocol: One of `PROTOCOLS`.
      curve: How leaves are valued.
      iterations: The iterations of every search.
      figures: The exploitability for each seed, in thousandths of the ante.
      seconds: The training time, averaged over seeds; None if nothing is trained.
    """

    protocol: str
    curve: str
    iterations: int
    figures: list[float]
    seconds: float | None = None

    @property
    def mean(self) -> float:
        """The mean over seeds."""
        return float(np.mean(self.figures))

    def summary(self) -> dict[str, Any]:
        """Returns the point, ready for JSON."""
        code = PUBLIC_CODE.get(self.curve) if self.iterations == PUBLIC_ITERATIONS else None
        return {
            "protocol": self.protocol, "curve": self.curve, "iterations": self.iterations, "milli_antes": self.mean,
            "by_seed": self.figures, "kind": "exact", "training_seconds": self.seconds,
            "public_code": code and code[0], "public_code_corrected": code and code[1],
        }  # fmt: skip


def leduc_jobs(scale: str, out: Path, seed: int) -> list[LeducJob]:
    """Returns the training runs of the figure, each with its own folder below `out`."""
    how, jobs = SCALES[scale], []
    for protocol in PROTOCOLS:
        for curve, system in LEARNED.items():
            for iterations in how.trained:
                for number in range(seed, seed + how.seeds):
                    values_alone = {"policies": NO_POLICIES} if system is SOG else {}
                    base = system.presets[how.preset].with_settings({**how.settings, **values_alone, "seed": str(number)})
                    config = _searching(base, protocol, iterations)
                    folder = RunFolder(out / f"{protocol}-{system.name}-{iterations}-{number}", system)
                    jobs.append(LeducJob(protocol, curve, iterations, number, folder, config))
    return jobs


def judge_leduc(jobs: list[LeducJob], monitor: Monitor | None = None) -> list[LeducPoint]:
    """Returns the points of trained networks; each run is evaluated with its latest network."""
    points: dict[tuple[str, str, int], list[tuple[float, float]]] = {}
    for job in jobs:
        network = artifacts.open(str(job.folder.path), GAME, monitor)
        figure = network.evaluate("exploitability").figure / ANTE * 1_000
        points.setdefault((job.protocol, job.curve, job.iterations), []).append((figure, job.folder.history()[-1].seconds))
    return [LeducPoint(*key, [f for f, _ in part], float(np.mean([s for _, s in part]))) for key, part in points.items()]


def untrained_points(scale: str, seed: int, progress: Callable[[int, int], None]) -> list[LeducPoint]:
    """Returns the points that need no training; `progress` is called with the points done and their total."""
    how, tree = SCALES[scale], compile_game(load_game(GAME))
    passes, rounds, whole = make_passes(tree), search_space(tree, "round"), search_space(tree, None)
    scale_of_leaves = typical_return(rounds)
    uniform = evaluate(passes, tree.uniform_strategy()).exploitability / ANTE * 1_000
    points: list[LeducPoint] = []

    def judge(space: SearchSpace, leaves: LeafEvaluator, protocol: str, iterations: int) -> float:
        config = replace(_searching(PRESETS["cpu"], protocol, iterations).search(), depth=space.depth)
        strategy = resolving_strategy(BatchSearch(space, leaves, config), at_decisions=True)
        return evaluate(passes, strategy).exploitability / ANTE * 1_000

    for protocol in PROTOCOLS:
        for iterations in how.iterations:
            progress(len(points), 3 * len(PROTOCOLS) * len(how.iterations))
            random = [RandomLeaves(rounds, number, scale=scale_of_leaves) for number in range(seed, seed + how.seeds)]
            untrained = [judge(rounds, leaves, protocol, iterations) for leaves in random]
            points.append(LeducPoint(protocol, UNLIMITED, iterations, [judge(whole, ZeroLeaves(), protocol, iterations)]))
            points.append(LeducPoint(protocol, UNTRAINED, iterations, untrained))
            points.append(LeducPoint(protocol, UNIFORM, iterations, [uniform]))
    return points


def _searching(config: QueryConfig, protocol: str, iterations: int) -> QueryConfig:
    """Returns a configuration with the search settings of a protocol."""
    paper, better = PRESETS["paper"], PRESETS["cpu"]
    like = paper if protocol == PAPER else better
    return replace(
        config, iterations=iterations, updates=like.updates, warm_up=like.warm_up, decomposition=like.decomposition,
        solver=like.solver,
    )  # fmt: skip
