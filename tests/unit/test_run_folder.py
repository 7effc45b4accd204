"""A run on disk: the files in its folder, resuming exactly where it stopped, and refusing what does not fit."""

import builtins
import errno
import json
import math
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from tacit.errors import DivergedError, TacitError
from tacit.games import load_game
from tacit.rebel.config import RebelConfig, preset
from tacit.rebel.system import REBEL
from tacit.rebel.train import RebelProgress, RebelTrainer
from tacit.rebel.trained import load_trained
from tacit.solvers import load_result, solve
from tacit.training.folder import RunFolder
from tacit.training.run import load_trainer, open_run, opened_run, train

DICE = "liars_dice(dice=1,faces=3)"


def small(epochs: int, **changes: str) -> RebelConfig:
    return preset("smoke").with_settings({"epochs": str(epochs), "evaluate_every": "0", **changes})


def weights(trainer: RebelTrainer) -> torch.Tensor:
    return torch.cat([tensor.flatten() for tensor in trainer.weights().values()])


def stop_after(epochs: int) -> Callable[[], bool]:
    seen: list[None] = []

    def should_stop() -> bool:
        seen.append(None)
        return len(seen) >= epochs

    return should_stop


@pytest.mark.parametrize(("stopped_at", "settings"), [(1, {}), (2, {}), (3, {"warm_start_at": "2", "iterations": "16"})])
def test_a_stopped_run_goes_on_exactly(stopped_at: int, settings: dict[str, str], tmp_path: Path) -> None:
    config = small(4, **settings)
    straight = open_run(RunFolder(tmp_path / "straight", REBEL), DICE, config)
    train(straight, RunFolder(tmp_path / "straight", REBEL))
    folder = RunFolder(tmp_path / "stopped", REBEL)
    first = open_run(folder, DICE, config)
    train(first, folder, should_stop=stop_after(stopped_at))
    assert first.epoch == stopped_at
    second = open_run(folder, DICE, config)
    assert second.epoch == stopped_at
    train(second, folder)
    torch.testing.assert_close(weights(straight), weights(second), rtol=0, atol=1e-6)
    assert [progress.epoch for progress in folder.history()] == [1, 2, 3, 4]
    assert folder.history()[-1].examples == straight.examples


def test_what_is_newer_than_the_checkpoint_is_run_again(tmp_path: Path) -> None:
    """A kill between checkpoints leaves metrics and networks of epochs that the next session repeats."""
    folder = RunFolder(tmp_path, REBEL)
    trainer = open_run(folder, DICE, small(6, evaluate_every="1"))
    train(trainer, folder, should_stop=stop_after(2))
    for _ in range(3):  # three more epochs whose checkpoint is never written
        folder.add_epoch(trainer.run_epoch())
        folder.save_network(trainer, keep=True)
    with open(folder.metrics, "a") as metrics:
        metrics.write('{"epoch": 6, "sec')  # cut short by a crash
    assert list(folder.kept_networks()) == [3, 4, 5]
    again = open_run(folder, DICE, small(6, evaluate_every="1"))
    assert again.epoch == 2
    train(again, folder, should_stop=stop_after(1))
    assert [progress.epoch for progress in folder.history()] == [1, 2, 3]
    assert list(folder.kept_networks()) == [3]
    train(again, folder)
    assert [progress.epoch for progress in folder.history()] == [1, 2, 3, 4, 5, 6]
    assert list(folder.kept_networks()) == [4, 5, 6]


def test_a_run_killed_before_its_first_checkpoint_starts_again(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path, REBEL)
    trainer = open_run(folder, DICE, small(2))
    folder.add_epoch(trainer.run_epoch())
    again = load_trainer(folder)
    assert again.epoch == 0
    train(again, folder)
    assert [progress.epoch for progress in folder.history()] == [1, 2]


def test_checkpoints_are_written_now_and_then_and_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[int] = []
    monkeypatch.setattr(RunFolder, "save_checkpoint", lambda _folder, trainer: written.append(trainer.epoch))
    now = iter(range(0, 10_000, 2))  # each reading of the clock adds two seconds: an epoch takes eight
    train(open_run(RunFolder(tmp_path, REBEL), DICE, small(7)), RunFolder(tmp_path, REBEL), clock=lambda: float(next(now)))
    assert written[-1] == 7
    assert 2 <= len(written) < 7


def test_a_time_limit_ends_a_run_that_can_go_on(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path, REBEL)
    last = train(open_run(folder, DICE, small(3)), folder, time_limit=0.0)
    assert last.epoch == 1
    assert last.exploitability is not None
    assert train(load_trainer(folder), folder).epoch == 3


def test_two_processes_cannot_train_one_run(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path, REBEL)
    trainer = open_run(folder, DICE, small(1))
    with RunFolder(tmp_path, REBEL).alone():
        before = {file: file.read_bytes() for file in tmp_path.rglob("*")}
        with pytest.raises(TacitError, match="another process is training in"):
            train(trainer, folder)
        with pytest.raises(TacitError, match="another process is training in"), opened_run(folder, DICE, small(5)):
            pass
        assert {file: file.read_bytes() for file in tmp_path.rglob("*")} == before  # a refusal changes nothing
    with opened_run(folder, DICE, small(1)) as trainer:
        assert train(trainer, folder).epoch == 1
        with pytest.raises(TacitError, match="another process is training in"), RunFolder(tmp_path, REBEL).alone():
            pass


def test_a_number_that_is_none_is_kept_as_json_has_it(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path, REBEL)
    trainer = open_run(folder, DICE, small(1))
    folder.add_epoch(replace(trainer.at_rest(), loss=math.nan, exploitability=None))
    assert json.loads(folder.metrics.read_text(), parse_constant=pytest.fail)["loss"] is None
    (epoch,) = folder.history()
    assert math.isnan(epoch.loss)
    assert epoch.exploitability is None


def test_a_finished_run_can_be_made_longer(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path, REBEL)
    train(open_run(folder, DICE, small(2)), folder)
    finished = train(open_run(folder, DICE, small(2)), folder)
    assert (finished.epoch, finished.playthroughs) == (2, 4)
    assert train(open_run(folder, DICE, small(3)), folder).epoch == 3
    assert folder.asked_for() == (DICE, small(3))


def test_other_runs_are_refused(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path, REBEL)
    train(open_run(folder, "kuhn_poker", small(1)), folder)
    with pytest.raises(TacitError, match="holds a run of kuhn_poker"):
        open_run(folder, DICE, small(1))
    with pytest.raises(TacitError, match=r"other settings \(games=64 and not \d+, hidden=32 and not \d+\)"):
        open_run(folder, "kuhn_poker", replace(small(1), games=3, hidden=16))
    with pytest.raises(TacitError, match="no run in"):
        load_trainer(RunFolder(tmp_path / "nowhere", REBEL))


def test_damaged_and_foreign_checkpoints_are_refused(tmp_path: Path) -> None:
    folder, other = RunFolder(tmp_path / "kuhn", REBEL), RunFolder(tmp_path / "leduc", REBEL)
    train(open_run(folder, "kuhn_poker", small(1)), folder)
    train(open_run(other, "leduc_poker", small(1)), other)
    (checkpoint,) = folder.checkpoints().values()
    content = checkpoint.read_bytes()
    for length in (len(content) // 2, len(content) - 1, 5, 0):
        checkpoint.write_bytes(content[:length])
        with pytest.raises(TacitError, match=r"damaged.*; there is no other checkpoint to continue from"):
            load_trainer(folder)
    checkpoint.write_bytes(other.checkpoints()[1].read_bytes())
    with pytest.raises(TacitError, match="the checkpoint is of leduc_poker, not of kuhn_poker"):
        load_trainer(folder)
    checkpoint.write_bytes(folder.network.read_bytes())
    with pytest.raises(TacitError, match="does not fit"):
        load_trainer(folder)
    folder.config.write_text("{")
    with pytest.raises(TacitError, match="is damaged"):
        load_trainer(folder)


def test_a_run_begun_in_python_goes_on_like_any_other(tmp_path: Path) -> None:
    folder, game = RunFolder(tmp_path, REBEL), load_game("kuhn_poker")
    train(RebelTrainer(game, small(2)), folder)
    assert folder.asked_for() == ("kuhn_poker", small(2))
    with pytest.raises(TacitError, match="holds a run after epoch 2"):  # a new run would replace it
        train(RebelTrainer(game, small(2)), folder)
    longer = open_run(folder, game, small(3))
    assert longer.epoch == 2
    assert train(longer, folder).epoch == 3
    assert [progress.epoch for progress in folder.history()] == [1, 2, 3]
    folder.config.unlink()
    assert folder.holds_run()
    with pytest.raises(TacitError, match=r"config.json is missing: the run cannot be continued"):
        open_run(folder, game, small(4))


def test_a_run_in_memory_does_not_go_on_in_the_folder_of_another(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path, REBEL)
    open_run(folder, "kuhn_poker", small(2))
    with pytest.raises(TacitError, match=r"holds a run of kuhn_poker, not of liars_dice\(dice=1,faces=3\)"):
        train(RebelTrainer(load_game(DICE), small(2)), folder)
    with pytest.raises(TacitError, match=r"other settings \(games=64 and not \d+\)"):
        train(RebelTrainer(load_game("kuhn_poker"), small(2, games="3")), folder)


def test_a_run_finds_a_game_of_ones_own_again(tmp_path: Path) -> None:
    game = load_game(f"{Path(__file__).parents[2] / 'examples' / 'own_game.py'}:OneCardBluff")
    folder = RunFolder(tmp_path, REBEL)
    train(open_run(folder, game, small(1)), folder)
    assert load_trainer(folder, game=game).epoch == 1
    assert load_trainer(folder).epoch == 1  # it records where its game is
    with pytest.raises(TacitError, match=r"holds a run of one_card_bluff\(cards=4\), not of kuhn_poker"):
        load_trainer(folder, game=load_game("kuhn_poker"))


def test_bytes_that_are_no_text_do_not_stop_a_run(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path, REBEL)
    for epoch in (1, 2, 3):
        folder.add_epoch(RebelProgress(epoch, 1.0, 256, 0.5, 100.0))
    folder.metrics.write_bytes(folder.metrics.read_bytes().replace(b'"epoch": 2', b'"epoch": \xff') + b"3\n")
    assert [progress.epoch for progress in folder.history()] == [1, 3]
    folder.command.write_bytes(b"caf\xe9\n")
    folder.add_command("another")
    assert folder.command.read_bytes() == b"caf\xe9\nanother\n"


def test_what_may_not_be_read_is_not_called_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, solved = RunFolder(tmp_path, REBEL), tmp_path / "kuhn.tacit"
    train(open_run(folder, "kuhn_poker", small(1)), folder)
    solve(load_game("kuhn_poker"), iterations=1).save(solved)
    closed: list[Path] = []

    def opened(path: str | Path, *arguments: Any, **options: Any) -> Any:
        if Path(path) in closed:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return builtins.open(path, *arguments, **options)

    monkeypatch.setattr("tacit.files.open", opened, raising=False)
    for file, read in (
        (folder.config, lambda: load_trainer(folder)),
        (folder.checkpoints()[1], lambda: load_trainer(folder)),
        (folder.network, lambda: load_trained(tmp_path)),
        (folder.metrics, folder.history),
        (solved, lambda: load_result(solved)),
    ):
        read()
        closed[:] = [file]
        with pytest.raises(TacitError) as caught:
            read()
        assert str(caught.value) == f"cannot read {file}: Permission denied"
        closed.clear()


def test_a_loss_that_is_no_number_says_what_is_kept(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path, REBEL)
    trainer = open_run(folder, DICE, small(4))
    assert isinstance(trainer, RebelTrainer)
    _spoil(trainer)
    with pytest.raises(DivergedError, match="the loss became nan: lower learning_rate; there is no checkpoint yet"):
        train(trainer, folder)
    trainer = open_run(folder, DICE, small(4))
    train(trainer, folder, should_stop=stop_after(2))
    assert isinstance(trainer, RebelTrainer)
    _spoil(trainer)
    with pytest.raises(DivergedError, match="the loss became nan: lower learning_rate; the checkpoint of epoch 2 is kept"):
        train(trainer, folder)
    assert open_run(folder, DICE, small(4)).epoch == 2


def _spoil(trainer: RebelTrainer) -> None:
    with torch.no_grad():
        trainer.values.net.out.weight.fill_(math.nan)


def test_metrics_of_a_future_version_do_not_stop_a_run(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path, REBEL)
    folder.add_epoch(RebelProgress(1, 1.0, 256, 0.5, 100.0))
    with open(folder.metrics, "a") as metrics:
        metrics.write('{"epoch": 2, "mood": "good"}\n')
    assert [progress.epoch for progress in folder.history()] == [1]


def test_tensorboard_sees_every_epoch_once(tmp_path: Path) -> None:
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    from tacit.training.events import EventWriter

    for first, epochs in ((0, (1, 2, 3)), (2, (3, 4))):  # the second session repeats epoch 3
        writer = EventWriter(tmp_path, first)
        for epoch in epochs:
            writer.add(RebelProgress(epoch, float(epoch), 256 * epoch, 0.5 / epoch, 100.0, 0.1 if epoch == 4 else None, 8))
        writer.close()
    events = accumulator.EventAccumulator(str(tmp_path))
    events.Reload()
    assert [event.step for event in events.Scalars("loss")] == [1, 2, 3, 4]
    assert [(event.step, event.value) for event in events.Scalars("exploitability")] == [(4, pytest.approx(0.1))]


def test_networks_hold_what_they_need_to_be_used(tmp_path: Path) -> None:
    from tests.trained import load_search

    folder = RunFolder(tmp_path, REBEL)
    trainer = open_run(folder, DICE, small(3, evaluate_every="1"))
    train(trainer, folder)
    for path in (tmp_path, folder.kept_networks()[3]):
        search = load_search(path, "dcfr", 4)
        assert str(search.space.tree.game) == str(load_game(DICE))
        torch.testing.assert_close(search.evaluator.net.out.weight, trainer.values.net.out.weight)  # type: ignore[attr-defined]
    older = load_search(folder.kept_networks()[1], "dcfr", 4)
    assert not torch.equal(older.evaluator.net.out.weight, trainer.values.net.out.weight)  # type: ignore[attr-defined]
