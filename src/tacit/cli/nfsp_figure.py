"""`tacit reproduce nfsp-leduc`: the runs of NFSP's Figure 1, live, and what they reached beside the paper's words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tacit.cli.common import printer
from tacit.cli.looks import find_system
from tacit.cli.train import finish_run


def reproduce_nfsp(scale: str, folder: Path, picture: Path, seed: int) -> tuple[dict[str, Any], Callable[[], None]]:
    """Returns what all runs in a folder reached, after drawing their curves, and what prints it.

    Raises:
      StoppedError: by Ctrl-C; everything is kept.
    """
    from tacit.games import load_game
    from tacit.plots import convergence_panels
    from tacit.reproduce.nfsp import GAME, curves, nfsp_jobs, summary

    jobs = nfsp_jobs(scale, folder, seed)
    for number, job in enumerate(jobs, 1):
        look = find_system(job.variant.system, load_game(GAME))[1]
        finish_run(job.folder, GAME, job.config, "cpu", look, f"{job.variant.label} (run {number} of {len(jobs)})")
    convergence_panels(curves(jobs), "", picture, "decisions in self-play")
    results = [summary(job) for job in jobs]

    def show() -> None:
        _print(results)
        printer().print(f"plot: {picture}; to train anew, remove {folder}", soft_wrap=True)

    return {"results": results, "plot": str(picture)}, show


def _print(results: list[dict[str, Any]]) -> None:
    from rich.table import Table

    table = Table("NFSP, Figure 1: Leduc", "exploitability", "NashConv", "greedy", "steps", "seconds", "paper", box=None)
    for row in results:
        table.add_row(
            row["curve"], f"{row['exploitability']:.4f}", f"{row['nash_conv']:.4f}",
            f"{row['best_response_exploitability']:.3f}", f"{row['steps']:,}", f"{row['training_seconds']:.0f}", row["paper"],
        )  # fmt: skip
    printer().print(table)
    printer().print("exact, of the average strategies (NashConv / 2, the paper's unit); greedy: of the highest action values")
