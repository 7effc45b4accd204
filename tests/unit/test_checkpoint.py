"""Checkpoints in several files: a set is there whole or not at all, whatever is killed, copied or lost."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from tacit.errors import TacitError
from tacit.games import load_game
from tacit.nets import checkpoint
from tacit.nets.checkpoint import load_tensors, read_header, remove_tensors, save_tensors
from tacit.rebel.holdem.config import PRESETS
from tacit.rebel.holdem.system import REBEL_HOLDEM
from tacit.rebel.holdem.train import HoldemTrainer
from tacit.training.folder import RunFolder
from tacit.training.run import load_trainer, open_run, train

TURN_ENDGAME = "turn_endgame_holdem"
SMOKE = PRESETS["smoke"]


def numbers(seed: int) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return {
        "small": torch.rand(3, generator=generator),
        "none": torch.zeros(0, 5),
        "one": torch.tensor(7),
        "large": torch.rand(70, 9, generator=generator),
        "bytes": torch.randint(256, (2, 500), generator=generator, dtype=torch.uint8),
        **{f"part{k}": torch.rand(k, 10, generator=generator).bfloat16() for k in range(1, 30)},
    }


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "PART_BYTES", 1_000)


def assert_holds(file: Path, expected: dict[str, torch.Tensor], epoch: int) -> None:
    found, header = load_tensors(file)
    assert header["epoch"] == epoch
    assert found.keys() == expected.keys()
    for name, tensor in expected.items():
        assert found[name].dtype == tensor.dtype
        assert torch.equal(found[name], tensor)


@pytest.mark.usefixtures("small_parts")
def test_what_is_too_large_for_a_file_is_spread_and_comes_back_whole(tmp_path: Path) -> None:
    file = tmp_path / "last.safetensors"
    save_tensors(file, numbers(0), {"epoch": 1})
    files = list(tmp_path.iterdir())
    total = sum(tensor.nbytes for tensor in numbers(0).values())
    assert total / 1_000 <= len(files) <= 2 * total / 1_000
    assert_holds(file, numbers(0), 1)
    save_tensors(file, numbers(1), {"epoch": 2})  # parts of before are gone
    assert len(list(tmp_path.iterdir())) == len(files)
    assert_holds(file, numbers(1), 2)
    remove_tensors(file)
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("small_parts")
def test_a_kill_while_files_are_written_leaves_the_set_of_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, write = tmp_path / "last.safetensors", checkpoint.write_whole
    save_tensors(file, numbers(0), {"epoch": 1})
    count = len(list(tmp_path.iterdir()))
    for written in range(count):
        left = iter(range(written))

        def killed(path: str | Path, content: bytes, left: Iterator[int] = left) -> None:
            if next(left, None) is None:
                raise KeyboardInterrupt
            write(path, content)

        monkeypatch.setattr(checkpoint, "write_whole", killed)
        with pytest.raises(KeyboardInterrupt):
            save_tensors(file, numbers(written + 1), {"epoch": 2})
        assert_holds(file, numbers(0), 1)
    monkeypatch.setattr(checkpoint, "write_whole", write)
    save_tensors(file, numbers(5), {"epoch": 3})
    assert len(list(tmp_path.iterdir())) == count  # what kills left is gone
    assert_holds(file, numbers(5), 3)


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("damage", ["missing", "short", "another"])
def test_a_set_that_is_not_whole_is_no_checkpoint(damage: str, tmp_path: Path) -> None:
    file = tmp_path / "last.safetensors"
    save_tensors(file, numbers(0), {"epoch": 1})
    part, other = sorted(tmp_path.glob("*.part"))[:2]
    if damage == "missing":
        part.unlink()
        assert read_header(file) is None
    elif damage == "short":
        part.write_bytes(part.read_bytes()[:-1])
    else:
        part.write_bytes(other.read_bytes())
    with pytest.raises(TacitError, match=r"last.safetensors is damaged: its part .* (is missing|was cut short or changed)"):
        load_tensors(file)


def test_a_run_travels_in_files_below_16_mib_and_goes_on_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "PART_BYTES", 30_000)
    folder = RunFolder(tmp_path / "here", REBEL_HOLDEM)
    train(open_run(folder, TURN_ENDGAME, dataclasses.replace(SMOKE, epochs=2)), folder, should_stop=lambda: True)
    files = list(folder.checkpoint.parent.glob("last.*"))
    assert len(files) > 1
    moved = RunFolder(tmp_path / "there", REBEL_HOLDEM)
    for file in (folder.config, folder.metrics, *files):
        there = moved.path / file.relative_to(folder.path)
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_bytes(file.read_bytes())
    (moved.checkpoint.parent / "network-000007.0123456789abcdef.part").write_bytes(b"what a kill left")
    again = load_trainer(moved)
    assert again.epoch == 1
    assert train(again, moved).epoch == 2
    assert not list(moved.checkpoint.parent.glob("network-000007*"))
    assert load_tensors(moved.network)[1]["epoch"] == 2


def test_the_presets_checkpoint_fits_three_files(tmp_path: Path) -> None:
    trainer = HoldemTrainer(load_game("no_limit_holdem"), dataclasses.replace(PRESETS["gpu"], warm_start=15))
    assert trainer.policies is not None
    for learner in (*trainer.learners.values(), *trainer.policies.learners.values()):
        for parameter in learner.net.parameters():
            parameter.grad = torch.zeros_like(parameter)
        learner._optimizer.step()
    save_tensors(tmp_path / "last.safetensors", *trainer.state())
    sizes = [file.stat().st_size for file in tmp_path.iterdir()]
    assert len(sizes) <= 3
    assert max(sizes) < 16 * 2**20


def test_deals_of_a_run_that_goes_on_are_new_ones() -> None:
    game = load_game(TURN_ENDGAME)
    first = HoldemTrainer(game, SMOKE)
    began = first.selfplay.generator.bit_generator.state["state"]
    first.run_epoch()
    second = HoldemTrainer(game, SMOKE)
    second.restore(*first.state())
    assert second.selfplay.generator.bit_generator.state["state"] == first._numpy.bit_generator.state["state"] != began
    other = HoldemTrainer(game, dataclasses.replace(SMOKE, seed=1))
    other.start_from(first.weights())
    assert other.selfplay.generator.bit_generator.state["state"] != began


@pytest.mark.usefixtures("small_parts")
def test_what_was_cut_can_be_saved_whole_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_tensors(tmp_path / "cut.safetensors", numbers(0), {"epoch": 3})
    assert list(tmp_path.glob("*.part"))
    monkeypatch.setattr(checkpoint, "PART_BYTES", 10**6)
    (tmp_path / "away").mkdir()
    save_tensors(tmp_path / "away" / "whole.safetensors", *load_tensors(tmp_path / "cut.safetensors"))
    assert_holds(tmp_path / "away" / "whole.safetensors", numbers(0), 3)
