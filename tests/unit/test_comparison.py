"""`tacit compare`: equal time, evaluation off the clock, saved runs, and no system silently missing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import tacit
from tacit.comparison import compare as comparing
from tacit.comparison import work
from tacit.comparison.compare import compare
from tacit.comparison.entrants import DETERMINISTIC, FAMILIES, LEFT_OUT, SOLVERS, SYSTEMS, choose_entrants
from tacit.comparison.kept import KeptRuns
from tacit.comparison.marks import Mark, Run, seed_band
from tacit.comparison.picture import spread
from tacit.comparison.plan import ComparisonPlan, keep_to_one_core
from tacit.comparison.result import Comparison
from tacit.comparison.work import run_system
from tacit.errors import DivergedError, TacitError
from tacit.games import load_game
from tacit.solvers import SCHEDULES
from tacit.solvers.sampling import SAMPLERS
from tacit.training.names import SYSTEMS as TRAINED
from tests.command import tacit as command

KUHN = "kuhn_poker"


class Ticking:
    """A clock that only moves when told to."""

    def __init__(self) -> None:
        self.time = 100.0

    def __call__(self) -> float:
        return self.time


class SlowToJudge:
    """A trainer whose epochs take one second and whose evaluations take ten; its figure is 1 / epoch."""

    def __init__(self, ticking: Ticking, figures: Callable[[int], float | None] = lambda epoch: 1.0 / epoch) -> None:
        self.config = SmallConfig()
        self.epoch, self.seconds, self.finish_by = 0, 0.0, None
        self._ticking, self._figures = ticking, figures

    def run_epoch(self, clock: Callable[[], float]) -> SimpleNamespace:
        began = clock()
        self._ticking.time += 1.0
        self.epoch, self.seconds = self.epoch + 1, self.seconds + clock() - began
        return SimpleNamespace()

    def judged(self, metrics: SimpleNamespace, on_search: Callable[[int], None]) -> SimpleNamespace:
        del metrics, on_search
        self._ticking.time += 10.0
        return SimpleNamespace(exploitability=self._figures(self.epoch), kind="upper bound")


class SmallConfig:
    epochs = 3

    def with_settings(self, settings: dict[str, str]) -> SmallConfig:
        assert settings == {"seed": "7"}
        return self


def use_trainer(monkeypatch: pytest.MonkeyPatch, trainer: SlowToJudge) -> None:
    presets = {"cpu": trainer.config}
    system = SimpleNamespace(presets=presets, trainer=lambda _game, _config, _device: trainer)
    monkeypatch.setattr(work, "find_system", lambda _name, _game: system)
    monkeypatch.setattr(work, "replace", lambda config, **_: config)


def made_run(system: str, *marks: tuple[float, float], seed: int = 0, **facts: Any) -> Run:
    return Run(system, seed, tuple(Mark(seconds, figure, 10) for seconds, figure in marks), **facts)


def test_no_system_is_silently_missing() -> None:
    ours = {*SCHEDULES, *SAMPLERS, "lp", *TRAINED, "continuations"}
    assert ours == {*SYSTEMS, *LEFT_OUT}
    assert not set(SYSTEMS) & set(LEFT_OUT)
    assert set(SOLVERS) == {*SCHEDULES, *SAMPLERS, "lp"}
    assert set(DETERMINISTIC) == {*SCHEDULES, "lp", "continuations"}


def test_families_and_names_are_chosen_once() -> None:
    assert choose_entrants() == SYSTEMS
    assert choose_entrants(["sampling", "vr-mccfr", "lp"]) == (*FAMILIES["sampling"], "lp")
    assert choose_entrants(["own.py:SYSTEM"]) == ("own.py:SYSTEM",)
    with pytest.raises(TacitError, match=r"unknown system 'alphazero': choose from tabular, .*"):
        choose_entrants(["alphazero"])
    with pytest.raises(TacitError, match="tacit match"):
        choose_entrants(["blueprint"])


def test_judging_takes_no_time_and_no_more_of_it_than_work(monkeypatch: pytest.MonkeyPatch) -> None:
    ticking = Ticking()
    trainer = SlowToJudge(ticking)
    use_trainer(monkeypatch, trainer)
    run = run_system("slow", load_game(KUHN), 64.0, seed=7, clock=ticking)
    assert trainer.finish_by == 64.0  # learning rates decay until then
    assert run.kind == "upper bound"
    assert [mark.seconds for mark in run.marks] == [1, 11, 21, 31, 41, 54, 64]  # up to 41 evaluation time sets the gaps
    assert [mark.work for mark in run.marks] == [1, 11, 21, 31, 41, 54, 64]
    assert run.marks[-1].exploitability == pytest.approx(1 / 64)


def test_a_system_that_cannot_be_judged_or_diverges_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    ticking = Ticking()
    use_trainer(monkeypatch, SlowToJudge(ticking, lambda _: None))
    run = run_system("slow", load_game(KUHN), 5.0, seed=7, clock=ticking)
    assert run.marks == ()
    assert (
        run.refused
        == "slow cannot be evaluated by exploitability on kuhn_poker: train it, then use tacit evaluate or tacit match"
    )

    def diverges(_: int) -> float:
        raise DivergedError("the loss is not a number")

    use_trainer(monkeypatch, SlowToJudge(ticking, diverges))
    assert run_system("slow", load_game(KUHN), 5.0, seed=7, clock=ticking).refused == "diverged: the loss is not a number"


@pytest.mark.parametrize("solver", ["cfr", "external-mccfr"])
def test_marks_of_a_solver_are_those_of_solving(solver: str) -> None:
    run = run_system(solver, load_game(KUHN), 0.1, seed=3)
    assert run.marks[-1].seconds >= 0.1
    assert list(run.marks) == sorted(run.marks)
    alone = tacit.solve(KUHN, solver=solver, iterations=run.marks[-1].work, seed=3)
    assert run.marks[-1].exploitability == pytest.approx(alone.exploitability, rel=1e-9)


def test_lp_is_exact_and_is_given_up_when_its_time_is_over() -> None:
    (mark,) = run_system("lp", load_game("leduc_poker"), 60.0).marks
    assert mark.exploitability < 1e-9
    run = run_system("lp", load_game("leduc_poker"), 1e-4)
    assert run.refused == "lp did not solve leduc_poker within 0.0001 s: allow more time, or choose --solver dcfr"


def test_searches_have_their_own_time_and_get_better() -> None:
    run = run_system("continuations", load_game(KUHN), 0.2)
    assert [mark.work for mark in run.marks] == [2 ** (number + 1) for number in range(len(run.marks))]
    assert run.marks[-1].exploitability < 0.1 * run.marks[0].exploitability
    assert all(mark.seconds <= 0.4 for mark in run.marks)


def test_systems_that_do_not_fit_are_told_with_their_reasons() -> None:
    for name in ("deep-cfr", "cfr", "continuations"):
        refused = run_system(name, load_game("connect_four"), 0.1).refused
        assert refused is not None
        assert "connect_four" in refused
    assert run_system("cfr", load_game(KUHN), 0.1, settings={"hidden": "4"}).refused == (
        "cfr has no settings: --set is for systems that train"
    )


def test_a_band_counts_each_seed_with_its_latest_figure() -> None:
    runs = [made_run("nfsp", (1.0, 8.0), (4.0, 2.0)), made_run("nfsp", (2.0, 4.0), (3.0, 1.0), seed=1)]
    band = seed_band(runs)
    assert band[0] == (pytest.approx(2.0), [8.0, 4.0])
    assert band[-1] == (4.0, [2.0, 1.0])
    middle = next(figures for seconds, figures in band if seconds > 3.1)
    assert middle == [8.0, 1.0]
    assert seed_band(runs[:1]) == [(1.0, [8.0]), (4.0, [2.0])]
    assert runs[0].at(0.5) is None


def test_standings_are_means_over_seeds_least_exploitable_first() -> None:
    comparison = Comparison(
        KUHN, 10.0, "cpu",
        (
            made_run("nfsp", (1.0, 8.0), (10.0, 2.0)), made_run("nfsp", (0.5, 6.0), (12.0, 4.0), seed=1),
            made_run("cfr", (0.1, 5.0), (10.0, 1.0)), made_run("lp", refused="too large"),
        ),
    )  # fmt: skip
    first, second = comparison.standings()
    assert (first.system, first.exploitability, first.early, first.family) == ("cfr", 1.0, 5.0, "tabular")
    assert (second.exploitability, second.low, second.high, second.early, second.seeds) == (3.0, 2.0, 4.0, 7.0, 2)
    assert comparison.refused() == {"lp": "too large", **LEFT_OUT}
    assert comparison.rows()[1][-1] == "10 iterations, 12 s"  # it exceeded its time limit, and the table says so
    assert "| nfsp | learning | 3 | 2 to 4 (2 seeds) | 7 | exact |" in comparison.markdown()


def test_labels_keep_their_distance_and_stay_below_the_top() -> None:
    assert spread([0.1, 0.5, 0.9], 0.1) == [0.1, 0.5, 0.9]
    assert spread([0.5, 0.5, 0.5], 0.1) == pytest.approx([0.4, 0.5, 0.6])
    assert spread([0.2, 0.97, 0.99], 0.1) == pytest.approx([0.2, 0.9, 1.0])
    places = spread([0.3, 0.31, 0.36, 0.8], 0.05)
    assert min(after - before for before, after in pairwise(places)) >= 0.05 - 1e-12


def test_a_file_belongs_to_one_plan_system_and_seed(tmp_path: Path) -> None:
    plan = ComparisonPlan(KUHN, 5.0)
    run = made_run("deep-cfr", (1.0, 0.5), seed=2)
    KeptRuns(tmp_path, plan).add(run)
    assert KeptRuns(tmp_path, plan).find("deep-cfr", 2) == run
    others = (
        ComparisonPlan("leduc_poker", 5.0), ComparisonPlan(KUHN, 6.0), ComparisonPlan(KUHN, 5.0, "smoke"),
        ComparisonPlan(KUHN, 5.0, settings={"deep-cfr": {"hidden": "8"}}),
    )  # fmt: skip
    assert all(KeptRuns(tmp_path, other).find("deep-cfr", 2) is None for other in others)
    assert KeptRuns(tmp_path, ComparisonPlan(KUHN, 5.0, settings={"rpg": {"hidden": "8"}})).find("deep-cfr", 2) == run
    assert KeptRuns(tmp_path, plan).find("deep-cfr", 3) is None
    (file,) = (tmp_path / "runs").glob("deep-cfr-*")
    file.write_text("{}")
    with pytest.raises(TacitError, match=r"is damaged: remove it"):
        KeptRuns(tmp_path, plan).find("deep-cfr", 2)


def test_a_comparison_continues_with_the_runs_that_are_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, int]] = []

    def made(_plan: ComparisonPlan, wanted: list[tuple[str, int]], *_: Any) -> Any:
        for system, seed in wanted:
            asked.append((system, seed))
            if len(asked) == 3:
                raise KeyboardInterrupt
            yield made_run(system, (1.0, 0.5), seed=seed)

    monkeypatch.setattr(comparing, "_made", made)

    def again() -> Comparison:
        return compare(KUHN, seconds=1.0, systems=["cfr", "rpg"], seeds=3, seed=5, folder=tmp_path)

    with pytest.raises(KeyboardInterrupt):
        again()
    assert asked == [("cfr", 5), ("rpg", 5), ("rpg", 6)]  # cfr is deterministic: one seed is enough
    comparison = again()
    assert asked[3:] == [("rpg", 6), ("rpg", 7)]
    assert [(run.system, run.seed) for run in comparison.runs] == [("cfr", 5), ("rpg", 5), ("rpg", 6), ("rpg", 7)]
    again()
    assert len(asked) == 5


def test_the_command_compares_in_processes_with_a_core_each(tmp_path: Path) -> None:
    line = ("compare", KUHN, "--time", "0.3s", "--systems", "cfr,outcome-mccfr,rebel", "--seeds", "2", "--preset", "smoke")
    done = command(*line, "--set", "rebel.iterations=8", "--out", str(tmp_path), "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    by_name = {row["system"]: row for row in result["systems"]}
    assert list(by_name) == ["cfr", "outcome-mccfr", "rebel"]
    assert by_name["cfr"]["seeds"] == 1
    assert by_name["outcome-mccfr"]["seeds"] == 2
    assert by_name["outcome-mccfr"]["low"] < by_name["outcome-mccfr"]["high"]
    assert by_name["rebel"]["kind"] == "upper bound"
    assert all(row["seconds"] >= 0.3 for row in by_name.values())
    assert result["refused"] == LEFT_OUT
    assert Path(result["plot"]).stat().st_size > 10_000
    assert Path(result["table"]).read_text().count("\n") == 5
    assert len(list((tmp_path / "runs").glob("*.json"))) == 5
    printed = command(*line, "--set", "rebel.iterations=8", "--out", str(tmp_path))  # runs nothing again
    assert re.search(r"outcome-mccfr +sampling +[\d.]+ +[\d.]+ to [\d.]+ \(2 seeds\)", printed.stdout)
    assert "left out: blueprint: " in printed.stdout


def test_a_process_keeps_to_one_core(monkeypatch: pytest.MonkeyPatch) -> None:
    bound: list[set[int]] = []
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {4, 9}, raising=False)
    monkeypatch.setattr("os.sched_setaffinity", lambda _, cores: bound.append(cores), raising=False)
    for number in range(3):
        keep_to_one_core(number)
    assert bound == [{4}, {9}, {4}]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--time", "soon"], "soon"),
        (["--time", "0s"], "0s"),
        (["--systems", "alphazero"], "unknown system 'alphazero'"),
        (["--systems", "cfr", "--set", "rpg.hidden=4"], "settings of rpg, which does not take part"),
        (["--set", "hidden=4"], "cannot read the setting 'hidden=4'"),
        (["--systems", "lp", "--time", "0.0001s"], "no system fits kuhn_poker"),
    ],
)
def test_wrong_uses_get_one_line(words: list[str], line: str, tmp_path: Path) -> None:
    done = command("compare", KUHN, *words, "--out", str(tmp_path))
    assert done.returncode == 2
    assert line in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 3
