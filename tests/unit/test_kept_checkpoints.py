"""A run's last two checkpoints survive a kill after any file operation, and replace each other if one is damaged."""

import os
import shutil
import signal
import sys
from pathlib import Path

import pytest

from tacit.errors import DamagedError
from tacit.nets import checkpoint
from tacit.nets.checkpoint import is_whole, load_tensors
from tacit.rebel.system import REBEL
from tacit.training.folder import RunFolder
from tacit.training.run import load_trainer, open_run, train
from tests.command import tacit
from tests.unit.test_run_folder import small, stop_after

OPERATIONS = ("open", "os.rename", "os.remove", "os.mkdir")
"""Audit events that precede file operations."""


def trained(path: Path, epochs: int, *stops: int) -> RunFolder:  # type: ignore[type-arg]
    """Returns a run of Kuhn poker for `epochs` epochs, stopped with a checkpoint after each epoch in `stops`."""
    folder = RunFolder(path, REBEL)
    for stop in stops:
        trainer = open_run(folder, "kuhn_poker", small(epochs))
        train(trainer, folder, should_stop=stop_after(stop - trainer.epoch))
    return folder


def damage(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)


def test_the_last_two_checkpoints_are_kept(tmp_path: Path) -> None:
    folder = trained(tmp_path, 4, 1, 2, 3, 4)
    assert list(folder.checkpoints()) == [3, 4]
    assert [load_tensors(file)[1]["epoch"] for file in folder.checkpoints().values()] == [3, 4]
    assert folder.checkpoint_epoch() == 4


def test_a_run_goes_on_from_the_checkpoint_before_a_damaged_one_and_says_so(tmp_path: Path) -> None:
    straight, folder = trained(tmp_path / "straight", 6, 6), trained(tmp_path / "run", 6, 2, 4)
    damage(folder.checkpoints()[4])
    ran = tacit("train", "rebel", "kuhn_poker", "--run", str(folder.path), "--resume")
    assert ran.returncode == 0, ran.stderr
    file = folder.network.with_name("checkpoint-000004.safetensors")
    told = f"{file} is damaged: it was cut short or changed: continuing from the previous checkpoint, of epoch 2"
    assert told in ran.stderr.splitlines()
    assert "resuming after epoch 2" in ran.stderr.splitlines()
    assert [line.epoch for line in folder.history()] == [1, 2, 3, 4, 5, 6]
    assert list(folder.checkpoints()) == [2, 6]
    for one, other in zip(folder.history(), straight.history(), strict=True):
        assert one.loss == pytest.approx(other.loss, rel=1e-4)  # as if nothing had been damaged


def test_what_is_after_the_checkpoint_gone_back_to_is_dropped_at_once(tmp_path: Path) -> None:
    folder = trained(tmp_path, 6, 2, 4)
    damage(folder.checkpoints()[4])
    with pytest.warns(UserWarning, match="continuing from the previous checkpoint, of epoch 2"):
        trainer = load_trainer(folder)
    assert list(folder.checkpoints()) == [2, 4]  # reading removes nothing
    train(trainer, folder, should_stop=stop_after(1))
    assert [line.epoch for line in folder.history()] == [1, 2, 3]
    assert list(folder.checkpoints()) == [2, 3]
    assert all(map(is_whole, folder.checkpoints().values()))


def test_a_run_whose_checkpoints_are_all_damaged_says_so(tmp_path: Path) -> None:
    folder = trained(tmp_path, 6, 2, 4)
    for file in folder.checkpoints().values():
        damage(file)
    with pytest.raises(DamagedError, match=r"checkpoint-000004.* there is no other checkpoint to continue from"):
        load_trainer(folder)


def test_a_run_of_before_goes_on_from_its_only_checkpoint(tmp_path: Path) -> None:
    folder = trained(tmp_path, 6, 2)
    folder.checkpoints()[2].rename(folder.network.with_name("last.safetensors"))
    assert (list(folder.checkpoints()), load_trainer(folder).epoch) == ([2], 2)
    folder = trained(tmp_path, 6, 3, 4)
    assert list(folder.checkpoints()) == [3, 4]
    assert not folder.network.with_name("last.safetensors").exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that share what is in memory")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_kill_after_every_single_file_operation_leaves_the_checkpoints_of_before_or_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "PART_BYTES", 20_000)
    before = trained(tmp_path / "before", 9, 2, 3)
    trainer = load_trainer(before)
    trainer.epoch = 4
    left: list[list[int]] = []
    for operations in range(1_000):
        folder = RunFolder(shutil.copytree(before.path, tmp_path / str(operations)), REBEL)
        child = os.fork()
        if child == 0:
            kill_after(operations, folder.path)
            folder.save_checkpoint(trainer)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        whole = [epoch for epoch, file in folder.checkpoints().items() if is_whole(file)]
        assert whole == list(folder.checkpoints()), f"after {operations} operations"
        left.append(whole)
        folder.forget_after(whole[-1])
        named = {
            part for file in folder.checkpoints().values() for part in (checkpoint.read_header(file) or {}).get("parts", [])
        }
        assert {part.name for part in folder.path.rglob("checkpoint*.part")} == named
        assert not list(folder.path.rglob(".*.tmp"))
        if status == 0:
            break
        assert os.WTERMSIG(status) == signal.SIGKILL
        shutil.rmtree(folder.path)
    assert len(left) > 10  # several operations: files are opened, renamed and removed one by one
    assert [epochs for at, epochs in enumerate(left) if at == 0 or epochs != left[at - 1]] == [[2, 3], [2, 3, 4], [3, 4]]


def kill_after(operations: int, path: Path) -> None:
    """Makes this process kill itself at the file operation that follows `operations` others in the folder."""
    seen: list[str] = []

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        if event in OPERATIONS and str(arguments[0]).startswith(str(path)):
            if len(seen) == operations:
                os.kill(os.getpid(), signal.SIGKILL)
            seen.append(event)

    sys.addaudithook(watch)
