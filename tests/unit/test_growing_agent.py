"""Agents that search with growing trees: they play what is evaluated, and only query networks on what those have learnt."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import tacit
from tacit.agents.base import Sight
from tacit.agents.bots import RandomBot
from tacit.agents.growing_planner import GrowingPlanner
from tacit.agents.options import SearchOptions
from tacit.agents.search import SearchAgent
from tacit.agents.table import Table, play_game
from tacit.errors import TacitError
from tacit.evaluation import evaluate
from tacit.games import load_game
from tacit.kernels import make_passes
from tacit.leaves.evaluators import RandomLeaves
from tacit.rebel.config import preset
from tacit.rebel.system import REBEL
from tacit.rebel.train import RebelTrainer
from tacit.search.config import SearchConfig
from tacit.search.growing.judge import growing_strategy
from tacit.search.growing.search import GrowingConfig, GrowingSearch
from tacit.search.resolving import resolving_strategy
from tacit.search.search import BatchSearch
from tacit.sog.config import PRESETS
from tacit.sog.system import SOG
from tacit.sog.train import SogTrainer
from tacit.training.folder import RunFolder
from tacit.training.run import train
from tacit.tree.compiler import compile_game
from tacit.tree.search_space import SearchSpace, game_space, search_space
from tacit.tree.source import RuleSource
from tests.command import tacit as command
from tests.random_games import RandomGame


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


class Passenger(SearchAgent):
    """Searches, but plays random moves, so that games reach every part of the tree."""

    def observe(self, sight: Sight) -> None:
        super().observe(sight)
        self.legal_actions = sight.legal_actions

    def act(self) -> int:
        return int(self._generator.choice(self.legal_actions))


class Leaning:
    """Priors that depend on the public state."""

    def propose(self, public_class: Tensor, beliefs: Tensor, legal: Tensor) -> Tensor:
        weights = (1.0 + (public_class[:, None, None] + torch.arange(legal.shape[2])) % 3) * legal
        return weights / weights.sum(2, keepdim=True).clamp_min(1e-9)


@pytest.mark.parametrize(
    ("game", "config"),
    [
        ("kuhn_poker", GrowingConfig(2, 0.2)),
        ("leduc_poker", GrowingConfig(12, 2.0, "cfr+", True, "modified-cfr-ave", settling=6)),
        ("goofspiel(cards=3)", GrowingConfig(3, 0.3, alternating=True)),
        ("liars_dice(dice=1,faces=3)", GrowingConfig(6, 0.5)),
        ("random", GrowingConfig(4, 0.4)),
    ],
)
def test_the_agent_plays_what_is_judged(game: str, config: GrowingConfig) -> None:
    """At every decision that the agent's own strategy reaches, in both seats, with non-uniform priors."""
    rules = RandomGame(seed=4, length=4, roots=2) if game == "random" else load_game(game)
    tree = compile_game(rules)
    space = search_space(tree, 1)
    leaves, states = RandomLeaves(space), space.tables.num_private_states

    def search() -> GrowingSearch:
        return GrowingSearch(space.source, leaves, config, Leaning(), states, int(space.tables.num_entry_actions.max()))

    judged, nodes = growing_strategy(search(), seed=5), tree.require_nodes()
    agents = [Passenger(GrowingPlanner(space, search(), 5), rng(seat)) for seat in (0, 1)]
    compared = set()

    def compare(_table: Table) -> None:
        for player, agent in enumerate(agents):
            walk, view = agent.planner.walk, agent.view()
            if view is None or view.actor != player or walk.place.node in compared:
                continue
            np.testing.assert_allclose(view.strategy.sum(1), 1.0)
            for state in range(len(view.strategy)):
                row = nodes.row_start[player][walk.place.node] + state
                path = tree.rows[player].entry[tree.row_path(player, row)]
                if np.append(judged, 1.0)[path].all():  # otherwise its own strategy never gets there
                    infostate = tree.rows[player].infostate[row]
                    expected = judged[tree.entry_start[infostate] : tree.entry_start[infostate + 1]]
                    found = view.strategy[state][view.strategy[state] > 0]
                    np.testing.assert_allclose(found, expected[expected > 0], atol=1e-3)  # leaf values are float32
                    compared.add(walk.place.node)

    chance = rng(1)
    for _ in range(30):
        play_game(rules, agents, chance, compare)
    assert len(compared) >= 4


def test_beliefs_and_values_are_shown() -> None:
    """At the start of Kuhn poker nobody has moved; after a bet, player 0's range follows from its own average strategy."""
    space = search_space(compile_game(load_game("kuhn_poker")), 1)
    planner = GrowingPlanner(space, GrowingSearch(space.source, RandomLeaves(space), GrowingConfig(20, 0.1)), 0)
    agent = SearchAgent(planner, rng())
    agent.start(0)
    agent.observe(Sight(0, None, (), ("Q",), (1, 2), ("check", "bet")))
    view = agent.view()
    assert view is not None
    np.testing.assert_allclose(view.beliefs[0], 1 / 3)
    assert sum(view.beliefs[p] @ view.values[p] for p in (0, 1)) == pytest.approx(0.0, abs=0.01)
    bets = view.strategy[:, 1]
    agent.observe(Sight(1, 2, ("bet",), (), (), ()))
    after = agent.view()
    assert after is not None
    np.testing.assert_allclose(after.beliefs[0], bets / bets.sum())
    assert after.actor == 1


def test_a_game_that_was_never_compiled_is_played() -> None:
    """Works from the rules alone; views equal those of the compiled game."""
    game, views = load_game("liars_dice(dice=1,faces=3)"), []
    source = RuleSource(game, 2)
    source.explore_all(1_000)
    for space in (SearchSpace(source).at_depth(1), search_space(compile_game(game), 2).at_depth(1)):
        search = GrowingSearch(space.source, RandomLeaves(space), GrowingConfig(5, 0.5))
        agent = SearchAgent(GrowingPlanner(space, search, 3), rng(5))
        seen: list[Any] = []
        play_game(game, (agent, RandomBot(rng(1))), rng(2), lambda _table, agent=agent, seen=seen: seen.append(agent.view()))
        views.append([view for view in seen if view is not None])
    assert len(views[0]) == len(views[1]) >= 2
    for mine, theirs in zip(*views, strict=True):
        assert mine.actions == theirs.actions
        np.testing.assert_allclose(mine.strategy, theirs.strategy, atol=1e-9)
        np.testing.assert_allclose(mine.values[0], theirs.values[0], atol=1e-9)


class Watched:
    """Random values, with a record of the classes that were queried."""

    counterfactual = False

    def __init__(self, space: SearchSpace) -> None:
        self._values, self.asked = RandomLeaves(space), set[int]()

    def evaluate(self, public_class: Tensor, beliefs: Tensor) -> Tensor:
        self.asked |= set(public_class.tolist())
        return self._values.evaluate(public_class, beliefs)


@pytest.mark.parametrize("decomposition", ["cfr-d", "modified-cfr-ave"])
@pytest.mark.parametrize(("name", "depth"), [("pot_limit_leduc", "round"), ("liars_dice(dice=1,faces=3)", 2)])
def test_unknown_states_are_opened_at_once(name: str, depth: int | str, decomposition: str) -> None:
    """The network is only queried on known classes, and one expansion then equals the fixed-depth search."""
    space = game_space(load_game(name), depth)
    known = np.zeros(space.num_classes, bool)
    known[space.start_classes()] = True
    watched = Watched(space)
    config = GrowingConfig(1, 1 / 20, decomposition=decomposition)
    search = GrowingSearch(space.at_depth(1).source, watched, config, num_states=space.tables.num_private_states, known=known)
    result = search.run(space.root_class, space.root_reaches, np.zeros(len(space.root_class)))
    assert watched.asked == set(space.tables.leaf_class[: space.tables.leaf_start[1]].tolist())
    fixed = BatchSearch(space, Watched(space), SearchConfig("cfr+", 20, depth, decomposition, alternating=False))
    expected = fixed.run(space.root_class, torch.from_numpy(space.root_reaches), np.ones(1, np.int64))
    entries = result.entries(0, 0)
    np.testing.assert_allclose(np.concatenate(result.strategy(0, 0)), expected.average_strategy[entries], atol=2e-4)
    np.testing.assert_allclose(result.values, expected.values, atol=2e-3)
    more = GrowingSearch(
        space.at_depth(1).source, watched, GrowingConfig(4, 1.0), num_states=space.tables.num_private_states, known=known
    )
    more.run(space.root_class, space.root_reaches, np.zeros(len(space.root_class)))
    assert known[sorted(watched.asked)].all()


def test_growing_trees_with_a_network_are_hardly_exploitable() -> None:
    """The shipped network with one expansion, the whole round: as good as fixed depth, and growing trees are no worse.

    What a growing tree opens depends on its seed and on the network's last digits: 2 of 12 seeds end at 6 to 12 thousandths of
    the ante instead of 1.4 to 2.6, and which two differs between processors. So the test uses the median of seven seeds; it is
    33 if trees grow until the search ends (200 iterations).
    """
    shipped = tacit.open("pretrained:pot_limit_leduc")

    def judge(**options: int) -> float:
        return shipped.evaluate(iterations=100, **options).details["exploitability_mbb"]

    fixed = judge()
    assert judge(expansions=1) < 2 * fixed
    assert np.median([judge(expansions=30, seed=seed) for seed in range(7)]) < fixed


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Returns a Student of Games run with a policy network, one without, and a ReBeL run."""
    folder, dice = tmp_path_factory.mktemp("runs"), "liars_dice(dice=1,faces=3)"
    for name, policies in (("priors", "all"), ("values", "none")):
        config = PRESETS["smoke"].with_settings({"policies": policies, "epochs": "2", "evaluate_every": "0"})
        train(SogTrainer(load_game(dice), config), RunFolder(folder / name, SOG))
    train(RebelTrainer(load_game(dice), preset("smoke")), RunFolder(folder / "rebel", REBEL))
    return {name: str(folder / name) for name in ("priors", "values", "rebel")}


def test_networks_search_by_growing_trees(runs: dict[str, str]) -> None:
    for name, run in runs.items():
        artifact = tacit.open(run)
        found = artifact.evaluate(expansions=3, iterations=20, seed=1)
        assert (found.kind, found.details["safety"], found.details["expansions"]) == ("exact", "re-solving", 3)
        search = artifact.growing_search(artifact._trained, found.details["solver"], 20, 3)
        assert (search.policy is not None) == (name == "priors")
        strategy = growing_strategy(search, 1)
        assert evaluate(make_passes(artifact._space.tree), strategy).exploitability == pytest.approx(found.figure)
        assert found.figure != artifact.evaluate(expansions=3, iterations=20, seed=2).figure
        agent = artifact.agent(rng(), SearchOptions(expansions=2, iterations=4))
        play_game(artifact.game, (agent, RandomBot(rng())), rng())
        with pytest.raises(TacitError, match="leave out --safety unsafe"):
            artifact.agent(rng(), SearchOptions(expansions=2, safety="unsafe"))
        with pytest.raises(TacitError, match="leave out --device"):
            artifact.evaluate(expansions=2, device="cuda")
    priors = tacit.open(runs["priors"])
    fixed = priors._trained.search(priors._space, "pcfr+", 20)
    assert fixed.policy is None  # fixed-depth searches re-solve from zero regrets
    strategy = resolving_strategy(fixed, at_decisions=True)
    judged = evaluate(make_passes(priors._space.tree), strategy).exploitability
    assert priors.evaluate(iterations=20).figure == pytest.approx(judged)


def test_growing_trees_by_command(runs: dict[str, str]) -> None:
    dice = "liars_dice(dice=1,faces=3)"
    judged = command("evaluate", runs["priors"], "--expansions", "2", "--iterations", "10", "--json")
    assert judged.returncode == 0, judged.stderr
    assert '"expansions": 2' in judged.stdout
    match = command(
        "match", runs["priors"], "random", "--game", dice, "--hands", "4", "--expansions", "2", "--iterations", "4", "--json"
    )
    assert match.returncode == 0, match.stderr
    for arguments in (("match", "random", "random", "--game", dice), ("evaluate", runs["priors"], "--metric", "best-response")):
        wrong = command(*arguments, "--expansions", "2")
        assert (wrong.returncode, wrong.stderr.count("\n")) == (2, 1), wrong.stderr
        assert "no effect" in wrong.stderr


def test_old_networks_have_no_policy() -> None:
    """The shipped networks were trained before policies existed."""
    for name in ("pot_limit_leduc", "tplo_1"):
        trained = tacit.open(f"pretrained:{name}")._trained
        assert trained.config.policies == "none"
        assert not any(key.startswith("policy.") for key in trained.tensors)
