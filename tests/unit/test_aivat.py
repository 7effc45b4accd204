"""AIVAT: exactly unbiased by enumeration, right on average in sampled games, and far less noisy."""

import json
import math
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from tacit.agents.base import Agent
from tacit.agents.bots import RandomBot
from tacit.agents.tabular import TabularAgent
from tacit.arena.aivat import AivatEstimator, estimate
from tacit.arena.aivat_cases import known_strategy, make_estimator, pair_values, row_estimator, row_line
from tacit.arena.match import play_deals
from tacit.artifacts import load_agent
from tacit.errors import TacitError
from tacit.evaluation import evaluate
from tacit.games import load_game
from tacit.games.base import TERMINAL, Game
from tacit.kernels import make_passes
from tacit.solvers import solve
from tacit.tally import Tally
from tacit.tree.compiler import compile_game
from tacit.tree.navigate import NOWHERE, Navigator, Place
from tacit.tree.observations import resolve_chance
from tacit.tree.public_tree import Floats, PublicTree
from tests.command import tacit
from tests.random_games import RandomGame
from tests.unit.test_arena import assert_refused, rng

RIVER = "no_limit_holdem(board=3s7hTdKs2c,pot=2000,stack=4000,bets=1|allin,raises=allin,range0=QQ|AKs|77|65s,range1=JJ|KQs|T9s)"
TURN = "no_limit_holdem(board=3s7hTdKs,pot=2000,stack=3000,bets=1,raises=allin,range0=QhQd|AhKh|6s5s,range1=JhJd|KhQh)"


class Look:
    """A sight in the form the navigator takes."""

    def __init__(self, action: int | None, public: tuple[str, ...], private: tuple[str, ...]) -> None:
        self.action, self.public, self.private = action, public, private


def all_ends(tree: PublicTree, profile: Floats) -> list[tuple[Place, float, float]]:
    """Returns where each history ends, its probability and its payoff, by walking the game itself."""
    game: Game = tree.game
    navigator, ends = Navigator(tree), []

    def walk(state: object, place: Place, mover: int, action: int | None, likely: float) -> None:
        for arrival in resolve_chance(game, state):
            looks = [Look(action if mover == p else None, arrival.public, arrival.private[p]) for p in (0, 1)]
            now, chance = navigator.follow_sights(place, arrival.actor, looks), likely * arrival.chance
            if arrival.actor == TERMINAL:
                ends.append((now, chance, game.returns(arrival.state)[0]))
                continue
            infostate = navigator.infostate(now)
            entries = slice(tree.entry_start[infostate], tree.entry_start[infostate + 1])
            for move, played in zip(tree.entry_action[entries], profile[entries], strict=True):
                walk(game.apply(arrival.state, int(move)), now, arrival.actor, int(move), chance * played)

    walk(game.initial_state(), NOWHERE, -1, None, 1.0)
    return ends


def aivat_of(tree: PublicTree, known: Sequence[Floats | None], value_strategy: Floats) -> Callable[[Place], float]:
    """Returns the estimator of a game from its end, which uses only the public state and what unknown players held."""
    values, kept = pair_values(tree, value_strategy), dict[tuple[int, ...], float]()

    def at(end: Place) -> float:
        key = (end.node, *(row for row, strategy in zip(end.rows, known, strict=True) if strategy is None))
        if key not in kept:
            kept[key] = estimate(row_line(tree, end), known, values)
        return kept[key]

    return at


def moments(ends: list[tuple[Place, float, float]], aivat: Callable[[Place], float] | None) -> tuple[float, float]:
    """Returns the exact mean and standard deviation of the payoffs, or of their estimates."""
    likely = np.array([chance for _, chance, _ in ends])
    worth = np.array([payoff if aivat is None else aivat(place) for place, _, payoff in ends])
    assert likely.sum() == pytest.approx(1.0)
    mean = float(likely @ worth)
    return mean, math.sqrt(max(0.0, float(likely @ (worth - mean) ** 2)))


def some_strategy(tree: PublicTree, seed: int) -> Floats:
    return tree.normalise(np.random.default_rng(seed).random(tree.num_entries) ** 3)


@pytest.mark.parametrize(
    "name",
    [
        "kuhn_poker",
        "liars_dice(dice=1,faces=2)",
        "goofspiel(cards=3)",
        "modified_rps",
        "coin_guess",
        "random0",
        "random1",
        "random2",
    ],
)
def test_exactly_unbiased_over_all_histories(name: str) -> None:
    """Holds for any known players and any value function; games with hidden actions, chance mid-game and private draws."""
    game = RandomGame(seed=int(name[6:]), length=4, roots=1 + int(name[6:])) if name.startswith("random") else load_game(name)
    tree = compile_game(game)
    first, second, values = (some_strategy(tree, seed) for seed in range(3))
    profile = np.where(tree.entry_player == 0, first, second)
    exact, ends = evaluate(make_passes(tree), profile).value, all_ends(tree, profile)
    assert moments(ends, None)[0] == pytest.approx(exact, abs=1e-9)
    for known in ((first, second), (first, None), (None, second)):
        for value_strategy in (values, tree.uniform_strategy(), profile):
            aivat = aivat_of(tree, known, value_strategy)
            assert moments(ends, aivat)[0] == pytest.approx(exact, abs=1e-9)
    # If both are known and the value function is their own, nothing is left to luck.
    assert moments(ends, aivat_of(tree, (first, second), profile)) == pytest.approx((exact, 0.0), abs=1e-7)


def test_it_is_the_formula_of_the_paper_on_kuhn_poker() -> None:
    """Player 0 holds the queen, checks and calls a bet: base and corrections by hand; player 1, unknown, holds the jack."""
    tree = compile_game(load_game("kuhn_poker"))
    uniform = tree.uniform_strategy()
    aivat = aivat_of(tree, (uniform, None), uniform)
    ends = {}
    for place, _, payoff in all_ends(tree, uniform):
        ends[tree.public_label(place.node), tree.private_label(0, place.rows[0]), tree.private_label(1, place.rows[1])] = (
            place,
            payoff,
        )
    place, payoff = ends["check bet call", "Q", "J"]
    assert payoff == 2.0
    # Under uniform play: player 0 with the better card, then with the worse one.
    check = 0.5 * 1 + 0.5 * (0.5 * -1 + 0.5 * 2)  # checked down, or a bet that gets a fold or a call
    bet = 0.5 * 1 + 0.5 * 2
    deals = {"J": 0.5 * check + 0.5 * bet, "Q": None, "K": None}
    lose_check, lose_bet = 0.5 * -1 + 0.5 * (0.5 * -1 + 0.5 * -2), 0.5 * 1 + 0.5 * -2
    worse = 0.5 * lose_check + 0.5 * lose_bet
    deals["Q"], deals["K"] = 0.5 * (deals["J"] + worse), worse  # against a queen, player 0 holds the king or the jack
    dealt = np.mean([deals["J"], deals["Q"], deals["K"]]) - deals["J"]  # the luck in player 1's card
    own_check = deals["J"] - check  # player 0's first choice
    own_call = 0.5 * (-1 + 2) - 2  # player 0's second choice; player 1's bet gets no correction
    assert aivat(place) == pytest.approx(2.0 + dealt + own_check + own_call)
    # With a king it would have acted alike: imaginary observations make no difference between the two.
    king, queen = (row_line(tree, ends["check bet call", held, "J"][0]) for held in "KQ")
    values = pair_values(tree, uniform)
    assert estimate(king, (uniform, None), values) == estimate(queen, (uniform, None), values)


def factor(tree: PublicTree, first: Floats, second: Floats, known: tuple[bool, bool], values: Floats) -> float:
    profile = np.where(tree.entry_player == 0, first, second)
    ends = all_ends(tree, profile)
    aivat = aivat_of(tree, [s if k else None for s, k in zip((first, second), known, strict=True)], values)
    (raw_mean, raw), (mean, deviation) = moments(ends, None), moments(ends, aivat)
    assert mean == pytest.approx(raw_mean, abs=1e-9)
    return raw / deviation


def test_the_deviation_falls_on_leduc() -> None:
    tree = compile_game(load_game("leduc_poker"))
    solved = solve("leduc_poker", solver="cfr+", iterations=100).strategy.probabilities
    rough = solve("leduc_poker", solver="cfr+", iterations=5).strategy.probabilities
    uniform = tree.uniform_strategy()
    assert factor(tree, solved, rough, (True, True), solved) > 10.0  # two similar players
    assert factor(tree, solved, uniform, (True, True), solved) > 3.0
    assert factor(tree, solved, rough, (True, True), uniform) > 3.0  # a value function that is neither player's
    assert factor(tree, solved, rough, (True, False), solved) > 2.0


def played(game: Game, agents: list[Agent], estimator: AivatEstimator, number: int) -> tuple[Tally, Tally]:
    raw, less = Tally(), Tally()
    for deal in islice(play_deals(game, agents, rng(5), duplicate=False, estimator=estimator), number):
        raw.add(deal.payoffs[0])
        less.add(deal.result)
    return raw, less


@pytest.mark.parametrize(
    ("name", "both"),
    [
        *((name, True) for name in ("leduc_poker", RIVER, TURN)),
        (RIVER, False),
        *(pytest.param(name, False, marks=pytest.mark.slow) for name in ("leduc_poker", TURN)),
    ],
)
def test_sampled_games_have_the_exact_value(name: str, both: bool) -> None:
    game = load_game(name)
    tree = compile_game(game)
    first, second = some_strategy(tree, 1), some_strategy(tree, 2)
    exact = 0.0
    for seat, sign in ((0, 0.5), (1, -0.5)):
        exact += sign * evaluate(make_passes(tree), np.where(tree.entry_player == seat, first, second)).value
    agents: list[Agent] = [TabularAgent(tree.strategy(first), rng(1)), TabularAgent(tree.strategy(second), rng(2))]
    estimator = row_estimator(tree, agents if both else [agents[0], Stranger(agents[1])])
    raw, less = played(game, agents, estimator, 1_500)
    for tally in (raw, less):
        assert tally.deviation is not None
        assert tally.mean == pytest.approx(exact, abs=4 * tally.deviation / math.sqrt(tally.count))
    assert less.deviation is not None
    assert raw.deviation is not None
    assert less.deviation < raw.deviation / (2.0 if both else 1.2)


class Stranger:
    """An agent whose strategy is unknown."""

    def __init__(self, agent: Agent) -> None:
        self.name, self.start, self.observe, self.act, self.view = "it", agent.start, agent.observe, agent.act, agent.view


def test_strategies_of_bots_are_known() -> None:
    game = load_game("leduc_poker")
    tree = compile_game(game)
    for bot in ("random", "always-call", "always-fold"):
        strategy = known_strategy(load_agent(bot, game, rng()), tree)
        assert strategy is not None
        np.testing.assert_array_equal(strategy, tree.normalise(strategy))
    calls = known_strategy(load_agent("always-call", game, rng()), tree)
    assert calls is not None
    np.testing.assert_array_equal(tree.entry_action[calls == 1.0], 1)
    assert known_strategy(Stranger(RandomBot(rng())), tree) is None


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for iterations in (5, 100):
        solve("leduc_poker", solver="cfr+", iterations=iterations).save(f"leduc{iterations}.tacit")
    arguments = ("match", "leduc100.tacit", "leduc5.tacit", "--game", "leduc_poker", "--hands", "2000", "--aivat")
    report = json.loads(tacit(*arguments, "--save", "hands.jsonl", "--json", cwd=tmp_path).stdout)
    assert report["verdict"] == "A wins"
    assert report["aivat"] is True
    assert report["deviation"] < report["without_aivat"]["deviation"] / 3
    lines = [json.loads(line) for line in Path("hands.jsonl").read_text().splitlines()]
    assert np.mean([line.get("estimate", line["payoff"]) for line in lines]) == pytest.approx(report["mean"])
    dice = ("--game", "liars_dice(dice=1,faces=4)", "--iterations", "2", "--aivat")
    assert_refused(["match", "pretrained:liars_dice_1x4f", "pretrained:liars_dice_1x4f", *dice], "strategy is known", capsys)
    pytest.importorskip("pyspiel")
    assert_refused(["match", "random", "random", "--game", "openspiel:kuhn_poker", "--aivat"], "names infostates", capsys)


def test_somebody_has_to_be_known_and_to_play_as_it_says() -> None:
    game = load_game("kuhn_poker")
    tree = compile_game(game)
    with pytest.raises(TacitError, match="strategy is known: that of it or it"):
        make_estimator(game, [Stranger(RandomBot(rng())), Stranger(RandomBot(rng()))])
    uniform = tree.uniform_strategy()
    passive = np.where(tree.entry_action == 0, 1.0, 0.0)  # only checks and folds
    end = next(place for place, _, _ in all_ends(tree, uniform) if tree.public_label(place.node) == "bet fold")
    with pytest.raises(TacitError, match="player 0 made a move that its policy never makes"):
        estimate(row_line(tree, end), (passive, None), pair_values(tree, uniform))
