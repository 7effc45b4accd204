"""Local best response: its formulas by hand, what it wins from bots, and that it is a lower bound."""

import json
import math
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from tacit.agents.base import Sight
from tacit.agents.hand_policy import HAND_POLICIES, HandAgent, HandPolicy, SolvedPolicy
from tacit.agents.options import SearchOptions
from tacit.arena.lbr import LocalBestResponse, parse_setting
from tacit.arena.match import Deal, play_deals
from tacit.artifacts.plans import LbrPlan
from tacit.cards import NUM_HANDS, hand_index, parse_cards
from tacit.errors import TacitError
from tacit.evaluation import evaluate
from tacit.games import load_game
from tacit.games.betting import CALL, FOLD
from tacit.games.holdem import Holdem
from tacit.games.public_hand import PublicHand
from tacit.kernels import make_passes
from tacit.solvers import solve
from tacit.tally import Tally
from tacit.tree.compiler import compile_for_solving
from tacit.tree.hand_strategy import HandStrategy
from tacit.tree.hand_tree import HandTree
from tests.command import tacit
from tests.unit.test_arena import assert_refused

RIVER = "no_limit_holdem(board=3s7hTdKs2c,pot=2000,stack=4000,bets=1|allin,raises=allin)"


def hand(text: str) -> int:
    return hand_index(*parse_cards(text))


def holdem(name: str) -> Holdem:
    game = load_game(name)
    assert isinstance(game, Holdem)
    return game


def deals(game: Holdem, policy: HandPolicy, number: int, setting: str = "rebel") -> list[Deal]:
    generators = [np.random.default_rng([7, stream]) for stream in range(3)]
    agents = (LocalBestResponse(game, policy, setting), HandAgent(game, policy, generators[1], "it"))
    return list(islice(play_deals(game, agents, generators[2]), number))


def tally_of(played: list[Deal]) -> Tally:
    tally = Tally()
    for deal in played:
        tally.add(deal.result)
    return tally


class Cautious:
    """Folds sevens to any bet; otherwise checks and calls."""

    def probabilities(self, public: PublicHand) -> np.ndarray:
        played = np.zeros((len(public.actions), NUM_HANDS))
        played[public.actions.index(CALL)] = 1.0
        if FOLD in public.actions:
            sevens = [hand("7c7d"), hand("7c7s")]
            played[:, sevens] = 0.0
            played[public.actions.index(FOLD), sevens] = 1.0
        return played


def test_utilities_by_hand() -> None:
    """On a river, queens face sevens that fold, and aces and jacks that call."""
    game = holdem("no_limit_holdem(board=3s7hTdKs2c,pot=2000,stack=6000,bets=1|allin,range0=QQ,range1=7c7d|7c7s|AhAd|JhJd)")
    lbr = LocalBestResponse(game, Cautious())
    lbr.start(0)
    lbr.observe(Sight(0, None, ("3s7hTdKs2c",), ("QhQd",), (1, 3_000, 6_000), ()))
    # Queens beat only jacks: a quarter of four equally likely hands.
    np.testing.assert_allclose(lbr.beliefs[[hand("7c7d"), hand("7c7s"), hand("AhAd"), hand("JhJd")]], 0.25)
    found = lbr.utilities()
    # For a bet b, half of the range folds and gives up the pot; queens beat half of the rest.
    assert found == pytest.approx({CALL: 0.25 * 2_000, 3_000: 0.5 * 2_000 + 0.25 * 4_000 - 0.25 * 2_000, 6_000: 1_000 + 500})
    assert found[3_000] == found[6_000]  # when called, gain and loss grow alike
    assert lbr.act() == 3_000


def test_utilities_when_facing_a_bet() -> None:
    game = holdem("no_limit_holdem(board=3s7hTdKs2c,pot=2000,stack=6000,bets=1|allin,range1=QQ,range0=7c7d|AhAd|JhJd|AsKd)")
    lbr = LocalBestResponse(game, HAND_POLICIES["pot-odds"])
    lbr.start(1)
    lbr.observe(Sight(0, None, ("3s7hTdKs2c",), ("QhQd",), (), ()))
    lbr.observe(Sight(1, None, ("bet to 3000",), (), (0, 1, 6_000), ()))
    # All of these hands have an equity above 0.7 and bet the pot; queens beat one in four.
    found = lbr.utilities()
    # Nobody folds to 3,000 more: LBR can win the pot of 6,000 and 3,000 more, and risks the 5,000 that a raise adds.
    assert found == pytest.approx({FOLD: 0.0, CALL: 0.25 * 4_000 - 0.75 * 2_000, 6_000: 0.25 * 7_000 - 0.75 * 5_000})
    assert lbr.act() == FOLD


def test_beliefs_follow_bayes_rule_and_the_board() -> None:
    game = holdem("turn_endgame_holdem")
    lbr = LocalBestResponse(game, HAND_POLICIES["pot-odds"])
    lbr.start(1)
    lbr.observe(Sight(0, None, ("3s7hTdKs",), ("QhQd",), (), ()))
    assert np.count_nonzero(lbr.beliefs) == 46 * 45 // 2
    lbr.observe(Sight(1, None, ("check",), (), (1, 2_000, 3_000, 20_000), ()))
    checked = PublicHand.start(game).dealt(game.known_board)
    weak = HAND_POLICIES["pot-odds"].probabilities(checked)[0] > 0
    assert not lbr.beliefs[~weak].any()
    lbr.observe(Sight(0, 1, ("check", "2c"), (), (), ()))
    assert lbr.beliefs[hand("9c2c")] == 0.0
    assert lbr.beliefs.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["no_limit_holdem", "limit_holdem"])
@pytest.mark.parametrize("setting", ["rebel", "all-rounds"])
def test_always_fold_loses_exactly_what_folding_costs(name: str, setting: str) -> None:
    """LBR wins 500 mbb in the big blind and 1,000 on the button, 750 on average, in every single deal.

    In the big blind it wins the small blind at once: half a big blind. On the button it calls or raises, and the big blind may
    not fold while a check is free. It then folds at the first bet, which comes on the turn at the latest unless LBR holds the
    best possible hand: one big blind either way. The loss is the same if folding is always allowed.
    """
    game = holdem(name)
    blind = game.rules.big_blind
    for deal in deals(game, HAND_POLICIES["always-fold"], 25, setting):
        assert deal.seats == (0, 1)
        assert deal.payoffs == (blind / 2, blind)
        assert game.in_units(deal.result)["mbb"] == 750.0


@pytest.mark.parametrize(
    ("bot", "number", "at_least"),
    [
        ("always-call", 150, 30_000),
        pytest.param("random", 600, 5_000, marks=pytest.mark.slow),
        pytest.param("pot-odds", 250, 8_000, marks=pytest.mark.slow),
    ],
)
def test_it_beats_bots(bot: str, number: int, at_least: float) -> None:
    game = holdem("no_limit_holdem")
    tally = tally_of(deals(game, HAND_POLICIES[bot], number))
    assert tally.interval is not None
    assert tally.interval[0] > 0.0
    assert game.in_units(tally.mean)["mbb"] > at_least


def test_it_is_a_lower_bound() -> None:
    """On a river, where exact exploitability is known, it is below that and, for uniform play, more than half of it."""
    game = holdem(RIVER)
    tree = compile_for_solving(game)
    assert isinstance(tree, HandTree)
    uniform = tree.uniform_strategy()
    exact = evaluate(make_passes(tree), uniform).exploitability
    tally = tally_of(deals(game, SolvedPolicy(HandStrategy(tree, uniform)), 600))
    assert tally.deviation is not None
    error = tally.deviation / math.sqrt(tally.count)
    assert tally.mean < exact + 2 * error
    assert tally.mean > 0.5 * exact
    solved = solve(game, solver="dcfr", iterations=200)
    assert isinstance(solved.strategy, HandStrategy)
    tally = tally_of(deals(game, SolvedPolicy(solved.strategy), 600))
    assert tally.deviation is not None
    assert tally.mean < solved.exploitability + 3 * tally.deviation / math.sqrt(tally.count)


def test_aivat_takes_luck_out_of_what_it_wins_and_nothing_else() -> None:
    """LBR is the unknown player and the policy the known one; the other way round, the mean would shift."""
    plan = LbrPlan(RIVER, "pot-odds", SearchOptions(), "all-rounds", aivat=True, seed=11)
    raw, less, apart = Tally(), Tally(), Tally()
    for deal in plan.deals(range(400)):
        won = sum(deal.payoffs) / len(deal.payoffs)
        raw.add(won)
        less.add(deal.result)
        apart.add(deal.result - won)
    assert raw.deviation is not None
    assert less.deviation is not None
    assert apart.deviation is not None
    assert less.deviation < 0.8 * raw.deviation
    assert abs(apart.mean) < 3 * apart.deviation / math.sqrt(apart.count)


def test_settings_are_read() -> None:
    assert parse_setting("rebel") == ("c", "c", "fcpa", "fcpa")
    assert parse_setting("fc/c/c/cp") == ("fc", "c", "c", "cp")
    for wrong in ("", "c/c/c", "c/c/c/f", "c/c/c/cx"):
        with pytest.raises(TacitError, match="cannot read the setting"):
            parse_setting(wrong)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = tacit("evaluate", "always-fold", "--metric", "lbr", "--game", "no_limit_holdem", "--hands", "20", "--json")
    report = json.loads(result.stdout)
    assert result.returncode == 0
    assert (report["lbr"], report["interval"], report["kind"], report["hands"]) == (750.0, [750.0, 750.0], "lower bound", 20)
    solve(holdem(RIVER), iterations=20).save(tmp_path / "river.tacit")
    solved = tacit(
        "evaluate", "river.tacit", "--metric", "lbr", "--game", RIVER, "--hands", "40", "--json", cwd=tmp_path
    )  # fmt: skip
    assert json.loads(solved.stdout)["metric"] == "lbr"
    for arguments, message in (
        (("random",), "random plays more than one game: name one"),
        (("always-call", "--game", "leduc_poker"), "always-call cannot be measured on leduc_poker"),
        (("nobody", "--game", "no_limit_holdem"), "no agent 'nobody'"),
        (("random", "--game", "no_limit_holdem", "--lbr", "x"), "cannot read the setting"),
    ):
        assert_refused(["evaluate", *arguments, "--metric", "lbr"], message, capsys)
