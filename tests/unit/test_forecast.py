"""Learning-curve forecasts: `benchmarks/forecast.py` recovers known curves, and reports what it would have predicted."""

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.forecast import fit, read, report

SECONDS = np.array([20.0, 50.0, 100.0, 180.0, 300.0, 400.0, 500.0])
HALVES = np.full(7, 30.0)


def curve(seconds: float) -> float:
    return -200.0 - 20_000.0 * seconds**-0.8


def test_a_curve_is_found_and_goes_on() -> None:
    found = fit(SECONDS, np.array([curve(t) for t in SECONDS]), HALVES)
    assert found.limit == pytest.approx(-200.0, abs=5.0)
    assert found.at(2_000.0) == pytest.approx(curve(2_000.0), abs=5.0)
    assert found.error < 0.05


def test_noise_moves_a_forecast_by_less_than_it_is_worth() -> None:
    """Exact evaluations weigh more than noisy ones."""
    noise, halves = np.random.default_rng(0).normal(0.0, 15.0, 7), HALVES.copy()
    noise[3], halves[3] = 500.0, 1_000.0
    found = fit(SECONDS, np.array([curve(t) for t in SECONDS]) + noise, halves)
    assert found.at(800.0) == pytest.approx(curve(800.0), abs=60.0)


def test_three_evaluations_are_too_few() -> None:
    with pytest.raises(ValueError, match="takes 4"):
        fit(SECONDS[:3], SECONDS[:3], HALVES[:3])


def test_runs_are_read_and_forecasts_are_checked_on_the_run_itself(tmp_path: Path) -> None:
    lines: list[dict[str, float | None]] = [{"seconds": 10.0, "pot_odds": None}]
    lines += [{"seconds": float(t), "pot_odds": curve(t), "pot_odds_half": 30.0} for t in SECONDS]
    (tmp_path / "metrics.jsonl").write_text("\n".join(map(json.dumps, lines)))
    evaluations = read(tmp_path, "pot_odds")
    np.testing.assert_array_equal(evaluations[0], SECONDS)
    said = report(*evaluations, [1_000.0])
    assert said[1].startswith("after 1,000 s: ")
    assert float(said[1].split()[-1]) == pytest.approx(curve(1_000.0), abs=3.0)
    assert said[2].startswith("what the first 5 evaluations said of the last: ")
    assert float(said[2].split()[-1]) == pytest.approx(curve(500.0), abs=5.0)
