"""The picture of a comparison: exploitability over time, each line labelled where it ends."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.comparison.entrants import FAMILIES, YOURS, family_of
from tacit.plots import house_pyplot, save_figure, wrapped_name

if TYPE_CHECKING:
    from tacit.comparison.result import Comparison

COLORS = {"tabular": "tab:blue", "sampling": "tab:green", "learning": "tab:orange", "search": "tab:purple", YOURS: "tab:red"}
"""The colour of each family's lines."""
STYLES = ("-", "--", "-.", ":")
"""Line styles, which the systems of a family take in turn."""
FLOOR = 1e-10
"""Lower figures are drawn at this height, because they are rounding errors."""
LINE_HEIGHT = 0.043
"""The least distance between two labels, as a share of the axis."""


def draw(comparison: Comparison, path: str | Path) -> None:
    """Draws exploitability over seconds, log-log, with a band over the seeds of each system."""
    pyplot = house_pyplot()
    figure, axis = pyplot.subplots(figsize=(8.6, 6.2))
    curves, members = comparison.curves(), dict.fromkeys((*FAMILIES, YOURS), 0)
    ends: list[tuple[str, str, float, float]] = []
    for name, points in curves.items():
        family = family_of(name)
        style, color = STYLES[members[family] % len(STYLES)], COLORS[family]
        members[family] += 1
        shown = [(seconds, [max(figure, FLOOR) for figure in figures]) for seconds, figures in points if seconds > 0.0]
        if not shown:
            continue
        times, means = [seconds for seconds, _ in shown], [sum(figures) / len(figures) for _, figures in shown]
        axis.plot(times, means, style, color=color, linewidth=1.2, marker="." if len(times) < 30 else "", markersize=4)
        low, high = [min(figures) for _, figures in shown], [max(figures) for _, figures in shown]
        axis.fill_between(times, low, high, color=color, alpha=0.12, linewidth=0)
        bound = {"exact": "", "upper bound": " (at most)", "lower bound": " (at least)"}[_kind(comparison, name)]
        ends.append((f"{name}{bound}", color, times[-1], means[-1]))
    axis.set(
        xscale="log", yscale="log", xlabel="seconds of work on one core", ylabel="exploitability",
        title=f"{wrapped_name(comparison.game)}: {comparison.seconds:g} s for each system",
    )  # fmt: skip
    axis.axvline(comparison.seconds, color="grey", linewidth=0.8, linestyle=":")
    axis.grid(True, which="major", alpha=0.3)
    _label_ends(axis, ends)
    present = [family for family, count in members.items() if count]
    axis.legend(
        [pyplot.Line2D([], [], color=COLORS[family]) for family in present], present,
        fontsize=8, frameon=False, loc="lower left",
    )  # fmt: skip
    save_figure(figure, path)


def spread(places: Sequence[float], least: float, top: float = 1.0) -> list[float]:
    """Returns places moved apart so that neighbours are at least `least` from each other.

    Places that are too close stay centred on their mean, unless they would pass the top.

    Args:
      places: the places, in ascending order.
      least: the least distance between neighbours.
      top: the highest place allowed.
    """
    blocks: list[tuple[float, int]] = []  # centre and size of each group of touching labels
    for place in places:
        centre, count = place, 1
        while blocks and centre - 0.5 * (count - 1) * least < blocks[-1][0] + 0.5 * (blocks[-1][1] + 1) * least:
            before, size = blocks.pop()
            centre, count = (before * size + centre * count) / (size + count), size + count
        blocks.append((centre, count))
    apart = [centre + (number - 0.5 * (count - 1)) * least for centre, count in blocks for number in range(count)]
    for number in reversed(range(len(apart))):
        apart[number] = min(apart[number], top if number == len(apart) - 1 else apart[number + 1] - least)
    return apart


def _label_ends(axis: Any, ends: Sequence[tuple[str, str, float, float]]) -> None:
    """Writes the name of each line beside the axis, as level with the line's end as the other labels allow."""
    in_axes = axis.transData + axis.transAxes.inverted()
    levels = [float(in_axes.transform(end[2:])[1]) for end in ends]
    upwards = sorted(range(len(ends)), key=levels.__getitem__)
    for number, height in zip(upwards, spread(sorted(levels), LINE_HEIGHT), strict=True):
        label, color, seconds, figure = ends[number]
        axis.annotate(
            label, (seconds, figure), (1.03, height), textcoords="axes fraction", color=color, fontsize=8, va="center",
            arrowprops={"arrowstyle": "-", "color": color, "linewidth": 0.5, "alpha": 0.6, "relpos": (0.0, 0.5), "shrinkA": 1},
            annotation_clip=False,
        )  # fmt: skip


def _kind(comparison: Comparison, name: str) -> str:
    return next(run.kind for run in comparison.runs if run.system == name and run.marks)
