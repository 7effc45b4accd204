"""Runs as the browser reads them: from the files alone, and only what is new."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tacit.reproduce.published import published_figure
from tacit.solvers.schedules import SCHEDULES, RegretSchedule, find_schedule
from tacit.web.runs import RunList


def write_run(folder: Path, done: int = 0, **config: Any) -> Path:
    """Creates a run with `done` epochs; returns its folder."""
    facts = {"system": "rebel", "game": "liars_dice(dice=1,faces=4)", "solver": "dcfr", "epochs": 40, "seed": 3, **config}
    (folder / "checkpoints").mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(facts))
    for epoch in range(1, done + 1):
        add_epoch(folder, epoch)
    return folder


def add_epoch(folder: Path, epoch: int) -> None:
    line = {"epoch": epoch, "seconds": 2.0 * epoch, "loss": 0.5 / epoch, "exploitability": 0.4 / epoch, "kind": "upper bound"}
    with open(folder / "metrics.jsonl", "a") as file:
        file.write(json.dumps(line) + "\n")


def test_runs_are_found_in_folders_of_folders(tmp_path: Path) -> None:
    write_run(tmp_path / "dice", 3)
    write_run(tmp_path / "sweep" / "hidden=64" / "seed-0", 1, system="nfsp", game="leduc_poker")
    (tmp_path / "notes").mkdir()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.json").write_text("{")
    runs = {run["name"]: run for run in RunList(tmp_path).listed()}
    assert set(runs) == {"dice", "sweep/hidden=64/seed-0"}
    dice = runs["dice"]
    assert (dice["epoch"], dice["epochs"], dice["seed"], dice["live"], dice["playable"]) == (3, 40, 3, True, False)
    assert dice["exploitability"] == pytest.approx(0.4 / 3)
    assert dice["published"] == {"exploitability": 0.017, "source": "ReBeL, Table 2"}
    assert runs["sweep/hidden=64/seed-0"]["published"]["exploitability"] == 0.06


def test_a_run_says_how_to_go_on(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "my dice", 1)
    (folder / "checkpoints" / "network.safetensors").write_bytes(b"")
    run = RunList(tmp_path).listed()[0]
    assert run["playable"]
    assert run["path"] == str(folder)
    assert run["commands"]["Resume"] == f"tacit train rebel 'liars_dice(dice=1,faces=4)' --run '{folder}' --resume"
    assert run["commands"]["Play"] == f"tacit play 'liars_dice(dice=1,faces=4)' --agent '{folder}'"


def test_a_run_that_is_done_is_not_live(tmp_path: Path) -> None:
    write_run(tmp_path / "dice", 4, epochs=4)
    assert not RunList(tmp_path).listed()[0]["live"]


def test_only_new_epochs_are_read(tmp_path: Path) -> None:
    folder, runs = write_run(tmp_path / "dice", 2), RunList(tmp_path)
    first = runs.metrics("dice")
    assert [epoch["epoch"] for epoch in first["epochs"]] == [1, 2]
    assert first["anew"]
    assert runs.metrics("dice", first["next"]) == {"epochs": [], "next": first["next"], "anew": False}
    add_epoch(folder, 3)
    with open(folder / "metrics.jsonl", "a") as file:
        file.write('{"epoch": 4, "sec')  # a line that is still being written
    second = runs.metrics("dice", first["next"])
    assert [epoch["epoch"] for epoch in second["epochs"]] == [3]
    assert not second["anew"]
    with open(folder / "metrics.jsonl", "a") as file:
        file.write('onds": 8.0}\n')
    assert runs.metrics("dice", second["next"])["epochs"] == [{"epoch": 4, "seconds": 8.0}]


def test_a_run_that_was_resumed_is_read_anew(tmp_path: Path) -> None:
    folder, runs = write_run(tmp_path / "dice", 5), RunList(tmp_path)
    after = runs.metrics("dice")["next"]
    kept = (folder / "metrics.jsonl").read_text().splitlines(keepends=True)[:2]
    (folder / "metrics.jsonl").write_text("".join(kept))
    again = runs.metrics("dice", after)
    assert again["anew"]
    assert [epoch["epoch"] for epoch in again["epochs"]] == [1, 2]


def test_garbled_lines_and_no_numbers_are_left_out(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "dice", 1)
    with open(folder / "metrics.jsonl", "a") as file:
        file.write('garbled\n[1]\n{"epoch": 2, "loss": NaN, "seconds": 4.0}\n')
    assert RunList(tmp_path).metrics("dice")["epochs"][1:] == [{"epoch": 2, "seconds": 4.0}]


def test_no_other_folder_is_read(tmp_path: Path) -> None:
    write_run(tmp_path / "secret", 1)
    write_run(tmp_path / "runs" / "dice", 1)
    runs = RunList(tmp_path / "runs")
    assert "no run" in runs.metrics("../secret")["problem"]
    assert RunList(tmp_path / "nowhere").listed() == []


@pytest.mark.parametrize("solver", [*SCHEDULES, "xfp(step=0.1)"])
def test_published_rows_are_those_of_the_kind_of_search(solver: str) -> None:
    figure = published_figure("rebel", "liars_dice(dice=1,faces=4)", solver)
    assert figure is not None
    assert figure.exploitability == (0.017 if isinstance(find_schedule(solver), RegretSchedule) else 0.041)


def test_nothing_that_trains_is_imported() -> None:
    code = "import sys, tacit.web.runs; print(sorted({'torch', 'numba', 'numpy'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
