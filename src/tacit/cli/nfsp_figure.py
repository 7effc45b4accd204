"""`tacit reproduce nfsp-leduc`: the runs of NFSP's Figure 1, live, and what they reached beside the paper's words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tacit.cli.common import logger, printer
from tacit.cli.live import train_live
from tacit.cli.looks import find_system
from tacit.cli.train import draw_curve, note_session
from tacit.errors import StoppedError


def run_figure(scale: str, folder: Path, picture: Path, seed: int) -> list[dict[str, Any]]:
    """Returns what all runs reached, after drawing their curves; finished runs are not run again.

    Raises:
      StoppedError: by Ctrl-C; everything is kept.
    """
    from tacit.plots import convergence_panels
    from tacit.reproduce.nfsp import GAME, curves, nfsp_jobs, summary
    from tacit.training.run import opened_run

    jobs = nfsp_jobs(scale, folder, seed)
    for number, job in enumerate(jobs, 1):
        logger().print(f"{job.variant.label} (run {number} of {len(jobs)}), kept in {job.folder.path}", soft_wrap=True)
        with opened_run(job.folder, GAME, job.config) as trainer:
            if trainer.epoch >= job.config.epochs:
                logger().print(f"trained before, {trainer.epoch} epochs")
                continue
            note_session(job.folder, job.config.seed, "cpu")
            look = find_system(job.variant.system, trainer.game)[1]
            try:
                _, stopped = train_live(trainer, job.folder, look, "training")
            except KeyboardInterrupt:
                raise StoppedError("at once; what was trained is kept: the same command goes on") from None
            if stopped:
                raise StoppedError(f"after epoch {trainer.epoch} of {job.config.epochs}, all kept: the same command goes on")
            draw_curve(job.folder, look, GAME, None)
    convergence_panels(curves(jobs), "", picture, "decisions in self-play")
    return [summary(job) for job in jobs]


def print_figure(results: list[dict[str, Any]]) -> None:
    """Prints what the runs reached."""
    from rich.table import Table

    table = Table("NFSP, Figure 1: Leduc", "exploitability", "NashConv", "greedy", "steps", "seconds", "paper", box=None)
    for row in results:
        table.add_row(
            row["curve"], f"{row['exploitability']:.4f}", f"{row['nash_conv']:.4f}",
            f"{row['best_response_exploitability']:.3f}", f"{row['steps']:,}", f"{row['training_seconds']:.0f}", row["paper"],
        )  # fmt: skip
    printer().print(table)
    printer().print("exact, of the average strategies (NashConv / 2, the paper's unit); greedy: of the highest action values")
