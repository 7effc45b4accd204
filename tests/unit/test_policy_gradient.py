"""Regret policy gradients: gradients match torch's, values match average winnings, and policies approach an equilibrium."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from tacit.games import load_game
from tacit.nets.player_networks import strategy_table
from tacit.policy_gradient.config import UPDATES, PolicyGradientConfig
from tacit.policy_gradient.rounds import POLICY, Q, _play_games, logit_gradients
from tacit.policy_gradient.system import RPG
from tacit.policy_gradient.train import PolicyGradientTrainer
from tacit.training.folder import RunFolder
from tacit.training.run import open_run, train
from tests.command import tacit
from tests.oracles import expected_value, histories


def trainer(game: str, **settings: str) -> PolicyGradientTrainer:
    return PolicyGradientTrainer(load_game(game), RPG.presets["smoke"].with_settings(settings))


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("seed", range(5))
def test_gradients_are_those_of_what_the_paper_descends(update: str, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(4, generator=generator, dtype=torch.float64).requires_grad_()
    values = torch.randn(4, generator=generator, dtype=torch.float64)
    policy = logits.softmax(0)
    value = (policy * values).sum()
    descended = {
        "rpg": (values - value).clamp(min=0).sum(),
        "qpg": -value,
        "rmpg": -(policy * (values - value.detach()).clamp(min=0)).sum(),
    }[update]
    (descended + 0.3 * (policy * policy.log()).sum()).backward()  # type: ignore[no-untyped-call]
    found, actions = np.zeros(6, np.float32), np.array([9, 9, 4, 0, 1, 3])  # the infostate's entries are 2 to 5
    found[[4, 0, 1, 3]] = values.numpy()
    policies = policy.detach().numpy().astype(np.float32)
    logit_gradients(UPDATES.index(update), np.float32(0.3), policies, found, actions, 2, 6)
    assert logits.grad is not None
    np.testing.assert_allclose(found[[4, 0, 1, 3]], logits.grad.numpy(), atol=1e-5)


def test_games_are_counted_as_the_policies_play_them() -> None:
    run = trainer("kuhn_poker", games="100000", reward_unit="2")
    played, tree, table = run._played, run.encoded.tree, run.encoded.table
    _play_games(run._settings, run.networks, played, run.encoded.encodings, table, run._streams)
    strategy = run.strategy()
    chances, won = np.zeros(tree.num_entries), np.zeros(tree.num_entries)
    for arrival, _, moves, chance in histories(tree):
        if arrival.actor < 0:
            entries = [tree.entry_start[infostate] + action for _, infostate, action in moves]
            chances[entries] += chance * np.prod(strategy[entries])
            won[entries] += chance * np.prod(strategy[entries]) * tree.game.returns(arrival.state)[0] / 2.0
    error = 5.0 * np.sqrt(chances / 100_000)
    assert (np.abs(played.taken / 100_000 - chances) < error).all()
    assert (np.abs(played.won / 100_000 - won) < error).all()  # nobody wins more than 2, and the unit is 2


def test_values_become_those_of_the_present_policies() -> None:
    """With fixed policies, action values are an action's average winnings (brute force over histories)."""
    run = trainer("kuhn_poker", games="4096", critic_rounds="1000000", epoch_rounds="3000", reward_unit="1")
    run.run_epoch()
    tree, strategy = run.encoded.tree, run.strategy()
    arguments = run.encoded.encodings, run.encoded.table, run._played
    weight, won = np.zeros(tree.num_entries), np.zeros(tree.num_entries)
    for arrival, _, moves, chance in histories(tree):
        if arrival.actor < 0:
            entries = [tree.entry_start[infostate] + action for _, infostate, action in moves]
            reached = chance * np.prod(strategy[entries])
            for player, infostate, action in moves:
                weight[tree.entry_start[infostate] + action] += reached
                won[tree.entry_start[infostate] + action] += reached * tree.game.returns(arrival.state)[player]
    del arguments
    best = np.asarray(strategy_table(run.networks, Q, True, run.encoded.encodings, run.encoded.table, tree.infostate_player))
    exact = won / weight
    for infostate in range(tree.num_infostates):
        chosen = slice(tree.entry_start[infostate], tree.entry_start[infostate + 1])
        gap = exact[chosen].max() - exact[chosen] @ best[chosen]
        assert gap < 0.2, "the action with the largest learnt value is nearly the best one"
    assert expected_value(tree, strategy) == pytest.approx(float(run.judged(run.at_rest()).value or 0.0), abs=1e-6)


@pytest.mark.parametrize("update", UPDATES)
def test_policies_of_kuhn_come_near_an_equilibrium(update: str) -> None:
    """Uniform play has an exploitability of .458."""
    run = trainer("kuhn_poker", update=update, hidden="64", games="256", epoch_rounds="2000", epochs="10")
    for _ in range(10):
        progress = run.run_epoch()
    assert run.judged(progress).exploitability < 0.15  # type: ignore[operator]


def test_a_stopped_run_goes_on_bit_for_bit(tmp_path: Path) -> None:
    config = RPG.presets["smoke"].with_settings({"epochs": "4"})
    straight, stopped = (RunFolder[PolicyGradientConfig, object](tmp_path / name, RPG) for name in ("straight", "stopped"))  # type: ignore[type-var]
    whole = open_run(straight, "kuhn_poker", config)
    train(whole, straight)
    epochs: list[int] = []
    first = open_run(stopped, "kuhn_poker", config)
    train(first, stopped, on_epoch=lambda now: epochs.append(now.epoch), should_stop=lambda: len(epochs) == 2)
    again = open_run(stopped, "kuhn_poker", config)
    assert again.epoch == 2
    train(again, stopped)
    ours, theirs = again.state()[0], whole.state()[0]
    for name, tensor in theirs.items():
        np.testing.assert_array_equal(ours[name].numpy(), tensor.numpy(), err_msg=name)
    assert not np.array_equal(whole.networks.params[0, POLICY], trainer("kuhn_poker").networks.params[0, POLICY])


def test_a_run_is_evaluated_and_plays(tmp_path: Path) -> None:
    run = str(tmp_path / "run")
    trained = tacit("train", "rpg", "kuhn_poker", "--run", run, "--preset", "smoke", "--json")
    assert trained.returncode == 0, trained.stderr
    report = json.loads(trained.stdout)
    judged = json.loads(tacit("evaluate", run, "--json").stdout)
    assert judged["exploitability"] == pytest.approx(report["exploitability"], abs=1e-9)
    assert tacit("match", run, "random", "--game", "kuhn_poker", "--hands", "100", "--json").returncode == 0
