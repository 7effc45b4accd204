"""Bots, duplicate deals, and what a match reports."""

import json
import math
import os
import signal
import subprocess
import sys
import time
from itertools import islice, pairwise
from pathlib import Path

import numpy as np
import pytest

from tacit.agents.base import Agent, Sight
from tacit.agents.hand_policy import HAND_POLICIES, PotOddsPolicy
from tacit.agents.table import Table, play_game
from tacit.agents.tabular import TabularAgent
from tacit.arena.match import RecordedDraws, play_deals
from tacit.artifacts import load_agent
from tacit.artifacts.bot import BOTS
from tacit.cards import HANDS, hand_index, hand_strengths, parse_cards
from tacit.cards.equity import random_hand_equities, win_chances
from tacit.cards.hands import possible_hands
from tacit.cli.main import main
from tacit.errors import TacitError
from tacit.evaluation import evaluate
from tacit.games import load_game
from tacit.games.base import TERMINAL
from tacit.games.betting import CALL, FOLD
from tacit.games.holdem import Holdem
from tacit.games.public_hand import PublicHand
from tacit.kernels import make_passes
from tacit.solvers import solve
from tacit.tally import Tally, win_rate
from tests.command import tacit
from tests.random_games import RandomGame

ROOT = Path(__file__).parents[2]
POKER = ["kuhn_poker", "leduc_poker", "pot_limit_leduc", "limit_holdem", "no_limit_holdem", "turn_endgame_holdem"]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def hand(text: str) -> int:
    return hand_index(*parse_cards(text))


class Recorder:
    """Plays as another agent does, and records what it saw."""

    def __init__(self, agent: Agent) -> None:
        self.name, self._agent, self.seen = agent.name, agent, []

    def start(self, player: int) -> None:
        self.seen.append([])
        self._agent.start(player)

    def observe(self, sight: Sight) -> None:
        self.seen[-1].append(sight)
        self._agent.observe(sight)

    def act(self) -> int:
        return self._agent.act()

    def view(self) -> None:
        return None


def test_equities_against_a_random_hand() -> None:
    before = random_hand_equities(())
    # Any hold'em table gives these to three digits: AA 85.2 %, 72o 34.6 %, AKs 67.0 %, 22 50.3 %.
    for name, share in (("AhAd", 0.852), ("7c2d", 0.346), ("AhKh", 0.670), ("2c2d", 0.503)):
        assert before[hand(name)] == pytest.approx(share, abs=0.012)
    for board in ("3s7hTdKs2c", "AsAhAdKsKh", "2c3c4c5c6c"):
        cards = parse_cards(board)
        strength, found = hand_strengths(cards), random_hand_equities(cards)
        for one in (hand("Qd9s"), hand("8h8d"), hand("Ac7c")):
            others = possible_hands((*cards, *HANDS[one].tolist()))
            beaten = (strength < strength[one]) + 0.5 * (strength == strength[one])
            assert found[one] == (pytest.approx(beaten[others].mean()) if strength[one] >= 0 else 0.0)
            assert others.sum() == (990 if strength[one] >= 0 else others.sum())
    turn = parse_cards("3s7hTdKs")
    chances = win_chances(hand("Qd9s"), turn)
    meets = possible_hands((*turn, *parse_cards("Qd9s")))
    assert chances[meets].mean() == pytest.approx(random_hand_equities(turn)[hand("Qd9s")])
    assert not chances[~meets].any()
    assert win_chances(hand("KhKd"), turn)[hand("ThTs")] == 43 / 44  # one river in 44 makes quad tens
    flop = random_hand_equities(turn[:3])
    assert flop[hand("Qd9s")] == pytest.approx(
        win_chances(hand("Qd9s"), turn[:3])[possible_hands((*turn[:3], *parse_cards("Qd9s")))].mean(), abs=0.05
    )


@pytest.mark.parametrize("name", POKER)
def test_bots_play_poker_as_they_are_called(name: str) -> None:
    game = load_game(name)
    for bot in ("always-call", "always-fold"):
        recorder = Recorder(load_agent(bot, game, rng()))
        for deal in range(20):
            agents = [recorder, load_agent("random", game, rng(deal))]
            play_game(game, agents[:: 1 - 2 * (deal % 2)], rng(deal))
        acted = [(now, after) for seen in recorder.seen for now, after in pairwise(seen) if now.legal_actions]
        assert acted
        for now, after in acted:
            assert after.action == (FOLD if bot == "always-fold" and FOLD in now.legal_actions else CALL)


@pytest.mark.parametrize("bot", ["always-call", "always-fold", "pot-odds"])
def test_bots_of_poker_refuse_other_games(bot: str) -> None:
    for name in ("liars_dice(dice=1,faces=4)", "modified_rps", "tic_tac_toe"):
        with pytest.raises(TacitError, match=r"has no moves named|is for hold'em, not for"):
            load_agent(bot, load_game(name), rng())


def test_pot_odds_calls_when_equity_beats_the_odds() -> None:
    game = load_game("turn_endgame_holdem")
    assert isinstance(game, Holdem)
    start = PublicHand.start(game).dealt(game.known_board)
    equity, possible = random_hand_equities(start.board), possible_hands(start.board)
    first = PotOddsPolicy().probabilities(start)
    assert start.actions == (CALL, 2_000, 3_000, 20_000)
    np.testing.assert_array_equal(first[2, possible], equity[possible] >= 0.7)  # a pot bet: 2,000 on top of 1,000
    np.testing.assert_array_equal(first[0, possible], equity[possible] < 0.7)
    facing = start.after(3_000)  # 2,000 more to win 4,000, so one in three is enough
    answers = PotOddsPolicy().probabilities(facing)
    np.testing.assert_array_equal(answers[facing.actions.index(FOLD), possible], equity[possible] <= 1 / 3)
    np.testing.assert_allclose(answers[:, possible].sum(axis=0), 1.0)


@pytest.mark.parametrize("name", ["no_limit_holdem", "limit_holdem", "turn_endgame_holdem(board=)", "turn_endgame_holdem"])
def test_policies_over_hands_are_what_the_bots_play(name: str) -> None:
    """Every bot's policy at the public state gives each of its moves in real hands its probability: 1, except for `random`."""
    game = load_game(name)
    assert isinstance(game, Holdem)
    assert HAND_POLICIES.keys() == {*BOTS} - {"holdem-search", "minimax"}  # one searches, the other plays boards
    for bot, policy in HAND_POLICIES.items():
        for deal in range(6):
            table, agents = Table(game, rng(deal)), [load_agent(bot, game, rng(1)), load_agent("random", game, rng(deal))]
            public, held = PublicHand.start(game), -1
            for player, agent in enumerate(agents):
                agent.start(player)
            while True:
                for agent, sight in zip(agents, table.sights, strict=True):
                    assert sight is not None
                    agent.observe(sight)
                sight = table.sights[0]
                assert sight is not None
                for word in sight.private:
                    held = hand(word)
                for word in sight.public:
                    public = public.hear(word)
                if table.actor == TERMINAL:
                    break
                assert public.actions == game.legal_actions(table._state)
                assert public.board == table._state.board
                action = agents[table.actor].act()
                if table.actor == 0:
                    played = policy.probabilities(public)[:, held]
                    assert played.sum() == pytest.approx(1.0)
                    assert played[public.actions.index(action)] == (1 / len(public.actions) if bot == "random" else 1.0)
                table.play(action)
            assert public.betting == table._state.betting


def test_recorded_draws_come_again() -> None:
    draws = RecordedDraws(rng(5))
    first = [draws.random() for _ in range(3)]
    draws.rewind()
    assert [draws.random() for _ in range(5)][:3] == first
    draws.rewind()
    assert len({draws.random() for _ in range(6)}) == 6


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker", "no_limit_holdem"])
def test_a_deal_is_the_same_in_both_seats(name: str) -> None:
    """Equal deterministic players cancel over the two seats; the cards do not depend on how the hand is played."""
    game = load_game(name)
    same = [load_agent("always-call", game, rng(seed)) for seed in (1, 2)]
    for deal in islice(play_deals(game, same, rng()), 30):
        assert deal.seats == (0, 1)
        assert sum(deal.payoffs) == 0.0
        assert deal.result == 0.0
    agents = [Recorder(load_agent("always-call", game, rng(1))), Recorder(load_agent("random", game, rng(2)))]
    for _ in islice(play_deals(game, agents, rng(3)), 30):
        pass
    for first, second in zip(agents[0].seen[::2], agents[1].seen[1::2], strict=True):  # whichever agent sat in seat 0
        assert first[0].private == second[0].private
    if name == "no_limit_holdem":
        boards = [[word for sight in seen for word in sight.public if word[:1] in "23456789TJQKA"] for seen in agents[0].seen]
        for first, second in zip(boards[::2], boards[1::2], strict=True):
            assert all(a == b for a, b in zip(first, second, strict=False))
        assert max(map(len, boards)) == 3


@pytest.mark.parametrize("seed", range(3))
def test_duplicates_are_fair_in_any_game(seed: int) -> None:
    """Random games, whose chance depends on the actions played: duplicate and single deals have the same mean."""
    game = RandomGame(seed=seed, length=4)
    means = []
    for duplicate in (True, False):
        tally = Tally()
        agents = [load_agent("random", game, rng(1)), load_agent("random", game, rng(2))]
        for deal in islice(play_deals(game, agents, rng(seed), duplicate=duplicate), 200 * (2 - duplicate)):
            tally.add(deal.result)
        means.append(tally)
    assert sum(2 * (deal.seats[0] == 0) - 1 for deal in islice(play_deals(game, agents, rng(), duplicate=False), 10)) == 0
    for tally in means:  # the same player on both sides wins nothing on average
        assert tally.deviation is not None
        assert abs(tally.mean) < 4 * tally.deviation / math.sqrt(tally.count)


def test_duplicates_take_out_luck() -> None:
    game = load_game("leduc_poker")
    deviations = []
    for duplicate in (True, False):
        tally = Tally()
        agents = [load_agent(name, game, rng(seed)) for seed, name in enumerate(("always-call", "random"))]
        for deal in islice(play_deals(game, agents, rng(4), duplicate=duplicate), 1_000 * (2 - duplicate)):
            tally.add(deal.result)
        deviations.append((tally.deviation or 0.0) / math.sqrt(tally.count))
    assert deviations[0] < 0.6 * deviations[1]  # standard errors for the same number of hands


def test_a_match_finds_the_exact_value() -> None:
    game = load_game("kuhn_poker")
    result = solve(game, solver="cfr+", iterations=200)
    tree = result.strategy.tree
    uniform = tree.uniform_strategy()
    exact = 0.0  # averaged over the seats
    for seat, sign in ((0, 0.5), (1, -0.5)):
        both = np.where(tree.entry_player == seat, result.strategy.probabilities, uniform)
        exact += sign * evaluate(make_passes(tree), both).value
    agents = [TabularAgent(result.strategy, rng(1)), load_agent("random", game, rng(2))]
    tally = Tally()
    for deal in islice(play_deals(game, agents, rng(3)), 4_000):
        tally.add(deal.result)
    assert tally.deviation is not None
    assert tally.mean == pytest.approx(exact, abs=4 * tally.deviation / math.sqrt(tally.count))
    assert tally.verdict(2) == "A wins"


def test_tallies_and_verdicts() -> None:
    numbers = rng(1).normal(3.0, 2.0, 500)
    tally = Tally()
    assert (tally.interval, tally.deviation) == (None, None)
    assert tally.verdict(2) == "too few hands to tell: about 60 more needed"
    for number in numbers:
        tally.add(number)
    assert tally.mean == pytest.approx(numbers.mean())
    assert tally.deviation == pytest.approx(numbers.std(ddof=1))
    half = 1.964729 * numbers.std(ddof=1) / np.sqrt(500)  # Student's t with 499 degrees of freedom
    assert tally.interval == pytest.approx((numbers.mean() - half, numbers.mean() + half))
    assert win_rate(numbers) == pytest.approx((1_000.0 * numbers.mean(), 1_000.0 * half))
    assert tally.verdict(1) == "A wins"
    lost, close, level = Tally(), Tally(), Tally()
    for number in numbers:
        lost.add(-number)
        close.add(number - 3.0 + 0.02)
        level.add(0.0)
    assert lost.verdict(1) == "B wins"
    assert close.verdict(2).startswith("too few hands to tell: about ")
    assert level.verdict(2) == "too few hands to tell: no difference so far"
    few = Tally()
    for _ in range(5):
        few.add(1.0)
    assert few.verdict(2) == "too few hands to tell: about 50 more needed"  # five equal results prove nothing


@pytest.mark.parametrize("count", [2, 4, 12])
def test_intervals_of_few_numbers_hold_the_mean_as_often_as_they_say(count: int) -> None:
    """The normal distribution would give 70, 85 and 92 %."""
    generator, held, tries = rng(2), 0, 4_000
    for _ in range(tries):
        tally = Tally()
        for number in generator.normal(3.0, 2.0, count):
            tally.add(number)
        assert tally.interval is not None
        held += tally.interval[0] <= 3.0 <= tally.interval[1]
    assert held / tries == pytest.approx(0.95, abs=0.014)  # four standard errors


def assert_refused(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Asserts that a command prints one line and exits with code 2, in this process."""
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    out, err = capsys.readouterr()
    told = [line for line in err.splitlines() if not line.startswith("compiling kernels")]  # printed first if the cache is cold
    assert (stopped.value.code, out, len(told)) == (2, "", 1)
    assert message in err


def test_the_match_command(tmp_path: Path) -> None:
    arguments = ("match", "always-fold", "always-call", "--game", "no_limit_holdem", "--hands", "399", "--json", "--seed", "3")
    result = tacit(*arguments, "--save", "hands.jsonl", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    report = json.loads(result.stdout)
    assert report["agents"] == ["always-fold", "always-call"]
    assert (report["hands"], report["unit"], report["verdict"]) == (400, "mbb", "B wins")
    low, high = report["interval"]
    assert low < report["mbb_per_hand"] < high < 0.0
    assert low < -250 < high  # the small blind is folded every other hand; other hands are checked down
    lines = [json.loads(line) for line in (tmp_path / "hands.jsonl").read_text().splitlines()]
    assert len(lines) == 400
    assert np.mean([line["payoff"] for line in lines]) * 10 == pytest.approx(report["mbb_per_hand"])
    assert all(line["payoff"] == -50 for line in lines if line["seat"] == 1)
    again = json.loads(tacit(*arguments).stdout)
    assert again | {"seconds": 0} == report | {"seconds": 0}
    text = tacit("match", "random", "random", "--game", "kuhn_poker", "--hands", "10", "--no-duplicate")
    assert "too few hands to tell" in text.stdout
    assert "95 % interval" in text.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("random", "random"), "--game"),
        (("random", "--game", "kuhn_poker"), "B"),
        (("random", "nobody", "--game", "kuhn_poker"), "no agent 'nobody'"),
        (("random", "pot-odds", "--game", "kuhn_poker"), "pot-odds is for hold'em"),
        (("random", "always-call", "--game", "tic_tac_toe"), "has no moves named"),
        (("random", "random", "--game", "kuhn_poker", "--hands", "0"), "--hands"),
        (("random", "random", "--game", "kuhn_pokr"), "did you mean kuhn_poker?"),
        (("random", "random", "--game", "kuhn_poker", "--save", "/"), "it is a directory"),
    ],
)
def test_wrong_matches_get_one_line(arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert_refused(["match", *arguments], message, capsys)


def test_a_match_that_is_stopped_keeps_what_was_played(tmp_path: Path) -> None:
    path = tmp_path / "hands.jsonl"
    command = [sys.executable, "-m", "tacit", "match", "pot-odds", "random", "--game", "no_limit_holdem", "--hands", "1000000"]
    process = subprocess.Popen(
        [*command, "--json", "--save", str(path)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (path.exists() and path.read_text().count("\n") > 20):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    try:
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()  # ends it whatever happens, so that it cannot run beside the other tests
    report = json.loads(out)
    assert process.returncode == 130
    assert report["interrupted"] is True
    assert report["hands"] == len(path.read_text().splitlines()) > 20
    assert "by Ctrl-C; the hands played are kept in" in err.splitlines()[-1]  # kernels may have been compiled before
