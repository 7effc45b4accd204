"""Everything a user can name: every kind can be opened, played and measured, and mistakes get one clear line."""

import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

import tacit
from tacit.agents.hand_policy import HAND_POLICIES
from tacit.agents.table import Table
from tacit.artifacts.base import Artifact, Monitor
from tacit.cli.main import main
from tacit.errors import TacitError
from tacit.evaluation import evaluate, evaluate_exactly
from tacit.games import load_game
from tacit.games.base import TERMINAL
from tacit.games.public_hand import PublicHand
from tacit.kernels import make_passes
from tacit.learning.trained import Trained
from tacit.nfsp.config import LIMIT_PRESETS
from tacit.nfsp.config import PRESETS as NFSP_PRESETS
from tacit.nfsp.system import NFSP, NFSP_LIMIT
from tacit.rebel.config import preset
from tacit.rebel.system import REBEL
from tacit.search.playthroughs import playthrough_quality, playthrough_strategy
from tacit.search.resolving import resolving_strategy
from tacit.search.search import BatchSearch
from tacit.training.folder import RunFolder
from tacit.training.run import open_run
from tacit.tree.compiler import compile_game
from tacit.tree.search_space import search_space
from tests.trained import load_search
from tests.unit.test_arena import assert_refused

RIVER = "no_limit_holdem(board=3s7hTdKs2c,pot=2000,stack=3000,bets=allin,range0=AA|KQs,range1=QQ|JTs)"
DICE = "liars_dice(dice=1,faces=4)"


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Returns one of each kind that is stored in a file or folder."""
    folder = tmp_path_factory.mktemp("artifacts")
    tacit.solve("kuhn_poker", iterations=50).save(folder / "kuhn.tacit")
    tacit.solve(RIVER, iterations=20).save(folder / "river.tacit")
    runs: dict[str, RunFolder] = {  # type: ignore[type-arg]
        "rebel": RunFolder(folder / "rebel", REBEL),
        "nfsp": RunFolder(folder / "nfsp", NFSP),
        "limit": RunFolder(folder / "limit", NFSP_LIMIT),
    }
    settings = {"games": "16", "deals": "10", "hidden": "8", "behaviour": "1000"}
    configs = {
        "rebel": ("kuhn_poker", preset("smoke")),
        "nfsp": ("kuhn_poker", NFSP_PRESETS["smoke"]),
        "limit": ("limit_holdem", LIMIT_PRESETS["smoke"].with_settings(settings)),
    }
    for name, run in runs.items():
        game, config = configs[name]
        run.save_network(open_run(run, game, config), keep=False)
    found = {name: str(run.path) for name, run in runs.items()} | {"network": str(runs["rebel"].network)}
    return found | {"kuhn": str(folder / "kuhn.tacit"), "river": str(folder / "river.tacit"), "empty": str(folder)}


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def move_of(artifact: Artifact) -> int:
    """Returns a move of the artifact's agent at the first decision of a game, checked to be legal."""
    table = Table(artifact.game, rng(1))
    options = tacit.SearchOptions(iterations=4).only(artifact.search_options)
    agent, actor = artifact.agent(rng(2), options), table.actor
    assert actor != TERMINAL
    sight = table.sights[actor]
    assert sight is not None
    agent.start(actor)
    agent.observe(sight)
    move = agent.act()
    assert move in sight.legal_actions
    return move


@pytest.mark.parametrize(
    ("name", "given", "game", "metrics"),
    [
        ("random", "leduc_poker", "leduc_poker", ("exploitability",)),
        ("always-call", RIVER, RIVER, ("exploitability", "lbr", "aivat")),
        ("holdem-search", RIVER, RIVER, ("exploitability", "lbr", "aivat")),
        ("holdem-search", "limit_holdem", "limit_holdem", ("lbr", "aivat", "exploitability")),
        ("kuhn", None, "kuhn_poker", ("exploitability",)),
        ("river", None, RIVER, ("exploitability", "lbr", "aivat")),
        ("rebel", None, "kuhn_poker", ("exploitability", "best-response", "network-error")),
        ("network", "kuhn_poker", "kuhn_poker", ("exploitability", "best-response", "network-error")),
        ("pretrained:liars_dice_1x4f", None, DICE, ("exploitability", "best-response", "network-error")),
        ("nfsp", None, "kuhn_poker", ("exploitability",)),
        ("nfsp:best-response", "kuhn_poker", "kuhn_poker", ("exploitability",)),
        ("limit", None, "limit_holdem", ("win-rates", "lbr", "aivat")),
        ("default", "kuhn_poker", "kuhn_poker", ("exploitability",)),
        ("default", DICE, DICE, ("exploitability", "best-response", "network-error")),
        ("default", RIVER, RIVER, ("exploitability", "lbr", "aivat")),
    ],
)
def test_every_kind_is_opened_by_name_and_plays(
    name: str, given: str | None, game: str, metrics: tuple[str, ...], named: dict[str, str]
) -> None:
    kind, colon, strategy = name.partition(":")
    called = f"{named.get(kind, kind)}{colon}{strategy}"
    artifact = tacit.open(called, given)
    assert str(artifact.game) == str(load_game(game))
    assert artifact.metrics == metrics
    assert called in (artifact.name, "default")
    move_of(artifact)


def test_tables_play_and_are_measured_as_what_they_hold(named: dict[str, str]) -> None:
    for name in ("kuhn", "river", "nfsp"):
        artifact = tacit.open(named[name])
        strategy = artifact.strategy()
        found = artifact.evaluate(clock=iter((1.0, 3.5)).__next__)
        expected = evaluate_exactly(make_passes(strategy.tree), strategy.probabilities)
        assert (found.figure, found.kind, found.interval, found.seconds) == (expected.exploitability, "exact", None, 2.5)
        assert found.as_dict()["exploitability"] == expected.exploitability
        assert found.details["nash_conv"] == pytest.approx(2 * expected.exploitability)
    strategies = tacit.open(named["nfsp"]).evaluate().details["strategies"]
    for strategy_name in ("best-response", "greedy-average"):
        other = tacit.open(f"{named['nfsp']}:{strategy_name}").evaluate()
        assert other.figure == strategies[strategy_name]


def test_policies_say_what_agents_do_with_every_hand(named: dict[str, str]) -> None:
    river = PublicHand.start(load_game(RIVER)).hear("3s7hTdKs2c")  # type: ignore[arg-type]
    for name, game in (("pot-odds", RIVER), (named["river"], None), ("holdem-search", RIVER)):
        artifact = tacit.open(name, game)
        shares = artifact.policy().probabilities(river)
        assert shares.shape == (len(river.actions), 1_326)
        held = shares.sum(axis=0) > 0
        np.testing.assert_allclose(shares.sum(axis=0)[held], 1.0, rtol=1e-5)
    assert tacit.open("pot-odds", RIVER).policy() is HAND_POLICIES["pot-odds"]
    preflop = PublicHand.start(load_game("limit_holdem"))  # type: ignore[arg-type]
    np.testing.assert_allclose(tacit.open(named["limit"]).policy().probabilities(preflop).sum(axis=0), 1.0, rtol=1e-5)


def test_a_bot_is_measured_in_an_endgame() -> None:
    """A player who always folds loses the whole pot to any bet; checking down would share it."""
    found = tacit.open("always-fold", RIVER).evaluate("exploitability")
    assert found.figure == pytest.approx(1_000.0)  # half of the pot of 2,000, in either seat
    assert found.details["exploitability_mbb"] == pytest.approx(10_000.0)
    bound = tacit.open("always-fold", RIVER).evaluate("lbr", hands=40, lbr="all-rounds")
    assert (bound.kind, bound.details["hands"], bound.details["setting"]) == ("lower bound", 40, "all-rounds")
    assert bound.figure <= 10_000.0 + 1e-6


def test_search_is_measured_by_the_protocol_asked_for(named: dict[str, str]) -> None:
    seen: list[tuple[str, int, int | None]] = []

    class Listener(Monitor):
        def step(self, what: str, done: int, total: int | None = None, unit: str = "", note: str = "") -> None:
            seen.append((unit, done, total))

    found = tacit.open(named["rebel"], monitor=Listener()).evaluate(solver="cfr+", iterations=8, playthroughs=3, seed=5)
    expected = playthrough_quality(load_search(named["rebel"], "cfr+", 8), 3, rng(5))
    assert (found.figure, found.kind, found.playthroughs) == (expected.exploitability, "upper bound", 3)
    searches = [(done, total) for unit, done, total in seen if unit == "searches"]
    assert searches
    assert all(total is not None and done <= total for done, total in searches)
    error = tacit.open(named["rebel"]).evaluate("network-error", samples=10)
    assert error.interval is not None
    assert error.interval[0] <= error.as_dict()["network_error"] <= error.interval[1]


def test_what_draws_nothing_is_measured_exactly(named: dict[str, str]) -> None:
    search = load_search(named["rebel"], "cfr+", 8)
    tree = search.space.tree
    strategies = {"re-solving": resolving_strategy(search), "unsafe": playthrough_strategy(search, 1, rng(5), safe=False)}
    for safety, strategy in strategies.items():
        found = tacit.open(named["rebel"]).evaluate(solver="cfr+", iterations=8, safety=safety)
        expected = evaluate(make_passes(tree), strategy).exploitability
        assert (found.figure, found.kind, found.details["safety"]) == (expected, "exact", safety)
    with pytest.raises(TacitError, match="re-solving search draws nothing: leave out playthroughs"):
        tacit.open(named["rebel"]).evaluate(safety="re-solving", playthroughs=3)
    with pytest.raises(TacitError, match="unknown safety"):
        tacit.open(named["rebel"]).evaluate(safety="nonsense")


def test_win_rates_are_a_table_of_strategies_and_bots(named: dict[str, str]) -> None:
    found = tacit.open(named["limit"]).evaluate(hands=40)
    assert (found.metric, found.kind, found.details["hands"]) == ("win-rates", "sampled", 40)
    rates = found.as_dict()["win_rates"]
    assert [len(bots) for bots in rates.values()] == [4, 4, 4]
    low, high = rates["average"]["always-fold"]["interval"]
    assert low <= rates["average"]["always-fold"]["mbb_per_hand"] <= high


def test_networks_value_leaves_for_searches_of_their_game(named: dict[str, str]) -> None:
    space = search_space(compile_game(load_game("kuhn_poker")), 2)
    leaf = tacit.open(named["rebel"]).leaf(space)
    assert isinstance(BatchSearch(space, leaf, preset("smoke").search()), BatchSearch)


def test_the_default_solves_once_says_so_and_takes_the_solver_s_name() -> None:
    told: list[str] = []

    class Listener(Monitor):
        def say(self, line: str) -> None:
            told.append(line)

    artifact = tacit.open("default", "leduc_poker", Listener())
    assert told == []  # nothing is solved until somebody plays or asks
    assert artifact.agent(rng()).name == artifact.agent(rng()).name == "dcfr, 500 iterations"
    assert len(told) == 2
    assert told[0] == "nothing is pretrained for leduc_poker: solving it first"
    assert told[1].startswith("solved by dcfr, 500 iterations in ")
    assert artifact.evaluate().figure < 0.01


WRONG: list[tuple[Callable[[dict[str, str]], object], str]] = [
    (
        lambda _: tacit.open("nobody"),
        "no agent 'nobody': give a run folder, a network or strategy file, pretrained:NAME, FILE.py:CLASS, or random",
    ),
    (lambda _: tacit.open("pretrained:chess"), "no pretrained network 'chess': choose one of connect_four, "),
    (lambda _: tacit.open("random", "kuhn_pokr"), "did you mean kuhn_poker?"),
    (lambda named: tacit.open(named["empty"]), "no checkpoint at"),
    (lambda _: tacit.open("default"), "name the game, too"),
    (lambda named: tacit.open(named["rebel"], "leduc_poker"), "was trained on kuhn_poker, not on leduc_poker"),
    (lambda named: tacit.open(named["nfsp"], "leduc_poker"), "was trained on kuhn_poker, not on leduc_poker"),
    (lambda named: tacit.open(named["limit"], "no_limit_holdem"), "was trained on limit_holdem"),
    (lambda named: tacit.open(named["kuhn"], "leduc_poker").agent(rng()), "is a solve of kuhn_poker, not of leduc_poker"),
    (lambda _: tacit.open("pot-odds", "kuhn_poker").agent(rng()), "pot-odds is for hold'em, not for kuhn_poker"),
    (lambda _: tacit.open("pot-odds").evaluate("lbr"), "pot-odds plays more than one game: name one"),
    (lambda _: tacit.open("always-call", "kuhn_poker").evaluate(), "always-call cannot be measured on kuhn_poker"),
    (lambda named: tacit.open(named["kuhn"]).evaluate("lbr"), "unknown metric 'lbr' for .*: choose one of exploitability$"),
    (lambda named: tacit.open(named["limit"]).evaluate("exploitability"), "choose one of win-rates, lbr, aivat$"),
    (lambda named: tacit.open(named["kuhn"]).evaluate(solver="dcfr"), "--solver has no effect on the exploitability of"),
    (
        lambda named: tacit.open(named["rebel"]).evaluate("network-error", last=3),
        "--last has no effect on the network-error of",
    ),
    (lambda named: tacit.open(named["kuhn"]).evaluate(playthroughs=9), "--playthroughs has no effect on the exploitability of"),
    (lambda named: tacit.open(named["rebel"]).evaluate(hands=9), "--hands has no effect on the exploitability of"),
    (
        lambda named: tacit.open(named["rebel"]).evaluate("network-error", device="cuda"),
        "--device has no effect on the network",
    ),
    (lambda _: tacit.open("pot-odds", RIVER).evaluate("lbr", samples=9), "--samples has no effect on the lbr of pot-odds"),
    (lambda _: tacit.SearchOptions(solver="lp"), "unknown solver 'lp': choose one of cfr, .*, xfp$"),
    (lambda _: tacit.SearchOptions(iterations=0), "at least one iteration, not 0"),
    (lambda _: tacit.open("pot-odds", RIVER).evaluate("aivat"), "aivat needs the hands: --results FILE"),
    (lambda _: tacit.open("pot-odds", RIVER).evaluate("lbr", workers=2), r"tacit.evaluate\(NAME, workers=N\) shares the work"),
    (lambda named: tacit.open(named["kuhn"]).policy(), "is not a solve of hold'em over hands"),
    (lambda named: tacit.open(named["rebel"]).policy(), "the strategy of .* for every hand is not known"),
    (lambda named: tacit.open("always-call", "kuhn_poker").strategy(), "does not play by a table"),
    (lambda named: tacit.open(named["nfsp"]).leaf(None), "has no value network"),  # type: ignore[arg-type]
    (
        lambda named: tacit.load_agent(named["kuhn"], "kuhn_poker", rng(), tacit.SearchOptions("cfr", 5, "unsafe")),
        "--solver, --iterations, --safety cannot be used with .*: it would have no effect",
    ),
]


@pytest.mark.parametrize(("use", "message"), WRONG, ids=[message for _, message in WRONG])
def test_what_is_wrong_gets_one_clear_line(
    use: Callable[[dict[str, str]], object], message: str, named: dict[str, str]
) -> None:
    with pytest.raises(TacitError, match=message) as refused:
        use(named)
    assert "\n" not in str(refused.value)


def test_commands_refuse_options_that_nobody_uses(named: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    refused = "cannot be used with random"
    assert_refused(["play", "kuhn_poker", "--agent", "random", "--safety", "unsafe"], f"--safety {refused}", capsys)
    assert_refused(
        ["match", "random", "random", "--game", "kuhn_poker", "--iterations", "9"], f"--iterations {refused}", capsys
    )
    assert_refused(["evaluate", named["nfsp"], "--solver", "cfr"], "--solver has no effect on the exploitability", capsys)
    assert_refused(["evaluate", named["nfsp"], "--samples", "9"], "--samples has no effect on the exploitability", capsys)
    assert_refused(
        ["evaluate", "pot-odds", "--game", RIVER, "--safety", "unsafe"], "--safety cannot be used with pot-odds", capsys
    )
    for unknown in (["--solver", "nonsense"], ["--safety", "nonsense"]):
        message = f"unknown {unknown[0][2:]} 'nonsense': choose one of"
        assert_refused(["play", "no_limit_holdem", *unknown], message, capsys)
        assert_refused(["match", "holdem-search", "random", "--game", "no_limit_holdem", *unknown], message, capsys)
        assert_refused(["evaluate", "holdem-search", "--game", RIVER, *unknown], message, capsys)
    assert_refused(["solve", "kuhn_poker", "--depth", "2", "--leaf", named["kuhn"]], "has no value network", capsys)
    with pytest.raises(SystemExit) as done:  # allowed: one of the two agents uses --iterations
        main(["match", named["rebel"], "random", "--game", "kuhn_poker", "--iterations", "4", "--hands", "4", "--json"])
    assert done.value.code in (0, None)


def test_a_network_searches_as_long_as_it_is_told(named: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, int]] = []
    search = Trained.search

    def record(self: Trained, space: object, solver: str, iterations: int, device: str = "cpu") -> BatchSearch:
        asked.append((solver, iterations))
        return search(self, space, solver, iterations, device)  # type: ignore[arg-type]

    monkeypatch.setattr(Trained, "search", record)
    tacit.open(named["rebel"]).agent(rng())
    tacit.open(named["rebel"]).agent(rng(), tacit.SearchOptions("cfr+", 7))
    assert asked == [(preset("smoke").solver, 512), ("cfr+", 7)]


def test_what_needs_no_network_is_opened_without_torch(named: dict[str, str]) -> None:
    code = "import sys, tacit, numpy\n"
    for kind in ("random", named["kuhn"]):
        code += f"tacit.open({kind!r}, 'kuhn_poker').agent(numpy.random.default_rng())\n"
    done = subprocess.run([sys.executable, "-c", f"{code}sys.exit('torch' in sys.modules)"], check=False)
    assert done.returncode == 0
