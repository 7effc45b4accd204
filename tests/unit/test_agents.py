"""Agents know what their seat sees, play what they were given, and search safely."""

from pathlib import Path

import numpy as np
import pytest
import torch

import tacit
from tacit.agents.base import Sight
from tacit.agents.bots import RandomBot
from tacit.agents.class_planner import ClassLeaves, ClassPlanner
from tacit.agents.options import RE_SOLVING, SAFETY, SAMPLED, UNSAFE, SearchOptions
from tacit.agents.search import SearchAgent
from tacit.agents.table import Table, play_game
from tacit.agents.tabular import TabularAgent
from tacit.artifacts import load_agent
from tacit.errors import TacitError
from tacit.evaluation import evaluate
from tacit.evaluation.exact import infostate_values
from tacit.games import TERMINAL, load_game
from tacit.games.liars_dice import LiarsDice
from tacit.kernels import make_passes
from tacit.kernels.numba_rows import RowPasses
from tacit.leaves.evaluators import OracleLeaves, RandomLeaves, ZeroLeaves
from tacit.rebel.config import preset
from tacit.rebel.system import REBEL
from tacit.rebel.train import RebelTrainer
from tacit.search.config import SearchConfig
from tacit.search.playthroughs import playthrough_strategy
from tacit.search.resolving import resolving_strategy
from tacit.search.search import BatchSearch
from tacit.solvers import solve
from tacit.training.folder import RunFolder
from tacit.tree.beliefs import belief_state
from tacit.tree.compiler import compile_game
from tacit.tree.search_space import SearchSpace, search_space
from tacit.tree.source import RuleSource
from tests.oracles import public_posterior
from tests.random_games import RandomGame


def search_of(name: str, depth: int | None, solver: str, iterations: int, leaves: type = OracleLeaves) -> BatchSearch:
    space = search_space(compile_game(load_game(name)), depth)
    return BatchSearch(space, leaves() if leaves is ZeroLeaves else leaves(space), SearchConfig(solver, iterations, depth))


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.slow
def test_safe_search_plays_the_equilibrium_and_unsafe_search_is_beaten() -> None:
    """Modified rock-paper-scissors, one-ply search with exact leaf values (ReBeL, section 6)."""
    search = search_of("modified_rps", 1, "pcfr+", 400)
    tree, playthroughs = search.space.tree, 4_000
    safe = playthrough_strategy(search, playthroughs, rng())
    # A sampled iteration answers almost purely, so a mean of 4,000 has a standard error of at most 0.0078; allow four of them.
    interval = 4 * np.sqrt(0.24 / playthroughs)
    np.testing.assert_allclose(safe[:3], [0.4, 0.4, 0.2], atol=interval)
    np.testing.assert_allclose(safe[3:], [0.4, 0.4, 0.2], atol=interval)
    unsafe = playthrough_strategy(search, 1, rng(), safe=False)
    np.testing.assert_allclose(unsafe[:3], [0.4, 0.4, 0.2], atol=0.02)  # the first player's average is fine ...
    beaten = evaluate(make_passes(tree), unsafe).best_response_values
    assert beaten[0] > 0.5  # ... but the second player answers it with one move, and loses at least 1
    assert beaten[1] < 0.05
    assert max(evaluate(make_passes(tree), safe).best_response_values) < 4 * interval


def test_re_solving_plays_the_equilibrium_in_one_search() -> None:
    """Rock-paper-scissors, depth 1: unsafe search answers with one move, the gadget makes it play the right mixture."""
    search = search_of("modified_rps", 1, "cfr+", 150)
    played = {}
    for safety in (RE_SOLVING, UNSAFE):
        agent = SearchAgent(ClassPlanner(search, rng(), safety), rng())
        agent.start(1)
        table = Table(search.space.game, rng())
        agent.observe(table.sights[1])
        table.play(0)
        agent.observe(table.sights[1])
        actions, played[safety] = agent.planner.weights()
        assert actions == [0, 1, 2]
    np.testing.assert_allclose(played[RE_SOLVING], [0.4, 0.4, 0.2], atol=0.05)
    assert played[UNSAFE].max() > 0.95


def test_re_solving_needs_regret_matching() -> None:
    search = search_of("kuhn_poker", 1, "fp", 4)
    with pytest.raises(TacitError, match="re-solving needs regret matching"):
        search.run(np.zeros(1, np.int64), torch.full((1, 2, 3), 1 / 3), np.ones(1, np.int64), (1, torch.zeros(1, 3)))


@pytest.mark.parametrize("safety", SAFETY)
def test_a_game_that_was_never_compiled_is_played(safety: str) -> None:
    """Works from the rules alone; without random draws, views and moves equal those of the compiled game."""
    game = load_game("liars_dice(dice=1,faces=3)")
    spaces = [SearchSpace(explored(game, 2)), search_space(compile_game(game), 2)]
    views = []
    for space in spaces:
        search = BatchSearch(space, RandomLeaves(space), SearchConfig("cfr+", 20, 2))
        agent = SearchAgent(ClassPlanner(search, rng(), safety), rng(5))
        seen = []
        play_game(game, (agent, RandomBot(rng(1))), rng(2), lambda _table, agent=agent, seen=seen: seen.append(agent.view()))
        views.append([view for view in seen if view is not None])
    assert len(views[0]) == len(views[1]) >= 2
    for mine, theirs in zip(*views, strict=True):
        assert mine.private_states == theirs.private_states
        assert mine.actions == theirs.actions
        np.testing.assert_allclose(mine.strategy, theirs.strategy, atol=1e-5)
        np.testing.assert_allclose(mine.values[0], theirs.values[0], atol=1e-5)


def explored(game: LiarsDice, depth: int) -> RuleSource:
    source = RuleSource(game, depth)
    source.explore_all(1_000)
    return source


@pytest.mark.parametrize("solver", ["linear-cfr", "flop"])
def test_safe_search_in_kuhn_poker_is_hardly_exploitable(solver: str) -> None:
    search = search_of("kuhn_poker", 2, solver, 64)
    quality = evaluate(make_passes(search.space.tree), playthrough_strategy(search, 300, rng()))
    assert quality.exploitability < 0.04  # uniform play has 0.458


class Passenger(SearchAgent):
    """Searches, but plays random moves, so that games reach every part of the tree."""

    def observe(self, sight: Sight) -> None:
        super().observe(sight)
        self.legal_actions = sight.legal_actions

    def act(self) -> int:
        return int(self._generator.choice(self.legal_actions))


@pytest.mark.parametrize(("safety", "at_decisions"), [*((safety, False) for safety in SAFETY), (RE_SOLVING, True)])
@pytest.mark.parametrize(
    ("name", "depth", "solver"), [("kuhn_poker", 2, "linear-cfr"), ("kuhn_poker", 1, "flop"), ("goofspiel(cards=3)", 1, "cfr+")]
)
def test_the_agent_plays_what_is_evaluated(
    name: str, depth: int, solver: str, safety: str, at_decisions: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the same iterations sampled, the agent's strategies equal what playthroughs add up, or what re-solving plays."""
    if safety == RE_SOLVING and solver == "flop":
        solver = "dcfr"  # fictitious play cannot re-solve
    search = search_of(name, depth, solver, 12, RandomLeaves)  # random leaves: at exact ties, rounding would decide
    monkeypatch.setattr(BatchSearch, "iterations_at", lambda _self, quantiles: np.full(len(quantiles), 7))
    tree = search.space.tree
    resolves, safe = safety == RE_SOLVING, safety == SAMPLED
    judged = (
        resolving_strategy(search, at_decisions=at_decisions) if resolves else playthrough_strategy(search, 1, rng(), safe=safe)
    )
    agents = [Passenger(ClassPlanner(search, rng(s), safety, at_decisions), rng(s)) for s in (2, 3)]
    compared = set()
    chance = rng(1)

    def compare(_table: Table) -> None:
        for agent in agents:
            view, spot = agent.view(), agent.planner.walk.place
            if view is None or (spot.node, agent.planner.walk._player) in compared:
                continue
            if resolves and view.actor != agent.planner.walk._player:  # it only plans its own decisions
                continue
            nodes = tree.require_nodes()
            for state in range(len(view.strategy)):
                row = nodes.row_start[view.actor][spot.node] + state
                infostate = tree.rows[view.actor].infostate[row]
                path = tree.rows[view.actor].entry[tree.row_path(view.actor, row)]
                if np.append(judged, 1.0)[path].all():  # elsewhere a playthrough's policy is arbitrary
                    expected = judged[tree.entry_start[infostate] : tree.entry_start[infostate + 1]]
                    found = view.strategy[state][view.strategy[state] > 0]
                    np.testing.assert_allclose(found, expected[expected > 0], atol=1e-5)
            compared.add((spot.node, agent.planner.walk._player))

    for _ in range(40):
        play_game(tree.game, agents, chance, compare)
    assert len(compared) >= min(4, int((tree.require_nodes().actor >= 0).sum()))


def test_two_equilibrium_players_get_the_value_of_kuhn_poker() -> None:
    strategy = solve("kuhn_poker", solver="lp").strategy
    agents, games = (TabularAgent(strategy, rng(1)), TabularAgent(strategy, rng(2))), 8_000
    chance = rng(3)
    payoffs = [play_game(strategy.tree.game, agents, chance)[0] for _ in range(games)]
    error = np.std(payoffs) / np.sqrt(games)
    assert error < 0.02
    assert np.mean(payoffs) == pytest.approx(-1 / 18, abs=4 * error)


def test_a_searching_agent_beats_a_random_one() -> None:
    search = search_of("kuhn_poker", None, "dcfr", 30, ZeroLeaves)
    agents, chance = [SearchAgent(ClassPlanner(search, rng(1)), rng(1)), RandomBot(rng(2))], rng(3)
    won = [play_game(search.space.tree.game, agents, chance)[0] for _ in range(200)]
    won += [play_game(search.space.tree.game, agents[::-1], chance)[1] for _ in range(200)]
    assert np.mean(won) > 0.1  # against uniform play an equilibrium wins 0.22 a game; the standard error is 0.07


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker", "modified_rps", "goofspiel(cards=3)", "openspiel:kuhn_poker"])
def test_the_view_of_a_tabular_agent_is_the_public_belief_state(name: str) -> None:
    if name.startswith("openspiel:"):
        pytest.importorskip("pyspiel")
    result = solve(name, solver="cfr", iterations=20)
    tree = result.strategy.tree
    agents = [TabularAgent(result.strategy, rng(seed)) for seed in (0, 1)]
    chance = rng(2)
    checked = 0

    def check(table: Table) -> None:
        nonlocal checked
        views = [agent.view() for agent in agents]
        if table.sights[0] is not None and views[0] is None:
            return  # nobody has observed anything yet
        for agent, view in zip(agents, views, strict=True):
            assert view is not None
            node = agent._spot.node
            if name.startswith("openspiel:"):
                expected = belief_state(tree, result.strategy.probabilities, node).beliefs
            else:  # by enumeration of histories
                expected = public_posterior(tree, result.strategy.probabilities, node) if checked < 12 else view.beliefs
            for player in (0, 1):
                np.testing.assert_allclose(view.beliefs[player], expected[player], atol=1e-9)
                assert len(view.private_states[player]) == len(expected[player])
            np.testing.assert_allclose(view.strategy.sum(1), 1.0)
            means = [np.nansum(view.beliefs[player] * view.values[player]) for player in (0, 1)]
            assert sum(means) == pytest.approx(0.0, abs=1e-9)  # the two players' expected winnings cancel
            checked += 1

    for _ in range(10):
        play_game(tree.game, agents, chance, check)
    assert checked > 10


def test_beliefs_after_a_move_that_is_never_made() -> None:
    """With alpha = 0, Kuhn poker's equilibrium never bets first; a player who does may hold anything."""
    result = solve("kuhn_poker", solver="lp")
    agent = TabularAgent(result.strategy, rng())
    agent.start(1)
    agent.observe(Sight(0, None, (), ("Q",), (), ()))
    agent.observe(Sight(1, None, ("bet",), (), (0, 1), ("fold", "call")))
    view = agent.view()
    assert view is not None
    assert (view.public, view.actor, view.actions) == ("bet", 1, ["fold", "call"])
    np.testing.assert_allclose(view.beliefs[0], 1 / 3)
    assert agent.act() in (0, 1)


@pytest.mark.parametrize("depth", [None, 2, 1])
def test_values_inside_a_searched_subgame(depth: int | None) -> None:
    """With exact leaves and an equilibrium, values in a subgame equal those of the whole game.

    Without a depth limit they agree one by one; with one, only in the mean, because equilibria of the rest of the game differ.
    """
    strategy = solve("kuhn_poker", solver="cfr+", iterations=3_000).strategy.probabilities
    search = search_of("kuhn_poker", depth, "cfr+", 2)
    tree = search.space.tree
    for node in search.space.subgame_at(0).node_index[: 1 if depth == 1 else 3]:
        pbs = belief_state(tree, strategy, int(node)).rescaled()
        subgame = search.space.subgame_at(0)
        local = int(np.searchsorted(subgame.node_index, node))
        leaves = ClassLeaves(search, search.space.classes.of_node[subgame.node_index])
        for player in (0, 1):
            found = infostate_values(RowPasses(subgame.tree), strategy[subgame.entry_index], player, local, leaves)
            whole = infostate_values(make_passes(tree), strategy, player, int(node))
            if depth is None:
                np.testing.assert_allclose(found, whole, atol=1e-9)
            mean = pbs.beliefs[player] @ whole
            assert pbs.beliefs[player] @ found == pytest.approx(mean, abs=1e-3)


def test_sights_tell_only_what_the_seat_sees() -> None:
    table = Table(load_game("modified_rps"), rng())
    table.play(2)
    assert table.sights[1] == Sight(1, None, (), (), (0, 1, 2), ("Rock", "Paper", "Scissors"))
    assert table.sights[0] == Sight(1, 2, (), (), (), ())
    with pytest.raises(TacitError, match="not a legal action"):
        table.play(7)
    dealt = Table(load_game("leduc_poker"), rng(1))
    first, second = dealt.sights
    assert first is not None
    assert second is not None
    assert len(first.private) == len(second.private) == 1
    assert first.private != second.private


def test_chance_is_drawn_as_often_as_it_should() -> None:
    game, chance = load_game("liars_dice(dice=2,faces=2)"), rng()
    seen = [Table(game, chance).sights[0].private[0] for _ in range(4_000)]  # type: ignore[union-attr]
    for roll, probability in (("11", 0.25), ("12", 0.5), ("22", 0.25)):
        assert np.mean([one == roll for one in seen]) == pytest.approx(probability, abs=0.03)


@pytest.mark.parametrize("seed", range(6))
def test_agents_find_their_way_in_any_game(seed: int) -> None:
    """Random games with hidden actions, private draws and several roots: agents are never lost and always play legal moves."""
    tree = compile_game(RandomGame(seed=seed, length=4, roots=1 + seed % 3))
    search = BatchSearch(search_space(tree, 1), ZeroLeaves(), SearchConfig("cfr+", 3, 1))
    agents, chance = [SearchAgent(ClassPlanner(search, rng(1)), rng(1)), RandomBot(rng(2))], rng(seed)
    for game in range(12):
        first, second = play_game(tree.game, agents[:: 1 - 2 * (game % 2)], chance)
        assert first == -second
        view = agents[0].view()
        assert view is None or np.isfinite(view.beliefs[0]).all()


@pytest.mark.parametrize(
    "name", ["kuhn_poker", "leduc_poker", "tic_tac_toe", "dark_hex(board_size=2)", "matrix_rps", "goofspiel(num_cards=3)"]
)
def test_openspiel_games_are_played(name: str) -> None:
    pytest.importorskip("pyspiel")
    if name.startswith("tic_tac_toe"):
        game, agents = load_game("openspiel:tic_tac_toe"), [RandomBot(rng(1)), RandomBot(rng(2))]
    else:
        result = solve(f"openspiel:{name}", solver="cfr+", iterations=20)
        game, agents = result.strategy.tree.game, [TabularAgent(result.strategy, rng(1)), RandomBot(rng(2))]
        if result.strategy.tree.nodes is not None:
            search = BatchSearch(search_space(result.strategy.tree, 1), ZeroLeaves(), SearchConfig("cfr+", 3, 1))
            agents = [agents[0], SearchAgent(ClassPlanner(search, rng(3)), rng(3))]
    chance = rng()
    for _ in range(20):
        assert sum(play_game(game, agents, chance)) == 0.0


def test_agents_by_name(tmp_path: Path) -> None:
    kuhn, leduc = load_game("kuhn_poker"), load_game("leduc_poker")
    solve(kuhn, solver="cfr+", iterations=10).save(tmp_path / "kuhn.tacit")
    (tmp_path / "run").mkdir()
    RunFolder(tmp_path / "run", REBEL).save_network(RebelTrainer(kuhn, preset("smoke")), keep=False)
    options = SearchOptions(solver="cfr+", iterations=4)
    network = RunFolder(tmp_path / "run", REBEL).network
    for name in ("random", str(tmp_path / "kuhn.tacit"), str(tmp_path / "run"), str(network)):
        agent = load_agent(name, kuhn, rng(), options.only(tacit.open(name, kuhn).search_options))
        assert agent.name == name
        play_game(kuhn, (agent, RandomBot(rng())), rng())
    content = (tmp_path / "kuhn.tacit").read_bytes()
    (tmp_path / "half.tacit").write_bytes(content[: len(content) // 2])
    (tmp_path / "empty").mkdir()
    wrong = {
        "nobody": "no agent 'nobody'",
        "pretrained:chess": "no pretrained network 'chess'",
        "pretrained:liars_dice_1x4f": "was trained on liars_dice",
        str(tmp_path / "kuhn.tacit"): "is a solve of kuhn_poker, not of leduc_poker",
        str(tmp_path / "run"): "was trained on kuhn_poker, not on leduc_poker",
        str(tmp_path / "half.tacit"): "damaged",
        str(tmp_path / "empty"): "no checkpoint at",
    }
    for name, message in wrong.items():
        with pytest.raises(TacitError, match=message):
            load_agent(name, leduc, rng())


def test_a_pretrained_agent_thinks_aloud() -> None:
    game = load_game("liars_dice(dice=1,faces=4)")
    agent = load_agent("pretrained:liars_dice_1x4f", game, rng(), SearchOptions(iterations=32))
    threads = torch.get_num_threads()
    agent.start(1)
    agent.observe(Sight(0, None, (), ("2",), (), ()))
    agent.observe(Sight(1, None, ("2x1",), (), tuple(range(5, 9)), ("2x2", "2x3", "2x4", "liar")))
    view = agent.view()
    assert view is not None
    assert view.private_states == (["1", "2", "3", "4"], ["1", "2", "3", "4"])
    assert view.actions == ["2x2", "2x3", "2x4", "liar"]
    assert view.strategy.shape == (4, 4)
    np.testing.assert_allclose(view.beliefs[1], 0.25)  # this player has not moved yet
    assert (np.abs(view.values[1]) > 1e-6).all()  # even where the sampled iteration never makes this bid
    assert agent.act() in range(5, 9)
    assert torch.get_num_threads() == threads
    agent.observe(Sight(TERMINAL, None, (), (), (), ()))
    assert agent.view() is not None
