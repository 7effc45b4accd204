"""Blueprint runs survive kills, and their results play, translate bets, give ranges and can be evaluated."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tacit import artifacts
from tacit.agents.blueprint import BlueprintPolicy
from tacit.agents.hand_policy import HandAgent
from tacit.arena.aivat_cases import make_estimator
from tacit.arena.lbr import LocalBestResponse
from tacit.arena.match import play_deals
from tacit.artifacts import load_agent
from tacit.blueprint.config import PRESETS, BlueprintConfig
from tacit.blueprint.system import BLUEPRINT
from tacit.blueprint.train import BlueprintTrainer
from tacit.cards.deck import parse_cards
from tacit.cards.hands import possible_hands
from tacit.games import load_game
from tacit.games.holdem import Holdem
from tacit.games.public_hand import PublicHand
from tacit.training.folder import RunFolder
from tacit.training.run import open_run, train
from tests.command import tacit
from tests.unit.test_arena import assert_refused

GAME = "no_limit_holdem(board=3s7hTdKs,pot=200,stack=1000,bets=0.5|1|allin,raises=1|allin)"
SMALL = {
    "bets": "0.5|1|allin", "raises": "1|allin", "turn": "30", "river": "30", "epoch_iterations": "20000", "epochs": "3",
    "threads": "1", "deals": "500",
}  # fmt: skip


def small(**settings: str) -> BlueprintConfig:
    return PRESETS["smoke"].with_settings({**SMALL, **settings})


def stop_after(epochs: int) -> Callable[[], bool]:
    left = iter(range(epochs - 1, -1, -1))
    return lambda: next(left) == 0


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = RunFolder(tmp_path_factory.mktemp("blueprint") / "run", BLUEPRINT)
    train(open_run(folder, GAME, small(epoch_iterations="100000")), folder)
    return str(folder.path)


@pytest.fixture(scope="module")
def policy(run: str) -> BlueprintPolicy:
    found = artifacts.open(run).policy()
    assert isinstance(found, BlueprintPolicy)
    return found


def hand(*words: str) -> PublicHand:
    game = load_game(GAME)
    assert isinstance(game, Holdem)
    public = PublicHand.start(game).dealt(game.known_board)
    for word in words:
        public = public.hear(word)
    return public


def test_a_stopped_run_goes_on_bit_for_bit(tmp_path: Path) -> None:
    straight, folder = (RunFolder(tmp_path / name, BLUEPRINT) for name in ("straight", "stopped"))
    whole = open_run(straight, GAME, small())
    train(whole, straight)
    train(open_run(folder, GAME, small()), folder, should_stop=stop_after(1))
    last = open_run(folder, GAME, small())
    assert last.epoch == 1
    train(last, folder)
    for name, tensor in whole.state()[0].items():
        np.testing.assert_array_equal(last.state()[0][name].numpy(), tensor.numpy(), err_msg=name)
    assert [epoch.pot_odds for epoch in folder.history()] == [epoch.pot_odds for epoch in straight.history()]


def test_what_was_trained_is_what_plays(run: str, policy: BlueprintPolicy) -> None:
    trainer = open_run(RunFolder(run, BLUEPRINT), GAME, small(epoch_iterations="100000"))
    assert isinstance(trainer, BlueprintTrainer)
    public = hand("bet to 300")
    node = trainer.tree.after(0, 300)
    buckets = trainer.abstraction.row(public.board)
    expected = trainer.tree.of_node(trainer.strategy(), node)[buckets]
    found, possible = policy.probabilities(public), possible_hands(public.board)
    assert public.actions == trainer.tree.actions[node] == (0, 1, 900, 1_000)
    np.testing.assert_allclose(found.sum(axis=0), 1.0)
    np.testing.assert_allclose(found.T[possible], expected[possible], atol=0.01)  # stored in steps of 1/255
    agent = load_agent(run, load_game(GAME), np.random.default_rng(0))
    assert isinstance(agent, HandAgent)


def test_a_bet_off_the_tree_counts_as_the_nearest(policy: BlueprintPolicy) -> None:
    """A pot bet is to 300. One slightly smaller gets the same answer; one slightly above half the pot is answered as half."""
    pot, half = hand("bet to 300"), hand("bet to 200")
    for word, like in (("bet to 290", pot), ("bet to 210", half)):
        answer, known = policy.probabilities(hand(word)), policy.probabilities(like)
        np.testing.assert_allclose(answer[:2], known[:2])  # folds and calls
        np.testing.assert_allclose(answer.sum(axis=0), 1.0)


def test_ranges_follow_from_what_is_played(policy: BlueprintPolicy) -> None:
    first, second = policy.ranges(hand())
    np.testing.assert_array_equal(first, second)
    assert first.sum() == possible_hands(parse_cards("3s7hTdKs")).sum()
    before, after = hand("check"), hand("check", "bet to 300", "call").dealt(parse_cards("2d"))
    ranges = policy.ranges(after)
    checks = policy.probabilities(hand())[0]
    calls = policy.probabilities(hand("check", "bet to 300"))[1]
    bets = policy.probabilities(before)[before.actions.index(300)]
    possible = possible_hands(after.board)
    np.testing.assert_allclose(ranges[0], checks * calls * possible)
    np.testing.assert_allclose(ranges[1], bets * possible)
    off = policy.ranges(hand("check", "bet to 290"))  # treated as the pot bet
    np.testing.assert_allclose(off[1][possible], bets[possible])


def test_it_can_be_asked_by_local_best_response_and_aivat(run: str, policy: BlueprintPolicy) -> None:
    """AIVAT's estimates have the same mean and less luck; a bot that ignores its cards is no match for the blueprint."""
    game = load_game(GAME)
    assert isinstance(game, Holdem)
    agents = load_agent(run, game, np.random.default_rng(1)), load_agent("random", game, np.random.default_rng(2))
    deals = play_deals(game, agents, np.random.default_rng(3), estimator=make_estimator(game, agents))
    results = [next(deals) for _ in range(60)]
    estimates = [deal.result for deal in results]
    payoffs = [sum(deal.payoffs) / 2 for deal in results]
    assert np.std(estimates) < 0.7 * np.std(payoffs)
    assert np.mean(estimates) > 3 * np.std(estimates) / 60**0.5
    players = LocalBestResponse(game, policy, "all-rounds"), agents[0]
    lbr = play_deals(game, players, np.random.default_rng(4))
    assert np.mean([next(lbr).result for _ in range(30)]) > -100.0


def test_commands_train_resume_judge_and_match(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = str(tmp_path / "run")
    settings = [part for key, value in SMALL.items() for part in ("--set", f"{key}={value}")]
    done = tacit("train", "blueprint", GAME, "--run", run, "--preset", "smoke", *settings, "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["epoch"], report["iterations"], report["buckets"]) == (3, 60_000, [0, 0, 30, 30])
    assert report["win_rates"]["pot-odds"]["interval"][0] < report["win_rates"]["pot-odds"]["mbb_per_hand"]
    more = tacit("train", "blueprint", GAME, "--run", run, "--resume", "--set", "epochs=4")
    assert more.returncode == 0, more.stderr
    assert "resuming after epoch 3" in more.stderr
    judged = json.loads(tacit("evaluate", run, "--json").stdout)
    assert (judged["metric"], judged["kind"], judged["game"]) == ("exploitability", "exact", str(load_game(GAME)))
    match = json.loads(tacit("match", run, "pot-odds", "--game", GAME, "--hands", "20", "--aivat", "--json").stdout)
    assert match["hands"] == 20
    other = "no_limit_holdem"
    assert_refused(["match", run, "pot-odds", "--game", other], f"was trained on {load_game(GAME)}, not on", capsys)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["kuhn_poker"], "blueprint is for hold'em, not for kuhn_poker"),
        (["turn_endgame_holdem(board=)"], "deals its board first"),
        ([GAME, "--set", "river=0"], "river must be between 1 and 65536, or all, not 0"),
        ([GAME, "--set", "bets=1/1"], "bets must be sizes in pots"),
        (["no_limit_holdem", "--set", "river=all"], "use all only for small endgames"),
        ([GAME, "--device", "cuda"], "--device"),
    ],
)
def test_what_cannot_be_trained_is_refused(
    arguments: list[str], reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert_refused(["train", "blueprint", *arguments, "--run", str(tmp_path / "run"), "--preset", "smoke"], reason, capsys)
    assert not (tmp_path / "run").exists()
