"""Self-play in workers: they make what the trainer itself would, and a run loses nothing when they die."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
import torch

from tacit.errors import TacitError
from tacit.games import load_game
from tacit.nets.checkpoint import unprefixed
from tacit.rebel.config import PRESETS
from tacit.rebel.train import RebelTrainer
from tacit.scale.engine import Engine
from tacit.scale.frames import pack, unpack
from tacit.scale.local import LocalCrew
from tacit.scale.worker import Worker, WorkerPlan
from tests.command import tacit as command

GAME = "kuhn_poker"


def make_trainer(**settings: str) -> RebelTrainer:
    return RebelTrainer(
        load_game(GAME), PRESETS["smoke"].with_settings({"evaluate_every": "0", "iterations": "20", **settings})
    )


def plan_of(trainer: RebelTrainer, *seed: int) -> WorkerPlan:
    return WorkerPlan("rebel", GAME, trainer.config.as_dict(), "cpu", seed)


def test_frames_carry_tensors_and_facts() -> None:
    sent = {"a": torch.arange(6).reshape(2, 3), "b": torch.tensor([1.5, float("nan")])}
    tensors, facts = unpack(pack(sent, order=7, text="ä"))
    assert facts == {"order": 7, "text": "ä"}
    assert torch.equal(tensors["a"], sent["a"])
    assert torch.equal(tensors["b"].isnan(), sent["b"].isnan())


@pytest.mark.parametrize("warm", ["0", "1"])
def test_a_worker_makes_what_the_trainer_makes_with_the_same_weights(warm: str) -> None:
    """Both networks and the epoch, from which searches start warm, reach the worker."""
    trainer = make_trainer(warm_start_at=warm)
    before = trainer.weights()
    old = pack(before, epoch=0)
    trainer.run_epoch()
    answer = Worker(plan_of(trainer, 5), 1, 2).make(pack(trainer.weights(), epoch=trainer.epoch), 3)
    fresh = make_trainer(warm_start_at=warm)
    fresh.follow(trainer.weights(), trainer.epoch)
    fresh.reseed(5, 1, 2)
    expected = fresh.generate()
    made, facts = unpack(answer)
    assert facts == {"order": 3}
    assert made.keys() == expected.keys()
    for name, part in expected.items():
        torch.testing.assert_close(made[name], part, rtol=0, atol=0, equal_nan=True)
    others, _ = unpack(Worker(plan_of(trainer, 5), 1, 2).make(old, 3))
    assert not torch.equal(others["values.values"], made["values.values"])


def test_every_worker_and_every_life_has_random_numbers_of_its_own() -> None:
    trainer = make_trainer()
    frame = pack(trainer.weights(), epoch=0)
    beliefs = []
    for number, life in ((0, 0), (1, 0), (0, 1)):
        worker = Worker(plan_of(trainer, 0), number, life)
        worker.make(frame, 0)
        beliefs.append(unpack(worker.make(None, 1))[0]["values.beliefs"])
    assert not torch.equal(beliefs[0], beliefs[1])
    assert not torch.equal(beliefs[0], beliefs[2])


class Script:
    """A crew whose answers are written down."""

    def __init__(self, size: int, answers: list[tuple[int, int | None]]) -> None:
        self.size, self.answers = size, iter(answers)
        self.started: list[tuple[int, int]] = []
        self.sent: list[tuple[int, bool, int]] = []

    def start(self, number: int, life: int) -> None:
        self.started.append((number, life))

    def send(self, number: int, weights: bytes | None, order: int) -> None:
        self.sent.append((number, weights is not None, order))

    def wait(self) -> tuple[int, bytes | None]:
        number, order = next(self.answers)
        return number, None if order is None else pack({"values.x": torch.tensor([order])}, order=order)

    def close(self) -> None:
        self.started.clear()


def test_answers_to_other_orders_are_dropped_and_weights_are_sent_when_they_changed() -> None:
    crew = Script(2, [(1, 1), (1, 1), (0, 0), (0, None), (0, 3), (0, 4)])
    with Engine(make_trainer(), crew) as engine:
        assert [int(engine.next()["values.x"]) for _ in range(2)] == [1, 0]  # the second answer to order 1 is not taken
        engine.publish()
        assert int(engine.next()["values.x"]) == 4  # worker 0 died with order 3
        assert engine.deaths == 1
        assert crew.started == [(0, 0), (1, 0), (0, 1)]
    assert crew.sent == [(0, True, 0), (1, True, 1), (1, False, 2), (0, False, 3), (0, True, 4), (0, False, 5)]


def test_workers_that_die_at_once_end_the_run() -> None:
    crew = Script(1, [(0, None)] * 20)
    with Engine(make_trainer(), crew) as engine, pytest.raises(TacitError, match="die again and again"):
        engine.next()


def kill_one(crew: LocalCrew, number: int) -> None:
    os.kill(crew.processes[number].pid, signal.SIGKILL)


def test_a_run_goes_on_when_workers_are_killed_and_counts_each_example_once() -> None:
    trainer = make_trainer(epochs="3")
    crew = LocalCrew(plan_of(trainer, 0, 0), 2)
    counted = 0
    with Engine(trainer, crew) as engine:
        taken = engine.next

        def count() -> dict[str, Any]:
            nonlocal counted
            examples = taken()
            counted += len(unprefixed("values", examples)["beliefs"])
            return examples

        engine.next = count  # type: ignore[method-assign]
        for number in (0, 1, 0):
            before = crew.processes[number].pid
            kill_one(crew, number)
            progress = trainer.run_epoch()
            assert crew.processes[number].pid != before
        assert progress.examples == counted >= 3 * trainer.config.epoch_examples
        assert engine.deaths == 3
        processes = list(crew.processes.values())
    assert not any(process.is_alive() for process in processes)


def test_a_run_by_workers_resumes_and_what_cannot_be_is_refused_before_a_folder_is_made(tmp_path: Path) -> None:
    run, options = tmp_path / "run", ("--preset", "smoke", "--set", "evaluate_every=0", "--json")
    engine = ("--engine", "local", "--workers", "2")
    first = command("train", "rebel", GAME, "--run", str(run), *options, "--set", "epochs=2", *engine)
    assert json.loads(first.stdout)["epoch"] == 2
    again = command("train", "rebel", GAME, "--run", str(run), "--resume", "--set", "epochs=3", "--json", *engine)
    assert (again.returncode, json.loads(again.stdout)["epoch"]) == (0, 3)
    for system, kind, told in (
        ("rebel", "spark", "unknown engine 'spark': choose one of local"),
        ("sog", "local", "sog generates its examples itself: train it without --engine"),
    ):
        refused = command("train", system, GAME, "--run", str(tmp_path / "no"), "--engine", kind)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert told in refused.stderr
    assert not (tmp_path / "no").exists()
