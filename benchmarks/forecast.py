"""Fits learning curves and forecasts where they lead.

    python benchmarks/forecast.py RUN [--field pot_odds] [--at 600,1200,3600]

The model of a curve is `limit - scale * seconds ** -power`. For each power, least squares weighted by the evaluations'
intervals gives the other two; the power with the smallest error wins. To test such a forecast, the fit is repeated without the
last third of the evaluations, and its forecast of the last one is printed beside the actual figure.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

POWERS = np.geomspace(0.05, 3.0, 200)
LEAST = 4
"""Fewest evaluations for a fit, which has three parameters."""

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Curve:
    """A learning curve.

    Attributes:
      limit: the value that it approaches.
      scale: how far below the limit it is after one second.
      power: how fast it approaches the limit.
      error: root mean squared distance from the evaluations, in half-widths of their intervals.
    """

    limit: float
    scale: float
    power: float
    error: float

    def at(self, seconds: float) -> float:
        """Returns the curve's value after some seconds."""
        return self.limit - self.scale * seconds**-self.power


def fit(seconds: Numbers, means: Numbers, halves: Numbers) -> Curve:
    """Returns the curve closest to evaluations `[E]` with 95 % intervals of `means` plus and minus `halves`."""
    if len(seconds) < LEAST:
        raise ValueError(f"a fit takes {LEAST} evaluations, not {len(seconds)}")
    best = Curve(0.0, 0.0, 1.0, np.inf)
    for power in POWERS.tolist():
        columns = np.stack([np.ones_like(seconds), -(seconds**-power)], axis=1) / halves[:, None]
        limit, scale = np.linalg.lstsq(columns, means / halves, rcond=None)[0].tolist()
        error = float(np.sqrt(np.mean(np.square(columns @ [limit, scale] - means / halves))))
        if error < best.error:
            best = Curve(limit, scale, power, error)
    return best


def read(run: Path, field: str) -> tuple[Numbers, Numbers, Numbers]:
    """Returns the seconds, means and interval half-widths of a run's evaluations, each `[E]`."""
    epochs = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    judged = [epoch for epoch in epochs if epoch.get(field) is not None]
    columns = ("seconds", field, f"{field}_half")
    seconds, means, halves = (np.array([epoch[name] for epoch in judged], np.float64) for name in columns)
    return seconds, means, halves


def report(seconds: Numbers, means: Numbers, halves: Numbers, at: list[float]) -> list[str]:
    """Returns the forecast in words."""
    curve, first = fit(seconds, means, halves), max(LEAST, len(seconds) - len(seconds) // 3)
    lines = [
        f"{curve.limit:+,.0f} - {curve.scale:,.0f} * seconds ** -{curve.power:.2f}, {curve.error:.1f} half intervals from "
        f"{len(seconds)} evaluations up to {seconds[-1]:,.0f} s, the last {means[-1]:+,.0f} ±{halves[-1]:,.0f}",
        *(f"after {moment:,.0f} s: {curve.at(moment):+,.0f}" for moment in at),
    ]
    if first < len(seconds):
        before = fit(seconds[:first], means[:first], halves[:first])
        lines.append(f"what the first {first} evaluations said of the last: {before.at(seconds[-1]):+,.0f}")
    return lines


def main() -> None:
    """Prints the forecast of a run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("--field", default="pot_odds")
    parser.add_argument("--at", default="600,1200,3600")
    chosen = parser.parse_args()
    evaluations = read(chosen.run, chosen.field)
    print("\n".join(report(*evaluations, [float(part) for part in chosen.at.split(",")])))


if __name__ == "__main__":
    main()
