"""`tacit train` as a real process on failing disks, in vanishing folders and with jumping clocks: nothing is lost."""

import json
import math
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch

from tacit.errors import DivergedError, RunLostError
from tacit.nets.checkpoint import is_whole
from tacit.rebel.system import REBEL
from tacit.rebel.train import RebelTrainer
from tacit.training.folder import RunFolder
from tacit.training.run import open_run, train
from tacit.training.steady import SteadyClock
from tests.command import tacit
from tests.faults import Disk, small_disk
from tests.unit.test_run_folder import small, stop_after
from tests.unit.test_train_command import ROOT, start_training, wait_for_checkpoint

LONG = ("--preset", "smoke", "--set", "epochs=100000", "--set", "evaluate_every=0", "--set", "epoch_examples=128")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    with small_disk(tmp_path / "disk", 16 * 2**20) as found:
        yield found


def trains(folder: RunFolder[Any, Any]) -> subprocess.Popen[str]:
    """Returns the process of a long run that has written a checkpoint and writes another after every epoch."""
    process = start_training(folder.path, "kuhn_poker", *LONG, checkpoint_seconds=0.0)
    wait_for_checkpoint(folder, process)
    assert process.poll() is None, process.communicate()
    return process


def ended_with(process: subprocess.Popen[str]) -> str:
    """Returns the last error line of a process that must exit by itself with code 2."""
    try:
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()  # in case it did not exit
    assert (process.returncode, out) == (2, ""), err
    assert "Traceback" not in err
    return err.splitlines()[-1]


def assert_goes_on(folder: RunFolder[Any, Any]) -> None:
    """Asserts that all checkpoints are whole, and that resuming from the last one gives every epoch exactly once."""
    kept = folder.checkpoint_epoch()
    assert kept is not None
    assert all(map(is_whole, folder.checkpoints().values()))
    ran = tacit("train", "rebel", "kuhn_poker", "--run", str(folder.path), "--resume", "--set", f"epochs={kept + 3}", "--json")
    assert ran.returncode == 0, ran.stderr
    assert f"resuming after epoch {kept}" in ran.stderr
    assert json.loads(ran.stdout)["epoch"] == kept + 3
    assert [line.epoch for line in folder.history()] == list(range(1, kept + 4))
    assert not list(folder.path.rglob("*.tmp"))


def test_a_full_disk_stops_a_run_in_one_line_and_it_goes_on_once_there_is_room(disk: Disk) -> None:
    folder = RunFolder(disk.path / "run", REBEL)
    process = trains(folder)
    disk.fill()
    last = ended_with(process)
    assert last.startswith("tacit: cannot write ")
    assert ": No space left on device; resume from the last checkpoint with: " in last
    assert last.endswith(f"train rebel kuhn_poker --run {folder.path} --resume")
    kept = folder.checkpoint_epoch()
    ran = tacit("train", "rebel", "kuhn_poker", "--run", str(folder.path), "--resume")
    assert (ran.returncode, ran.stderr.splitlines()[-1].count("No space left on device")) == (2, 1)
    assert folder.checkpoint_epoch() == kept
    disk.free()
    assert_goes_on(folder)


def test_a_read_only_disk_gets_one_line_and_changes_nothing(disk: Disk) -> None:
    """A disk with files open for writing cannot be remounted, so this test resumes a stopped run."""
    folder = RunFolder(disk.path / "run", REBEL)
    train(open_run(folder, "kuhn_poker", small(9)), folder, should_stop=stop_after(2))
    assert disk.remount("ro")
    files = {file: file.read_bytes() for file in folder.path.rglob("*.*")}
    ran = tacit("train", "rebel", "kuhn_poker", "--run", str(folder.path), "--resume")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.splitlines()[-1].startswith("tacit: cannot ")
    assert "Read-only file system" in ran.stderr.splitlines()[-1]
    assert {file: file.read_bytes() for file in folder.path.rglob("*.*")} == files
    assert disk.remount("rw")
    assert_goes_on(folder)


def test_a_limit_on_the_size_of_files_stops_a_run_in_one_line(tmp_path: Path) -> None:
    """A substitute where no disk can be mounted: the system refuses a write in the middle of a file."""
    folder = RunFolder(tmp_path / "run", REBEL)
    train(open_run(folder, "kuhn_poker", small(9)), folder, should_stop=stop_after(2))
    code = (
        "import resource\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({folder.checkpoints()[2].stat().st_size // 2}, resource.RLIM_INFINITY))\n"
        "from tacit.cli.main import main\nmain()"
    )
    command = [sys.executable, "-c", code, "train", "rebel", "kuhn_poker", "--run", str(folder.path), "--resume"]
    ran = subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, env={**os.environ, "PYTHONPATH": str(ROOT / "src")}
    )
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
    assert ran.returncode == 2, ran.stderr
    assert ": File too large; resume from the last checkpoint with: " in ran.stderr.splitlines()[-1]
    assert_goes_on(folder)


def test_a_folder_removed_under_a_run_is_not_made_again(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", REBEL)
    process = trains(folder)
    folder.path.rename(tmp_path / "away")
    last = ended_with(process)
    told = "was removed or replaced while a run trained there: nothing of that run is left; start it again in another folder"
    assert last == f"tacit: {folder.path} {told}"
    assert not folder.metrics.exists()
    assert_goes_on(RunFolder(tmp_path / "away", REBEL))  # the moved folder is intact


@pytest.mark.parametrize("write", ["add_epoch", "save_network", "save_checkpoint"])
def test_a_folder_removed_just_before_any_write_is_told_in_the_same_line(
    write: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Checking the folder and writing to it are two steps, and the folder may vanish in between."""
    folder = RunFolder(tmp_path / "run", REBEL)
    original = getattr(folder, write)

    def removed_first(*arguments: object) -> None:
        folder.path.rename(tmp_path / "away")
        original(*arguments)

    monkeypatch.setattr(folder, write, removed_first)
    with pytest.raises(RunLostError, match="was removed or replaced while a run trained there"):
        train(open_run(folder, "kuhn_poker", small(3)), folder)
    assert not folder.metrics.exists()
    assert not folder.config.exists()


@pytest.mark.parametrize("write", ["add", "close"])
def test_a_folder_removed_just_before_events_are_written_is_told_in_the_same_line(write: str, tmp_path: Path) -> None:
    """TensorBoard's own writer would end with a traceback in its thread, or fail again when it is closed."""
    run = tmp_path / "run"
    code = (
        "import os\nfrom tacit.training.events import EventWriter\n"
        f"original = EventWriter.{write}\n"
        "def removed_first(*arguments):\n"
        f"    if os.path.exists({str(run)!r}):\n        os.rename({str(run)!r}, {str(tmp_path / 'away')!r})\n"
        "    original(*arguments)\n"
        f"EventWriter.{write} = removed_first\n"
        "from tacit.cli.main import main\nmain()"
    )
    command = [sys.executable, "-c", code, "train", "rebel", "kuhn_poker", "--run", str(run), "--preset", "smoke"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)
    assert "Traceback" not in ran.stderr
    if write == "close":  # the run had just ended, and the moved folder is intact
        assert_goes_on(RunFolder(tmp_path / "away", REBEL))
        return
    assert ran.returncode == 2
    assert f"tacit: {run} was removed or replaced while a run trained there" in ran.stderr.splitlines()[-1]
    assert not run.exists()


def test_a_folder_in_which_another_run_begins_is_left_to_it(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", REBEL)
    first = open_run(folder, "kuhn_poker", small(4))

    def replace(_: object) -> None:
        shutil.rmtree(folder.path)
        other = RunFolder(folder.path, REBEL)
        train(open_run(other, "kuhn_poker", small(1, seed="5")), other)

    with pytest.raises(Exception, match="was removed or replaced while a run trained there"):
        train(first, folder, on_epoch=replace)
    assert RunFolder(folder.path, REBEL).asked_for()[1].seed == 5
    assert [line.epoch for line in folder.history()] == [1]


@pytest.mark.parametrize("jump", [-1e6, 1e6])
def test_a_wall_clock_that_jumps_changes_no_duration_and_no_limit(jump: float, tmp_path: Path) -> None:
    run = tmp_path / "run"
    code = (
        "import itertools, time\n"
        "jumps, wall = itertools.count(), time.time\n"
        f"time.time = lambda: wall() + {jump} * (next(jumps) % 2)\n"
        "from tacit.cli.main import main\nmain()"
    )
    command = [sys.executable, "-c", code, "train", "rebel", "kuhn_poker", "--run", str(run), *LONG, "--time-limit", "2s"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    ran = subprocess.run([*command, "--json"], capture_output=True, text=True, timeout=120, check=False, env=environment)
    assert ran.returncode == 0, ran.stderr
    assert 1.0 < json.loads(ran.stdout)["seconds"] < 60.0
    history = RunFolder(run, REBEL).history()
    assert len(history) > 1
    assert all(before.seconds < after.seconds for before, after in pairwise(history))


def test_a_clock_that_jumps_back_takes_no_time(tmp_path: Path) -> None:
    looks = iter([0.0, 1.0, 2.5, -1_000.0, -999.0, -999.0, 5.0])
    clock = SteadyClock(lambda: next(looks))
    seen = [clock() for _ in range(6)]
    assert seen == sorted(set(seen))
    assert seen == pytest.approx([1.0, 2.5, 2.5, 3.5, 3.5, 1_007.5])
    folder = RunFolder(tmp_path, REBEL)
    back = iter(range(10_000, 0, -1))
    train(open_run(folder, "kuhn_poker", small(3)), folder, clock=lambda: float(next(back)))
    assert [line.epoch for line in folder.history()] == [1, 2, 3]
    assert all(line.seconds > 0.0 and math.isfinite(line.examples_per_second) for line in folder.history())


def test_weights_that_are_no_numbers_are_never_written(tmp_path: Path) -> None:
    """An epoch's loss can be fine although its last step spoils the weights."""
    folder = RunFolder(tmp_path, REBEL)
    trainer = open_run(folder, "kuhn_poker", small(5))
    assert isinstance(trainer, RebelTrainer)
    train(trainer, folder, should_stop=stop_after(2))
    files = {file: file.read_bytes() for file in tmp_path.rglob("*.safetensors")}

    def spoil() -> None:
        with torch.no_grad():
            trainer.values.net.out.bias[0] = math.inf

    trainer._start_warm = spoil  # type: ignore[method-assign]  # the last thing an epoch does
    told = r"weights \(out.bias\) are no longer numbers: lower the learning rate; the checkpoint of epoch 2 is kept"
    with pytest.raises(DivergedError, match=told):
        train(trainer, folder)
    assert {file: file.read_bytes() for file in tmp_path.rglob("*.safetensors")} == files
    assert [line.epoch for line in folder.history()] == [1, 2]
    assert_goes_on(folder)


def test_a_run_that_diverges_says_what_is_kept_and_how_to_go_on(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", REBEL)
    process = start_training(folder.path, "kuhn_poker", *LONG, "--set", "learning_rate=1e30")
    last = ended_with(process)
    assert "no longer numbers: lower" in last or "the loss became nan: lower" in last
    assert last.endswith("; there is no checkpoint yet; start a new run with that")
    assert not folder.network.exists()
