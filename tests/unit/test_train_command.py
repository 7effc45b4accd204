"""`tacit train` as a real process: killed at random moments, stopped by the user, and given damaged checkpoints."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tacit import artifacts
from tacit.rebel.config import preset
from tacit.rebel.system import REBEL
from tacit.training.folder import RunFolder
from tacit.training.run import open_run, train
from tacit.training.verify import verify_run
from tests.command import tacit

ROOT = Path(__file__).parents[2]


def start_training(
    run: Path, game: str, *arguments: str, checkpoint_seconds: float = 15.0, system: str = "rebel"
) -> subprocess.Popen[str]:
    command = ["train", system, game, "--run", str(run), *arguments]
    code = (
        "import tacit.training.run\n"
        f"tacit.training.run.CHECKPOINT_SECONDS = {checkpoint_seconds}\n"
        "from tacit.cli.main import main\nmain()"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-c", code, *command], text=True, env=environment, **pipes)  # type: ignore[call-overload, no-any-return]


def wait_for_change(path: Path, process: subprocess.Popen[str], before: int) -> None:
    """Waits until a file is rewritten or the process ends."""
    while process.poll() is None and (path.stat().st_mtime_ns if path.exists() else 0) == before:
        time.sleep(0.01)


def wait_for_checkpoint(folder: RunFolder[Any, Any], process: subprocess.Popen[str], before: int | None = None) -> None:
    """Waits until there is a checkpoint of another epoch or the process ends."""
    while process.poll() is None and folder.checkpoint_epoch() == before:
        time.sleep(0.01)


@pytest.mark.slow
@pytest.mark.parametrize("kills", [2, 4, 16])
def test_a_run_survives_kills_at_random_moments(kills: int, tmp_path: Path) -> None:
    """After each kill `tacit runs verify` finds every file whole; in the end every epoch is there once."""
    seed = int.from_bytes(os.urandom(4))
    print(f"kill moments drawn with seed {seed}")  # shown when the test fails
    moments = random.Random(seed)
    folder, epochs = RunFolder(tmp_path / "run", REBEL), 30 * (1 + kills // 4)
    arguments = ("--preset", "smoke", "--set", f"epochs={epochs}", "--set", "evaluate_every=5", "--set", "epoch_examples=512")
    for kill in range(kills):
        resume = ("--resume",) if folder.holds_run() else ()
        before = folder.checkpoint_epoch()
        process = start_training(folder.path, "kuhn_poker", *arguments, *resume, checkpoint_seconds=0.0)
        if kill % 4 == 1:  # killed wherever it is, perhaps before it has started
            time.sleep(moments.uniform(0.0, 8.0))
        else:
            wait_for_checkpoint(folder, process, before)
            time.sleep(moments.uniform(0.0, 0.3))
        process.kill()
        process.communicate()
        if folder.holds_run():
            assert [check for check in verify_run(folder.path) if check.problem is not None] == []
            assert (folder.checkpoint_epoch() or 0) >= (before or 0)  # a checkpoint is never lost
    process = start_training(folder.path, "kuhn_poker", *arguments, "--resume", "--json")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    report = json.loads(out)
    assert (report["epoch"], report["finished"]) == (epochs, True)
    assert "resuming after epoch" in err
    assert [progress.epoch for progress in folder.history()] == list(range(1, epochs + 1))
    assert list(folder.kept_networks()) == [epochs - 10, epochs - 5, epochs]
    assert [check for check in verify_run(folder.path) if check.problem is not None] == []
    # Eight steps of 64 games an epoch, each with two searches of openings: none is lost, none counted twice.
    assert report["examples"] == folder.history()[-1].examples == 8 * (64 + 2) * epochs
    # Four playthroughs say little: rounding, and so the number of threads, moves their figure by a third.
    assert artifacts.open(str(folder.path)).evaluate(playthroughs=64).figure < 0.1  # uniform play: 0.458
    assert not list(folder.path.rglob("*.tmp"))
    assert folder.curve.read_bytes().startswith(b"\x89PNG")
    assert len(list(folder.path.glob("events.out.tfevents.*"))) >= 2
    assert "--preset smoke" in folder.command.read_text().splitlines()[0]


def test_ctrl_c_keeps_everything_and_says_how_to_go_on(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", REBEL)
    process = start_training(folder.path, "kuhn_poker", "--preset", "smoke", "--set", "epochs=100000")
    wait_for_change(folder.metrics, process, 0)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, ""), err
    assert "stopping after this epoch" in err
    last = err.strip().splitlines()[-1]
    reached = folder.history()[-1].epoch
    assert last.startswith(f"tacit: stopped after epoch {reached} of 100000, all kept; resume with:")
    assert last.endswith(f"train rebel kuhn_poker --run {folder.path} --resume")
    assert folder.checkpoint_epoch() == reached


def test_a_run_without_a_checkpoint_says_that_it_starts_again(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "kuhn", REBEL)
    killed = open_run(folder, "kuhn_poker", preset("smoke").with_settings({"epochs": "2"}))
    folder.add_epoch(killed.run_epoch(time.perf_counter))
    done = tacit("train", "rebel", "kuhn_poker", "--run", str(folder.path), "--resume", "--json")
    assert done.returncode == 0, done.stderr
    assert "no checkpoint yet: starting again" in done.stderr.splitlines()
    assert json.loads(done.stdout)["epoch"] == 2


@pytest.mark.parametrize("damage", ["cut short", "another game", "another command"])
def test_what_cannot_go_on_gets_one_line(damage: str, tmp_path: Path) -> None:
    folder, other = RunFolder(tmp_path / "kuhn", REBEL), RunFolder(tmp_path / "dice", REBEL)
    config = preset("smoke").with_settings({"epochs": "1"})
    train(open_run(folder, "kuhn_poker", config), folder)
    game = "kuhn_poker"
    if damage == "cut short":
        (checkpoint,) = folder.checkpoints().values()
        content = checkpoint.read_bytes()
        checkpoint.write_bytes(content[: len(content) // 3])
        message = (
            f"{checkpoint} is damaged: it was cut short or changed; "
            "there is no other checkpoint to continue from (`tacit runs verify` says what can still be opened)"
        )
    elif damage == "another game":
        train(open_run(other, "liars_dice(dice=1,faces=3)", config), other)
        folder.checkpoints()[1].write_bytes(other.checkpoints()[1].read_bytes())
        message = "the checkpoint is of liars_dice(dice=1,faces=3), not of kuhn_poker"
    else:
        game, message = "leduc_poker", f"{folder.path} holds a run of kuhn_poker, not of leduc_poker"
    done = tacit("train", "rebel", game, "--run", str(folder.path), "--resume", "--set", "epochs=2")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"tacit: {message}\n")


def test_a_run_that_goes_on_keeps_its_seed_and_settings(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "kuhn", REBEL)
    train(open_run(folder, "kuhn_poker", preset("smoke").with_settings({"epochs": "1", "seed": "7"})), folder)
    for arguments, message in (
        (("--seed", "0"), "holds a run with seed 7, not 0: leave out --seed to continue"),
        (("--set", "hidden=9"), "holds a run with other settings (hidden=32 and not 9): only epochs can be changed"),
        (("--seeds", "2"), "holds a single run: choose another folder"),
    ):
        done = tacit("train", "rebel", "kuhn_poker", "--run", str(folder.path), "--resume", *arguments)
        assert (done.returncode, done.stderr.splitlines()[-1]) == (2, f"tacit: {folder.path} {message}")
    done = tacit("train", "rebel", "kuhn_poker", "--run", str(folder.path), "--resume", "--seed", "7", "--json")
    assert (done.returncode, json.loads(done.stdout)["epoch"]) == (0, 1)
    assert "all 1 epochs are done: add --set epochs=N for more" in done.stderr


def test_what_cannot_be_written_gets_one_line_that_says_how_to_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", "metrics.jsonl")

    monkeypatch.setattr(RunFolder, "add_epoch", full)
    run = tmp_path / "kuhn"
    done = tacit("train", "rebel", "kuhn_poker", "--run", str(run), "--preset", "smoke")
    assert done.returncode == 2
    last = done.stderr.splitlines()[-1]
    assert last.startswith("tacit: cannot write metrics.jsonl: No space left on device; resume from the start")
    assert last.endswith(f"train rebel kuhn_poker --run {run} --resume")
