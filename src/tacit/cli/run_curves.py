"""Runs side by side: the settings that differ, and exploitability over seconds as a table and a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli.common import plain_table, print_lines, printer
from tacit.errors import TacitError

if TYPE_CHECKING:
    from tacit.training.listing import KnownRun

Curves = dict[str, list[tuple[float, float]]]
"""Points (seconds of training, exploitability) by the name of a run."""


def figure_kind(run: KnownRun) -> str:
    """Returns the kind of a run's figures: exact, sampled or a bound."""
    from tacit.cli.looks import kind_of

    kinds = [epoch["kind"] for epoch in run.evaluated() if epoch.get("kind")]
    return str(kinds[-1]) if kinds else kind_of(run.system)


def short_names(found: list[KnownRun]) -> list[str]:
    """Returns the names of the runs' folders, or their paths if two names are the same."""
    names = [run.path.resolve().name for run in found]
    return names if len(set(names)) == len(names) else [str(run.path) for run in found]


def differing_settings(labels: list[str], found: list[KnownRun]) -> dict[str, dict[str, Any]]:
    """Returns the settings that differ between runs: by the setting's name, its value in each run."""
    settings = [{"system": run.system, **run.settings} for run in found]
    names = dict.fromkeys(name for of_run in settings for name in of_run)
    columns = {name: [of_run.get(name) for of_run in settings] for name in names}
    return {
        name: dict(zip(labels, column, strict=True))
        for name, column in columns.items()
        if any(value != column[0] for value in column)
    }


def print_curves(curves: Curves, kinds: dict[str, str], most: int = 12) -> None:
    """Prints exploitability over seconds: for each time, each run's latest evaluation."""
    times = sorted({seconds for points in curves.values() for seconds, _ in points})
    if not times:
        print_lines("none of them was evaluated on the way")
        return
    shown = [times[round(k * (len(times) - 1) / (most - 1))] for k in range(most)] if len(times) > most else times
    table = plain_table("seconds", *(f"{label} ({kinds[label]})" for label in curves))
    for at in shown:
        latest = [[figure for seconds, figure in points if seconds <= at] for points in curves.values()]
        table.add_row(f"{at:.3g}" if at < 100 else f"{at:,.0f}", *(f"{past[-1]:.4g}" if past else "-" for past in latest))
    printer().print(table)


def draw_curves(curves: Curves, kinds: dict[str, str], game: str, plot: Path) -> None:
    """Draws the curves of runs.

    Raises:
      TacitError: no run was evaluated.
    """
    from tacit.plots import LearningCurve, learning_panels

    drawn = [LearningCurve(label, points) for label, points in curves.items() if points]
    if not drawn:
        raise TacitError("none of these runs was evaluated on the way: there is nothing to draw, leave out --plot")
    learning_panels({game: drawn}, "", plot, " or ".join(dict.fromkeys(kinds.values())))
