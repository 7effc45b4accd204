"""`tacit bench growth`: slopes of known power laws, byte counts that tracemalloc confirms, and figures for every size."""

from __future__ import annotations

import gc
import json
import tracemalloc
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch

from tacit.bench import growth, growth_cases
from tacit.bench.growth import Trend, array_bytes, power_law, shortest_seconds
from tacit.bench.growth_cases import QUESTIONS, Case, Question, WideKuhn, thread_counts
from tacit.games import load_game
from tacit.kernels.numba_hands import HandPasses
from tacit.solvers.driver import Driver
from tacit.threads import at_most, num_threads
from tacit.tree.compiler import compile_game
from tests.command import tacit


@pytest.mark.parametrize("slope", [-1.0, 0.0, 0.5, 1.0, 2.0])
def test_known_powers_are_found(slope: float) -> None:
    sizes = (1, 3, 10, 500)
    line = power_law(sizes, [7.0 * size**slope for size in sizes])
    assert line is not None
    assert line == pytest.approx((slope, np.log(7.0)))


def test_noise_is_averaged_by_least_squares() -> None:
    # At logarithms 0, 1, 2, residuals of +1, -2, +1 do not change the best slope.
    sizes, noise = np.exp([0.0, 1.0, 2.0]), np.exp([1.0, -2.0, 1.0])
    line = power_law(list(sizes), list(sizes**2 * noise))
    assert line is not None
    assert line[0] == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("costs", "expected", "words"),
    [
        ((5.0, 10.0, 20.0), 1, "linear"),
        ((5.0, 5.0, 5.0), 0, "constant"),
        ((5.0, 5.0, 5.0), 1, "flatter than linear"),
        ((5.0, 20.0, 80.0), 1, "steeper than linear"),
        ((5.0, 2.5, 1.25), -1, "inverse"),
        ((5.0, 4.5, 4.0), -1, "flatter than inverse"),
        ((5.0, 10.0, 20.0), 0, "not constant"),
    ],
)
def test_slopes_are_told_in_words(costs: tuple[float, ...], expected: int, words: str) -> None:
    assert Trend((1, 2, 4), costs, expected).words == words


def test_one_size_has_no_slope() -> None:
    trend = Trend((4,), (1.0,), -1)
    assert (trend.slope, trend.slopes, trend.words) == (None, "-", "one size only")


def test_every_block_of_memory_counts_once() -> None:
    array, tensor = np.zeros(100), torch.zeros(50)
    holder = {"views": [array[10:], array[::2].reshape(5, 10)], "same": (torch.from_numpy(array), array), "other": tensor[3:]}
    assert array_bytes(holder) == 800 + 200
    assert array_bytes(holder, shared=[array[:1]]) == 200
    assert array_bytes(None) == 0


def test_the_bytes_of_a_solve_are_those_that_were_allocated() -> None:
    tree_before = compile_game(load_game("kuhn_poker"))  # so that nothing below is created for the first time
    growth_cases._solving(tree_before, 1).call()
    gc.collect()
    tracemalloc.start()
    try:
        holder = growth_cases._game_size(4).call()
        gc.collect()
        only_arrays = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)
        traces = tracemalloc.take_snapshot().filter_traces([only_arrays]).traces
        allocated = sum(trace.size for trace in traces)
    finally:
        tracemalloc.stop()
    assert array_bytes(holder) == pytest.approx(allocated, rel=0.01)


def test_the_shortest_call_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    now, lengths = [0.0], iter([5.0, 2.0, 3.0, 4.0])
    monkeypatch.setattr("time.perf_counter", lambda: now[0])

    def call() -> None:
        now[0] += next(lengths)

    assert shortest_seconds(call, 8.0) == 2.0  # three calls take longer than the window
    assert next(lengths) == 4.0


def test_costs_are_those_of_an_iteration_at_the_size_of_the_case(monkeypatch: pytest.MonkeyPatch) -> None:
    now, watched = [0.0], []

    def make(number: int) -> Case:
        def call() -> object:
            now[0] += 12.0 * number
            return np.zeros(number)

        return Case(10 * number, call, 4)

    question = Question("dials", "turns", "turning", 1, 1, lambda: (1, 2, 4), make)
    monkeypatch.setattr(growth, "QUESTIONS", (question,))
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    (found,) = growth.measure(1.0, False, watched.append)
    assert found.seconds == Trend([10, 20, 40], [3.0, 6.0, 12.0], 1)
    assert found.num_bytes == Trend([10, 20, 40], [8.0, 16.0, 32.0], 1)
    assert watched == ["dials: 1", "dials: 2", "dials: 4"]
    assert (growth.count_cases(False), growth.count_cases(True)) == (3, 2)


def test_wide_kuhn_with_three_cards_is_kuhn_poker() -> None:
    wide, known = compile_game(WideKuhn(3)), compile_game(load_game("kuhn_poker"))
    np.testing.assert_array_equal(wide.payoff, known.payoff)
    np.testing.assert_array_equal(wide.entry_start, known.entry_start)
    assert compile_game(WideKuhn(5)).num_infostates == 20


def test_threads_are_asked_for_in_powers_of_two(monkeypatch: pytest.MonkeyPatch) -> None:
    for most, counts in ((1, (1,)), (2, (1, 2)), (6, (1, 2, 4, 6)), (8, (1, 2, 4, 8))):
        monkeypatch.setattr(growth_cases, "num_threads", lambda most=most: most)
        assert thread_counts() == counts


def test_passes_use_as_many_threads_as_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    most = num_threads()
    with at_most(1):  # as `measure` does
        for count in (1, most):
            driver = growth_cases._threads(count).call()
            assert isinstance(driver, Driver)
            assert isinstance(driver.passes, HandPasses)
            assert driver.passes._streams.members == count


def test_the_command_measures_every_size_and_draws(tmp_path: Path) -> None:
    result = tacit("bench", "growth", "--quick", "--seconds", "0.01", "--out", str(tmp_path), "--json")
    report = json.loads(result.stdout)
    assert Path(report["picture"]).read_bytes().startswith(b"\x89PNG")
    assert [found["name"] for found in report["results"]] == [question.name for question in QUESTIONS]
    expected = {"iterations": (1, 0), "private states": (2, 2), "threads": (-1, 0)}
    for found, question in zip(report["results"], QUESTIONS, strict=True):
        time, memory = found["time"], found["memory"]
        assert (found["counted"], found["work"]) == (question.counted, question.work)
        assert (time["expected"], memory["expected"]) == expected.get(found["name"], (1, 1))
        assert len(found["sizes"]) == len(time["seconds"]) == len(memory["bytes"]) == min(2, len(question.sizes()))
        assert all(small < large for small, large in pairwise(found["sizes"]))
        assert all(0.0 < seconds < 10.0 for seconds in time["seconds"])
        assert all(number > 1_000 for number in memory["bytes"])
        assert (time["slope"] is None) == (len(found["sizes"]) == 1)
    memory = {found["name"]: found["memory"]["bytes"] for found in report["results"]}
    assert memory["iterations"][0] == memory["iterations"][1]
    assert memory["batch"][1] == pytest.approx(4 * memory["batch"][0], rel=0.1)


def test_the_table_has_a_line_for_every_size(tmp_path: Path) -> None:
    result = tacit("bench", "growth", "--quick", "--seconds", "0.001", "--out", str(tmp_path))
    for question in QUESTIONS:
        assert f"{question.name}: {question.work}, by {question.counted}" in result.stdout
    assert "constant" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("tabular", "--quick"), "--quick and --out are for growth"),
        (("nfsp", "--out", "pictures"), "--quick and --out are for growth"),
        (("growth", "--games", "kuhn_poker"), "--games is for tabular"),
    ],
)
def test_options_of_other_benchmarks_are_refused(arguments: tuple[str, ...], said: str) -> None:
    result = tacit("bench", *arguments)
    assert result.returncode == 2
    assert said in result.stderr
