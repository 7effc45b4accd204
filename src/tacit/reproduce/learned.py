"""The learned rows of ReBeL's Table 2: ReBeL with CFR-D and with fictitious play in four games of Liar's Dice.

The paper trains 1,000 epochs with 1,024 alternating search iterations on a GPU and 60 CPU threads, and reports the mean over
the last three checkpoints, each evaluated by 1,024 playthroughs. Where we differ: training is shorter, its searches have fewer
iterations (of DCFR, which needs fewer, instead of Linear CFR), and the learning rate decays by a cosine; playthroughs spread
their sampled iterations evenly.

Checkpoints are evaluated twice. First as in the paper: 1,024 alternating iterations (512 here) of Linear CFR or FLOP, at scale
`gpu` with 1,024 playthroughs. Then by a better search. Each evaluation is repeated with seeds that training never used, because
sampled iterations change a figure by up to a third. Scale `cpu` averages fewer playthroughs, which makes its bounds looser;
`smoke` also searches less.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from tacit import artifacts
from tacit.artifacts.base import Monitor
from tacit.errors import TacitError
from tacit.files import write_whole
from tacit.rebel.config import RebelConfig, preset
from tacit.rebel.system import REBEL
from tacit.rebel.train import RebelProgress as Progress
from tacit.reproduce.published import PAPER_LEARNED, VARIANTS
from tacit.training.folder import RunFolder

TRAINED_WITH = {"cfr-d": "dcfr", "fp": "flop"}
"""Our search algorithm in training, by row."""
PAPER_SEARCH = {"cfr-d": "linear-cfr", "fp": "flop"}
"""The paper's search algorithm in training and evaluation, by row."""
EVALUATIONS = 3
"""How often a checkpoint is evaluated by a protocol, each time with another seed."""


@dataclass(frozen=True)
class Protocol:
    """How a checkpoint is evaluated.

    Attributes:
      solver: The search algorithm.
      iterations: The search iterations; each updates both players.
      playthroughs: The number of playthroughs that are averaged.
    """

    solver: str
    iterations: int
    playthroughs: int

    def __str__(self) -> str:
        return f"{self.solver}, {self.iterations:,} iterations, {self.playthroughs:,} playthroughs"


@dataclass(frozen=True)
class LearnedScale:
    """The amount of work at a scale.

    Attributes:
      epochs: The training epochs, by variant. Its keys are the variants that are trained by default.
      settings: Changes to the training preset of the same name.
      paper: The search iterations and playthroughs of the paper's protocol.
      better: The search iterations and playthroughs of our own protocol.
      device: Where it runs.
    """

    epochs: dict[str, int]
    settings: dict[str, str]
    paper: tuple[int, int]
    better: tuple[int, int]
    device: str = "cpu"

    def protocols(self, row: str) -> tuple[Protocol, Protocol]:
        """Returns the two protocols that evaluate a row: the paper's and our better one."""
        return Protocol(PAPER_SEARCH[row], *self.paper), Protocol(TRAINED_WITH[row], *self.better)


SCALES = {
    "smoke": LearnedScale(
        {"1x4f": 12},
        {"iterations": "16", "games": "256", "epoch_examples": "1024", "hidden": "64", "evaluate_every": "4"},
        (32, 16),
        (64, 16),
    ),
    "cpu": LearnedScale(
        {"1x4f": 100, "1x5f": 100},  # five to ten minutes on two cores for 1x4f, with the evaluation
        {},
        (512, 128),
        (512, 128),
    ),
    "gpu": LearnedScale(
        {"1x4f": 390, "1x5f": 250, "1x6f": 165, "2x3f": 210},  # about ten minutes of training each on one H200
        {"hidden": "512", "iterations": "512", "learning_rate": "1e-3", "epoch_examples": "65536"},
        (512, 1_024),
        (2_048, 8_192),
        "cuda",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class CellPlan:
    """One cell of the table: a run and how it is evaluated."""

    variant: str
    row: str
    game: str
    folder: RunFolder[RebelConfig, Progress]
    config: RebelConfig
    protocols: tuple[Protocol, Protocol]
    seeds: tuple[int, ...]
    device: str
    paper: float


def jobs(scale: str, rows: tuple[str, ...], variants: tuple[str, ...] | None, out: Path, seed: int) -> list[CellPlan]:
    """Returns the cells of the table at a scale.

    Args:
      scale: one of `SCALES`.
      rows: keys of `PAPER_SEARCH`.
      variants: keys of `VARIANTS`; None takes those of the scale.
      out: the folder in which each run gets its own.
      seed: the seed of training; evaluations use others.

    Raises:
      TacitError: a variant is unknown.
    """
    how, cells = SCALES[scale], []
    for variant in how.epochs if variants is None else variants:
        if variant not in VARIANTS:
            raise TacitError(f"unknown variant {variant!r}: choose one of {', '.join(VARIANTS)}")
        epochs = how.epochs.get(variant, max(how.epochs.values()))
        for row in rows:
            folder = RunFolder(out / f"{variant}-{row}", REBEL)
            settings = {**how.settings, "solver": TRAINED_WITH[row], "epochs": str(epochs), "seed": str(seed)}
            config, paper = preset(scale).with_settings(settings), PAPER_LEARNED[row][variant]
            seeds = tuple(seed + 1 + number for number in range(EVALUATIONS))
            cells.append(
                CellPlan(variant, row, VARIANTS[variant], folder, config, how.protocols(row), seeds, how.device, paper)
            )
    return cells


@dataclass(frozen=True)
class Judgement:
    """The results of a protocol.

    Attributes:
      protocol: The protocol.
      exploitability: Upper bounds for the last checkpoints: by epoch, one for each seed.
    """

    protocol: Protocol
    exploitability: dict[int, list[float]]

    @property
    def by_seed(self) -> list[float]:
        """The mean over the checkpoints for each seed; this is the figure that the paper reports."""
        return [float(np.mean(figures)) for figures in zip(*self.exploitability.values(), strict=True)]

    @property
    def mean(self) -> float:
        """The mean over seeds."""
        return float(np.mean(self.by_seed))

    def summary(self) -> dict[str, Any]:
        """Returns the figures, ready for JSON."""
        checkpoints = [{"epoch": epoch, "exploitability": bounds} for epoch, bounds in self.exploitability.items()]
        return {"exploitability": self.mean, "by_seed": self.by_seed, "checkpoints": checkpoints, **vars(self.protocol)}


@dataclass(frozen=True)
class LearnedCell:
    """The results of a run.

    Attributes:
      job: The cell's run and how it is evaluated.
      paper: The results of the paper's protocol.
      better: The results of our own protocol.
      seconds: The training time.
      examples: The number of training examples.
      curve: Points (seconds, exploitability) by the run's own quick evaluations during training.
    """

    job: CellPlan
    paper: Judgement
    better: Judgement
    seconds: float
    examples: int
    curve: list[tuple[float, float]]

    def summary(self) -> dict[str, Any]:
        """Returns the result, ready for JSON."""
        return {
            "game": self.job.game, "variant": self.job.variant, "row": self.job.row, "run": str(self.job.folder.path),
            "kind": "upper bound", **self.paper.summary(), "better": self.better.summary(), "evaluation_seeds": self.job.seeds,
            "training_seconds": self.seconds, "examples": self.examples, "paper_exploitability": self.job.paper,
        }  # fmt: skip


def judge_run(job: CellPlan, monitor: Monitor | None = None) -> LearnedCell:
    """Returns the results of a trained run. Each figure is kept in the run's folder and not computed twice."""
    history, kept = job.folder.history(), job.folder.path / "evaluation.json"
    known, networks = _read(kept), job.folder.kept_networks()

    def judge(protocol: Protocol) -> Judgement:
        for (epoch, network), seed in product(networks.items(), job.seeds):
            if (key := f"{protocol}, seed {seed}, epoch {epoch}") not in known:
                network_file = artifacts.open(str(network), job.game, monitor)
                known[key] = network_file.evaluate(**vars(protocol), seed=seed, device=job.device).figure
                write_whole(kept, json.dumps(known, indent=1).encode())
        return Judgement(protocol, {e: [known[f"{protocol}, seed {seed}, epoch {e}"] for seed in job.seeds] for e in networks})

    paper, better = map(judge, job.protocols)
    curve = [(epoch.seconds, epoch.exploitability) for epoch in history if epoch.exploitability is not None]
    return LearnedCell(job, paper, better, history[-1].seconds, history[-1].examples, curve)


def _read(path: Path) -> dict[str, float]:
    """Returns the figures computed before, by protocol, seed and epoch."""
    try:
        return {str(key): float(value) for key, value in json.loads(path.read_text()).items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
