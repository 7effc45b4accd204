"""Evaluation of trained networks: exploitability of the last ones, errors against exact values, cells of ReBeL's Table 2."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tacit import artifacts
from tacit.artifacts.base import Monitor
from tacit.artifacts.rebel import RebelArtifact
from tacit.errors import TacitError
from tacit.games.base import TERMINAL
from tacit.kernels.base import LeafEvaluator
from tacit.leaves.evaluators import OracleLeaves, ZeroLeaves
from tacit.rebel.config import preset
from tacit.rebel.network_error import NetworkError, network_error
from tacit.rebel.system import REBEL
from tacit.rebel.trained import load_trained
from tacit.reproduce import learned
from tacit.search.playthroughs import max_searches
from tacit.training.folder import RunFolder
from tacit.training.run import open_run, train
from tacit.tree.search_space import SearchSpace
from tests.unit.test_search import space_of


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    folder = RunFolder(tmp_path_factory.mktemp("run"), REBEL)
    train(open_run(folder, "kuhn_poker", preset("smoke").with_settings({"epochs": "5"})), folder)
    return folder


def test_the_last_networks_are_judged_one_by_one(run: RunFolder) -> None:
    artifact, protocol = artifacts.open(str(run.path)), {"solver": "dcfr", "iterations": 8, "playthroughs": 16}
    judged = artifact.evaluate(last=3, **protocol)
    checkpoints = judged.details["checkpoints"]
    assert [one["epoch"] for one in checkpoints] == [3, 4, 5]
    bounds = [one["exploitability"] for one in checkpoints]
    assert len(set(bounds)) == 3
    assert judged.figure == pytest.approx(np.mean(bounds))
    assert artifact.evaluate(**protocol).figure == pytest.approx(bounds[-1], abs=1e-9)
    with pytest.raises(TacitError, match="keeps the networks of 3 evaluations, not of 4"):
        artifact.evaluate(last=4)


@pytest.mark.parametrize(("name", "depth"), [("kuhn_poker", 1), ("leduc_poker", 2), ("liars_dice(dice=1,faces=4)", 3)])
def test_the_most_searches_are_the_public_states_where_searches_start(name: str, depth: int, run: RunFolder) -> None:
    space = space_of(name, depth)
    nodes, depths = space.tree.require_nodes(), []
    for parent in nodes.parent:
        depths.append(0 if parent < 0 else depths[parent] + 1)
    starts = [node for node, d in enumerate(depths) if d % depth == 0 and nodes.actor[node] != TERMINAL]
    assert max_searches(space) == len(starts)
    assert max_searches(space_of(name, None)) == nodes.num_roots
    seen: list[tuple[int, int]] = []

    class Listener(Monitor):
        def step(self, what: str, done: int, total: int | None = None, unit: str = "", note: str = "") -> None:
            if unit == "searches" and total is not None:
                seen.append((done, total))

    artifacts.open(str(run.path), monitor=Listener()).evaluate(iterations=4, playthroughs=8)
    assert max(done for done, _ in seen) <= seen[0][1] == 8 * max_searches(space_of("kuhn_poker", 2))


def measured(leaves: LeafEvaluator, space: SearchSpace, samples: int, iterations: int = 2) -> NetworkError:
    config = preset("smoke").with_settings({"iterations": str(iterations), "depth": str(space.depth)})
    return network_error(leaves, space, config, samples, np.random.default_rng(0))


def test_the_oracle_makes_no_error() -> None:
    space = space_of("kuhn_poker", 1)
    exact = measured(OracleLeaves(space), space, 12)
    assert max(exact.absolute, exact.rms, exact.value) < 1e-6


@pytest.mark.parametrize("name", ["kuhn_poker", "liars_dice(dice=1,faces=3)"])
def test_an_error_comes_with_an_interval_that_narrows(name: str) -> None:
    space = space_of(name, 1)
    zero = measured(ZeroLeaves(), space, 40)
    assert zero.absolute > 0.1
    assert zero.rms >= zero.absolute >= zero.value
    low, high = zero.interval
    assert 0 <= low < zero.absolute < high
    more = measured(ZeroLeaves(), space, 160)
    assert more.interval[1] - more.interval[0] == pytest.approx((high - low) / 2, rel=0.4)  # as 1/sqrt(samples)


def test_a_shipped_network_is_close_to_the_truth() -> None:
    trained = load_trained("pretrained:liars_dice_1x4f")
    space, generator = trained.space(), np.random.default_rng(0)
    error = network_error(trained.value_net(space), space, replace(trained.config, iterations=8), 40, generator)
    assert error.typical_return == pytest.approx(1.0)
    assert error.absolute < 0.2 * measured(ZeroLeaves(), space, 40).absolute


def test_figures_of_a_run_are_not_computed_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = learned.jobs("smoke", ("cfr-d",), ("1x4f",), tmp_path, seed=3)[0]
    config = replace(job.config, epochs=3, evaluate_every=1, games=32, epoch_examples=32, iterations=2, playthroughs=1)
    paper, better = learned.Protocol("linear-cfr", 2, 2), learned.Protocol("dcfr", 2, 2)
    job = replace(job, config=config, protocols=(paper, better))
    train(open_run(job.folder, job.game, job.config), job.folder)
    first = learned.judge_run(job)
    figures = first.paper.exploitability
    assert list(figures) == [1, 2, 3]
    assert len(set(figures[3])) == len(job.seeds) == 3, "every seed gives another figure"
    assert first.paper.by_seed[1] == pytest.approx(np.mean([found[1] for found in figures.values()]))
    assert first.paper.mean == pytest.approx(np.mean(list(figures.values())))
    assert first.better.exploitability != figures
    with monkeypatch.context() as patch:
        patch.setattr(RebelArtifact, "exploitability", lambda *_, **__: pytest.fail("computed again"))
        assert learned.judge_run(job) == first
    other = learned.judge_run(replace(job, protocols=(replace(paper, iterations=3), better)))
    assert other.paper != first.paper
    assert other.better == first.better


def test_every_cell_of_the_table_has_a_run_of_its_own(tmp_path: Path) -> None:
    for scale, how in learned.SCALES.items():
        cells = learned.jobs(scale, ("cfr-d", "fp"), None, tmp_path, seed=5)
        assert len({cell.folder.path for cell in cells}) == len(cells) == 2 * len(how.epochs)
        assert {cell.config.seed for cell in cells} == {5}
        assert all(5 not in cell.seeds for cell in cells), "judged with seeds that training did not use"
        assert {cell.protocols[0].solver for cell in cells} == {"linear-cfr", "flop"}, "the paper's"
        for cell in cells:
            kept = cell.config.epochs // cell.config.evaluate_every
            assert kept >= 3, "three checkpoints are needed"
    with pytest.raises(TacitError, match="unknown variant '3x3f'"):
        learned.jobs("cpu", ("cfr-d", "fp"), ("3x3f",), tmp_path, seed=0)


def test_published_figures_belong_to_their_search() -> None:
    from tacit.reproduce.dice import published_exploitability

    assert published_exploitability("liars_dice(dice=1,faces=4)", "dcfr") == 0.017
    assert published_exploitability("liars_dice(dice=1,faces=4)", "flop") == 0.041
    assert published_exploitability("kuhn_poker", "dcfr") is None
