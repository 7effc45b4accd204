"""Runs of NFSP and DQN: they learn, survive kills bit for bit, stop at NaN, and give strategies to play and judge."""

import json
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tacit.artifacts import load_agent, nfsp
from tacit.errors import TacitError
from tacit.evaluation import evaluate
from tacit.games import load_game
from tacit.kernels import make_passes
from tacit.nets.checkpoint import load_tensors, save_tensors
from tacit.nets.player_networks import best_entry
from tacit.nfsp.config import DQN_PRESETS, LIMIT_PRESETS, PRESETS, NfspConfig, TabularConfig
from tacit.nfsp.progress import ExactProgress
from tacit.nfsp.strategies import AVERAGE, BEST_RESPONSE, GREEDY_AVERAGE
from tacit.nfsp.system import DQN, NFSP
from tacit.nfsp.tabular.engine import PlayedGame
from tacit.nfsp.tabular.networks import Q
from tacit.nfsp.train import NfspTrainer
from tacit.nfsp.trained import load_nfsp
from tacit.reproduce.nfsp import nfsp_jobs
from tacit.training.folder import RunFolder
from tacit.training.run import open_run, train
from tacit.training.settings import find_preset
from tacit.training.system import System
from tests.command import tacit
from tests.unit.test_train_command import start_training, wait_for_checkpoint

ROOT = Path(__file__).parents[2]


def small(**changes: str) -> TabularConfig:
    settings = {"epoch_rounds": "150", "epochs": "6", "behaviour": "600", "transitions": "500", "evaluate_every": "2"}
    return PRESETS["smoke"].with_settings({**settings, **changes})


def stop_after(epochs: int) -> Callable[[], bool]:
    left = iter(range(epochs - 1, -1, -1))
    return lambda: next(left) == 0


@pytest.mark.parametrize(
    "changes", [{}, {"optimizer": "adam", "layers": "2"}, {"memory": "exponential", "decay": "0.5"}, {"memory": "window"}]
)
def test_a_stopped_run_goes_on_bit_for_bit(changes: dict[str, str], tmp_path: Path) -> None:
    """Memories overflow in these runs, so that circular buffers and reservoirs are tested, too."""
    config = small(**changes)
    straight, folder = (RunFolder(tmp_path / name, NFSP) for name in ("straight", "stopped"))
    whole = open_run(straight, "kuhn_poker", config)
    train(whole, straight)
    for stop in (1, 3):
        train(open_run(folder, "kuhn_poker", config), folder, should_stop=stop_after(stop))
    last = open_run(folder, "kuhn_poker", config)
    assert last.epoch == 4
    train(last, folder)
    ours, theirs = last.state()[0], whole.state()[0]
    assert ours.keys() == theirs.keys()
    for name, tensor in theirs.items():
        np.testing.assert_array_equal(ours[name].numpy(), tensor.numpy(), err_msg=name)
    assert [line.epoch for line in folder.history()] == [1, 2, 3, 4, 5, 6]
    for one, other in zip(folder.history(), straight.history(), strict=True):
        assert (one.loss, one.policy_loss, one.exploitability) == (other.loss, other.policy_loss, other.exploitability)


def test_epochs_after_the_last_checkpoint_are_dropped_and_played_again(tmp_path: Path) -> None:
    config = small()
    straight, folder = (RunFolder(tmp_path / name, NFSP) for name in ("straight", "stopped"))
    whole = open_run(straight, "kuhn_poker", config)
    train(whole, straight)
    stopped = open_run(folder, "kuhn_poker", config)
    train(stopped, folder, should_stop=stop_after(2))
    for _ in range(3):  # epochs whose checkpoint is never written
        folder.add_epoch(stopped.run_epoch())
        folder.save_network(stopped, keep=True)
    again = open_run(folder, "kuhn_poker", config)
    assert again.epoch == 2
    train(again, folder)
    assert [line.epoch for line in folder.history()] == [1, 2, 3, 4, 5, 6]
    np.testing.assert_array_equal(again.weights()["params"].numpy(), whole.weights()["params"].numpy())


def test_a_killed_process_goes_on_bit_for_bit(tmp_path: Path) -> None:
    config = small(epochs="40")
    straight, folder = (RunFolder(tmp_path / name, NFSP) for name in ("straight", "killed"))
    whole = open_run(straight, "kuhn_poker", config)
    train(whole, straight)
    folder.start("kuhn_poker", config)
    process = start_training(folder.path, "kuhn_poker", "--resume", checkpoint_seconds=0.0, system="nfsp")
    wait_for_checkpoint(folder, process)
    process.kill()
    _, err = process.communicate()
    assert process.returncode == -signal.SIGKILL, err
    again = open_run(folder, "kuhn_poker", config)
    assert 1 <= again.epoch < config.epochs
    train(again, folder)
    assert [line.epoch for line in folder.history()] == list(range(1, config.epochs + 1))
    ours, theirs = again.state()[0], whole.state()[0]
    for name, tensor in theirs.items():
        np.testing.assert_array_equal(ours[name].numpy(), tensor.numpy(), err_msg=name)


def test_a_state_replaces_all_that_another_run_has_learnt() -> None:
    """This includes the values of next states, which the engine keeps between refits of the target networks."""
    game, seeds = load_game("leduc_poker"), ("0", "1")
    straight, other = (NFSP.trainer(game, small(seed=seed, refit_every="1000"), "cpu") for seed in seeds)
    straight.run_epoch()
    other.run_epoch()
    other.restore(*straight.state())
    straight.run_epoch()
    other.run_epoch()
    ours, theirs = other.state()[0], straight.state()[0]
    for name, tensor in theirs.items():
        np.testing.assert_array_equal(ours[name].numpy(), tensor.numpy(), err_msg=name)


def test_the_average_strategy_is_what_is_judged(tmp_path: Path) -> None:
    trainer = NFSP.trainer(load_game("leduc_poker"), small(), "cpu")
    metrics = trainer.judged(trainer.run_epoch())
    passes = make_passes(trainer.played.tree)
    found = {kind: evaluate(passes, trainer.strategy(kind)) for kind in (AVERAGE, BEST_RESPONSE, GREEDY_AVERAGE)}
    assert metrics.exploitability == found[AVERAGE].exploitability
    assert metrics.nash_conv == pytest.approx(2 * found[AVERAGE].exploitability)
    assert metrics.best_response_exploitability == found[BEST_RESPONSE].exploitability
    assert metrics.greedy_average_exploitability == found[GREEDY_AVERAGE].exploitability
    for kind in (BEST_RESPONSE, GREEDY_AVERAGE):
        assert set(np.unique(trainer.strategy(kind))) == {0.0, 1.0}


def test_kuhn_poker_is_learnt_in_seconds() -> None:
    config = PRESETS["cpu"].with_settings({"epoch_rounds": "500", "epochs": "4"})
    trainer = NFSP.trainer(load_game("kuhn_poker"), config, "cpu")
    for _ in range(config.epochs):
        metrics = trainer.run_epoch()
    metrics = trainer.judged(metrics)
    assert metrics.exploitability is not None
    assert metrics.exploitability < 0.06  # uniform play: 0.458
    assert metrics.value == pytest.approx(-1 / 18, abs=0.04)


@pytest.mark.parametrize(
    ("system", "game", "bound"),
    [(NFSP, "modified_rps", 0.15), (NFSP, "coin_guess(p=0.7)", 0.01), (DQN, "coin_guess(p=0.7)", 0.01)],
)
def test_games_with_nothing_to_see_are_learnt_by_biases_alone(
    system: System[TabularConfig, ExactProgress], game: str, bound: float, tmp_path: Path
) -> None:
    """Each player has one infostate, so encodings are empty. Uniform play: 0.333 and 0.1."""
    folder = RunFolder(tmp_path, system)
    config = system.presets["cpu"].with_settings({"epochs": "3"})
    trainer = open_run(folder, game, config)
    assert isinstance(trainer, NfspTrainer)
    assert trainer.played.num_features == 0
    metrics = train(trainer, folder)
    assert metrics.exploitability is not None
    assert metrics.exploitability < bound
    if game != "modified_rps":
        assert metrics.best_response_exploitability == 0.0  # it always guesses heads
    again = load_nfsp(str(tmp_path)).strategies()[AVERAGE].probabilities
    np.testing.assert_array_equal(again, trainer.strategy(AVERAGE))


def test_a_loss_that_is_no_number_stops_the_run_and_keeps_the_checkpoint(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path, NFSP)
    config = small(learning_rate="0.01")
    trainer = open_run(folder, "leduc_poker", config)
    train(trainer, folder, should_stop=stop_after(2))
    before = {file: file.read_bytes() for file in folder.checkpoints().values()}
    broken = open_run(folder, "leduc_poker", config)
    assert isinstance(broken, NfspTrainer)
    broken.networks.params[1, 0, 0] = np.nan
    with pytest.raises(TacitError, match="the loss became nan: lower learning_rate; the checkpoint of epoch 2 is kept"):
        train(broken, folder)
    assert {file: file.read_bytes() for file in folder.checkpoints().values()} == before
    assert open_run(folder, "leduc_poker", config).epoch == 2
    exploding = NFSP.trainer(load_game("leduc_poker"), small(learning_rate="1000", epoch_rounds="2000"), "cpu")
    with pytest.raises(TacitError, match="lower learning_rate"):
        exploding.run_epoch()


@pytest.mark.parametrize("round_number", [1, 100, 10_000])
@pytest.mark.parametrize("decay", [0.0, 0.1, 1.0])
def test_decaying_exploration_falls_by_the_formula(decay: float, round_number: int) -> None:
    """Player 0 opens every Kuhn game with its best response and has two actions, so half of its random moves show."""
    config = TabularConfig(games=10_000, anticipation=1.0, exploration=1.0, exploration_decay=decay)
    trainer = NFSP.trainer(load_game("kuhn_poker"), config, "cpu")
    assert isinstance(trainer, NfspTrainer)
    best = trainer.strategy(BEST_RESPONSE)
    trainer.play(round_number - 1, 1)
    opened = trainer.kept()["games.last_entry"][:, 0].numpy()
    expected = 0.5 / (1.0 - decay + decay * round_number**0.5)
    assert abs((best[opened] == 0.0).mean() - expected) < 0.02  # four standard deviations


def test_exploration_that_stays_apart_stays() -> None:
    config = TabularConfig(games=10_000, anticipation=1.0, exploration=0.5, explores="apart")
    trainer = NFSP.trainer(load_game("kuhn_poker"), config, "cpu")
    assert isinstance(trainer, NfspTrainer)
    trainer.play(9_999, 1)
    assert abs(trainer.kept()["games.explored"][:, 0].double().mean() - 0.5) < 0.02


@pytest.mark.parametrize("unit", [0.5, 1.0, 4.0])
def test_action_values_are_learnt_in_the_reward_unit(unit: float) -> None:
    """Guessing heads wins a point with probability 0.7, and nothing otherwise."""
    trainer = NFSP.trainer(load_game("coin_guess(p=0.7)"), TabularConfig(reward_unit=unit, learning_rate=0.02), "cpu")
    assert isinstance(trainer, NfspTrainer)
    trainer.play(0, 1_000)
    rewards = trainer.kept()["transitions.reward"][1]
    assert rewards.unique().tolist() == [0.0, 1.0 / unit]
    played, networks = trainer.played, trainer.networks
    params, scratch = networks.params[1, Q], networks.scratch[1]
    (infostate,) = np.flatnonzero(played.tree.infostate_player == 1)
    _, value = best_entry(params, networks.shape, scratch, played.encodings, played.table, infostate)
    assert value * unit == pytest.approx(0.7, abs=0.05)


def test_a_run_from_before_the_reading_of_the_papers_schedule_goes_on_as_it_began(tmp_path: Path) -> None:
    """Its files have neither setting: exploration falls with the square root of rounds, and rewards are the game's payoffs."""
    config = small(explores="decaying", reward_unit="1")
    assert (config.exploration_decay, config.reward_unit) == (1.0, 1.0)
    straight, folder = (RunFolder(tmp_path / name, NFSP) for name in ("straight", "older"))
    whole = open_run(straight, "kuhn_poker", config)
    train(whole, straight)
    train(open_run(folder, "kuhn_poker", config), folder, should_stop=stop_after(2))
    facts = json.loads(folder.config.read_text())
    del facts["exploration_decay"], facts["reward_unit"]
    folder.config.write_text(json.dumps(facts))
    for file in (*folder.checkpoints().values(), folder.network):
        tensors, header = load_tensors(file)
        del header["config"]["exploration_decay"], header["config"]["reward_unit"]
        save_tensors(file, tensors, header)
    assert load_nfsp(str(folder.path)).config == config
    game, found = folder.asked_for()
    again = open_run(folder, game, found)
    assert again.epoch == 2
    train(again, folder)
    for name, tensor in whole.state()[0].items():
        np.testing.assert_array_equal(again.state()[0][name].numpy(), tensor.numpy(), err_msg=name)


def test_dqn_follows_its_best_response_always(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path, DQN)
    config = DQN_PRESETS["smoke"].with_settings({"epochs": "1"})
    trainer = open_run(folder, "kuhn_poker", config)
    train(trainer, folder)
    assert isinstance(trainer, NfspTrainer)
    offered = int(trainer.state()[0]["behaviour.offered"].sum())
    assert offered == trainer.steps  # every decision is best-response behaviour
    assert json.loads(folder.config.read_text())["system"] == "dqn"
    with pytest.raises(TacitError, match="holds a run of dqn, not of nfsp"):
        open_run(RunFolder(tmp_path, NFSP), "kuhn_poker", small())
    with pytest.raises(TacitError, match="train nfsp to change it"):
        config.with_settings({"anticipation": "0.1"})


def test_presets_of_the_paper_are_the_papers() -> None:
    """Section 4.1, and section 4.2 for DQN: "other parameters were fixed to the same values"."""
    paper = PRESETS["paper"]
    assert (paper.hidden_layers(), paper.transitions, paper.behaviour) == ([64], 200_000, 2_000_000)
    assert (paper.optimizer, paper.learning_rate) == ("sgd", 0.1)
    assert (paper.policy_optimizer, paper.policy_learning_rate) == ("sgd", 0.005)
    assert (paper.updates, paper.batch_size, paper.games, paper.refit_every) == (2, 128, 128, 300)
    assert (paper.anticipation, paper.exploration, paper.memory) == (0.1, 0.06, "reservoir")
    assert (paper.explores, paper.exploration_decay, paper.reward_unit) == ("decaying", 0.01, 26.0)  # from the author's program
    payoff = PlayedGame.of(load_game("leduc_poker")).table.payoff
    assert paper.reward_unit == payoff.max() - payoff.min()
    dqn = DQN_PRESETS["paper"]
    assert (dqn.exploration_decay, dqn.reward_unit) == (paper.exploration_decay, paper.reward_unit)
    assert (dqn.anticipation, dqn.exploration, dqn.transitions, dqn.learning_rate) == (1.0, 0.12, 2_000_000, 0.1)


@pytest.mark.parametrize("scale", ["cpu", "gpu"])
def test_figure_1_has_every_size_once(scale: str, tmp_path: Path) -> None:
    jobs = nfsp_jobs(scale, tmp_path, 3)
    panel = [job.config for job in jobs if "a" in job.variant.panel]
    assert sorted(int(config.hidden) for config in panel) == [8, 16, 32, 64, 128]
    plain = find_preset(NFSP.presets, {"cpu": "cpu", "gpu": "paper"}[scale])
    assert {replace(config, hidden=plain.hidden, seed=0) for config in panel} == {plain}
    assert len({job.folder.path for job in jobs}) == len(jobs) == 9


@pytest.mark.parametrize("presets", [PRESETS, DQN_PRESETS, LIMIT_PRESETS])
def test_hidden_layers_are_listed_or_repeated(presets: dict[str, NfspConfig]) -> None:
    config = presets["smoke"].with_settings({"hidden": "8-4", "layers": "2"})
    assert config.hidden_layers() == [8, 4, 8, 4]
    assert replace(config, hidden=16).hidden_layers() == [16, 16]
    with pytest.raises(TacitError, match="layers must be at least 1"):
        config.with_settings({"layers": "0"})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"memory": "attic"}, "memory must be one of reservoir, exponential, window, not 'attic'"),
        ({"optimizer": "sdg"}, "optimizer must be one of sgd, momentum, adam, not 'sdg'"),
        ({"anticipation": "1.5"}, "anticipation must be between 0 and 1, not 1.5"),
        ({"exploration_decay": "-1"}, "exploration_decay must be between 0 and 1, not -1.0"),
        ({"reward_unit": "-1"}, "reward_unit must be at least 0, not -1.0"),
        ({"hidden": "0"}, "hidden must be units with dashes between them, like 256-128, not '0'"),
        ({"behaviour": "5"}, "behaviour must be at least 256, a batch, not 5"),
        ({"eta": "0.1"}, "unknown setting 'eta'"),
    ],
)
def test_settings_that_make_no_sense_get_one_line(settings: dict[str, str], message: str) -> None:
    with pytest.raises(TacitError, match=message):
        PRESETS["cpu"].with_settings(settings)


def test_what_was_trained_can_be_loaded_and_played(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", NFSP)
    trainer = open_run(folder, "kuhn_poker", small(epochs="2"))
    train(trainer, folder)
    assert isinstance(trainer, NfspTrainer)
    game = load_game("kuhn_poker")
    for suffix, kind in (("", AVERAGE), (":greedy-average", GREEDY_AVERAGE), (":best-response", BEST_RESPONSE)):
        for path in (folder.path, folder.network):
            name = f"{path}{suffix}"
            trained = load_nfsp(name)
            assert (trained.strategy, trained.epoch, trained.system) == (kind, 2, "nfsp")
            np.testing.assert_array_equal(trained.strategies()[kind].probabilities, trainer.strategy(kind))
        agent = load_agent(f"{folder.path}{suffix}", game, np.random.default_rng(0))
        assert agent.name == f"{folder.path}{suffix}"
    with pytest.raises(TacitError, match="was trained on kuhn_poker, not on leduc_poker"):
        load_agent(str(folder.path), load_game("leduc_poker"), np.random.default_rng(0))
    assert nfsp.find(str(tmp_path), None, None) is None
    with pytest.raises(TacitError, match="only NFSP on limit_holdem has a policy over hands"):
        load_nfsp(str(folder.path)).policy()


def test_commands_train_judge_and_match(tmp_path: Path) -> None:
    run = str(tmp_path / "run")
    done = tacit("train", "nfsp", "kuhn_poker", "--run", run, "--preset", "smoke", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["epoch"], report["finished"], report["kind"]) == (5, True, "exact")
    assert report["steps"] == 5 * 200 * 128
    judged = json.loads(tacit("evaluate", run, "--json").stdout)
    assert judged["exploitability"] == pytest.approx(report["exploitability"])
    assert (judged["kind"], judged["strategy"]) == ("exact", "average")
    assert set(judged["strategies"]) == {"average", "best-response", "greedy-average"}
    match = tacit("match", run, f"{run}:best-response", "--game", "kuhn_poker", "--hands", "200", "--json")
    assert match.returncode == 0, match.stderr
    assert json.loads(match.stdout)["hands"] == 200
    assert (tmp_path / "run" / "curve.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_nfsp_reaches_an_equilibrium_of_kuhn_poker() -> None:
    config = PRESETS["cpu"]
    trainer = NFSP.trainer(load_game("kuhn_poker"), config, "cpu")
    metrics = trainer.at_rest()
    while metrics.epoch < config.epochs and (metrics.exploitability is None or metrics.exploitability >= 0.02):
        metrics = trainer.judged(trainer.run_epoch())
    assert metrics.exploitability is not None
    assert metrics.exploitability < 0.02
    assert metrics.value == pytest.approx(-1 / 18, abs=0.02)
