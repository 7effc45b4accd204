"""Pictures: convergence and learning curves in one house style."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit.errors import TacitError
from tacit.files import write_whole

SUFFIXES = (".png", ".svg", ".pdf")

Curve = Sequence[tuple[int, float, float]]
"""Points of (iteration, seconds, exploitability)."""
Points = Sequence[tuple[float, float]]
"""Points of (seconds, value)."""


def convergence_panels(
    panels: Mapping[str, Mapping[str, Curve]],
    title: str,
    path: str | Path,
    counted: str = "iterations (both players updated)",
) -> None:
    """Saves the figure of `convergence_figure` to a file."""
    save_figure(convergence_figure(panels, title, counted), path)


def convergence_figure(
    panels: Mapping[str, Mapping[str, Curve]], title: str, counted: str = "iterations (both players updated)"
) -> Any:
    """Returns a figure of exploitability against iterations, log-log, panels side by side, one line per solver.

    Each panel has a legend unless earlier ones explain all its lines.

    Args:
      panels: for each panel its curves by solver.
      title: the title above all panels.
      counted: what the horizontal axis counts.
    """
    pyplot = house_pyplot()
    figure, axes = pyplot.subplots(
        1, len(panels), figsize=(5.2 if len(panels) == 1 else 3.6 * len(panels), 3.8), sharey=True, squeeze=False
    )
    explained: set[str] = set()
    for axis, (name, curves) in zip(axes[0], panels.items(), strict=True):
        for label, curve in curves.items():
            shown = [point for point in curve if point[2] > 0]
            axis.loglog(
                [max(point[0], 1) for point in shown], [point[2] for point in shown], label=label, marker=".", markersize=3
            )
        axis.set_title(wrapped_name(name), fontsize=10)
        axis.set_xlabel(counted)
        axis.grid(True, which="major", alpha=0.3)
        if not curves.keys() <= explained:
            axis.legend(fontsize=8, frameon=False)
        explained |= curves.keys()
    axes[0][0].set_ylabel("exploitability (exact)")
    if title:
        figure.suptitle(title)
    pyplot.close(figure)  # the caller draws it; pyplot need not keep it
    return figure


@dataclass(frozen=True)
class LearningCurve:
    """The exploitability of one training run over time.

    Attributes:
      label: The run's name in the legend.
      points: (seconds of training, exploitability) during the run.
      published: The paper's exploitability, drawn as a dashed line.
      final: The exploitability from the evaluation at the end, drawn as a star. It can lie below the curve, whose quick
        evaluations are loose bounds.
    """

    label: str
    points: Sequence[tuple[float, float]]
    published: float | None = None
    final: float | None = None


def learning_panels(
    panels: Mapping[str, Sequence[LearningCurve]], title: str, path: str | Path, kind: str = "upper bound"
) -> None:
    """Saves a plot of exploitability over seconds of training, one panel per game; `kind` says what the numbers are."""
    pyplot = house_pyplot()
    figure, axes = pyplot.subplots(
        1, len(panels), figsize=(5.2 if len(panels) == 1 else 3.6 * len(panels), 3.8), sharey=True, squeeze=False
    )
    for axis, (name, curves) in zip(axes[0], panels.items(), strict=True):
        for curve in curves:
            seconds, exploitability = [point[0] for point in curve.points], [point[1] for point in curve.points]
            (line,) = axis.plot(seconds, exploitability, label=f"{curve.label}, on the way", marker=".", markersize=4)
            if curve.final is not None:
                axis.plot(
                    seconds[-1:], [curve.final], "*", color=line.get_color(), markersize=11, label=f"{curve.label}, at the end"
                )
            if curve.published is not None:
                axis.axhline(
                    curve.published, color=line.get_color(), linestyle="--", linewidth=1, label=f"{curve.label}, published"
                )
        if any(value > 0.0 for curve in curves for _, value in curve.points):  # it is 0 in games where no choice matters
            axis.set_yscale("log")
        axis.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axis.yaxis.set_minor_formatter(lambda value, _: f"{value:g}" if f"{value:e}"[0] in "25" else "")
        axis.set_title(wrapped_name(name), fontsize=10)
        axis.set_xlabel("seconds of training")
        axis.grid(True, which="major", alpha=0.3)
        axis.grid(True, which="minor", axis="y", alpha=0.1)
    axes[0][0].set_ylabel(f"exploitability ({kind})")
    axes[0][0].legend(fontsize=8, frameon=False)
    if title:
        figure.suptitle(title)
    save_figure(figure, path)


def spread_panels(
    panels: Mapping[str, Mapping[str, Sequence[tuple[float, Sequence[float]]]]], below: str, beside: str, path: str | Path
) -> None:
    """Saves a plot of curves with bands, log-log, panels side by side.

    Args:
      panels: for each panel its curves by name; a point is an x and the values of all seeds there.
      below: what the horizontal axis counts.
      beside: what the values are.
      path: the file.
    """
    pyplot = house_pyplot()
    figure, axes = pyplot.subplots(1, len(panels), figsize=(4.6 * len(panels), 3.8), sharey=True, squeeze=False)
    for axis, (name, curves) in zip(axes[0], panels.items(), strict=True):
        for label, points in curves.items():
            x, values = [point[0] for point in points], [point[1] for point in points]
            (line,) = axis.plot(x, [sum(part) / len(part) for part in values], label=label, marker=".", markersize=5)
            low, high = [min(part) for part in values], [max(part) for part in values]
            axis.fill_between(x, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
        axis.set(xscale="log", yscale="log", title=name, xlabel=below)
        axis.grid(True, which="major", alpha=0.3)
        if axis is axes[0][0] or list(curves) != list(next(iter(panels.values()))):  # one legend if all have the same curves
            axis.legend(fontsize=8, frameon=False)
    axes[0][0].set_ylabel(beside)
    save_figure(figure, path)


def seed_curves(curves: Mapping[str, Sequence[tuple[int, Sequence[float]]]], title: str, beside: str, path: str | Path) -> None:
    """Saves a plot of values over epochs: for each combination of settings the mean and the range of its seeds.

    Args:
      curves: for each combination, by name, its points: an epoch and the values of all seeds there.
      title: the title above the picture.
      beside: what the values are.
      path: the file.
    """
    figure, axis = house_pyplot().subplots(figsize=(5.2, 3.8))
    for label, points in curves.items():
        epochs, values = [epoch for epoch, _ in points], [of_seeds for _, of_seeds in points]
        (line,) = axis.plot(epochs, [sum(part) / len(part) for part in values], label=label, marker=".", markersize=4)
        axis.fill_between(epochs, list(map(min, values)), list(map(max, values)), color=line.get_color(), alpha=0.2)
    if all(value > 0.0 for points in curves.values() for _, values in points for value in values):
        axis.set_yscale("log")
        for set_formatter in (axis.yaxis.set_major_formatter, axis.yaxis.set_minor_formatter):
            set_formatter(lambda value, _: f"{value:.3g}")
    axis.xaxis.get_major_locator().set_params(integer=True)
    axis.set(title=wrapped_name(title), xlabel="epoch", ylabel=f"{beside}, mean and range of seeds")
    axis.grid(True, which="major", alpha=0.3)
    if list(curves) != [""]:
        axis.legend(fontsize=8, frameon=False)
    save_figure(figure, path)


def cycle_panels(panels: Mapping[str, Mapping[str, Sequence[float | None]]], path: str | Path) -> None:
    """Saves a plot of values after each cycle of training, panels side by side, one line per game."""
    pyplot = house_pyplot()
    figure, axes = pyplot.subplots(1, len(panels), figsize=(4.6 * len(panels), 3.6), squeeze=False)
    for axis, (name, curves) in zip(axes[0], panels.items(), strict=True):
        for label, values in curves.items():
            points = [(cycle, value) for cycle, value in enumerate(values, 1) if value]
            axis.plot([cycle for cycle, _ in points], [value for _, value in points], label=label, marker=".", markersize=4)
        axis.set(yscale="log", title=name, xlabel="cycle")
        axis.grid(True, which="major", alpha=0.3)
    axes[0][0].legend(fontsize=8, frameon=False)
    save_figure(figure, path)


def score_panels(losses: Mapping[str, Points], scores: Points, title: str, path: str | Path) -> None:
    """Saves a plot of a board game run's losses and of its mean payoff in evaluations, both over minutes of training."""
    pyplot = house_pyplot()
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.4))
    for name, points in losses.items():
        left.plot([seconds / 60 for seconds, _ in points], [loss for _, loss in points], label=name)
    left.set(xlabel="minutes of training", ylabel="loss")
    left.legend()
    right.plot([seconds / 60 for seconds, _ in scores], [score for _, score in scores], marker="o")
    right.set(xlabel="minutes of training", ylabel="mean payoff against search without a network", ylim=(-1.05, 1.05))
    figure.suptitle(wrapped_name(title))
    save_figure(figure, path)


def error_curves(errors: Mapping[str, Points], title: str, path: str | Path) -> None:
    """Saves a plot of errors of values over minutes of training."""
    pyplot = house_pyplot()
    figure, axis = pyplot.subplots(figsize=(5, 3.4))
    for name, points in errors.items():
        axis.plot([seconds / 60 for seconds, _ in points], [error for _, error in points], label=name)
    axis.set(xlabel="minutes of training", ylabel="mean error, in units of a player's stake", ylim=(0, None), title=title)
    axis.legend()
    save_figure(figure, path)


def wrapped_name(text: str, width: int = 60) -> str:
    """Returns a game's name broken into lines after commas."""
    lines = [""]
    for part in text.split(","):
        if lines[-1] and len(lines[-1]) + len(part) > width:
            lines.append("")
        lines[-1] += part + ","
    return "\n".join(lines).removesuffix(",")


def save_figure(figure: Any, path: str | Path) -> None:
    """Writes a matplotlib figure, whole or not at all, in the format that the file's suffix names, and has pyplot forget it.

    Raises:
      TacitError: the suffix is not one of `SUFFIXES`, or the path cannot be written.
    """
    if not Path(path).name.endswith(SUFFIXES):
        raise TacitError(f"cannot write {path}: the name must end in {', '.join(SUFFIXES)}")
    house_pyplot().close(figure)  # pyplot would keep every figure of a long program
    content = io.BytesIO()
    figure.tight_layout()
    figure.savefig(content, format=Path(path).suffix.removeprefix("."), dpi=150)
    write_whole(path, content.getvalue())


def house_pyplot() -> Any:
    """Returns `matplotlib.pyplot` in the house style; it draws only to files unless a notebook or program has set a backend."""
    import matplotlib

    if "MPLBACKEND" not in os.environ and "matplotlib.pyplot" not in sys.modules:
        matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.rcParams.update({"axes.spines.top": False, "axes.spines.right": False, "font.size": 9})
    return pyplot
