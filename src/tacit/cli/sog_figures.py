"""The figures of the reproduction of Student of Games: `tacit reproduce sog-leduc` (Figure 2), `sog-tplo` (3, 4, Table III)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli.common import plain_table, print_lines, printer, progress_monitor
from tacit.cli.looks import find_system
from tacit.cli.session import finish_run

if TYPE_CHECKING:
    from tacit.artifacts.base import Monitor
    from tacit.reproduce.sog_leduc import LeducPoint
    from tacit.reproduce.sog_tplo import TploRun
    from tacit.sog.train import SogProgress


def reproduce_sog_leduc(scale: str, folder: Path, picture: Path, seed: int) -> tuple[dict[str, Any], Callable[[], None]]:
    """Draws all curves; returns their points and a function that prints them.

    Raises:
      StoppedError: Ctrl-C; everything is kept.
    """
    from tacit.games import load_game
    from tacit.plots import spread_panels
    from tacit.reproduce.sog_leduc import GAME, judge_leduc, leduc_jobs, untrained_points

    jobs, game = leduc_jobs(scale, folder, seed), load_game(GAME)
    for number, job in enumerate(jobs, 1):
        look = find_system(job.folder.system.name, game)[1]
        title = f"{job.protocol} settings, {job.curve}, {job.iterations} iterations, seed {job.seed}"
        finish_run(job.folder, GAME, job.config, "cpu", look, f"{title} (run {number} of {len(jobs)})")
    with progress_monitor() as monitor:
        points = untrained_points(scale, seed, lambda done, whole: monitor.step("untrained", done, whole, "points"))
        points += judge_leduc(jobs, monitor)
    panels: dict[str, dict[str, list[tuple[float, list[float]]]]] = {}
    for point in points:
        curves = panels.setdefault(f"{point.protocol} settings", {})
        curves.setdefault(point.curve, []).append((point.iterations, point.figures))
    spread_panels(panels, "CFR iterations", "exploitability, thousandths of the ante (exact)", picture)

    def show() -> None:
        _print_points(points)
        print_lines(f"plot: {picture}; to train from scratch, remove {folder}")

    return {"game": GAME, "results": [point.summary() for point in points], "plot": str(picture)}, show


def _print_points(points: list[LeducPoint]) -> None:
    from tacit.reproduce.sog_leduc import PROTOCOLS, PUBLIC_CODE, PUBLIC_ITERATIONS

    iterations = sorted({point.iterations for point in points})
    for protocol in PROTOCOLS:
        table = plain_table(f"pot-limit Leduc, {protocol} settings", *(f"{number:,}" for number in iterations))
        by_curve = {(point.curve, point.iterations): point for point in points if point.protocol == protocol}
        for curve in dict.fromkeys(name for name, _ in by_curve):
            cells = [by_curve.get((curve, number)) for number in iterations]
            table.add_row(curve, *("" if cell is None else f"{cell.mean:.3g}" for cell in cells))
            if any(cell is not None and len(cell.figures) > 1 for cell in cells):
                spread = ("" if c is None else f"{min(c.figures):.3g} to {max(c.figures):.3g}" for c in cells)
                table.add_row("  over seeds", *spread, style="dim")
            if curve in PUBLIC_CODE and PUBLIC_ITERATIONS in iterations:
                as_is, corrected = PUBLIC_CODE[curve]
                published = (f"{as_is} / {corrected}" if number == PUBLIC_ITERATIONS else "" for number in iterations)
                table.add_row("  public code as it is / corrected", *published, style="dim")
        printer().print(table)
    print_lines("exploitability of continual re-solving in thousandths of the ante, exact, by iterations of every search")


def reproduce_sog_tplo(scale: str, folder: Path, picture: Path, seed: int) -> tuple[dict[str, Any], Callable[[], None]]:
    """Draws the results of the games with one, two and three hidden cards; returns them and a function that prints them.

    Raises:
      StoppedError: Ctrl-C; everything is kept.
    """
    from torch.cuda import is_available

    from tacit.games import load_game
    from tacit.kernels import check_backend
    from tacit.plots import cycle_panels
    from tacit.reproduce.sog_tplo import SCALES, judge_tplo, tplo_runs

    runs, device = tplo_runs(scale, folder, seed), SCALES[scale].device
    if not all(run.finished for run in runs):
        check_backend("torch", device)
    elif not is_available():
        device = "cpu"  # runs trained on another machine can be evaluated on this one
    results = []
    for run in runs:
        if not run.finished:
            look = find_system("sog", load_game(run.game))[1]
            finish_run(run.folder, run.game, run.config, device, look, run.game, partial(_keep, run))
        with progress_monitor() as monitor:
            watch = partial(_show_policy, monitor, run.game)
            results.append(judge_tplo(run, scale, seed, device, watch))
    labels = {f"{row['cards']} hidden card{'s' * (row['cards'] > 1)}": row for row in results}
    cycle_panels(
        {
            "validation loss": {label: row["validation_loss"] for label, row in labels.items()},
            "mean squared change of the root's policy": {label: row["policy_change"] for label, row in labels.items()},
        },
        picture,
    )

    def show() -> None:
        _print_tplo(results)
        print_lines(f"plot: {picture}; to train from scratch, remove {folder}")

    return {"results": results, "plot": str(picture)}, show


def _keep(run: TploRun, now: SogProgress) -> None:
    run.keep(now.epoch)


def _show_policy(monitor: Monitor, game: str, name: str, done: int) -> None:
    monitor.step(f"{game}, network after {name}", done, unit="searches", note="re-solving at all decisions of the game")


def _print_tplo(results: list[dict[str, Any]]) -> None:
    from tacit.reproduce.sog_tplo import PAPER_TABLE, PAPER_TIMES

    table = plain_table("TPLO, final network against (mbb/g)", *(f"{row['cards']} hidden" for row in results))
    for number, opponent in enumerate(PAPER_TABLE[1]):
        rates = [row["win_rates"][number] if row["win_rates"] else None for row in results]
        table.add_row(f"{opponent}: sampled", *(f"{r['sampled']:.0f} +- {r['margin']:.0f}" if r else "" for r in rates))
        table.add_row("  exact", *(f"{rate['exact']:.1f}" if rate else "" for rate in rates))
        paper = (PAPER_TABLE[row["cards"]][opponent] for row in results)
        table.add_row("  published (Table III)", *(f"{mean} +- {half}" for mean, half in paper), style="dim")
    judged = (f"{row['exploitability_mbb']:.0f}" if row["exploitability"] is not None else "" for row in results)
    table.add_row("exploitability (mbb/g), exact", *judged)
    first = results[0]["training_seconds"]
    table.add_row(
        "training time", *(f"{row['training_seconds'] / first:.2f} ({row['training_seconds']:.0f} s)" for row in results)
    )
    table.add_row("  published", *(f"{PAPER_TIMES[row['cards']]:.2f}" for row in results), style="dim")
    printer().print(table)
    print_lines("sampled: imaginary observations, 95 % intervals; exact: over all games of both policies, both seats")
