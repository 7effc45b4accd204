"""Every system that trains by workers: workers make what its trainer makes, and it learns as much from their examples."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from tacit.artifacts.systems import find_system
from tacit.games import load_game
from tacit.nets.checkpoint import unprefixed
from tacit.scale.engines import open_engine, reached
from tacit.scale.frames import pack, unpack
from tacit.scale.job import Worker
from tacit.scale.plan import EnginePlan
from tacit.scale.self_play import SelfPlayJob
from tacit.sog.config import PRESETS
from tacit.sog.train import LEAST_GAMES, SogTrainer
from tacit.training.system import Trainer
from tests.command import tacit as command

TURN = "no_limit_holdem(board=3s7hTdKs,pot=2000,stack=10000,bets=1|allin,raises=1)"
OWN = '''
"""Belief iteration, as in the examples, with `generate` and `learn` apart: workers can search for it."""
import sys
sys.path.insert(0, EXAMPLES)
from own_system import BeliefSettings, BeliefTrainer
from tacit.search import random_situations
from tacit.training import System

class Settings(BeliefSettings):
    system = "belief-by-workers"

class Trainer(BeliefTrainer):
    def generate(self):
        states = random_situations(self.search, self.config.situations, self.generator)
        found = self.search.run(states.public_class.cpu().numpy(), states.reaches)
        return {"classes": states.public_class, "beliefs": states.reaches.flatten(1), "values": found.values.flatten(1)}

    def learn(self):
        lot = self.example_source.next()
        for _ in range(100):
            loss = (self.net(lot["classes"], lot["beliefs"]) - lot["values"])[~lot["values"].isnan()].square().mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return float(loss.detach())

SYSTEM = System(Settings, Trainer)
'''


@dataclass(frozen=True)
class Case:
    """A system with the game and settings of these tests."""

    system: str
    game: str
    settings: dict[str, str]

    def trainer(self) -> Trainer[Any, Any]:
        system = find_system(self.system, load_game(self.game))
        presets = system.presets
        config = presets.get("smoke", presets["cpu"]).with_settings(self.settings)
        made: Trainer[Any, Any] = system.trainer(load_game(self.game), config, "cpu")
        return made

    def worker(self, trainer: Trainer[Any, Any], number: int = 0, life: int = 0) -> Worker:
        return Worker(SelfPlayJob(self.system, self.game, trainer.config.as_dict(), "cpu", (5,)), number, life)


CASES = {
    "sog": Case("sog", "liars_dice(dice=1,faces=3)", {"depth": "1"}),
    "deepstack": Case("deepstack", "leduc_poker", {"depth": "1"}),
    "rebel-holdem": Case(
        "rebel", TURN, {"solver": "dcfr", "start_networks": "true", "warm_start": "2", "warm_start_at": "1"}
    ),
    "own": Case("own", "kuhn_poker", {"situations": "32"}),
}  # fmt: skip


@pytest.fixture(params=list(CASES))
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Case:
    found = CASES[request.param]
    if found.system != "own":
        return found
    path, examples = tmp_path / "by_workers.py", Path(__file__).parents[2] / "examples"
    path.write_text(OWN.replace("EXAMPLES", repr(str(examples))))
    return Case(f"{path}:SYSTEM", found.game, found.settings)


def made_by(worker: Worker, weights: bytes | None = None) -> dict[str, Tensor]:
    """Returns a lot that a worker makes, with new weights or the ones it has."""
    if weights is not None:
        worker.hear(weights)
    return unprefixed("0", unpack(worker.answer(pack({}, order=0, lots=1)))[0])


def test_a_worker_makes_what_the_trainer_makes_with_the_same_weights(case: Case) -> None:
    """All networks and the epoch, which may decide on warm starts, reach the worker; its second lot follows its first."""
    trainer = case.trainer()
    old = pack(trainer.weights(), epoch=0, version=0)
    trainer.run_epoch(time.perf_counter)
    worker = case.worker(trainer, 1, 2)
    lots = [made_by(worker, pack(trainer.weights(), epoch=trainer.epoch, version=1)), made_by(worker)]
    alone = case.trainer()
    alone.follow(trainer.weights(), trainer.epoch)
    alone.reseed(5, 1, 2)
    for made in lots:
        expected = alone.generate()
        assert made.keys() == expected.keys()
        for name, part in expected.items():
            torch.testing.assert_close(made[name], part, rtol=0, atol=0, equal_nan=True)
    stale = made_by(case.worker(trainer, 1, 2), old)
    assert not same(stale, lots[0])


def test_every_worker_and_every_life_has_random_numbers_of_its_own(case: Case) -> None:
    trainer = case.trainer()
    frame = pack(trainer.weights(), epoch=0, version=0)
    lots = []
    for number, life in ((0, 0), (1, 0), (0, 1)):
        worker = case.worker(trainer, number, life)
        made_by(worker, frame)
        lots.append(made_by(worker))
    assert not same(lots[0], lots[1])
    assert not same(lots[0], lots[2])


def same(first: dict[str, Tensor], second: dict[str, Tensor]) -> bool:
    return first.keys() == second.keys() and all(
        part.shape == second[name].shape and torch.equal(part.nan_to_num(), second[name].nan_to_num())
        for name, part in first.items()
    )


class Recorded:
    """A run's own self-play, with a record of its lots."""

    def __init__(self, trainer: Trainer[Any, Any]) -> None:
        self.trainer, self.lots, self.published = trainer, list[dict[str, Tensor]](), 0

    def next(self) -> dict[str, Tensor]:
        self.lots.append(self.trainer.generate())
        return self.lots[-1]

    def publish(self) -> None:
        self.published += 1


def test_a_run_learns_from_nothing_but_its_example_source_and_publishes_what_it_learnt(case: Case) -> None:
    """The same run with and without a source is equal to the last bit, and every lot and network passes through the source."""
    plain, watched = case.trainer(), case.trainer()
    source = watched.example_source = Recorded(watched)
    for _ in range(2):
        plain.run_epoch(time.perf_counter)
        watched.run_epoch(time.perf_counter)
    assert same(plain.weights(), watched.weights())
    begun, learnt = case.trainer().weights(), plain.weights()
    changed = {name.split(".")[0] for name, part in learnt.items() if not torch.equal(part, begun[name])}
    assert changed >= {name.split(".")[0] for name in learnt if name.startswith("policy")}
    assert changed
    assert len(source.lots) >= source.published >= 2
    frozen = case.trainer()
    frozen.example_source = Replayed(source.lots)
    for _ in range(2):
        frozen.run_epoch(time.perf_counter)
    assert same(plain.weights(), frozen.weights())


class Replayed:
    """Lots that were made before, sent through frames as workers send them."""

    def __init__(self, lots: list[dict[str, Tensor]]) -> None:
        self._lots = iter(lots)

    def next(self) -> dict[str, Tensor]:
        return unpack(pack(next(self._lots)))[0]

    def publish(self) -> None:
        pass


def test_a_cycle_of_student_of_games_is_shared_by_its_workers() -> None:
    """Together they play as many games and ask as many queries as the run alone, so none waits longer and gets staler."""
    trainer = SogTrainer(load_game("kuhn_poker"), PRESETS["cpu"].with_settings({"depth": "1"}))
    assert (trainer.config.games, trainer.config.cycle_queries) == (512, 4_096)
    shared = trainer.worker_settings(4)
    assert (shared.games, shared.cycle_queries) == (128, 1_024)
    assert trainer.worker_settings(1) == trainer.config
    assert trainer.worker_settings(100).games == LEAST_GAMES
    few = SogTrainer(load_game("kuhn_poker"), PRESETS["smoke"].with_settings({"depth": "1"}))
    assert few.worker_settings(2).games == 32  # the run itself has no more


def test_workers_forget_queries_that_would_crowd_out_self_play() -> None:
    case = Case("sog", "liars_dice(dice=1,faces=3)", {"recursive_queries": "3", "cycle_queries": "64", "depth": "1"})
    trainer = case.trainer()
    assert isinstance(trainer, SogTrainer)
    searches = []
    for epoch in range(3):
        trainer.follow(trainer.weights(), epoch)
        before = trainer.source.searches  # type: ignore[attr-defined]
        for _ in range(2):
            trainer.generate()
        searches.append(trainer.source.searches - before)  # type: ignore[attr-defined]
    assert min(searches) > 0


@pytest.mark.parametrize("name", ["sog", "rebel-holdem"])
def test_a_run_by_two_workers_resumes(name: str, tmp_path: Path) -> None:
    case, run = CASES[name], str(tmp_path / "run")
    options = [f"--set={key}={value}" for key, value in case.settings.items()]
    engine = ("--engine", "local", "--workers", "2", "--json")
    begin = ("train", case.system, case.game, "--run", run)
    first = command(*begin, "--preset", "smoke", "--set", "epochs=1", "--set", "evaluate_every=0", *options, *engine)
    assert (first.returncode, json.loads(first.stdout)["epoch"]) == (0, 1), first.stderr
    again = command(*begin, "--resume", "--set", "epochs=2", *engine)
    assert (again.returncode, json.loads(again.stdout)["epoch"]) == (0, 2), again.stderr


@pytest.mark.slow
def test_student_of_games_learns_from_two_workers() -> None:
    """Search of depth 1 with zeros at its leaves is three times as exploitable as the bound (.31)."""
    settings = {"depth": "1", "iterations": "50", "games": "64", "cycle_queries": "512", "ratio": "16", "epochs": "8"}
    trainer = Case("sog", "kuhn_poker", settings).trainer()
    assert isinstance(trainer, SogTrainer)
    plan = EnginePlan("local", 2)
    with reached(plan) as make_crew, open_engine(trainer, "sog", plan, make_crew):
        for _ in range(trainer.config.epochs):
            progress = trainer.run_epoch()
    assert progress.examples >= 8 * 512
    assert trainer.evaluate() < 0.1
