"""Deep CFR and Single Deep CFR: what the walks sample, what the networks learn, and what is played."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from tacit.deep_cfr.averages import ExactAverage
from tacit.deep_cfr.learn import ADVANTAGE, POLICY, learn, make_batch_sums, match_advantages
from tacit.deep_cfr.memory import make_samples, offer
from tacit.deep_cfr.system import DEEP_CFR, SD_CFR
from tacit.deep_cfr.train import DeepCfrTrainer
from tacit.deep_cfr.traversals import traverse
from tacit.errors import TacitError
from tacit.evaluation import evaluate
from tacit.games import load_game
from tacit.kernels import make_passes
from tacit.kernels.numba_walks import make_frames
from tacit.kernels.tiles import LANES
from tacit.nets.encoded_game import EncodedGame
from tacit.nets.player_networks import make_networks
from tacit.nets.sparse_mlp import make_scratch, pack_params
from tacit.random_numbers import below, make_streams
from tacit.training.folder import RunFolder
from tacit.training.run import open_run, train
from tacit.tree.public_tree import PublicTree
from tests.command import tacit
from tests.oracles import expected_value, random_strategy

WALKS = 60_000
SYSTEMS = {system.name: system for system in (DEEP_CFR, SD_CFR)}


def own_reach(tree: PublicTree, strategy: np.ndarray, infostate: int) -> float:
    """Returns the probability that a player's own moves lead to an infostate, from the rows above it."""
    player, row = int(tree.infostate_player[infostate]), int(tree.infostate_row[infostate])
    entries = [int(tree.rows[player].entry[step]) for step in tree.row_path(player, row)]
    return float(np.prod([strategy[entry] for entry in entries if entry < tree.num_entries]))


def sampled(encoded: EncodedGame, strategy: np.ndarray, traverser: int) -> tuple[Any, Any]:
    tree = encoded.tree
    advantages, policies = (make_samples(16 * WALKS, encoded.num_outputs) for _ in range(2))
    frames = make_frames(len(tree.require_nodes().level_start), encoded.num_outputs)
    arguments = encoded.table, strategy, 2.0, advantages, policies, frames, make_streams(7, 1), 0
    traverse(WALKS, traverser, 5, *arguments)
    return advantages, policies


@pytest.mark.parametrize("name", ["kuhn_poker", "modified_rps", "liars_dice(dice=1,faces=2)"])
@pytest.mark.parametrize("traverser", [0, 1])
def test_walks_sample_counterfactual_regrets(name: str, traverser: int) -> None:
    """The value is linear in the strategy at one infostate, which gives the regrets there without a walk."""
    encoded = EncodedGame.of(load_game(name))
    tree, strategy = encoded.tree, random_strategy(encoded.tree, 3)
    advantages, policies = sampled(encoded, strategy, traverser)
    count, sign = advantages.offered[traverser], 1.0 if traverser == 0 else -1.0
    assert advantages.offered[1 - traverser] == policies.offered[traverser] == 0
    assert (advantages.iteration[traverser, :count] == 5).all()
    value = expected_value(tree, strategy)
    for infostate in np.flatnonzero(tree.infostate_player == traverser):
        first, last = tree.entry_start[infostate], tree.entry_start[infostate + 1]
        values = advantages.values[traverser, :count][advantages.infostate[traverser, :count] == infostate]
        reach = own_reach(tree, strategy, infostate)
        for entry in range(first, last):
            changed = strategy.copy()
            changed[first:last] = np.arange(first, last) == entry
            regret = sign * (expected_value(tree, changed) - value) / reach / 2.0
            found = values[:, entry - first].astype(float)
            error = np.sqrt((found**2).sum()) / WALKS
            assert found.sum() / WALKS == pytest.approx(regret, abs=5.0 * error + 1e-9)


def test_the_opponent_is_sampled_as_often_as_it_comes_there() -> None:
    encoded = EncodedGame.of(load_game("kuhn_poker"))
    tree, strategy = encoded.tree, random_strategy(encoded.tree, 4)
    _, policies = sampled(encoded, strategy, 1)
    count = policies.offered[0]
    for infostate in np.flatnonzero(tree.infostate_player == 0):
        rows = policies.infostate[0, :count] == infostate
        expected = own_reach(tree, strategy, infostate) / 3  # each card is dealt in a third of all games
        assert rows.sum() / WALKS == pytest.approx(expected, abs=5.0 * np.sqrt(expected / WALKS))
        first, last = tree.entry_start[infostate], tree.entry_start[infostate + 1]
        noted = policies.values[0, :count][rows][:, : last - first]
        np.testing.assert_allclose(noted, np.broadcast_to(strategy[first:last], noted.shape), rtol=1e-6)


def test_a_reservoir_is_a_uniform_sample() -> None:
    samples, streams, value = make_samples(1_000, 1), make_streams(1, 1), np.zeros(1)
    for number in range(20_000):
        offer(samples, 1, number, 1, value, 0, 1, streams, 0)
    assert samples.offered.tolist() == [0, 20_000]
    kept = np.sort(samples.infostate[1])
    assert len(np.unique(kept)) == 1_000
    counts = np.histogram(kept, 10, (0, 20_000))[0]
    assert ((counts - 100) ** 2 / 100).sum() < 27.9  # chi-square with 9 degrees of freedom: exceeded once in a thousand


@pytest.mark.parametrize("kind", [ADVANTAGE, POLICY])
def test_steps_of_learning_equal_those_of_torch(kind: int) -> None:
    encoded = EncodedGame.of(load_game("leduc_poker"))
    tree, hidden = encoded.tree, (24, 16)
    sizes = [encoded.num_features, *hidden, encoded.num_outputs]
    torch.manual_seed(0)
    layers = [layer for a, b in pairwise(sizes) for layer in (nn.Linear(a, b), nn.ReLU())]
    net = nn.Sequential(*layers[:-1])
    networks = make_networks(*sizes[:1], hidden, sizes[-1], (ADVANTAGE, POLICY), np.random.default_rng(0))
    networks.params[1, kind] = pack_params([part.detach().numpy() for part in net.parameters()])

    generator, samples = np.random.default_rng(1), make_samples(40, encoded.num_outputs)
    infostates = generator.choice(np.flatnonzero(tree.infostate_player == 1), 40)
    legal = torch.zeros(40, encoded.num_outputs, dtype=torch.bool)
    wanted = torch.zeros(40, encoded.num_outputs)
    samples.infostate[1], samples.iteration[1], samples.offered[1] = infostates, generator.integers(1, 10, 40), 40
    matrix = torch.zeros(40, encoded.num_features)
    for i, infostate in enumerate(infostates):
        first, last = tree.entry_start[infostate], tree.entry_start[infostate + 1]
        values = generator.dirichlet(np.ones(last - first)) if kind == POLICY else 3.0 * generator.normal(size=last - first)
        samples.values[1, i, : last - first] = values
        action = encoded.table.entry_action[first:last]
        legal[i, action], wanted[i, action] = True, torch.from_numpy(samples.values[1, i, : last - first])
        active = slice(encoded.encodings.start[infostate], encoded.encodings.start[infostate + 1])
        matrix[i, encoded.encodings.feature[active]] = torch.from_numpy(encoded.encodings.value[active])

    batch, scratch = make_batch_sums(tree.num_infostates, tree.num_entries), make_scratch(sizes[0], hidden, sizes[-1])
    gradient, streams = np.zeros(networks.params.shape[2], np.float32), make_streams(2, 1)
    copies, optimizer = make_streams(2, 1), torch.optim.Adam(net.parameters(), 0.01)
    shared = networks, gradient, scratch, samples, batch, encoded.encodings, encoded.table, streams, 0
    for _ in range(4):
        learn(kind, 1, 1, 64, 0.01, 0.5, 9, *shared)
        items = [below(copies, 0, 40) for _ in range(64)]
        weight = torch.from_numpy(samples.iteration[1, items]) * (2.0 / 10.0)
        outputs = net(matrix[items])
        if kind == POLICY:
            each = -(wanted[items] * outputs.masked_fill(~legal[items], -1e9).log_softmax(1)).sum(1)
        else:
            each = ((outputs - wanted[items]) ** 2 * legal[items]).sum(1)
        optimizer.zero_grad()
        (weight * each).mean().backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        optimizer.step()
        expected = pack_params([part.detach().numpy() for part in net.parameters()])
        np.testing.assert_allclose(networks.params[1, kind], expected, atol=2e-5)
    assert (batch.weight == 0).all()
    assert (batch.wanted == 0).all()


def test_players_follow_positive_advantages_and_else_the_largest() -> None:
    encoded = EncodedGame.of(load_game("leduc_poker"))
    sizes = encoded.num_features, (16,), encoded.num_outputs
    networks = make_networks(*sizes, (ADVANTAGE,), np.random.default_rng(0))
    strategy, scratch, tree = np.full(encoded.tree.num_entries, -1.0), make_scratch(*sizes), encoded.tree
    for bias, expected in (((1.0, 3.0, -2.0), (0.25, 0.75, 0.0)), ((-5.0, -2.0, -3.0), (0.0, 1.0, 0.0))):
        networks.params[:] = 0.0
        start = int(networks.shape.bias[-1]) * LANES
        networks.params[:, ADVANTAGE, start : start + 3] = bias
        match_advantages(networks, 0, scratch, encoded.encodings, encoded.table, tree.infostate_player, strategy)
        for infostate in range(tree.num_infostates):
            first, last = tree.entry_start[infostate], tree.entry_start[infostate + 1]
            if tree.infostate_player[infostate] != 0:
                assert (strategy[first:last] == -1.0).all()
            elif last - first == 3:
                np.testing.assert_allclose(strategy[first:last], expected, atol=1e-6)


def test_the_average_of_single_deep_cfr_is_weighted_by_iteration_and_reach() -> None:
    encoded = EncodedGame.of(load_game("kuhn_poker"))
    tree, average = encoded.tree, ExactAverage(encoded)
    played = [random_strategy(tree, seed) for seed in (1, 2, 3)]
    for iteration, strategy in enumerate(played, 1):
        for player in (0, 1):
            average.add(player, iteration, strategy)
    for infostate in range(tree.num_infostates):
        chosen = slice(tree.entry_start[infostate], tree.entry_start[infostate + 1])
        total = sum(t * own_reach(tree, strategy, infostate) * strategy[chosen] for t, strategy in enumerate(played, 1))
        np.testing.assert_allclose(average.strategy()[chosen], total / total.sum(), atol=1e-12)


def small(system: str, **settings: str) -> Any:
    known = SYSTEMS[system]
    return known.presets["smoke"].with_settings({"epochs": "4", **settings})


@pytest.mark.parametrize(("system", "bound"), [("sd-cfr", 0.025), ("deep-cfr", 0.05)])
def test_kuhn_is_learnt(system: str, bound: float) -> None:
    """For comparison, uniform play has an exploitability of .458."""
    settings = {"traversals": "300", "advantage_steps": "60", "epochs": "50", "epoch_iterations": "10", "evaluate_every": "0"}
    settings |= {"policy_steps": "60"} if system == "deep-cfr" else {}
    trainer = SYSTEMS[system].trainer(load_game("kuhn_poker"), small(system, **settings), "cpu")
    for _ in range(50):
        progress = trainer.run_epoch()
    judged = trainer.judged(progress)
    assert judged.exploitability < bound
    assert judged.value == pytest.approx(-1 / 18, abs=0.02)
    assert judged.iterations == 500
    exact = evaluate(make_passes(trainer.encoded.tree), trainer.strategy())
    assert judged.exploitability == exact.exploitability


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_stopped_run_goes_on_bit_for_bit(system: str, tmp_path: Path) -> None:
    config = small(system, restart="true")
    straight, stopped = (RunFolder(tmp_path / name, SYSTEMS[system]) for name in ("straight", "stopped"))
    whole = open_run(straight, "kuhn_poker", config)
    train(whole, straight)
    epochs: list[int] = []
    train(
        open_run(stopped, "kuhn_poker", config), stopped,
        on_epoch=lambda now: epochs.append(now.epoch), should_stop=lambda: len(epochs) == 2,
    )  # fmt: skip
    again = open_run(stopped, "kuhn_poker", config)
    assert again.epoch == 2
    train(again, stopped)
    ours, theirs = again.state()[0], whole.state()[0]
    assert ours.keys() == theirs.keys()
    for name, tensor in theirs.items():
        np.testing.assert_array_equal(ours[name].numpy(), tensor.numpy(), err_msg=name)


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_run_is_evaluated_and_plays(system: str, tmp_path: Path) -> None:
    run = str(tmp_path / "run")
    trained = tacit("train", system, "kuhn_poker", "--run", run, "--preset", "smoke", "--json")
    assert trained.returncode == 0, trained.stderr
    report = json.loads(trained.stdout)
    judged = json.loads(tacit("evaluate", run, "--json").stdout)
    assert judged["kind"] == report["kind"] == "exact"
    assert judged["exploitability"] == pytest.approx(report["exploitability"], abs=1e-9)
    match = tacit("match", run, "random", "--game", "kuhn_poker", "--hands", "200", "--json")
    assert match.returncode == 0, match.stderr
    assert "iterations" in tacit("train", system, "kuhn_poker", "--run", str(tmp_path / "other"), "--preset", "smoke").stdout


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(TacitError, match="trains on the CPU"):
        DeepCfrTrainer(load_game("kuhn_poker"), small("sd-cfr"), "cuda")
    trainer = DeepCfrTrainer(load_game("kuhn_poker"), small("sd-cfr"))
    with pytest.raises(TacitError, match="does not fit"):
        trainer.load_weights({"total": torch.zeros(3)})
    with pytest.raises(TacitError, match="without --engine"):
        trainer.generate()
