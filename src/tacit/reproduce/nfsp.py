"""Figure 1 of NFSP: learning on Leduc with networks of several sizes (a), without its parts (b), and DQN beside it (c).

The paper gives curves and one number: exploitability 0.06 for NFSP, "which full-width XFP typically achieves after around 1000
full-width iterations". Ours is NashConv / 2, which is the paper's unit: XFP reaches .063 after 1,000 iterations. The paper's
other claims are in words, and we quote them so. It does not name the sizes of Figure 1a: ours double from 8 to 128 units.
It gives neither the factor by which exploration falls, nor the unit of rewards, nor the length of training. The preset `paper`
takes the first two from its author's program, and ends at .064 and .069 (seeds 0 and 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit.nfsp.config import TabularConfig
from tacit.nfsp.progress import ExactProgress
from tacit.nfsp.system import DQN, NFSP
from tacit.training.folder import RunFolder
from tacit.training.settings import find_preset

GAME = "leduc_poker"
SIZES = (8, 16, 32, 64, 128)
"""Hidden units of Figure 1a. The plain run has one of these sizes: the paper's settings 64, those of `cpu` 128."""


@dataclass(frozen=True)
class Variant:
    """A curve of the figure.

    Attributes:
      name: The name of its folder.
      panel: The panels that show it, of `a`, `b` and `c`; the plain run is in all.
      label: Its label in legends and tables.
      settings: The settings that differ from the plain run.
      claim: What the paper says about it.
      system: `nfsp` or `dqn`.
    """

    name: str
    panel: str
    label: str
    settings: dict[str, str]
    claim: str
    system: str = "nfsp"


VARIANTS = (
    Variant("nfsp", "abc", "NFSP", {}, "0.06"),
    *(Variant(f"hidden-{n}", "a", f"NFSP, {n} hidden units", {"hidden": str(n)}, "larger is better") for n in SIZES),
    Variant("window", "b", "NFSP with a sliding window", {"memory": "window", "behaviour": "200000"}, "diverges"),
    Variant("anticipation", "b", "NFSP with anticipation 0.5", {"anticipation": "0.5"}, "plateaus"),
    Variant("exponential", "b", "NFSP with an exponential reservoir", {"memory": "exponential"}, "noisy"),
    Variant("dqn", "c", "DQN, average", {}, "does not approach an equilibrium", "dqn"),
)


SCALES: dict[str, tuple[str, dict[str, str]]] = {"smoke": ("smoke", {"epochs": "10"}), "cpu": ("cpu", {}), "gpu": ("paper", {})}
"""Presets and changes to them, by scale. The largest scale has the paper's settings; those that the paper leaves open are from
its author's program (`_PAPER` in `nfsp/config.py`). Like the others it runs on a CPU."""
SMOKE_NAMES = ("nfsp", "window", "dqn")
"""The curves of the smallest scale; the other scales have all curves."""


@dataclass(frozen=True)
class NfspJob:
    """A run of the figure."""

    variant: Variant
    folder: RunFolder[Any, ExactProgress]
    config: TabularConfig


def nfsp_jobs(scale: str, out: Path, seed: int) -> list[NfspJob]:
    """Returns the runs of the figure at a scale, each with its own folder below `out`."""
    (preset, settings), jobs = SCALES[scale], []
    for variant in VARIANTS:
        system: Any = DQN if variant.system == "dqn" else NFSP
        base = find_preset(system.presets, preset)
        plain_again = variant.settings == {"hidden": base.hidden}
        if not plain_again and (scale != "smoke" or variant.name in SMOKE_NAMES):
            config = base.with_settings({**settings, **variant.settings, "seed": str(seed)})
            jobs.append(NfspJob(variant, RunFolder(out / variant.name, system), config))
    return jobs


def summary(job: NfspJob) -> dict[str, Any]:
    """Returns the result of a run, ready for JSON."""
    last = job.folder.history()[-1]
    return {
        "curve": job.variant.label, "run": str(job.folder.path), "exploitability": last.exploitability,
        "nash_conv": last.nash_conv, "kind": "exact", "best_response_exploitability": last.best_response_exploitability,
        "steps": last.steps, "games": last.games, "training_seconds": last.seconds, "paper": job.variant.claim,
    }  # fmt: skip


def curves(jobs: list[NfspJob]) -> dict[str, dict[str, list[tuple[int, float, float]]]]:
    """Returns the curves of each panel as points (steps, seconds, exploitability), including DQN's greedy strategy."""
    titles = {"a": "network sizes", "b": "without its parts", "c": "DQN"}
    panels: dict[str, dict[str, list[tuple[int, float, float]]]] = {title: {} for title in titles.values()}
    for job in jobs:
        history = [epoch for epoch in job.folder.history() if epoch.exploitability is not None]
        for panel in job.variant.panel:
            points = [(epoch.steps, epoch.seconds, epoch.exploitability or 0.0) for epoch in history]
            panels[titles[panel]][job.variant.label] = points
        if job.variant.system == "dqn":
            greedy = [(epoch.steps, epoch.seconds, epoch.best_response_exploitability or 0.0) for epoch in history]
            panels[titles["c"]]["DQN, greedy"] = greedy
    return {title: panel for title, panel in panels.items() if panel}
