"""`tacit reproduce nfsp-xfp`: the robustness of XFP, printed and drawn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli.common import printer, solves_shown

if TYPE_CHECKING:
    from tacit.reproduce.xfp import Claim, XfpCell


def reproduce_xfp(scale: str, picture: Path, seed: int) -> tuple[dict[str, Any], Callable[[], None]]:
    """Returns both figures, after drawing them, and what prints them."""
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
        "claims": [{"claim": claim.text, "holds": claim.holds} for claim in found],
        "plot": str(picture),
    }
    return report, lambda: _print(cells, found, picture)


def _print(cells: list[XfpCell], found: list[Claim], picture: Path) -> None:
    from rich.table import Table

    from tacit.reproduce.xfp import FIGURES, PAPER_XFP

    console, (when, published) = printer(), PAPER_XFP
    iterations = list(cells[0].reached)
    for figure in FIGURES:
        table = Table(f"{figure}, exploitability after", *(f"{t:,}" for t in iterations), box=None, header_style="bold")
        for cell in (cell for cell in cells if cell.figure == figure):
            table.add_row(cell.level, *(f"{number:.4f}" for number in cell.reached.values()))
            if cell.result.solver == "xfp":
                said_there = (f"{published:.2f}, around" if t == when else "" for t in iterations)
                table.add_row("  published (NFSP, section 4.1)", *said_there, style="dim")
        console.print(table)
    console.print("The paper says of its curves, whose values and levels are not in its text:")
    for claim in found:
        console.print(f"  {'holds here' if claim.holds else 'NOT so here':<12} {claim.text}", soft_wrap=True)
    console.print(f"exact, after iterations of both players at once; plot: {picture}", soft_wrap=True)
