"""The app's verdict on a finished hand: what each move cost, and the score with luck removed."""

from typing import Any

import numpy as np
import pytest

from tacit.agents.base import Sight
from tacit.agents.budget import LEAST_ITERATIONS, TimeBudget, Watcher, watched
from tacit.agents.options import SearchOptions
from tacit.agents.table import Table
from tacit.artifacts import load_agent
from tacit.evaluation import evaluate
from tacit.games import load_game
from tacit.kernels import make_passes
from tacit.tree.subgame import ROUND
from tacit.web.play.hand import Hand
from tacit.web.play.luck import Luck, chance_estimator
from tacit.web.play.oracle import Oracle, find_oracle
from tacit.web.play.scenes import make_stage


@pytest.fixture(scope="module")
def kuhn() -> Oracle:
    return find_oracle(load_game("kuhn_poker"))


def judged(oracle: Oracle, seat: int, cards: tuple[int, int], *actions: int) -> list[dict[str, Any]]:
    """Judges a hand of Kuhn poker; cards J, Q, K are 0, 1, 2."""
    numbers = iter([(cards[0] + 0.5) / 3, ([c for c in range(3) if c != cards[0]].index(cards[1]) + 0.5) / 2])
    table = Table(oracle.tree.game, type("Chance", (), {"random": lambda self: next(numbers)})())
    seen: list[Sight] = []
    for action in (*actions, None):
        seen.append(table.sights[seat])  # type: ignore[arg-type]
        if action is not None:
            table.play(action)
    return oracle.judge(seat, seen)


FOLD, CALL, RAISE = range(3)


def test_what_moves_cost_in_kuhn_poker(kuhn: Oracle) -> None:
    """By hand: a king that folds to a bet gives up 3, and a jack that calls one loses 1 more."""
    assert kuhn.exploitability < 1e-3
    fold = judged(kuhn, 1, (0, 2), RAISE, FOLD)[0]
    assert fold["cost"] == pytest.approx(3.0, abs=0.01)
    assert {move["name"]: move["value"] for move in fold["actions"]} == pytest.approx({"fold": -1, "call 1": 2}, abs=0.01)
    assert judged(kuhn, 1, (2, 0), RAISE, CALL)[0]["cost"] == pytest.approx(1.0, abs=0.01)
    assert judged(kuhn, 1, (0, 2), RAISE, CALL)[0]["cost"] == pytest.approx(0.0, abs=1e-6)
    # If a queen bets first, kings call and jacks fold: 1/2 * (-2) + 1/2 * 1. Checking is worth -1/3.
    bet = judged(kuhn, 0, (1, 0), RAISE, FOLD)[0]
    assert {move["name"]: move["value"] for move in bet["actions"]} == pytest.approx(
        {"check": -1 / 3, "bet 1": -1 / 2}, abs=0.02
    )


def test_values_of_actions_are_those_of_the_strategy(kuhn: Oracle) -> None:
    """The value of both players' first moves, averaged over the deals, is the value of the game."""
    tree, quality = kuhn.tree, evaluate(make_passes(kuhn.tree), kuhn.strategy)
    first = [i for i in range(tree.num_infostates) if tree.infostate_player[i] == 0 and tree.entry_start[i] < 6]
    worth = [
        kuhn.strategy[tree.entry_start[i] : tree.entry_start[i + 1]]
        @ kuhn._action_values[tree.entry_start[i] : tree.entry_start[i + 1]]
        for i in first
    ]
    assert np.mean(worth) == pytest.approx(quality.value, abs=1e-3)


@pytest.mark.parametrize("opponent", ["default", "always-call"])
def test_the_score_without_luck_is_unbiased_and_varies_less(opponent: str) -> None:
    game, generator = load_game("leduc_poker"), np.random.default_rng(5)
    agent = load_agent(opponent, game, generator)
    luck, results = Luck(game, agent), []
    for number in range(400):
        hand = Hand(game, make_stage(game), agent, number % 2, generator)
        while not hand.is_over:
            hand.play(int(generator.choice(hand.now.legal_actions))) if hand.is_mine else hand.reply()
        results.append((hand.payoff, luck.adjusted(hand.both, hand.seat)))
    raw, less = np.array(results, np.float64).T
    assert less.std() < 0.6 * raw.std()
    error = (raw - less).std() / np.sqrt(len(raw))
    assert abs((raw - less).mean()) < 3.5 * error


@pytest.mark.parametrize("line", [(RAISE, CALL), (RAISE, FOLD), (CALL, RAISE, FOLD)])
def test_chance_alone_is_corrected_where_nobody_is_known(kuhn: Oracle, line: tuple[int, ...]) -> None:
    """Over all deals the corrections average to 0: a line of play has the same mean with and without them."""
    estimator, game = chance_estimator(kuhn), kuhn.tree.game
    gaps = []
    for first in range(3):
        for second in (card for card in range(3) if card != first):
            numbers = iter([(first + 0.5) / 3, ([c for c in range(3) if c != first].index(second) + 0.5) / 2])
            table = Table(game, type("Chance", (), {"random": lambda self, numbers=numbers: next(numbers)})())
            both = [table.sights]
            for action in line:
                table.play(action)
                both.append(table.sights)
            gaps.append(estimator(both, 0) - table.returns[0])
    assert np.mean(gaps) == pytest.approx(0.0, abs=1e-9)
    assert np.ptp(gaps) > 0.1


def test_a_watched_search_reports_and_is_cut_short() -> None:
    class Driver:
        passes = type("Passes", (), {"device": "cpu"})
        clock = type("Clock", (), {"reserve": lambda self, count: None})()

        def __init__(self) -> None:
            self.done = 0

        def run(self, count: int) -> None:
            self.done += count

    times = iter(np.arange(0.0, 100.0, 0.001))
    budget, heard = TimeBudget(10.0, lambda: float(next(times))), []
    full, cut = Driver(), Driver()
    for driver, is_cut in ((full, False), (cut, True)):
        budget.start_decision()
        with watched(Watcher(lambda is_cut=is_cut: is_cut, heard.append)):
            budget.run(driver, 5_000, 10, ROUND, True)  # type: ignore[arg-type]
    assert full.done == 5_000
    assert LEAST_ITERATIONS <= cut.done < 2_000
    assert heard
    assert all(0.0 < share <= 1.0 for share in heard)


def test_values_of_actions_in_holdem_average_to_those_of_hands() -> None:
    game = load_game("no_limit_holdem(board=3s7hTdKs2c,pot=2000,stack=3000,bets=1|allin)")
    agent = load_agent("holdem-search", game, np.random.default_rng(0), SearchOptions(iterations=50))
    table = Table(game, np.random.default_rng(1))
    agent.start(0)
    agent.observe(table.sights[0])  # type: ignore[arg-type]
    view = agent.view()
    assert view is not None
    assert view.action_values is not None
    mean = (view.strategy * view.action_values).sum(axis=1)
    np.testing.assert_allclose(mean, view.values[view.actor], atol=1e-2)
    assert np.ptp(view.action_values, axis=1).max() > 100
