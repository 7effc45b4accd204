"""The figures of the NFSP paper: `tacit reproduce nfsp-leduc` (Figure 1, runs) and `nfsp-xfp` (Figure 3, solves)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli.common import plain_table, print_lines, printer, solves_shown
from tacit.cli.looks import find_system
from tacit.cli.session import finish_run

if TYPE_CHECKING:
    from tacit.reproduce.xfp import XfpCell


def reproduce_nfsp(scale: str, folder: Path, picture: Path, seed: int) -> tuple[dict[str, Any], Callable[[], None]]:
    """Trains all runs and draws their curves; returns their results and a function that prints them.

    Raises:
      StoppedError: Ctrl-C; everything is kept.
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
        _print_runs(results)
        print_lines(f"plot: {picture}; to train from scratch, remove {folder}")

    return {"results": results, "plot": str(picture)}, show


def _print_runs(results: list[dict[str, Any]]) -> None:
    table = plain_table("NFSP, Figure 1: Leduc", "exploitability", "NashConv", "greedy", "steps", "seconds", "paper")
    for row in results:
        table.add_row(
            row["curve"], f"{row['exploitability']:.4f}", f"{row['nash_conv']:.4f}",
            f"{row['best_response_exploitability']:.3f}", f"{row['steps']:,}", f"{row['training_seconds']:.0f}", row["paper"],
        )  # fmt: skip
    printer().print(table)
    printer().print("exact, of the average strategies (NashConv / 2, the paper's unit); greedy: of the highest action values")


def reproduce_xfp(scale: str, picture: Path, seed: int) -> tuple[dict[str, Any], Callable[[], None]]:
    """Draws both figures; returns them and a function that prints them."""
    from tacit.plots import convergence_panels
    from tacit.reproduce.xfp import FIGURES, GAME, PAPER_XFP, claims, run_xfp

    with solves_shown("nfsp-xfp", len({s for levels in FIGURES.values() for s in levels.values()})) as watch:
        cells = run_xfp(scale, seed, watch)
    panels: dict[str, dict[str, Any]] = {}
    for cell in cells:
        panels.setdefault(cell.figure, {})[f"{cell.figure.partition(': ')[2]} {cell.level}"] = cell.result.curve
    convergence_panels(panels, "XFP in Leduc (NFSP, Figure 3; levels are ours)", picture)
    found = claims(cells)
    report = {
        "game": GAME,
        "results": [
            {**cell.result.summary(), "figure": cell.figure, "level": cell.level, "reached": cell.reached} for cell in cells
        ],
        "paper_xfp": {"iterations": PAPER_XFP[0], "exploitability": PAPER_XFP[1]},
        "claims": [{"claim": claim, "holds": holds} for claim, holds in found.items()],
        "plot": str(picture),
    }
    return report, lambda: _print_levels(cells, found, picture)


def _print_levels(cells: list[XfpCell], found: dict[str, bool], picture: Path) -> None:
    from tacit.reproduce.xfp import FIGURES, PAPER_XFP

    (when, published), iterations = PAPER_XFP, list(cells[0].reached)
    for figure in FIGURES:
        table = plain_table(f"{figure}, exploitability after", *(f"{t:,}" for t in iterations))
        for cell in (cell for cell in cells if cell.figure == figure):
            table.add_row(cell.level, *(f"{number:.4f}" for number in cell.reached.values()))
            if cell.result.solver == "xfp":
                paper = (f"{published:.2f}, around" if t == when else "" for t in iterations)
                table.add_row("  published (NFSP, section 4.1)", *paper, style="dim")
        printer().print(table)
    print_lines(
        "The paper says of its curves, whose values and levels are not in its text:",
        *(f"  {'holds here' if holds else 'NOT so here':<12} {claim}" for claim, holds in found.items()),
        f"exact, after iterations of both players at once; plot: {picture}",
    )
