"""The figures of the reproduction of Student of Games: `tacit reproduce sog-leduc` (Figure 2)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli.common import logger, plain_table, print_lines, printer
from tacit.cli.looks import find_system
from tacit.cli.train import finish_run

if TYPE_CHECKING:
    from tacit.reproduce.sog_leduc import LeducPoint


def reproduce_sog_leduc(scale: str, folder: Path, picture: Path, seed: int) -> tuple[dict[str, Any], Callable[[], None]]:
    """Returns the points of all curves, after drawing them, and what prints them.

    Raises:
      StoppedError: by Ctrl-C; everything is kept.
    """
    from tacit.games import load_game
    from tacit.plots import spread_panels
    from tacit.reproduce.sog_leduc import GAME, judge_leduc, leduc_jobs, untrained_points

    jobs, game = leduc_jobs(scale, folder, seed), load_game(GAME)
    for number, job in enumerate(jobs, 1):
        look = find_system(job.folder.system.name, game)[1]
        title = f"{job.protocol} settings, {job.curve}, {job.iterations} iterations, seed {job.seed}"
        finish_run(job.folder, GAME, job.config, "cpu", look, f"{title} (run {number} of {len(jobs)})")
    points = untrained_points(scale, seed, lambda done, whole: logger().print(f"untrained points: {done} of {whole}"))
    points += judge_leduc(jobs)
    panels: dict[str, dict[str, list[tuple[float, list[float]]]]] = {}
    for point in points:
        curves = panels.setdefault(f"{point.protocol} settings", {})
        curves.setdefault(point.curve, []).append((point.iterations, point.figures))
    spread_panels(panels, "CFR iterations", "exploitability, thousandths of the ante (exact)", picture)

    def show() -> None:
        _print_points(points)
        print_lines(f"plot: {picture}; to train anew, remove {folder}")

    return {"game": GAME, "results": [point.summary() for point in points], "plot": str(picture)}, show


def _print_points(points: list[LeducPoint]) -> None:
    from tacit.reproduce.sog_leduc import PROTOCOLS, PUBLIC_CODE, PUBLIC_ITERATIONS

    iterations = sorted({point.iterations for point in points})
    for protocol in PROTOCOLS:
        table = plain_table(f"pot-limit Leduc, {protocol} settings", *(f"{number:,}" for number in iterations))
        found = {(point.curve, point.iterations): point for point in points if point.protocol == protocol}
        for curve in dict.fromkeys(name for name, _ in found):
            cells = [found.get((curve, number)) for number in iterations]
            table.add_row(curve, *("" if cell is None else f"{cell.mean:.3g}" for cell in cells))
            if any(cell is not None and len(cell.figures) > 1 for cell in cells):
                spread = ("" if c is None else f"{min(c.figures):.3g} to {max(c.figures):.3g}" for c in cells)
                table.add_row("  over seeds", *spread, style="dim")
            if curve in PUBLIC_CODE and PUBLIC_ITERATIONS in iterations:
                as_is, corrected = PUBLIC_CODE[curve]
                said = (f"{as_is} / {corrected}" if number == PUBLIC_ITERATIONS else "" for number in iterations)
                table.add_row("  public code as it is / corrected", *said, style="dim")
        printer().print(table)
    print_lines("exploitability of continual re-solving in thousandths of the ante, exact, by iterations of every search")
