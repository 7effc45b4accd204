"""Replay buffers larger than their memory: the same samples as from memory, one copy of every example, kills in between."""

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from torch import Tensor

from tacit.learning.replay import ReplayBuffer
from tacit.nets.checkpoint import PART, check_tensors, drop_parts, load_tensors, save_tensors
from tacit.rebel.system import REBEL
from tacit.rebel.train import RebelTrainer
from tacit.sog.boards.config import PRESETS as BOARD_PRESETS
from tacit.sog.boards.system import SOG_BOARDS
from tacit.training.folder import RunFolder
from tacit.training.run import load_trainer, open_run, train
from tacit.training.verify import verify_run
from tests.unit.test_run_folder import small, stop_after, weights
from tests.unit.test_train_command import ROOT

KILOBYTES = 1e-6


@dataclass
class Rows:
    number: Tensor
    numbers: Tensor
    beliefs: Tensor
    none: Tensor
    flags: Tensor


ROW_BYTES = 8 + 2 * 3 * 4 + 4 * 2 + 1


def rows(first: int, count: int) -> Rows:
    """Returns examples whose numbers identify them."""
    number = torch.arange(first, first + count)
    numbers = number[:, None, None] + torch.zeros(2, 3)
    numbers[:, 1, 2] = torch.nan
    return Rows(
        number, numbers, number[:, None].expand(-1, 4).bfloat16(), torch.zeros(count, 2, 0), (number % 7).to(torch.uint8)
    )


def spilling(file: Path, capacity: int, in_memory: int) -> ReplayBuffer[Rows]:
    buffer = ReplayBuffer(Rows, capacity, memory=in_memory * ROW_BYTES)
    buffer.spills_beside = file
    return buffer


def assert_same_samples(one: ReplayBuffer[Rows], other: ReplayBuffer[Rows], seed: int) -> None:
    assert (len(one), one.added) == (len(other), other.added)
    for buffers in ((one, other), (other, one)):
        first, second = (buffer.sample(64, torch.Generator().manual_seed(seed)) for buffer in buffers)
        for name, part in vars(first).items():
            assert part.dtype == vars(second)[name].dtype
            torch.testing.assert_close(part, vars(second)[name], rtol=0, atol=0, equal_nan=True)
    batches = [list(buffer.batches(3, 50, torch.Generator().manual_seed(seed), "cpu")) for buffer in (one, other)]
    for first, second in zip(*batches, strict=True):
        assert torch.equal(first.number, second.number)


@pytest.mark.parametrize(("capacity", "in_memory"), [(40, 7), (100, 30), (200, 90), (5, 2), (37, 36)])
def test_samples_are_those_of_a_buffer_in_memory_whatever_is_added_dropped_and_restored(
    capacity: int, in_memory: int, tmp_path: Path
) -> None:
    file, generator = tmp_path / "checkpoint-000000.safetensors", torch.Generator().manual_seed(capacity)
    plain, buffer, added, most = ReplayBuffer(Rows, capacity), spilling(file, capacity, in_memory), 0, 0
    for step in range(40):
        count = int(torch.randint(1, 2 * capacity if step % 9 == 5 else max(2, capacity // 3), (), generator=generator))
        for one in (plain, buffer):
            one.add(rows(added, count))
        added += count
        if step % 13 == 7:
            for one in (plain, buffer):
                one.drop_oldest_half()
        if step % 5 == 3:  # a checkpoint, and a run that resumes from it
            save_tensors(file, buffer.state(), {"epoch": step, "spilled": {"rows": buffer.spilled}})
            again = spilling(file, capacity, in_memory)
            state, header = load_tensors(file)
            again.spilled = header["spilled"]["rows"]
            again.restore(state)
            buffer.add(rows(10**6, 3 * capacity))  # late writes of the earlier process change nothing
            drop_parts(file)
            buffer = again
        assert_same_samples(buffer, plain, step)
        assert set(buffer.sample(10 * capacity, generator).number.tolist()) <= set(range(added - len(buffer), added))
        most = max(most, len(buffer.spilled))
    assert most > 0


def test_memory_and_checkpoints_hold_no_more_than_the_budget(tmp_path: Path) -> None:
    file = tmp_path / "checkpoint-000000.safetensors"
    buffer = spilling(file, 1_000, 50)
    buffer.add(rows(0, 1_500))
    assert all(len(part) <= 50 for part in buffer._parts.values())
    state = buffer.state()
    assert len(state["number"]) <= 50
    in_files = [number for name in buffer.spilled for number in _numbers(tmp_path / name)]
    assert sorted([*in_files, *state["number"].tolist()])[-1_000:] == list(range(500, 1_500))  # each once
    assert len({*in_files, *state["number"].tolist()}) == len(in_files) + len(state["number"])


def _numbers(part: Path) -> list[int]:
    from safetensors.torch import load

    return load(part.read_bytes())["number"].tolist()


def test_a_budget_that_suffices_writes_no_files(tmp_path: Path) -> None:
    buffer = spilling(tmp_path / "checkpoint-000000.safetensors", 100, 100)
    buffer.add(rows(0, 250))
    assert (buffer.spilled, list(tmp_path.iterdir())) == ([], [])
    assert len(buffer.state()["counters"]) == 3


@pytest.mark.parametrize("was_in_memory", [True, False])
def test_a_state_that_was_in_memory_stays_there_and_one_in_files_comes_back(was_in_memory: bool, tmp_path: Path) -> None:
    file = tmp_path / "checkpoint-000000.safetensors"
    plain, spilled = ReplayBuffer(Rows, 90), spilling(file, 90, 20)
    for one in (plain, spilled):
        one.add(rows(0, 0))
        one.add(rows(0, 70))
        one.add(rows(70, 65))
    before, after = (plain, spilling(file, 90, 20)) if was_in_memory else (spilled, ReplayBuffer(Rows, 90))
    after.spilled, after.spills_beside = before.spilled, file
    after.restore(before.state())
    assert_same_samples(after, plain, 1)
    assert (after.spilled, len(spilled.spilled)) == ([], 8)


def test_a_run_that_spills_learns_what_one_in_memory_does_and_goes_on_exactly(tmp_path: Path) -> None:
    settings = {"replay_size": "1500", "drop_half_at": "3"}
    folders = [RunFolder(tmp_path / name, REBEL) for name in ("memory", "files", "stopped")]
    for folder, memory, stops in zip(folders, (4.0, 8 * KILOBYTES, 8 * KILOBYTES), ((5,), (5,), (1, 2, 2)), strict=True):
        config = small(5, replay_memory=str(memory), **settings)
        for stop in stops:
            train(open_run(folder, "kuhn_poker", config), folder, should_stop=stop_after(stop))
        assert [check.problem for check in verify_run(folder.path) if check.problem] == []
    memory, files, stopped = map(load_trainer, folders)
    assert isinstance(memory, RebelTrainer)
    assert isinstance(files, RebelTrainer)
    assert isinstance(stopped, RebelTrainer)
    assert memory.values.replay.spilled == []
    assert len(files.values.replay.spilled) > 2
    for other in (files, stopped):
        torch.testing.assert_close(weights(other), weights(memory), rtol=0, atol=1e-6)
        assert other.examples == memory.examples
    named = {name for file in folders[1].checkpoints().values() for name in check_tensors(file)["spilled"]["values"]}
    assert {part.name for part in folders[1].path.rglob(f"*{PART}")} == named
    sizes = [folder.checkpoints()[5].stat().st_size for folder in folders]
    assert sizes[1] < sizes[0] - 40_000  # most of the examples are in files


def test_a_damaged_file_of_examples_is_noticed(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path, REBEL)
    config = small(5, replay_size="1500", replay_memory=str(8 * KILOBYTES))
    for _ in range(2):
        train(open_run(folder, "kuhn_poker", config), folder, should_stop=stop_after(2))
    first, second = ({*check_tensors(file)["spilled"]["values"]} for file in folder.checkpoints().values())
    part = folder.network.with_name(sorted(second - first)[0])
    part.write_bytes(part.read_bytes()[:-1] + b"\xff")
    assert [check.problem for check in verify_run(tmp_path) if check.problem] == [
        f"its part {part.name} was cut short or changed"
    ]
    with pytest.warns(UserWarning, match="continuing from the previous checkpoint, of epoch 2"):
        assert load_trainer(folder).epoch == 2


@pytest.mark.parametrize("writes", [1, 4])
def test_a_kill_between_a_file_of_examples_and_the_checkpoint_costs_nothing_and_doubles_nothing(
    writes: int, tmp_path: Path
) -> None:
    config = small(6, replay_size="1500", replay_memory=str(8 * KILOBYTES))
    straight, folder = (RunFolder(tmp_path / name, REBEL) for name in ("straight", "killed"))
    train(open_run(straight, "kuhn_poker", config), straight)
    train(open_run(folder, "kuhn_poker", config), folder, should_stop=stop_after(2))
    code = (
        "import os, signal, sys\n"
        "from tacit.learning import spill\n"
        "write, left = spill.write_part, [int(sys.argv.pop())]\n"
        "def killed(*arguments):\n"
        "    name = write(*arguments)\n"
        "    left[0] -= 1\n"
        "    left[0] or os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return name\n"
        "spill.write_part = killed\n"
        "from tacit.cli.main import main\nmain()"
    )
    command = [sys.executable, "-c", code, "train", "rebel", "kuhn_poker", "--run", str(folder.path), "--resume", str(writes)]
    ran = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=120, env={**os.environ, "PYTHONPATH": str(ROOT / "src")}
    )
    assert ran.returncode == -signal.SIGKILL, ran.stderr
    assert folder.checkpoint_epoch() == 2
    assert [check.problem for check in verify_run(folder.path) if check.problem] == []
    again = load_trainer(folder)
    train(again, folder)
    whole = load_trainer(straight)
    assert isinstance(again, RebelTrainer)
    assert isinstance(whole, RebelTrainer)
    torch.testing.assert_close(weights(again), weights(whole), rtol=0, atol=1e-6)
    samples = [one.values.replay.sample(500, torch.Generator().manual_seed(0)) for one in (again, whole)]
    torch.testing.assert_close(samples[0].beliefs, samples[1].beliefs, rtol=0, atol=1e-6)
    named = {name for file in folder.checkpoints().values() for name in check_tensors(file)["spilled"]["values"]}
    assert {part.name for part in folder.path.rglob(f"*{PART}")} == named


def test_boards_spill_by_the_same_setting(tmp_path: Path) -> None:
    config = BOARD_PRESETS["smoke"].with_settings({"epochs": "4", "evaluate_every": "0", "replay_memory": str(2 * KILOBYTES)})
    folder = RunFolder(tmp_path, SOG_BOARDS)
    for _ in range(2):
        train(open_run(folder, "tic_tac_toe", config), folder, should_stop=stop_after(2))
    assert check_tensors(folder.checkpoints()[4])["spilled"]["examples"]
    assert load_trainer(folder).epoch == 4
