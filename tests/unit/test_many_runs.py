"""`tacit train` with several seeds and swept settings: folders, resuming, the table, and wrong uses."""

import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tacit.errors import TacitError
from tacit.plots import seed_curves
from tacit.training.plan import RunPlan, read_plan, split_sweep
from tests.command import tacit

ROOT = Path(__file__).parents[2]
TINY = ("--preset", "smoke", "--set", "epochs=2", "--set", "epoch_examples=64", "--set", "playthroughs=2")


def test_a_plan_has_a_run_for_each_combination_and_seed() -> None:
    plan = RunPlan("rebel", "kuhn_poker", "smoke", {"depth": "1"}, {"hidden": ["8", "16"], "bets": ["1/1", "2"]}, 2, 5)
    runs = plan.runs()
    assert [run.name for run in runs] == [
        f"hidden={hidden},bets={bets}/seed-{seed}" for hidden in (8, 16) for bets in ("1-1", "2") for seed in (5, 6)
    ]
    assert runs[0].settings == {"seed": "5", "depth": "1", "hidden": "8", "bets": "1/1"}
    assert [run.name for run in RunPlan("rebel", "g", "cpu", {}, {"hidden": ["8", "16"]}, None, 3).runs()] == [
        "hidden=8",
        "hidden=16",
    ]
    assert [run.settings["seed"] for run in RunPlan("rebel", "g", "cpu", {}, {}, 3, 1).runs()] == ["1", "2", "3"]
    with pytest.raises(TacitError, match=r"two runs would share the folder bets=1-1: give every swept value once"):
        RunPlan("rebel", "g", "cpu", {}, {"bets": ["1/1", "1|1"]}, None, 0).runs()


def test_commas_list_values_but_not_in_brackets() -> None:
    given = {"hidden": "8,16", "network": "own.py:Net(a=1,b=2)", "depth": "2"}
    assert split_sweep(given) == ({"network": "own.py:Net(a=1,b=2)", "depth": "2"}, {"hidden": ["8", "16"]})
    assert split_sweep({"network": "a.py:N(x=1,y=2),b.py:N"})[1] == {"network": ["a.py:N(x=1,y=2)", "b.py:N"]}


def test_seeds_are_trained_compared_and_resumed(tmp_path: Path) -> None:
    run = tmp_path / "seeds"
    done = tacit("train", "rebel", "kuhn_poker", "--run", str(run), *TINY, "--seeds", "2", "--seed", "3", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    figures = [part["figure"] for part in report["runs"]]
    (summary,) = report["summary"]
    assert (report["finished"], [part["run"] for part in report["runs"]]) == (True, ["seed-3", "seed-4"])
    assert (summary["mean"], summary["spread"]) == (statistics.fmean(figures), statistics.stdev(figures))
    assert (summary["least"], summary["most"], summary["seeds"]) == (min(figures), max(figures), [3, 4])
    assert (run / "curves.png").read_bytes().startswith(b"\x89PNG")
    alone = tacit("train", "rebel", "kuhn_poker", "--run", str(tmp_path / "one"), *TINY, "--seed", "4", "--json")
    assert json.loads(alone.stdout)["exploitability"] == figures[1]

    shutil.rmtree(run / "seed-4")  # as if it had been killed earlier
    again = tacit("train", "rebel", "kuhn_poker", "--run", str(run), "--resume", "--json")
    assert "1 of 2 runs are done" in again.stderr
    assert [part["figure"] for part in json.loads(again.stdout)["runs"]] == figures
    for arguments, message in (
        (("--seeds", "3"), "holds runs with seeds 2, not 3: leave it unchanged to continue"),
        (("--seed", "0"), "holds runs with seed 3, not 0: leave it unchanged to continue"),
        (("--preset", "cpu"), "holds runs with preset smoke, not cpu: leave it unchanged to continue"),
        (("--set", "hidden=9"), "holds runs with hidden of the preset, not 9: only epochs can be changed"),
        (("--set", "playthroughs=2,3"), "holds runs with playthroughs 2, not 2,3: only epochs can be changed"),
    ):
        refused = tacit("train", "rebel", "kuhn_poker", "--run", str(run), "--resume", *arguments)
        assert (refused.returncode, refused.stderr) == (2, f"tacit: {run} {message}\n")
    named = tacit("evaluate", str(run))
    assert named.stderr == f"tacit: {run} holds several runs: name one of them, such as {run / 'seed-3'} (1 more)\n"


def test_a_sweep_goes_on_where_one_value_diverges(tmp_path: Path) -> None:
    run = tmp_path / "sweep"
    done = tacit(
        "train", "rebel", "kuhn_poker", "--run", str(run), *TINY, "--set", "learning_rate=1e30,0.001", "--set", "layers=3"
    )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("tacit: 1 of 2 runs failed; learning_rate=1e30: the loss became ")
    rows = done.stdout.splitlines()
    assert rows[1].split()[:3] == ["learning_rate=1e30", "0", "-"]
    assert rows[2].split()[:2] == ["learning_rate=0.001", "1"]


@pytest.mark.slow
def test_processes_train_the_same_runs_and_stop_with_their_parent(tmp_path: Path) -> None:
    run = tmp_path / "runs"
    command = [sys.executable, "-m", "tacit", "train", "rebel", "kuhn_poker", "--run", str(run), "--preset", "smoke"]
    long = ["--set", "epochs=100000", "--set", "evaluate_every=0", "--seeds", "2", "--workers", "2"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
    parent = subprocess.Popen([*command, *long], env=environment, stderr=subprocess.PIPE, text=True)
    metrics = [run / f"seed-{seed}" / "metrics.jsonl" for seed in (0, 1)]
    while parent.poll() is None and not all(file.exists() for file in metrics):
        time.sleep(0.05)
    parent.send_signal(signal.SIGKILL)
    parent.communicate()
    logs = [file.with_name("log.txt") for file in metrics]
    until = time.monotonic() + 60
    while time.monotonic() < until and not all("all kept; resume with:" in log.read_text() for log in logs):
        time.sleep(0.05)
    reached = [len(file.read_text().splitlines()) for file in metrics]
    assert all("stopping after this epoch" in log.read_text() for log in logs)
    assert all(epochs > 0 for epochs in reached)
    plan = read_plan(run)
    assert plan is not None
    assert plan.seeds == 2
    resumed = subprocess.run(
        [*command, "--resume", "--set", f"epochs={max(reached) + 1}", "--workers", "2", "--json"],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert resumed.returncode == 0, resumed.stderr
    assert [part["epoch"] for part in json.loads(resumed.stdout)["runs"]] == [max(reached) + 1] * 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--seeds", "0"), "'--seeds'"),
        (("--seeds", "two"), "'--seeds'"),
        (("--seeds", "2", "--set", "seed=4"), "--seeds counts from --seed on: leave out --set seed"),
        (("--set", "hidden=8,"), "cannot read the values of hidden in '8,': write hidden=a,b,c"),
        (("--set", "hidden=8,8"), "hidden has a value twice in '8,8': give every value once"),
        (("--set", "hidden=8", "--set", "hidden=9"), "--set hidden is given twice: to sweep, write hidden=8,9"),
        (("--set", "hidden=8,x"), "hidden must be a whole number, at least 1, not 'x'"),
        (("--set", "width=1,2"), "unknown setting 'width'"),
        (("--workers", "2"), "--workers needs --engine local, or several runs"),
        (("--seeds", "2", "--start-from", "pretrained:no_limit_holdem"), "--start-from is for a single run"),
        (("--seeds", "2", "--resume"), "has no runs to resume"),
        (("--seeds", "2", "--preset", "laptop"), "unknown preset 'laptop'"),
    ],
)
def test_wrong_uses_get_one_line(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    done = tacit("train", "rebel", "kuhn_poker", "--run", "runs", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert message in done.stderr
    assert not list(tmp_path.iterdir())


def test_win_rates_are_drawn_too(tmp_path: Path) -> None:
    seed_curves({"hidden=8": [(1, [-3.0, 2.0]), (2, [1.0, 4.0])], "hidden=16": []}, "game", "mbb/hand", tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
