"""The picture of how cost grows with size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from tacit.bench.growth import CostGrowth
from tacit.plots import house_pyplot, save_figure


def growth_panels(growths: Sequence[CostGrowth], path: str | Path) -> None:
    """Draws time and memory against each size, log-log, as multiples of those at the smallest size.

    Points are measured, solid lines are fitted to them, and dashed lines have the expected slopes.
    """
    from matplotlib.ticker import LogLocator

    pyplot = house_pyplot()
    figure, axes = pyplot.subplots(2, 4, figsize=(12, 6))
    for axis, growth in zip(axes.flat, growths, strict=False):
        sizes = growth.seconds.sizes
        # Where both grow alike, the squares surround the circles.
        looks = {"color": "C0", "markersize": 4}, {"color": "C1", "markersize": 8, "markerfacecolor": "none"}
        for name, trend, marker, look in zip(("time", "memory"), (growth.seconds, growth.num_bytes), "os", looks, strict=True):
            relative = [cost / trend.costs[0] for cost in trend.costs]
            axis.loglog(sizes, relative, marker, label=f"{name}, measured", **look)
            if trend.line is not None:
                slope, constant = trend.line
                fitted = [math.exp(constant) * size**slope / trend.costs[0] for size in sizes]
                expected = [(size / sizes[0]) ** trend.expected for size in sizes]
                axis.loglog(sizes, fitted, color=look["color"], linewidth=1, label=f"{name}, fitted")
                axis.loglog(sizes, expected, color=look["color"], linewidth=1, linestyle="--", label=f"{name}, expected")
        axis.set_title(f"{growth.name}\ntime {growth.seconds.slopes}, memory {growth.num_bytes.slopes}", fontsize=9)
        axis.set_xlabel(growth.counted)
        axis.set_xticks(sizes, [f"{size:,}" for size in sizes], fontsize=7)
        axis.minorticks_off()
        if axis.get_ylim()[1] < 10:
            axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
        axis.grid(True, alpha=0.3)
    for axis in axes[:, 0]:
        axis.set_ylabel("times that of the smallest size")
    handles, labels = axes.flat[0].get_legend_handles_labels()
    for axis in axes.flat[len(growths) :]:
        axis.axis("off")
        axis.legend(handles, labels, loc="center", frameon=False)
    figure.suptitle("How cost grows: fitted slopes, the expected ones in brackets")
    save_figure(figure, path)
