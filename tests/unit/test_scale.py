"""Self-play in workers: they make the examples that the trainer itself would, and a run loses nothing when they die."""

from __future__ import annotations

import io
import itertools
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from tacit.cli.bars import Bars
from tacit.cli.crew_line import crew_line
from tacit.errors import TacitError
from tacit.games import load_game
from tacit.nets.checkpoint import unprefixed
from tacit.rebel.config import PRESETS
from tacit.rebel.train import RebelTrainer
from tacit.scale.crew import READY
from tacit.scale.engine import MOST_AGE, Engine, EngineReport
from tacit.scale.engines import reached
from tacit.scale.frames import pack, unpack
from tacit.scale.job import Worker
from tacit.scale.local import LocalCrew
from tacit.scale.orders import AHEAD, Orders
from tacit.scale.plan import EnginePlan
from tacit.scale.ray_crew import room_on
from tacit.scale.self_play import SelfPlayJob, next_lots
from tests.command import tacit as command
from tests.jobs import Sums

GAME = "kuhn_poker"


def make_trainer(**settings: str) -> RebelTrainer:
    return RebelTrainer(
        load_game(GAME), PRESETS["smoke"].with_settings({"evaluate_every": "0", "iterations": "20", **settings})
    )


def job_of(trainer: RebelTrainer, *seed: int) -> SelfPlayJob:
    return SelfPlayJob("rebel", GAME, trainer.config.as_dict(), "cpu", seed)


def order(number: int = 0, lots: int = 1) -> bytes:
    return pack({}, order=number, lots=lots)


def made_by(worker: Worker, weights: bytes | None = None) -> dict[str, Tensor]:
    """Returns a lot that a worker makes, with new weights or the ones it has."""
    if weights is not None:
        worker.hear(weights)
    return unprefixed("0", unpack(worker.answer(order()))[0])


def test_frames_carry_tensors_and_facts() -> None:
    sent = {"a": torch.arange(6).reshape(2, 3), "b": torch.tensor([1.5, float("nan")])}
    tensors, facts = unpack(pack(sent, order=7, text="ä"))
    assert facts == {"order": 7, "text": "ä"}
    assert torch.equal(tensors["a"], sent["a"])
    assert torch.equal(tensors["b"].isnan(), sent["b"].isnan())


@pytest.mark.parametrize("warm", ["0", "1"])
def test_a_worker_makes_what_the_trainer_makes_with_the_same_weights(warm: str) -> None:
    """Both networks reach the worker, and so does the epoch, which decides whether searches start warm."""
    trainer = make_trainer(warm_start_at=warm)
    old = pack(trainer.weights(), epoch=0, version=0)
    trainer.run_epoch()
    worker = Worker(job_of(trainer, 5), 1, 2)
    worker.hear(pack(trainer.weights(), epoch=trainer.epoch, version=4))
    answer, facts = unpack(worker.answer(order(3, lots=2)))
    assert facts.pop("seconds") > 0
    assert facts == {"order": 3, "version": 4, "worker": 1, "life": 2, "lot": 0, "lots": 2}
    fresh = make_trainer(warm_start_at=warm)
    fresh.epoch = trainer.epoch
    fresh.load_weights(trainer.weights())
    fresh.reseed(5, 1, 2)
    for place in range(2):
        made, expected = unprefixed(str(place), answer), fresh.generate()
        assert made.keys() == expected.keys()
        for name, part in expected.items():
            torch.testing.assert_close(made[name], part, rtol=0, atol=0, equal_nan=True)
    assert unpack(worker.answer(order(4)))[1]["lot"] == 2
    others = made_by(Worker(job_of(trainer, 5), 1, 2), old)
    assert not torch.equal(others["values.values"], answer["0.values.values"])


def test_every_worker_and_every_life_has_random_numbers_of_its_own() -> None:
    trainer = make_trainer()
    frame = pack(trainer.weights(), epoch=0, version=0)
    beliefs = []
    for number, life in ((0, 0), (1, 0), (0, 1)):
        worker = Worker(job_of(trainer, 0), number, life)
        made_by(worker, frame)
        beliefs.append(made_by(worker)["values.beliefs"])
    assert not torch.equal(beliefs[0], beliefs[1])
    assert not torch.equal(beliefs[0], beliefs[2])


def test_what_goes_wrong_in_a_worker_is_told_with_its_order() -> None:
    worker = Worker(Sums(), 0, 0)
    assert unpack(worker.answer(pack({}, order=4, number="bad")))[1] == {"order": 4, "error": "no number"}
    assert unpack(worker.answer(pack({}, order=5)))[1] == {"order": 5, "error": "KeyError: 'number'"}
    assert unpack(worker.answer(pack({}, order=6, number=2)))[1]["sum"] == 2


class Script:
    """A crew with scripted answers: (worker, order), where None is a death and "ready" a start."""

    cause = "it was written so"

    def __init__(self, size: int, said: list[tuple[int, int | str | None]]) -> None:
        self.size, self.said = size, iter(said)
        self.started: list[tuple[int, int]] = []
        self.sent: list[tuple[int, int]] = []
        self.shared: list[int] = []

    def start(self, number: int, life: int) -> None:
        self.started.append((number, life))

    def share(self, version: int, frame: bytes) -> None:
        assert unpack(frame)[1]["version"] == version
        self.shared.append(version)

    def send(self, number: int, order: bytes) -> None:
        self.sent.append((number, unpack(order)[1]["order"]))

    def wait(self, seconds: float) -> tuple[int, bytes | None] | None:
        number, said = next(self.said)
        if said is None or said == "ready":
            return number, READY if said else None
        return number, pack({"x": torch.tensor([said])}, order=said, version=self.shared[-1] if self.shared else -1)

    def close(self) -> None:
        self.said = iter(())


def test_workers_have_two_orders_each_and_an_answer_to_one_that_is_done_is_dropped() -> None:
    crew = Script(2, [(1, "ready"), (1, 0), (1, 0), (0, "ready"), (0, 3), (1, 1)])
    with Orders(crew, itertools.repeat({})) as orders:
        assert [orders.next().order for _ in range(3)] == [0, 3, 1]  # type: ignore[union-attr]
    assert crew.started == [(0, 0), (1, 0)]
    assert crew.sent == [(1, 0), (1, 1), (1, 2), (0, 3), (0, 4), (0, 5), (1, 6)]


def test_orders_of_the_dead_go_to_whoever_is_free_first() -> None:
    crew = Script(2, [(0, "ready"), (1, "ready"), (0, None), (1, 2), (1, 0), (0, "ready"), (1, 1)])
    with Orders(crew, itertools.repeat({})) as orders:
        assert [orders.next().order for _ in range(3)] == [2, 0, 1]  # type: ignore[union-attr]
        assert (orders.deaths, orders.ready) == (1, {0, 1})
    assert crew.started == [(0, 0), (1, 0), (0, 1)]
    assert crew.sent[:6] == [(0, 0), (0, 1), (1, 2), (1, 3), (1, 0), (1, 1)]


def test_free_workers_try_the_last_orders_too_and_the_first_answer_counts() -> None:
    """Worker 0 stalls with orders 0 and 1; worker 1 finishes the job without it, with the order that still waits first."""
    crew = Script(2, [(0, "ready"), (1, "ready"), (1, 2), (1, 3), (1, 1), (1, 0)])
    with Orders(crew, [{}] * 4) as orders:
        assert [answer.order for answer in orders] == [2, 3, 1, 0]
        assert orders.next() is None
    assert crew.sent[-2:] == [(1, 1), (1, 0)]


def test_the_age_of_an_answer_counts_what_was_shared_since() -> None:
    crew = Script(1, [(0, "ready"), (0, 0), (0, 1)])
    with Orders(crew, itertools.repeat({})) as orders:
        orders.share({}, epoch=0)
        crew.wait, heard = (lambda _: heard.pop(0)), [crew.wait(1.0) for _ in range(3)]  # type: ignore[method-assign]
        orders.share({}, epoch=0)
        assert [orders.next().age for _ in range(2)] == [1, 1]  # type: ignore[union-attr]


def test_workers_that_die_at_once_end_the_run() -> None:
    crew = Script(1, [(0, None)] * 20)
    with Engine(make_trainer(), crew) as engine, pytest.raises(TacitError, match=r"die again and again.*it was written so"):
        engine.next()


def test_a_silent_crew_ends_the_job() -> None:
    class Silent(Script):
        def wait(self, seconds: float) -> None:
            return None

    with Orders(Silent(3, []), [{}], patience=0.01) as orders, pytest.raises(TacitError, match="none of the 3 workers"):
        orders.next()


def test_lots_made_with_weights_that_are_too_old_are_thrown_away() -> None:
    most = MOST_AGE * AHEAD
    crew = Script(1, [(0, "ready"), (0, 0), (0, 1)])
    with Engine(make_trainer(), crew) as engine:
        for _ in range(most + 2):
            engine.orders.share({}, epoch=0)
        made = {"lot": 0, "lots": 1, "seconds": 1.0}
        old = crew.wait(1.0), (0, pack({"0.x": torch.tensor([1])}, order=0, version=0, **made))
        new = (0, pack({"0.x": torch.tensor([2])}, order=1, version=2, **made))
        said = iter([*old, new])
        crew.wait = lambda _: next(said)  # type: ignore[method-assign]
        engine._news = False
        assert int(engine.next()["x"]) == 2
        report = engine.report()
        assert (report.thrown_away, report.oldest_weights, report.live) == (1, most - 1, 1)


def test_orders_ask_for_more_lots_where_these_come_quickly_and_every_lot_is_learnt_from_once() -> None:
    """Answers take 0.1 s, then 3 s, then 1 s. A worker has its next order before its answer is read."""
    crew = Script(1, [(0, "ready")])
    trainer = make_trainer()
    asked: list[int] = []

    def send(number: int, order: bytes) -> None:
        asked.append(unpack(order)[1]["lots"])

    seconds = iter([0.1] * 8 + [3.0, 3.0, 1.0])
    made = 0

    def wait(_: float) -> tuple[int, bytes]:
        nonlocal made
        if not asked:
            return 0, READY
        order, count = len(asked) - AHEAD, asked[-AHEAD]
        lots = {f"{place}.x": torch.tensor([made + place]) for place in range(count)}
        facts = {"worker": 0, "life": 0, "lot": made, "lots": count, "seconds": next(seconds)}
        made += count
        return 0, pack(lots, order=order, version=0, **facts)

    crew.send, crew.wait = send, wait  # type: ignore[assignment,method-assign]
    with Engine(trainer, crew) as engine:
        numbers = []
        while len(asked) < 13:
            numbers.append(int(engine.next()["x"]))
        assert numbers == list(range(len(numbers)))
    assert asked == [1, 1, 1, 2, 2, 2, 4, 4, 4, 8, 8, 2, 4]
    assert next_lots(8, 0.1, trainer.lots_at_once) == trainer.lots_at_once == 8


def test_local_workers_answer_every_order_once_with_what_was_shared() -> None:
    """Real processes: one is killed, one is stopped while it holds an order, and the job still finishes."""
    crew = LocalCrew(Sums(), 3, gpus=("4", "7"))
    with Orders(crew, ({"number": number} for number in range(200))) as orders:
        orders.share({}, add=1_000)
        answers = [orders.next()]
        os.kill(crew.processes[1].pid, signal.SIGKILL)
        os.kill(crew.processes[2].pid, signal.SIGSTOP)
        answers += list(orders)
        assert sorted(answer.order for answer in answers if answer) == list(range(200))
        assert all(answer.facts["sum"] == 1_000 + answer.order for answer in answers if answer)
        assert {answer.facts["gpu"] for answer in answers if answer} <= {"4", "7"}
        assert orders.deaths <= 1
    assert not any(process.is_alive() for process in crew.processes.values())


def test_local_workers_hear_what_is_shared_anew() -> None:
    with Orders(LocalCrew(Sums(), 1), itertools.repeat({"number": 0})) as orders:
        orders.share({}, add=1)
        assert (first := orders.next()) is not None
        orders.share({}, add=2)
        assert (first.facts["sum"], first.age) == (1, 0)
        later = [orders.next() for _ in range(AHEAD + 1)]
        assert later[-1] is not None
        assert (later[-1].facts["sum"], later[-1].age) == (2, 0)


def kill_one(crew: LocalCrew, number: int) -> None:
    os.kill(crew.processes[number].pid, signal.SIGKILL)


def test_a_run_goes_on_when_workers_are_killed_and_counts_each_example_once() -> None:
    trainer = make_trainer(epochs="3")
    crew = LocalCrew(job_of(trainer, 0, 0), 2)
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
            deaths = engine.orders.deaths
            while engine.orders.deaths == deaths:
                progress = trainer.run_epoch()
            assert crew.processes[number].pid != before
        assert progress.examples == counted >= 3 * trainer.config.epoch_examples
        assert engine.orders.deaths == 3
        processes = list(crew.processes.values())
    assert not any(process.is_alive() for process in processes)


def test_a_run_by_workers_resumes_and_what_cannot_be_is_refused_before_a_folder_is_made(tmp_path: Path) -> None:
    run, options = tmp_path / "run", ("--preset", "smoke", "--set", "evaluate_every=0", "--json")
    engine = ("--engine", "local", "--workers", "2")
    first = command("train", "rebel", GAME, "--run", str(run), *options, "--set", "epochs=2", *engine)
    assert json.loads(first.stdout)["epoch"] == 2
    again = command("train", "rebel", GAME, "--run", str(run), "--resume", "--set", "epochs=3", "--json", *engine)
    assert (again.returncode, json.loads(again.stdout)["epoch"]) == (0, 3)
    report = json.loads(again.stdout)
    assert (report["workers"], report["worker_deaths"], report["lots_thrown_away"]) == (2, 0, 0)
    assert 0 <= report["learner_wait_share"] <= 1
    for system, game, why in (
        ("nfsp", GAME, "nfsp spends several times as long on learning as on games, so workers that play would gain little"),
        ("blueprint", "no_limit_holdem", "blueprint has threads that share one table of regrets (--set threads=N)"),
        ("sog", "tic_tac_toe", "sog-boards generates its examples itself: train it without --engine"),
    ):
        refused = command("train", system, game, "--run", str(tmp_path / "no"), "--engine", "local")
        assert (refused.returncode, refused.stdout) == (2, "")
        assert why in refused.stderr
    assert not (tmp_path / "no").exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--engine", "spark"), "unknown engine 'spark': choose one of local, ray"),
        (("--ray-address", "head:6379"), "--ray-address is for --engine ray"),
        (("--gpus-per-worker", "0.5"), "--gpus-per-worker is for --engine ray"),
        (("--engine", "local", "--ray-address", "head:6379"), "--ray-address is for --engine ray"),
        (("--engine", "local", "--gpus-per-worker", "1"), "--gpus-per-worker is for --engine ray"),
        (("--engine", "ray", "--gpus-per-worker", "1"), "--gpus-per-worker is for --device cuda"),
        (("--engine", "ray", "--device", "cuda", "--gpus-per-worker", "1.5"), "give a worker whole GPUs, or a fraction of one"),
        (("--engine", "ray"), '--engine ray needs Ray: pip install "tacit[ray]"'),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    options: tuple[str, ...], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)  # as if it were not installed
    refused = command("train", "rebel", GAME, "--run", str(tmp_path / "no"), "--json", *options)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert told in refused.stderr.splitlines()[-1]
    assert not (tmp_path / "no").exists()


def node(cpus: float, gpus: float = 0.0, alive: bool = True) -> dict[str, Any]:
    return {"Alive": alive, "Resources": {"CPU": cpus, **({"GPU": gpus} if gpus else {})}}


@pytest.mark.parametrize(
    ("gpus", "room"),
    [(0, 4 + 16 + 2), (1, 2 + 4), (0.5, 4 + 8), (0.3, 4 + 12), (0.1, 4 + 16), (2, 1 + 2), (3, 1)],
)
def test_how_many_workers_a_cluster_holds(gpus: float, room: int) -> None:
    """No worker spans two nodes, and a fraction of a GPU lies on a single GPU."""
    nodes = [node(4, 2), node(16, 4), node(2), node(64, 8, alive=False)]
    assert room_on(nodes, gpus) == room


def test_workers_are_dealt_the_gpus_that_we_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5,3")
    with (
        reached(EnginePlan("local", 3, "cuda")) as make_crew,
        Orders(make_crew(Sums()), itertools.repeat({"number": 0})) as orders,
    ):
        gpus = dict[int, str]()
        for answer in itertools.islice(orders, 1_000_000):  # one worker may be far ahead of another
            gpus[answer.facts["pid"]] = answer.facts["gpu"]
            if len(gpus) == 3:
                break
    assert sorted(gpus.values()) == ["3", "5", "5"]
    with reached(EnginePlan("local", 1)) as make_crew, Orders(make_crew(Sums()), [{"number": 0}]) as orders:
        assert [answer.facts["gpu"] for answer in orders] == ["5,3"]


def test_the_line_of_a_crew_fits_into_100_columns() -> None:
    usual = EngineReport(2, 2, 0, 1_234.5, 0.35, 1.82, 4, 0)
    assert crew_line(usual) == "2 of 2 workers, 1,234 examples/s, learner waits 35%, weights 1.8 steps old"
    crowd = EngineReport(1_024, 1_000, 9_999, 123_456_789.0, 1.0, 8_192.0, 9_000, 3)
    assert len(f"  {crew_line(crowd)}") < 100
    assert "1000 of 1024 workers, 9999 died, 123.5 M examples/s" in crew_line(crowd)


def test_the_line_of_a_crew_stands_below_the_bars() -> None:
    from rich.console import Console

    console = Console(file=io.StringIO(), width=100, force_terminal=True)
    bars = Bars(console=console)
    bars.add_task("rebel", total=2)
    bars.below = lambda: "2 of 2 workers"
    console.print(bars.get_renderable())
    lines = [line for line in console.file.getvalue().splitlines() if line]  # type: ignore[attr-defined]
    assert "rebel" in lines[0]
    assert lines[1].strip() == "2 of 2 workers"
