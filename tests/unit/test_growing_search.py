"""Growing-tree CFR: against fixed-depth search, the tabular solver, Bayes' rule and brute force; and what it promises."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest
import torch
from torch import Tensor

from tacit.errors import TacitError
from tacit.evaluation import evaluate
from tacit.games import CHANCE, TERMINAL, Game, load_game
from tacit.kernels import make_passes
from tacit.leaves.evaluators import RandomLeaves, ZeroLeaves
from tacit.search.config import SearchConfig
from tacit.search.growing import expansion, kernels
from tacit.search.growing.forest import NO_NODE, Forest, plant, with_room
from tacit.search.growing.judge import growing_strategy, worst_return
from tacit.search.growing.result import GrowingResult
from tacit.search.growing.search import GrowingConfig, GrowingSearch
from tacit.search.growing.steps import NO_STEP
from tacit.search.search import BatchSearch
from tacit.solvers.schedules import find_schedule
from tacit.solvers.tabular import TabularDriver
from tacit.tree.beliefs import belief_state
from tacit.tree.compiler import compile_game
from tacit.tree.public_tree import Floats, PublicTree
from tacit.tree.search_space import search_space
from tacit.tree.source import RuleSource, TreeSource
from tests.random_games import RandomGame

GAMES = {
    **{name: load_game(name) for name in ("kuhn_poker", "leduc_poker", "liars_dice(dice=1,faces=4)", "goofspiel(cards=3)")},
    **{f"random {seed}": RandomGame(seed, length=4) for seed in (1, 2, 3)},
}


@cache
def compiled(name: str) -> PublicTree:
    return compile_game(GAMES[name])


def random_reaches(source: TreeSource, classes: np.ndarray, seed: int) -> Floats:
    """Returns `[B, 2, H]` reaches that sum to 1, some of them almost 0."""
    nodes, rng = source.tree.require_nodes(), np.random.default_rng(seed)
    most = search_space(source.tree, 1).tables.num_private_states
    reaches = np.zeros((len(classes), 2, most))
    for b, node in enumerate(source.classes.representative[classes]):
        for player, start in enumerate(nodes.row_start):
            found = np.maximum(rng.random(start[node + 1] - start[node]) - 0.2, 0.001)
            reaches[b, player, : len(found)] = found / found.sum()
    return reaches


def grown(search: GrowingSearch, classes: np.ndarray, reaches: Floats) -> Forest:
    """Returns trees opened down to the end of the game."""
    forest = plant(search.steps, classes, reaches, np.arange(len(classes)) + 1)
    while forest.live[:, 0].any():
        leaf = (forest.step == NO_STEP) & (forest.live > 0)
        target = np.where(leaf.any(axis=1), leaf.argmax(axis=1), expansion.NOTHING)
        opened = np.flatnonzero(target != expansion.NOTHING)
        search.steps.require(search.steps.tables.state_class[forest.state[opened, target[opened]]])
        forest = expand_at(search, forest, target)
    return forest


def whole_nodes(result: GrowingResult, tree: PublicTree, b: int, root: int) -> dict[int, int]:
    """Returns the index in the whole tree of each node of a grown one."""
    found, nodes = {0: root}, tree.require_nodes()
    for node in range(int(result.forest.num_nodes[b])):
        if result.is_open(b, node):
            for k, child in enumerate(result.children(b, node).tolist()):
                if child != NO_NODE:
                    found[child] = int(nodes.first_child[found[node]]) + k
    return found


def put(tree: PublicTree, result: GrowingResult, b: int, numbers: Floats, root: int, into: Floats) -> None:
    """Copies a grown tree's entry values to their places in the whole tree."""
    for node, whole in whole_nodes(result, tree, b, root).items():
        if result.is_open(b, node):
            actor = result.actor(b, node)
            first = tree.entry_start[tree.rows[actor].infostate[tree.require_nodes().row_start[actor][whole]]]
            entries = result.entries(b, node)
            into[first : first + entries.stop - entries.start] = numbers[b, entries]


@pytest.mark.parametrize("alternating", [False, True])
@pytest.mark.parametrize("constrained", [None, 0, 1])
@pytest.mark.parametrize("name", GAMES)
def test_one_expansion_is_the_search_of_depth_one(name: str, constrained: int | None, alternating: bool) -> None:
    """Strategies, values, promised values and the gadget's range all equal those of the fixed-depth search."""
    tree, iterations, warm_up = compiled(name), 30, 10 * int(constrained == 1)
    space, source = search_space(tree, 1), TreeSource(tree, 1)
    leaves = RandomLeaves(space, seed=3)
    classes = np.arange(len(source), dtype=np.int64)[:20]
    reaches = random_reaches(source, classes, 4)
    promised = None if constrained is None else (constrained, np.random.default_rng(5).normal(0, 0.3, reaches[:, 0].shape))
    fixed = BatchSearch(space, leaves, SearchConfig("cfr+", iterations, 1, alternating=alternating, warm_up=warm_up))
    given = None if promised is None else (promised[0], torch.from_numpy(promised[1]).float())
    watched = 1 if constrained is None else constrained
    expected = fixed.run(
        classes, torch.from_numpy(reaches).float(), np.full(len(classes), iterations), given, values_rows=watched
    )
    config = GrowingConfig(1, 1 / iterations, alternating=alternating, warm_up=warm_up)
    search = GrowingSearch(source, leaves, config, num_states=space.tables.num_private_states)
    result = search.run(classes, reaches, classes, promised)
    for group in expected.batch:
        average = expected.batch.view(expected.average_strategy, expected.batch.entry_offset, group)
        rows = expected.batch.view(expected.row_values, expected.batch.row_offset[watched], group)
        b = int(expected.batch.order[group.games][0])
        np.testing.assert_allclose(np.concatenate(result.strategy(b, 0)), average[:, 0], atol=2e-4)
        sums = result.forest.cfv_sum[b, watched, : len(rows)] / ((iterations - warm_up) * (iterations - warm_up + 1) / 2)
        cut = space.subgames[group.public_class].tree
        ends = cut.require_nodes().actor[cut.require_nodes().of_row[watched]] == TERMINAL
        np.testing.assert_allclose(sums[~ends], rows[~ends, 0], atol=2e-4)
        # The fixed-depth search merges ends after one action; their total is the same.
        above = cut.rows[watched].parent
        ours, theirs = (np.bincount(above[ends] + 1, part[ends], len(above) + 1) for part in (sums, rows[:, 0]))
        np.testing.assert_allclose(ours, theirs, atol=2e-4)
    if constrained is None:
        np.testing.assert_allclose(result.values, expected.values, atol=2e-3, equal_nan=True)


@pytest.mark.parametrize("name", GAMES)
def test_a_whole_tree_is_solved_as_by_the_tabular_solver(name: str) -> None:
    tree, source = compiled(name), TreeSource(compiled(name), 1)
    search = GrowingSearch(source, ZeroLeaves(), GrowingConfig(all_actions=True))
    roots = np.flatnonzero(tree.require_nodes().actor[: tree.require_nodes().num_roots] >= 0)
    most = max(int(rows.level_start[1]) for rows in tree.rows)
    forest = grown(search, source.classes.of_node[roots].astype(np.int64), np.ones((len(roots), 2, most)))
    schedule = find_schedule("cfr+")
    driver = TabularDriver(make_passes(tree), replace(schedule, alternating=False))
    driver.run(40)
    for update in range(1, 41):
        search._update(forest, schedule.step(update), None)  # type: ignore[arg-type]
    result, found = GrowingResult(search.steps, forest, most), tree.uniform_strategy()
    for b, root in enumerate(roots.tolist()):
        put(tree, result, b, forest.average, root, found)
        assert len(whole_nodes(result, tree, b, root)) == forest.num_nodes[b]
    assert forest.num_nodes.sum() == len(tree.require_nodes())
    np.testing.assert_allclose(tree.normalise(found), driver.average_strategy(), atol=1e-6)
    quality, expected = (evaluate(make_passes(tree), s) for s in (tree.normalise(found), driver.average_strategy()))
    assert quality.best_response_values == pytest.approx(expected.best_response_values, abs=1e-9)


@pytest.mark.parametrize(("name", "value"), [("kuhn_poker", -1 / 18), ("leduc_poker", -0.085606424078)])
def test_known_values(name: str, value: float) -> None:
    tree, source = compiled(name), TreeSource(compiled(name), 1)
    config = GrowingConfig(2_000, 1.0, alternating=True, exploration=10.0)
    reaches = np.full((1, 2, 6 if name == "leduc_poker" else 3), 1.0)
    reaches /= reaches.shape[2]
    result = GrowingSearch(source, ZeroLeaves(), config).run(source.roots.classes.astype(np.int64), reaches, np.array([1]))
    assert result.forest.num_nodes[0] == len(tree.require_nodes())
    assert result.forest.live[0, 0] == 0
    found = tree.uniform_strategy()
    put(tree, result, 0, result.forest.average, 0, found)
    quality = evaluate(make_passes(tree), tree.normalise(found))
    assert quality.value == pytest.approx(value, abs=0.004)
    assert quality.exploitability < 0.05  # the average includes the first iterations, on a small tree
    assert result.values[0].mean(axis=1) == pytest.approx([value, -value], abs=0.02)


@pytest.mark.parametrize("name", ["leduc_poker", "random 1", "random 2"])
def test_beliefs_at_leaves_are_those_of_bayes(name: str) -> None:
    tree, source = compiled(name), TreeSource(compiled(name), 1)
    search = GrowingSearch(source, ZeroLeaves(), GrowingConfig(6, 0.5))
    most = max(int(rows.level_start[1]) for rows in tree.rows)
    result = search.run(source.roots.classes.astype(np.int64), np.ones((1, 2, most)), np.array([2]))
    strategy, forest = tree.uniform_strategy(), result.forest
    put(tree, result, 0, forest.strategy, 0, strategy)
    leaves = [(n, whole) for n, whole in whole_nodes(result, tree, 0, 0).items() if not result.is_over(0, n)]
    trees, at = np.zeros(len(leaves), np.int64), np.array([node for node, _ in leaves])
    beliefs = search._beliefs(forest, trees, at).reshape(2, -1, len(leaves))
    for column, (_, whole) in enumerate(leaves):
        for player, reach in enumerate(belief_state(tree, strategy, whole).reaches):
            uniform = np.full(len(reach), 1 / len(reach))
            expected = reach / reach.sum() if reach.sum() > 0 else uniform
            np.testing.assert_allclose(beliefs[player, : len(reach), column], expected, atol=1e-6)


def test_a_batch_is_what_its_games_are_alone() -> None:
    source = TreeSource(compiled("leduc_poker"), 1)
    classes = np.arange(0, len(source), 9, dtype=np.int64)
    reaches, seeds = random_reaches(source, classes, 1), np.arange(len(classes)) + 7
    search = GrowingSearch(source, ZeroLeaves(), GrowingConfig(30, 2.0))
    together = search.run(classes, reaches, seeds)
    for b in range(len(classes)):
        alone = GrowingSearch(source, ZeroLeaves(), GrowingConfig(30, 2.0)).run(
            classes[b : b + 1], reaches[b : b + 1], seeds[b : b + 1]
        )
        assert alone.forest.num_nodes[0] == together.forest.num_nodes[b]
        np.testing.assert_array_equal(alone.values[0], together.values[b])
        used = slice(int(alone.forest.num_entries[0]))
        np.testing.assert_array_equal(alone.forest.average[0, used], together.forest.average[b, used])


@pytest.mark.parametrize("name", ["kuhn_poker", "goofspiel(cards=3)", "random 2"])
def test_trees_from_the_rules_equal_those_from_the_compiled_game(name: str) -> None:
    tree = compile_game(GAMES[name], direct=False)
    most = max(int(rows.level_start[1]) for rows in tree.rows)
    found = []
    for source in (RuleSource(GAMES[name], 1), TreeSource(tree, 1)):
        search = GrowingSearch(source, ZeroLeaves(), GrowingConfig(25, 1.0))
        found.append(search.run(source.roots.classes.astype(np.int64), np.ones((1, 2, most)), np.array([3])))
    assert found[0].forest.num_nodes == found[1].forest.num_nodes
    np.testing.assert_allclose(found[0].values, found[1].values)


def test_walks_are_half_puct_and_half_the_strategy() -> None:
    """With a strategy of 0.9 and 0.1 and a PUCT that prefers the second action, walks take it 0.5 + 0.5 * 0.1 of the time."""
    tree, source, trees = compiled("kuhn_poker"), TreeSource(compiled("kuhn_poker"), 1), 4_000
    search = GrowingSearch(source, ZeroLeaves(), GrowingConfig())
    believed = np.array([[0.5, 0.3, 0.2], [0.2, 0.2, 0.6]])
    reaches = np.broadcast_to(believed, (trees, 2, 3))
    classes = np.broadcast_to(source.roots.classes, trees).astype(np.int64)
    forest = search._expand(plant(search.steps, classes, reaches, np.arange(trees)), first=True)
    forest.strategy[:, :6] = [0.9, 0.1] * 3
    forest.prior[:, :6] = [0.0, 1.0] * 3
    target, action = np.zeros(trees, np.int64), np.zeros(trees, np.int64)
    expansion.walk(search.steps.tables, forest, 1.0, 0.5, target, action)
    visits = forest.visits[:, :6].reshape(trees, 3, 2)
    assert visits.sum() == trees
    assert visits[:, :, 1].sum() / trees == pytest.approx(0.55, abs=0.03)
    joint = tree.require_nodes().joint(0) * believed[0][:, None] * believed[1]
    np.testing.assert_allclose(visits.sum(axis=(0, 2)) / trees, joint.sum(axis=1) / joint.sum(), atol=0.03)
    assert set(target.tolist()) == set(forest.link[0, :2].tolist())
    expansion.walk(search.steps.tables, forest, 1.0, 0.0, target, action)
    assert forest.visits[:, 1:6:2].sum() / trees == pytest.approx(0.55 + 0.1, abs=0.03)


def test_chance_moves_by_its_true_odds() -> None:
    """After check, check in Leduc a card is dealt: one of the four that nobody holds."""
    source, trees = TreeSource(compiled("leduc_poker"), 1), 3_000
    search = GrowingSearch(source, ZeroLeaves(), GrowingConfig())
    reaches = np.zeros((trees, 2, 6))
    reaches[:, 0, 0] = reaches[:, 1, 3] = 1.0
    classes = np.broadcast_to(source.roots.classes, trees).astype(np.int64)
    forest = search._expand(plant(search.steps, classes, reaches, np.arange(trees)), first=True)
    forest.strategy[:, : forest.num_entries[0]] = [1.0, 0.0] * 6
    target, action = forest.link[:, 0].astype(np.int64), np.full(trees, expansion.BEST_PRIOR)
    search.steps.require(search.steps.tables.state_class[forest.state[:, forest.link[0, 0]]])
    forest = expand_at(search, forest, target)
    first = int(forest.node_entry[0, target[0]])
    forest.strategy[:, first : first + 12] = [1.0, 0.0] * 6
    kernels.reach_down(forest, 0)
    expansion.walk(search.steps.tables, forest, 1.0, 0.0, target, action)
    met, counts = np.unique(target, return_counts=True)
    t, odds = search.steps.tables, np.zeros(int(forest.num_nodes[0]))
    for node in forest.link[0, forest.node_link[0, 1] : forest.num_links[0]].tolist():
        state = int(forest.state[0, node])
        for pair in range(t.pair_start[state], t.pair_start[state + 1]):
            rows = [int(t.first_row[p][state] + t.pair_row[p][pair]) for p in (0, 1)]
            dealt = t.row_parent[0][rows[0]] == 0 and t.row_parent[1][rows[1]] == 3
            if dealt and t.row_entry[1][rows[1]] == 2 * 3:  # player 1 checks with its fourth card; each card has two actions
                odds[node] += t.pair_chance[pair]
    assert (odds > 0).sum() > 2
    found = np.zeros(len(odds))
    found[met] = counts / trees
    np.testing.assert_allclose(found, odds / odds.sum(), atol=0.03)


def expand_at(search: GrowingSearch, forest: Forest, target: np.ndarray) -> Forest:
    """Returns the forest after opening all children of one node in each tree."""
    most = search.steps.most.tolist()
    forest = with_room(forest, (most[0], most[1], max(most[2:]), most[0]))
    expansion.begin(search.steps.tables, forest, target)
    expansion.extend(search.steps.tables, forest, target, np.full(len(target), expansion.BEST_PRIOR), True)
    return forest


def test_tic_tac_toe_never_loses() -> None:
    """It plays all replies in both seats, with leaves worth nothing; the value of the game is 0."""
    source = RuleSource(load_game("tic_tac_toe"), 1)
    search = GrowingSearch(source, ZeroLeaves(), GrowingConfig(1_000, 10.0, all_actions=True))
    assert [worst_return(search, player) for player in (0, 1)] == [0.0, 0.0]


@dataclass(frozen=True)
class PublicGame(Game[tuple[int, ...]]):
    """A random game of perfect information: up to 3 actions a move, with occasional chance moves."""

    seed: int = 0
    length: int = 4

    name = "public_game"

    def initial_state(self) -> tuple[int, ...]:
        return ()

    def actor(self, state: tuple[int, ...]) -> int:
        if len(state) >= self.length:
            return TERMINAL
        return self._dice("actor", state).choice([0, 1, 0, 1, CHANCE] if state else [0, 1])

    def legal_actions(self, state: tuple[int, ...]) -> list[int]:
        return list(range(self._dice("legal", state).randint(1, 3)))

    def chance_outcomes(self, state: tuple[int, ...]) -> Sequence[tuple[int, float]]:
        share = self._dice("chance", state).random()
        return [(0, share), (1, 1.0 - share)]

    def apply(self, state: tuple[int, ...], action: int) -> tuple[int, ...]:
        return (*state, action)

    def public_observation(self, state: tuple[int, ...]) -> str:
        return str(state[-1]) if state else ""

    def returns(self, state: tuple[int, ...]) -> tuple[float, float]:
        payoff = round(self._dice("payoff", state).uniform(-1.0, 1.0), 1)
        return payoff, -payoff

    def minimax(self, state: tuple[int, ...] = ()) -> float:
        """Returns player 0's value by brute force."""
        actor = self.actor(state)
        if actor == TERMINAL:
            return self.returns(state)[0]
        if actor == CHANCE:
            return sum(chance * self.minimax(self.apply(state, outcome)) for outcome, chance in self.chance_outcomes(state))
        return (max, min)[actor](self.minimax(self.apply(state, action)) for action in self.legal_actions(state))

    def _dice(self, *about: object) -> random.Random:
        return random.Random(f"{self.seed}:{about}")


@pytest.mark.parametrize("all_actions", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_games_without_hidden_information_reach_their_exact_values(seed: int, all_actions: bool) -> None:
    game = PublicGame(seed)
    search = GrowingSearch(RuleSource(game, 1), ZeroLeaves(), GrowingConfig(600, 0.5, all_actions=all_actions))
    value = game.minimax()
    assert [worst_return(search, player) for player in (0, 1)] == pytest.approx([value, -value], abs=1e-9)
    roots = search.steps.source.roots.classes.astype(np.int64)
    found = search.run(roots, np.ones((1, 2, 1)), np.array([seed])).values[0, :, 0]
    assert found == pytest.approx([value, -value], abs=0.02)


class Leaning:
    """A policy that prefers one action wherever it is legal."""

    def __init__(self, action: int) -> None:
        self.action, self.asked = action, 0

    def propose(self, public_class: Tensor, beliefs: Tensor, legal: Tensor) -> Tensor:
        self.asked += len(public_class)
        weights = legal.double()
        weights[:, :, self.action] *= 10.0
        return weights / weights.sum(2, keepdim=True).clamp_min(1.0)


def test_one_action_is_opened_at_a_time_where_nothing_is_hidden_the_likeliest_first() -> None:
    policy = Leaning(4)
    config = GrowingConfig(12, 1.0)
    source = RuleSource(load_game("tic_tac_toe"), 1)
    search = GrowingSearch(source, ZeroLeaves(), config, policy, num_actions=9)
    result = search.run(source.roots.classes.astype(np.int64), np.ones((1, 2, 1)), np.array([0]))
    assert result.forest.num_nodes[0] == 1 + 9 + 11  # all children of the root, then one node per expansion
    opened = [node for node in range(1, 10) if result.is_open(0, node)]
    assert policy.asked == 1 + sum(result.is_open(0, node) for node in range(1, int(result.forest.num_nodes[0])))
    assert result.forest.visits[0, 4] == result.forest.visits[0, :9].max()
    for node in opened:
        children = result.children(0, node)
        assert children[4] != NO_NODE
        shares = result.strategy(0, node)[0]
        assert (shares[children == NO_NODE] == 0).all()
        assert shares.sum() == pytest.approx(1.0)


def resolved(name: str, config: GrowingConfig, broken: str = "") -> float:
    """Returns the exploitability of agents that re-solve with growing trees, optionally with one step broken."""
    tree = compiled(name)
    search = GrowingSearch(TreeSource(tree, 1), ZeroLeaves(), config)
    run = search.run

    def other(classes, reaches, seeds, promised=None):  # type: ignore[no-untyped-def]
        if promised is not None and broken == "promises nothing":
            promised = promised[0], promised[1] - 1_000.0
        if promised is not None and broken == "forgets its own range":
            reaches = (reaches[:, ::-1] + reaches) * 0.0 + 1.0 / reaches.shape[2]
        return run(classes, reaches, seeds, promised)

    search.run = other  # type: ignore[method-assign]
    return evaluate(make_passes(tree), growing_strategy(search)).exploitability


def test_re_solving_by_growing_trees_is_near_equilibrium_and_needs_what_it_carries() -> None:
    config = GrowingConfig(40, 0.1, alternating=True)  # a few expansions open the whole tree
    found = resolved("kuhn_poker", config)
    assert found < 0.01
    for broken in ("promises nothing", "forgets its own range"):
        assert resolved("kuhn_poker", config, broken) > 2 * found


def test_more_expansions_are_less_exploitable_without_any_knowledge() -> None:
    tree = compiled("liars_dice(dice=1,faces=4)")
    found = [
        evaluate(
            make_passes(tree), growing_strategy(GrowingSearch(TreeSource(tree, 1), ZeroLeaves(), GrowingConfig(s, s / 100)))
        )
        for s in (5, 50, 500)
    ]
    assert found[0].exploitability > 1.5 * found[1].exploitability > 2.25 * found[2].exploitability


def test_a_strategy_depends_on_its_seed_alone() -> None:
    tree = compiled("kuhn_poker")
    strategies = [
        growing_strategy(GrowingSearch(TreeSource(tree, 1), ZeroLeaves(), GrowingConfig(3, 0.1)), seed) for seed in (1, 1, 2)
    ]
    np.testing.assert_array_equal(strategies[0], strategies[1])
    assert (strategies[0] != strategies[2]).any()


def test_expansions_and_updates() -> None:
    config = GrowingConfig(10, 0.01)
    assert config.updates == 1_000
    assert [config.expansions_before(update) for update in (1, 100, 101, 901, 1_000)] == [1, 1, 2, 10, 10]
    assert GrowingConfig(25, 10.0).updates == math.ceil(25 / 10)
    assert GrowingConfig(70, 0.1).expansions_before(70) == 7
    for wrong in ({"expansions": 0}, {"per_update": 0.0}, {"puct_share": 1.5}, {"warm_up": 100}):
        with pytest.raises(TacitError):
            GrowingConfig(**wrong)  # type: ignore[arg-type]
    with pytest.raises(TacitError, match="need regret matching"):
        GrowingSearch(RuleSource(GAMES["kuhn_poker"], 1), ZeroLeaves(), GrowingConfig(solver="fp"))
    with pytest.raises(TacitError, match="depth 1"):
        GrowingSearch(RuleSource(GAMES["kuhn_poker"], 2), ZeroLeaves(), GrowingConfig())
    with pytest.raises(TacitError, match="has hidden information"):
        worst_return(GrowingSearch(RuleSource(GAMES["kuhn_poker"], 1), ZeroLeaves(), GrowingConfig()), 0)
