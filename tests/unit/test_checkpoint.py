"""Checkpoints in several files: a set is complete or absent, whatever gets killed, copied or lost."""

import dataclasses
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from safetensors.torch import save

from tacit import artifacts
from tacit.errors import DamagedError, TacitError
from tacit.games import load_game
from tacit.nets import checkpoint
from tacit.nets.checkpoint import UNSIGNED_FORMAT, check_tensors, load_tensors, read_header, remove_tensors, save_tensors
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
    save_tensors(file, numbers(1), {"epoch": 2})  # removes the previous parts
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
    assert len(list(tmp_path.iterdir())) == count  # leftovers of the kills are gone
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
    files = list(folder.network.parent.glob("checkpoint*"))
    assert len(files) > 1
    moved = RunFolder(tmp_path / "there", REBEL_HOLDEM)
    for file in (folder.config, folder.metrics, *files):
        there = moved.path / file.relative_to(folder.path)
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_bytes(file.read_bytes())
    (moved.network.parent / "network-000007.0123456789abcdef.part").write_bytes(b"what a kill left")
    again = load_trainer(moved)
    assert again.epoch == 1
    assert train(again, moved).epoch == 2
    assert not list(moved.network.parent.glob("network-000007*"))
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


def few_numbers() -> dict[str, torch.Tensor]:
    return {"large": torch.arange(260, dtype=torch.int32), "small": torch.tensor([0.5, -2.0])}


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("pattern", ["*.safetensors", "*.part"])
def test_no_bit_of_a_checkpoint_can_be_flipped_unnoticed(pattern: str, tmp_path: Path) -> None:
    main = tmp_path / "checkpoint-000003.safetensors"
    save_tensors(main, few_numbers(), {"epoch": 3})
    (file,) = tmp_path.glob(pattern)
    content = bytearray(file.read_bytes())
    for bit in range(8 * len(content)):
        content[bit // 8] ^= 1 << bit % 8
        file.write_bytes(content)
        with pytest.raises(DamagedError, match="damaged"):
            load_tensors(main)
        content[bit // 8] ^= 1 << bit % 8
    file.write_bytes(content)
    assert check_tensors(main)["epoch"] == 3
    assert_holds(main, few_numbers(), 3)


def test_files_of_before_have_no_digest_and_open_all_the_same(tmp_path: Path) -> None:
    file = tmp_path / "last.safetensors"
    content = save(few_numbers(), {"tacit": json.dumps({"format": "tacit-checkpoint-1", "epoch": 4})})
    file.write_bytes(content)
    assert_holds(file, few_numbers(), 4)
    assert check_tensors(file)["epoch"] == 4
    file.write_bytes(content[:-1])
    for read in (load_tensors, check_tensors):
        with pytest.raises(DamagedError, match="damaged"):
            read(file)
    file.write_bytes(content.replace(b"checkpoint-1", b"checkpoint-9"))
    with pytest.raises(TacitError, match="is not a checkpoint of this version"):
        load_tensors(file)


@pytest.mark.usefixtures("small_parts")
def test_a_family_shares_equal_parts_until_none_of_it_names_them(tmp_path: Path) -> None:
    first, second, other = (
        tmp_path / f"{name}.safetensors" for name in ("network-000001", "network-000002", "checkpoint-000002")
    )
    grown = torch.cat([torch.arange(1_000, dtype=torch.int32), torch.zeros(1_000, dtype=torch.int32)])
    save_tensors(first, {"rows": grown[:1_000]}, {"epoch": 1})
    save_tensors(other, {"rows": grown[:1_000]}, {"epoch": 2})
    before = {part.name: part.stat() for part in tmp_path.glob("*.part")}
    save_tensors(second, {"rows": grown}, {"epoch": 2})
    after = {part.name: part.stat() for part in tmp_path.glob("*.part")}
    assert before.keys() <= after.keys()
    assert all(after[name].st_mtime_ns == before[name].st_mtime_ns for name in before)  # existing parts are not rewritten
    shared = next(iter(tmp_path.glob("network.*.part")))
    shared.write_bytes(b"damage")
    save_tensors(second, {"rows": grown}, {"epoch": 2})  # but a damaged one is
    assert_holds(first, {"rows": grown[:1_000]}, 1)
    remove_tensors(first)
    assert_holds(second, {"rows": grown}, 2)
    assert_holds(other, {"rows": grown[:1_000]}, 2)
    remove_tensors(second)
    assert_holds(other, {"rows": grown[:1_000]}, 2)
    assert not list(tmp_path.glob("network*"))


@pytest.mark.usefixtures("small_parts")
def test_parts_stay_while_a_file_of_their_family_is_damaged(tmp_path: Path) -> None:
    first, second = (tmp_path / f"checkpoint-00000{epoch}.safetensors" for epoch in (1, 2))
    save_tensors(first, numbers(0), {"epoch": 1})
    content = first.read_bytes()
    first.write_bytes(content[:-1])
    save_tensors(second, numbers(1), {"epoch": 2})
    first.write_bytes(content)  # repaired
    assert_holds(first, numbers(0), 1)
    assert_holds(second, numbers(1), 2)


def test_a_disk_that_cannot_give_back_what_it_took_counts_as_damage(tmp_path: Path) -> None:
    file = tmp_path / "network.safetensors"
    file.symlink_to("/proc/self/mem")  # it opens, but reading the first page gives an I/O error
    if not os.path.exists(file):
        pytest.skip("no /proc")
    with pytest.raises(DamagedError, match=r"is damaged: cannot read network.safetensors: Input/output error"):
        load_tensors(file)


@pytest.mark.parametrize(
    "header",
    [
        {"parts": ["../x.0123456789abcdef.part"]}, {"parts": ["/x.0123456789abcdef.part"]}, {"parts": 3}, {"parts": [None]},
        {"parts": [""]}, {"shapes": {"a": [2, 12]}}, {"shapes": {"a": "x"}}, {"shapes": "x"}, {"spilled": 3}, {"epoch": "x"},
        {"system": {}}, {"source": 3}, {"config": []},
    ],
)  # fmt: skip
def test_headers_that_lie_are_damage(header: dict[str, object], tmp_path: Path) -> None:
    """Found by fuzzing: part names in other folders, shapes without tensors, entries of the wrong type."""
    file = tmp_path / "network.safetensors"
    file.write_bytes(save({"b": torch.zeros(2)}, {"tacit": json.dumps({"format": UNSIGNED_FORMAT, **header})}))
    with pytest.raises(TacitError, match="is not a checkpoint, or is damaged"):
        load_tensors(file)
    if "shapes" not in header or header["shapes"] == "x":
        assert read_header(file) is None


def test_a_network_that_names_no_system_is_refused(tmp_path: Path) -> None:
    """Found by fuzzing."""
    file = tmp_path / "network.safetensors"
    save_tensors(file, {"b": torch.zeros(2)}, {"system": "mine", "own_system": "nobody", "game": "kuhn_poker"})
    with pytest.raises(TacitError, match=r"says that 'nobody' trained it, which is not a FILE\.py:SYSTEM"):
        artifacts.open(str(file))
