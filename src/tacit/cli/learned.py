"""The learned rows of ReBeL's Table 2, live: runs are trained or resumed, judged, drawn and put beside the paper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tacit.cli.common import progress_monitor
from tacit.cli.looks import RebelLook
from tacit.cli.session import finish_run

if TYPE_CHECKING:
    from rich.table import Table

    from tacit.reproduce.learned import CellPlan, LearnedCell


def learn(jobs: list[CellPlan], picture: Path) -> list[LearnedCell]:
    """Returns the results of all runs, after training them and drawing their learning curves.

    Raises:
      StoppedError: Ctrl-C; everything is kept.
    """
    from tacit.plots import LearningCurve, learning_panels
    from tacit.reproduce.learned import judge_run

    cells = []
    for number, job in enumerate(jobs, 1):
        title = f"ReBeL {job.row} on {job.variant} (run {number} of {len(jobs)})"
        finish_run(job.folder, job.game, job.config, job.device, RebelLook(), title)
        with progress_monitor() as monitor:
            cells.append(judge_run(job, monitor))
    panels: dict[str, list[LearningCurve]] = {}
    for cell in cells:
        curve = LearningCurve(f"ReBeL {cell.job.row}", cell.curve, cell.job.paper, cell.paper.mean)
        panels.setdefault(f"Liar's Dice {cell.job.variant}", []).append(curve)
    learning_panels(panels, "", picture)
    return cells


def add_learned_rows(table: Table, cells: list[LearnedCell], variants: list[str]) -> list[str]:
    """Adds the rows to a table with a column per variant; returns the notes to print below it."""
    from tacit.reproduce.published import PAPER_LEARNED

    notes = []
    for row in dict.fromkeys(cell.job.row for cell in cells):
        by_variant = {cell.job.variant: cell for cell in cells if cell.job.row == row}

        def line(name: str, values: dict[str, str], style: str | None = "dim") -> None:
            table.add_row(name, *(values.get(variant, "-") for variant in variants), style=style)

        line(f"ReBeL {row}: exploitability at most", {v: f"{cell.paper.mean:.4f}" for v, cell in by_variant.items()}, None)
        line("  published (ReBeL, Table 2)", {v: f"{PAPER_LEARNED[row][v]:.3f}" for v in variants})
        line("  its evaluation seeds", {v: _row_of(cell.paper.by_seed) for v, cell in by_variant.items()})
        line("  by a better search", {v: f"{cell.better.mean:.4f}" for v, cell in by_variant.items()}, None)
        line("  its evaluation seeds", {v: _row_of(cell.better.by_seed) for v, cell in by_variant.items()})
        line("  seconds of training", {v: f"{cell.seconds:.0f}" for v, cell in by_variant.items()})
        paper, better = next(iter(by_variant.values())).job.protocols
        notes.append(
            f"ReBeL {row}: mean of the last three checkpoints, each exact for the average of playthroughs (an upper bound); "
            f"as in the paper: {paper}; better: {better}"
        )
    return notes


def _row_of(figures: list[float]) -> str:
    return " ".join(f"{figure:.4f}" for figure in figures)
