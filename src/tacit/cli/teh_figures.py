"""ReBeL at turn endgame hold'em: `tacit reproduce rebel-teh` (Figures 2 and 5)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli.common import plain_table, print_lines, printer, progress_monitor
from tacit.cli.looks import find_system
from tacit.cli.session import finish_run

if TYPE_CHECKING:
    from tacit.reproduce.rebel_teh import Curve


def reproduce_teh(scale: str, folder: Path, picture: Path, seed: int) -> tuple[dict[str, Any], Callable[[], None]]:
    """Draws all curves; returns them and a function that prints them.

    Raises:
      StoppedError: Ctrl-C; everything is kept.
    """
    from tacit.games import load_game
    from tacit.kernels import check_backend
    from tacit.plots import spread_panels
    from tacit.reproduce.rebel_teh import SCALES, judge_teh, tabular_line, teh_runs

    how, runs = SCALES[scale], teh_runs(scale, folder, seed)
    check_backend("torch", how.device)
    for run in runs:
        look = find_system("rebel", load_game(how.game))[1]
        finish_run(run.folder, how.game, run.config, how.device, look, run.name, lambda _: None)
    with progress_monitor() as monitor:
        tabular = tabular_line(scale, lambda name, done, whole: monitor.step(name, done, whole, "iterations"))
        second, fifth = judge_teh(scale, runs, folder, lambda name, done, whole: monitor.step(name, done, whole, "agents"))
    panels = {
        "where values come from (Figure 2)": _curves([tabular, *second]),
        "how leaves are valued (Figure 5)": _curves([tabular, *fifth]),
    }
    spread_panels(panels, "iterations", "exploitability, chips (exact)", picture)
    pot = load_game(how.game).rules.pot  # type: ignore[attr-defined]
    report = {
        "game": how.game, "pot": pot, "tabular": tabular.points, "figure_2": dict(second), "figure_5": dict(fifth),
        "kind": "exact", "plot": str(picture),
    }  # fmt: skip

    def show() -> None:
        _print_lines(tabular, {"Figure 2, values by": second, "Figure 5, self-play values by": fifth}, pot)
        print_lines(f"plot: {picture}; to train from scratch, remove {folder}")

    return report, show


def _curves(lines: list[Curve]) -> dict[str, list[tuple[float, list[float]]]]:
    return {line.name: [(iterations, [figure]) for iterations, figure in line.points] for line in lines}


def _print_lines(tabular: Curve, figures: dict[str, list[Curve]], pot: int) -> None:
    from tacit.reproduce.rebel_teh import PAPER_ITERATIONS, worth_in_iterations

    for title, lines in figures.items():
        counts = sorted({iterations for line in lines for iterations, _ in line.points})
        table = plain_table(title, *(f"{count:,} iterations" for count in counts), "worth")
        for line in lines:
            figures_at = dict(line.points)
            cells = (f"{100 * figures_at[count] / pot:.2f} %" if count in figures_at else "" for count in counts)
            worth = worth_in_iterations(tabular, min(figures_at.values()))
            table.add_row(line.name, *cells, f"> {tabular.points[-1][0]}" if worth is None else f"{worth:.0f}")
        printer().print(table)
    print_lines(
        "exploitability in percent of the pot, exact; worth: iterations of Linear CFR on the whole game that are as good "
        f"(the paper's networks: about {PAPER_ITERATIONS}; its figures print no numbers)"
    )
