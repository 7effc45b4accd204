"""NFSP runs on limit hold'em: they survive kills bit for bit, stop at NaN, and their results are evaluated and played."""

import json
from collections import Counter
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from tacit import artifacts
from tacit.agents.hand_policy import PotOddsPolicy
from tacit.arena.lbr import LocalBestResponse
from tacit.arena.match import play_deals
from tacit.artifacts import load_agent
from tacit.cards import hand_index, parse_cards
from tacit.cards.equity import random_hand_equities
from tacit.errors import TacitError
from tacit.games import load_game
from tacit.games.betting import BOARD_CARDS, CALL, FOLD
from tacit.games.holdem import LimitHoldem
from tacit.games.limit_batch import RAISE, LimitRules
from tacit.games.public_hand import PublicHand
from tacit.nfsp.config import LIMIT_PRESETS
from tacit.nfsp.limit.encoding import encode_all_hands
from tacit.nfsp.limit.judge import LimitJudge
from tacit.nfsp.limit.networks import POLICY, Layers, Q, make_layers
from tacit.nfsp.strategies import AVERAGE, BEST_RESPONSE, GREEDY_AVERAGE
from tacit.nfsp.system import NFSP_LIMIT
from tacit.nfsp.train import NfspTrainer
from tacit.tally import Tally
from tacit.training.folder import RunFolder
from tacit.training.run import open_run, train
from tests.command import tacit
from tests.unit.test_arena import assert_refused
from tests.unit.test_limit_nfsp import small, torch_networks

GAME = "limit_holdem"


def stop_after(epochs: int) -> Callable[[], bool]:
    left = iter(range(epochs - 1, -1, -1))
    return lambda: next(left) == 0


@pytest.mark.parametrize("optimizer", [pytest.param("sgd", marks=pytest.mark.slow), "adam"])
def test_a_stopped_run_goes_on_bit_for_bit(optimizer: str, tmp_path: Path) -> None:
    """Memories overflow in these runs, so the circular buffer and the reservoir are tested as well."""
    config = small(optimizer=optimizer, learning_rate="0.01")
    straight, folder = (RunFolder(tmp_path / name, NFSP_LIMIT) for name in ("straight", "stopped"))
    whole = open_run(straight, GAME, config)
    train(whole, straight)
    assert isinstance(whole, NfspTrainer)
    assert (whole.transitions.offered > config.transitions).all()
    assert (whole.behaviour.offered > config.behaviour).all()
    for stop in (1, 2):
        train(open_run(folder, GAME, config), folder, should_stop=stop_after(stop))
    last = open_run(folder, GAME, config)
    assert last.epoch == 3
    train(last, folder)
    ours, theirs = last.state()[0], whole.state()[0]
    assert ours.keys() == theirs.keys()
    for name, tensor in theirs.items():
        np.testing.assert_array_equal(ours[name].numpy(), tensor.numpy(), err_msg=name)
    for one, other in zip(folder.history(), straight.history(), strict=True):
        assert (one.epoch, one.loss, one.policy_loss, one.pot_odds) == (
            other.epoch, other.loss, other.policy_loss, other.pot_odds,
        )  # fmt: skip


def test_a_state_replaces_all_that_another_run_has_learnt() -> None:
    straight, other = (NFSP_LIMIT.trainer(load_game(GAME), small(seed=seed), "cpu") for seed in ("0", "1"))
    straight.run_epoch()
    other.run_epoch()
    other.restore(*straight.state())
    straight.run_epoch()
    other.run_epoch()
    ours, theirs = other.state()[0], straight.state()[0]
    for name, tensor in theirs.items():
        np.testing.assert_array_equal(ours[name].numpy(), tensor.numpy(), err_msg=name)


def test_a_loss_that_is_no_number_stops_the_run_and_keeps_the_last_checkpoint(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", NFSP_LIMIT)
    trainer = open_run(folder, GAME, small())
    train(trainer, folder, should_stop=stop_after(2))
    assert isinstance(trainer, NfspTrainer)
    trainer.layers[0].weight[2] = torch.nan
    with pytest.raises(TacitError, match="the loss became nan: lower learning_rate; the checkpoint of epoch 2 is kept"):
        train(trainer, folder)
    kept = open_run(folder, GAME, small())
    assert kept.epoch == 2
    assert all(bool(tensor.isfinite().all()) for tensor in kept.weights().values())
    assert [epoch.epoch for epoch in folder.history()] == [1, 2]


def test_a_loss_that_is_no_number_stops_also_where_one_kind_of_network_learns() -> None:
    """Players who never follow their best response give the policy networks nothing to learn from."""
    trainer = NFSP_LIMIT.trainer(load_game(GAME), small(anticipation="0"), "cpu")
    progress = trainer.run_epoch()
    assert np.isfinite(progress.loss)
    assert np.isnan(progress.policy_loss)  # the policies learnt nothing
    trainer.layers[0].weight[Q] = torch.nan
    with pytest.raises(TacitError, match="the loss became nan: lower learning_rate"):
        trainer.run_epoch()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hidden": "64,64"}, "hidden must be units with dashes between them, like 256-128, not '64,64'"),
        ({"optimizer": "momentum"}, "optimizer must be one of sgd, adam, not 'momentum'"),
        ({"anticipation": "1.5"}, "anticipation must be between 0 and 1"),
        ({"transitions": "100"}, "transitions must be at least 256, a batch, not 100"),
        ({"transitions": "700"}, "transitions must be at least 768, for a round, not 700"),
        ({"reward_unit": "0"}, "reward_unit must be positive"),
        ({"eta": "0.1"}, "unknown setting 'eta'"),
    ],
)
def test_settings_that_make_no_sense_get_one_line(settings: dict[str, str], message: str) -> None:
    with pytest.raises(TacitError, match=message):
        LIMIT_PRESETS["paper"].with_settings(settings)


def always(action: int) -> Layers:
    """Returns networks that prefer an action wherever it is legal, and otherwise call."""
    layers = make_layers([4], torch.Generator().manual_seed(0))
    for layer in layers:
        layer.weight.zero_()
    layers[-1].bias[:] = 60.0 * torch.nn.functional.one_hot(torch.tensor(action), 3)
    layers[-1].bias[..., CALL] += 30.0
    return layers


@pytest.mark.parametrize(
    "bot",  # a test below compares pot-odds action by action
    ["always-call", "random", "always-fold", pytest.param("pot-odds", marks=pytest.mark.slow)],
)
def test_the_judge_agrees_with_the_arena(bot: str) -> None:
    """A player who always calls, against each bot, in tensors and hand by hand."""
    game = LimitHoldem()
    judged = LimitJudge(LimitRules.of(game), 4_000, 3).win_rate(always(CALL), AVERAGE, bot)
    generators = [np.random.default_rng([5, stream]) for stream in range(3)]
    agents = load_agent("always-call", game, generators[0]), load_agent(bot, game, generators[1])
    tally = Tally()
    for deal in islice(play_deals(game, agents, generators[2]), 60 if bot == "pot-odds" else 150):
        tally.add(100.0 * deal.result)  # a big blind is ten chips
    assert tally.interval is not None
    error = (judged.half**2 + (tally.interval[1] - tally.mean) ** 2) ** 0.5
    assert abs(judged.mbb - tally.mean) <= 2.0 * error + 1e-6
    if bot == "always-call":
        assert (judged.mbb, judged.half) == pytest.approx((0.0, 0.0), abs=1e-9)  # the two seats of every deal cancel
    if bot == "always-fold":
        assert judged.mbb == pytest.approx(250.0, abs=20.0)  # the button folds its half blind; in the other seat nobody bets


def test_the_judges_pot_odds_bot_acts_as_the_arenas_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Action by action, with the same equities, in hands that random calls and raises take to the showdown."""

    def arenas_equities(hands: Tensor, boards: Tensor, _: object) -> Tensor:
        pairs = zip(hands.tolist(), boards.tolist(), strict=True)
        equities = [random_hand_equities(tuple(board))[hand_index(*hand)] for hand, board in pairs]
        return torch.tensor(equities, dtype=torch.float64)

    monkeypatch.setattr("tacit.nfsp.limit.judge.sampled_equities", arenas_equities)
    game, policy, generator = LimitHoldem(), PotOddsPolicy(), np.random.default_rng(6)
    rules = LimitRules.of(game)
    judge = LimitJudge(rules, 25, 6)
    hands, publics = rules.begin(judge._cards), [PublicHand.start(game)] * 50
    running, seen = set(range(50)), Counter[tuple[int, bool, int]]()
    while running:
        legal = rules.legal(hands)
        found = judge.bots["pot-odds"](hands, legal).numpy()
        taken = torch.full((50,), CALL)
        for number in running:
            public, cards = publics[number], hands.cards[number].tolist()
            actor, street = public.betting.actor, public.betting.street
            own = hand_index(*cards[2 * actor : 2 * actor + 2])
            expected = np.zeros(3)
            expected[[min(action, RAISE) for action in public.actions]] = policy.probabilities(public)[:, own]
            np.testing.assert_array_equal(found[number], expected, err_msg=str(public))
            seen[street, public.betting.to_call > 0, int(expected.argmax())] += 1
            action = int(generator.choice([action for action in public.actions if action != FOLD]))
            taken[number] = min(action, RAISE)
            public = public.after(action)
            board = tuple(cards[4 + len(public.board) : 4 + BOARD_CARDS[public.betting.street]])
            publics[number] = public.dealt(board) if board else public
        hands, over, _ = rules.step(hands, taken)
        running -= set(over.nonzero()[:, 0].tolist())
    assert sum(seen.values()) > 400
    for street in (1, 2, 3):
        assert all(seen[street, bet, action] for bet in (True, False) for action in (CALL, RAISE)), seen
    assert all(seen[street, True, FOLD] for street in (2, 3)), seen
    assert all(seen[0, True, action] for action in (CALL, RAISE)), seen


def test_a_player_who_always_raises_wins_the_papers_750_from_one_who_folds() -> None:
    judged = LimitJudge(LimitRules.of(LimitHoldem()), 500, 0)
    for strategy in (AVERAGE, GREEDY_AVERAGE, BEST_RESPONSE):
        assert judged.win_rate(always(2), strategy, "always-fold").mbb == pytest.approx(750.0)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:  # type: ignore[type-arg]
    folder = RunFolder(tmp_path_factory.mktemp("limit") / "run", NFSP_LIMIT)
    train(open_run(folder, str(load_game(GAME)), small(epochs="2")), folder)
    return folder


def test_what_was_trained_is_what_plays(run: RunFolder) -> None:  # type: ignore[type-arg]
    game = load_game(GAME)
    assert isinstance(game, LimitHoldem)
    trainer = open_run(run, str(game), small(epochs="2"))
    networks = torch_networks(trainer.layers)  # type: ignore[attr-defined]
    public = PublicHand.start(game).hear("call").hear("check").hear("3s7hTd").hear("bet to 20")
    hand = hand_index(*parse_cards("AhKd"))
    for suffix, kind in (("", POLICY), (":greedy-average", POLICY), (":best-response", Q)):
        name = f"{run.path}{suffix}"
        found = artifacts.open(name, game).policy().probabilities(public)
        assert found.shape == (3, 1_326)
        np.testing.assert_allclose(found.sum(0), 1.0, rtol=1e-6)
        scores = networks[2 + kind](encode_all_hands(public)[hand]).detach()  # player 1 faces a bet
        expected = torch.nn.functional.one_hot(scores.argmax(), 3) if suffix else scores.softmax(0)
        np.testing.assert_allclose(found[:, hand], expected.numpy(), atol=1e-5)
        agent = load_agent(name, game, np.random.default_rng(0))
        np.testing.assert_allclose(agent.policy.probabilities(public, hand)[:, 0], found[:, hand], atol=1e-6)  # type: ignore[attr-defined]
    with pytest.raises(TacitError, match=r"was trained on limit_holdem.*, not on no_limit_holdem"):
        load_agent(str(run.path), load_game("no_limit_holdem"), np.random.default_rng(0))


def test_local_best_response_answers_what_was_trained(run: RunFolder) -> None:  # type: ignore[type-arg]
    """It wins a lot from a player that has learnt hardly anything."""
    game = load_game(GAME)
    assert isinstance(game, LimitHoldem)
    generators = [np.random.default_rng([2, stream]) for stream in range(3)]
    agents = (
        LocalBestResponse(game, artifacts.open(str(run.path), game).policy(), "c/c/fcp/fcp"),
        load_agent(str(run.path), game, generators[1]),
    )
    results = [deal.result for deal in islice(play_deals(game, agents, generators[2]), 30)]
    assert 100.0 * np.mean(results) > 500.0


def test_commands_train_resume_judge_and_match(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = str(tmp_path / "run")
    settings = [part for key in ("epochs=2", "epoch_rounds=30", "deals=40", "games=32") for part in ("--set", key)]
    done = tacit("train", "nfsp", GAME, "--run", run, "--preset", "smoke", *settings, "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["epoch"], report["kind"], report["exploitability"]) == (2, "sampled", None)
    rate = report["win_rates"]["always_fold"]
    assert (rate["strategy"], rate["bot"]) == ("average", "always-fold")
    assert rate["interval"][0] < rate["mbb_per_hand"] < rate["interval"][1]
    more = tacit("train", "nfsp", GAME, "--run", run, "--resume", "--set", "epochs=3")
    assert more.returncode == 0, more.stderr
    assert "resuming after epoch 2" in more.stderr
    assert "average strategy against pot-odds" in more.stdout
    assert (tmp_path / "run" / "curve.png").read_bytes().startswith(b"\x89PNG")
    match = tacit("match", run, f"{run}:best-response", "--game", GAME, "--hands", "20", "--json")
    assert json.loads(match.stdout)["hands"] == 20
    judged = tacit("evaluate", run, "--metric", "lbr", "--hands", "4", "--lbr", "c/c/c/fcp", "--json")  # the run knows its game
    assert json.loads(judged.stdout)["kind"] == "lower bound"
    assert json.loads(judged.stdout)["game"] == str(load_game(GAME))
    for metric in ("lbr", "win-rates"):
        another = ["evaluate", run, "--metric", metric, "--game", "no_limit_holdem"]
        assert_refused(another, f"{run} was trained on {load_game(GAME)}, not on {load_game('no_limit_holdem')}", capsys)
    rates = json.loads(tacit("evaluate", run, "--hands", "200", "--json").stdout)
    assert (rates["metric"], rates["kind"], rates["hands"]) == ("win-rates", "sampled", 200)
    for bots in rates["win_rates"].values():
        assert set(bots) == {"always-call", "random", "always-fold", "pot-odds"}
        assert all(rate["interval"][0] < rate["mbb_per_hand"] < rate["interval"][1] for rate in bots.values())
    assert list(rates["win_rates"]) == ["average", "best-response", "greedy-average"]
    too_large = f"unknown metric 'exploitability' for {run}: choose one of win-rates, lbr, aivat"
    assert_refused(["evaluate", run, "--metric", "exploitability"], too_large, capsys)
    other = str(tmp_path / "other")
    blinds = "limit_holdem(small_blind=1,big_blind=2)"
    assert tacit("train", "nfsp", blinds, "--run", other, "--preset", "smoke", *settings).returncode == 0
    assert json.loads(tacit("evaluate", other, "--hands", "40", "--json").stdout)["game"] == str(load_game(blinds))
    not_there = "unknown metric 'win-rates' for pot-odds: choose one of exploitability, lbr, aivat"
    assert_refused(["evaluate", "pot-odds", "--metric", "win-rates"], not_there, capsys)


@pytest.mark.slow
def test_nfsp_learns_to_beat_bots() -> None:
    """Takes under a minute; untrained networks would win about nothing from a player who always calls."""
    trainer = NFSP_LIMIT.trainer(load_game(GAME), LIMIT_PRESETS["cpu"].with_settings({"deals": "10000"}), "cpu")
    judge = LimitJudge(trainer.selfplay.rules, 10_000, 1)
    for _ in range(6):
        trainer.run_epoch()
    call, random = (judge.win_rate(trainer.layers, AVERAGE, bot) for bot in ("always-call", "random"))
    assert call.mbb - call.half > 30.0
    assert random.mbb - random.half > 1_500.0
