"""The learned rows of ReBeL's Table 2: ReBeL with CFR-D and with fictitious play in four games of Liar's Dice.

The paper trains 1,000 epochs with 1,024 alternating search iterations on a GPU and 60 CPU threads, and reports the mean over
the last three checkpoints, each judged by 1,024 playthroughs. Where we differ: training is shorter, searches less (DCFR, which
needs fewer iterations, in the place of Linear CFR) and decays the learning rate by a cosine; playthroughs spread their sampled
iterations evenly. The evaluation is as long as the paper's at scale `gpu`: 1,024 alternating iterations (512 here) of DCFR or
FLOP, 1,024 playthroughs. Scale `cpu` averages 512 playthroughs, which makes its bounds looser; `smoke` searches less, too.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit import artifacts
from tacit.artifacts.base import Monitor
from tacit.errors import TacitError
from tacit.files import write_whole
from tacit.rebel.config import RebelConfig, preset
from tacit.rebel.system import REBEL
from tacit.rebel.train import RebelProgress as Progress
from tacit.reproduce.dice import PAPER_LEARNED, VARIANTS
from tacit.training.folder import RunFolder

SOLVERS = {"cfr-d": "dcfr", "fp": "flop"}
"""The search algorithm of each row, in training and evaluation."""


@dataclass(frozen=True)
class LearnedScale:
    """How much is run.

    Attributes:
      epochs: of training for each variant; the variants that are trained unless others are asked for.
      settings: changes to the preset of the same name, for the training.
      iterations: search iterations of the evaluation.
      playthroughs: of the evaluation.
      device: where it runs.
    """

    epochs: dict[str, int]
    settings: dict[str, str]
    iterations: int
    playthroughs: int
    device: str = "cpu"


SCALES = {
    "smoke": LearnedScale(
        {"1x4f": 12},
        {"iterations": "16", "games": "256", "epoch_examples": "1024", "hidden": "64", "evaluate_every": "4"},
        32,
        16,
    ),
    "cpu": LearnedScale(
        {"1x4f": 100, "1x5f": 100},  # about four minutes on two cores for 1x4f, with the evaluation
        {},
        512,
        512,
    ),
    "gpu": LearnedScale(
        {"1x4f": 110, "1x5f": 100, "1x6f": 75, "2x3f": 90},  # on one H200 within five minutes of training each
        {},
        512,
        1_024,
        "cuda",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Job:
    """One cell of the table: a run and how it is judged."""

    variant: str
    row: str
    game: str
    folder: RunFolder[RebelConfig, Progress]
    config: RebelConfig
    protocol: dict[str, Any]
    device: str
    paper: float


def jobs(scale: str, rows: tuple[str, ...], variants: tuple[str, ...] | None, out: Path, seed: int) -> list[Job]:
    """Returns the cells of the table at a scale.

    Args:
      scale: of `SCALES`.
      rows: of `SOLVERS`.
      variants: of the games; None takes those of the scale.
      out: the folder that holds a folder for each run.
      seed: of training and evaluation.

    Raises:
      TacitError: a variant is unknown.
    """
    how, found = SCALES[scale], []
    for variant in how.epochs if variants is None else variants:
        if variant not in VARIANTS:
            raise TacitError(f"unknown variant {variant!r}: choose one of {', '.join(VARIANTS)}")
        epochs = how.epochs.get(variant, max(how.epochs.values()))
        for row in rows:
            solver, folder = SOLVERS[row], RunFolder(out / f"{variant}-{row}", REBEL)
            settings = {**how.settings, "solver": solver, "epochs": str(epochs), "seed": str(seed)}
            protocol = {"solver": solver, "iterations": how.iterations, "playthroughs": how.playthroughs, "seed": seed}
            config, paper = preset(scale).with_settings(settings), PAPER_LEARNED[row][variant]
            found.append(Job(variant, row, VARIANTS[variant], folder, config, protocol, how.device, paper))
    return found


@dataclass(frozen=True)
class LearnedCell:
    """What a run reached.

    Attributes:
      job: what was run.
      exploitability: of each of the last checkpoints, by epoch: upper bounds.
      seconds: of training.
      examples: trained on.
      curve: (seconds, exploitability) on the way, by the run's own quick evaluations.
    """

    job: Job
    exploitability: dict[int, float]
    seconds: float
    examples: int
    curve: list[tuple[float, float]]

    @property
    def mean(self) -> float:
        """The mean over the checkpoints, which the paper reports."""
        return sum(self.exploitability.values()) / len(self.exploitability)

    def summary(self) -> dict[str, Any]:
        """Returns the result, ready for JSON."""
        checkpoints = [{"epoch": epoch, "exploitability": found} for epoch, found in self.exploitability.items()]
        return {
            "game": self.job.game, "variant": self.job.variant, "row": self.job.row, "run": str(self.job.folder.path),
            "exploitability": self.mean, "kind": "upper bound", "checkpoints": checkpoints, **self.job.protocol,
            "training_seconds": self.seconds, "examples": self.examples, "paper_exploitability": self.job.paper,
        }  # fmt: skip


def judge_run(job: Job, monitor: Monitor | None = None) -> LearnedCell:
    """Returns what a trained run reached. Each checkpoint's figure is kept in the run's folder and not computed twice."""
    history, kept = job.folder.history(), job.folder.path / "evaluation.json"
    known, networks = _read(kept, job.protocol), job.folder.kept_networks()
    for epoch, network in networks.items():
        if epoch not in known:
            known[epoch] = artifacts.open(str(network), job.game, monitor).evaluate(**job.protocol, device=job.device).figure
            write_whole(kept, json.dumps({**job.protocol, "exploitability": known}, indent=1).encode())
    curve = [(epoch.seconds, epoch.exploitability) for epoch in history if epoch.exploitability is not None]
    found = {epoch: known[epoch] for epoch in networks}
    return LearnedCell(job, found, history[-1].seconds, history[-1].examples, curve)


def _read(path: Path, protocol: dict[str, Any]) -> dict[int, float]:
    """Returns the figures that were found before by the same protocol, by epoch."""
    try:
        content = json.loads(path.read_text())
        found = {int(epoch): float(value) for epoch, value in content.pop("exploitability").items()}
    except (OSError, ValueError, KeyError, AttributeError):
        return {}
    return found if content == protocol else {}
