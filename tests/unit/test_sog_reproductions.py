"""The figures of Student of Games: what imaginary observations estimate, and the commands at their smallest sizes."""

import json
from pathlib import Path

import numpy as np
import pytest

from tacit.evaluation import evaluate
from tacit.games import load_game
from tacit.kernels import make_passes
from tacit.reproduce import sog_tplo
from tacit.reproduce.sog_leduc import PUBLIC_CODE, SCALES, leduc_jobs
from tacit.reproduce.sog_tplo import BLIND, STAGES, TploRun, imaginary_outcomes, tplo_runs, win_rate
from tacit.sog.config import PRESETS
from tacit.sog.system import SOG
from tacit.sog.train import SogTrainer
from tacit.training.folder import RunFolder
from tacit.training.run import open_run, train
from tacit.tree.compiler import compile_game
from tests.command import tacit


@pytest.mark.parametrize("name", ["kuhn_poker", "pot_limit_leduc"])
def test_imaginary_observations_have_the_exact_mean(name: str) -> None:
    tree = compile_game(load_game(name))
    strategy = tree.normalise(np.random.default_rng(0).random(tree.num_entries))
    chances, payoffs = imaginary_outcomes(make_passes(tree), strategy)
    assert chances.sum() == pytest.approx(1.0)
    assert chances @ payoffs == pytest.approx(evaluate(make_passes(tree), strategy).value, abs=1e-9)
    assert chances @ payoffs**2 < (np.abs(tree.payoff) ** 2 / tree.payoff_chance).sum()


def test_win_rates_are_those_of_both_seats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sog_tplo, "GAMES", 40_000)
    tree = compile_game(load_game("pot_limit_leduc"))
    generator = np.random.default_rng(1)
    ours, theirs = (tree.normalise(generator.random(tree.num_entries)) for _ in range(2))
    passes, first = make_passes(tree), tree.entry_player == 0
    as_first = evaluate(passes, np.where(first, ours, theirs)).value
    as_second = -evaluate(passes, np.where(first, theirs, ours)).value
    found = win_rate(passes, "other", ours, theirs, generator)
    assert found.exact == pytest.approx(1_000 / BLIND * (as_first + as_second) / 2)
    assert abs(found.sampled - found.exact) < 2.5 * found.margin
    assert win_rate(passes, "itself", ours, ours, generator).exact == pytest.approx(0.0, abs=1e-9)


def test_stages_of_a_training_are_tenths_of_it(tmp_path: Path) -> None:
    for scale in sog_tplo.SCALES:
        for run in tplo_runs(scale, tmp_path, 3):
            epochs = [epoch for _, epoch, _ in run.stages()]
            assert epochs == [round(share * run.config.epochs) for share in STAGES]
            assert [name for name, _, _ in run.stages()] == ["10 %", "30 %", "100 %"]
            assert run.folder.path.name.endswith("-3")


def test_protocols_differ_in_their_searches_alone(tmp_path: Path) -> None:
    jobs = {(job.protocol, job.curve, job.iterations, job.seed): job.config for job in leduc_jobs("cpu", tmp_path, 0)}
    assert len(jobs) == 2 * 2 * len(SCALES["cpu"].trained) * 3
    for (protocol, *rest), config in jobs.items():
        other = jobs[("better" if protocol == "paper" else "paper", *rest)]
        differ = {key for key, value in config.as_dict().items() if other.as_dict()[key] != value}
        assert differ == {"solver", "updates", "warm_up", "decomposition"}
    assert (jobs["paper", "network of self-play", 200, 0].updates, PUBLIC_CODE["unlimited depth"][0]) == ("simultaneous", 18.6)


@pytest.mark.slow
def test_sog_leduc_at_its_smallest(tmp_path: Path) -> None:
    done = tacit("reproduce", "sog-leduc", "--scale", "smoke", "--out", str(tmp_path), "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    points = {(row["protocol"], row["curve"], row["iterations"]): row["milli_antes"] for row in report["results"]}
    assert points["paper", "uniform play", 10] == pytest.approx(366.25 / 0.3, rel=1e-3)
    for protocol in ("paper", "better"):
        assert points[protocol, "unlimited depth", 10] < points[protocol, "untrained network", 10]
    assert Path(report["plot"]).stat().st_size > 10_000


def test_a_run_that_others_judge_keeps_its_stages_and_is_not_evaluated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SogTrainer, "evaluate", lambda *_: pytest.fail("evaluated"))
    config = PRESETS["smoke"].with_settings({"epochs": "10", "iterations": "2", "cycle_queries": "16", "games": "8"})
    run = TploRun(1, RunFolder(tmp_path / "run", SOG), config)
    trainer = open_run(run.folder, "pot_limit_leduc", config)
    kept: list[bytes] = []
    last = train(trainer, run.folder, judges=False, on_epoch=lambda now: (run.keep(now.epoch), kept.append(weights(run)))[0])
    assert run.finished
    assert [now.exploitability for now in run.folder.history()] == [None] * 10
    assert last.epoch == 10
    assert [file.read_bytes() for _, _, file in run.stages()] == [kept[0], kept[2], kept[9]]
    assert len(set(kept)) == 10


def weights(run: TploRun) -> bytes:
    return run.folder.network.read_bytes()
