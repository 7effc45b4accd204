"""The picture of a comparison: all systems over time, one colour map for each family."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tacit.comparison.entrants import FAMILIES, YOURS, family_of
from tacit.plots import house_pyplot, save_figure, wrapped_name

if TYPE_CHECKING:
    from tacit.comparison.result import Comparison

LOOKS = {
    "tabular": ("Blues", "-"),
    "sampling": ("Greens", "--"),
    "learning": ("Oranges", "-."),
    "search": ("Purples", "-"),
    YOURS: ("Reds", ":"),
}
"""The colour map and the line style of each family."""


def draw(comparison: Comparison, path: str | Path) -> None:
    """Draws exploitability over seconds into a file, log-log; the legend has the same order as the lines' ends."""
    pyplot = house_pyplot()
    figure, axis = pyplot.subplots(figsize=(8.6, 4.8))
    curves = comparison.curves()
    members = {family: [name for name in curves if family_of(name) == family] for family in (*FAMILIES, YOURS)}
    for name, points in reversed(curves.items()):
        family = family_of(name)
        colors, style = LOOKS[family]
        place, count = members[family].index(name), len(members[family])
        color = pyplot.get_cmap(colors)(0.95 - 0.55 * place / max(1, count - 1))
        shown = [(seconds, figures) for seconds, figures in points if seconds > 0.0 and min(figures) > 0.0]
        times, means = [seconds for seconds, _ in shown], [sum(figures) / len(figures) for _, figures in shown]
        kept = {"exact": "", "upper bound": " (at most)", "lower bound": " (at least)"}[_kind(comparison, name)]
        axis.plot(times, means, style, color=color, label=f"{name}{kept}", marker="." if len(times) < 30 else "", markersize=5)
        axis.fill_between(times, [min(f) for _, f in shown], [max(f) for _, f in shown], color=color, alpha=0.15, linewidth=0)
    axis.set(
        xscale="log", yscale="log", xlabel="seconds of work on one core", ylabel="exploitability",
        title=f"{wrapped_name(comparison.game)}: {comparison.seconds:g} s for each system",
    )  # fmt: skip
    axis.axvline(comparison.seconds, color="grey", linewidth=0.8, linestyle=":")
    axis.grid(True, which="major", alpha=0.3)
    axis.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    save_figure(figure, path)


def _kind(comparison: Comparison, name: str) -> str:
    return next(run.kind for run in comparison.runs if run.system == name and run.marks)
