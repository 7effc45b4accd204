"""Leaves where players choose a continuation: against the rules alone, linear programs, and searches that look further."""

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
import torch
from scipy.optimize import linprog

import tacit
from tacit.errors import TacitError
from tacit.games import TERMINAL, Game, load_game
from tacit.kernels.base import DecidingEvaluator
from tacit.leaves.continuation_sets import action_kinds, biased_play, play_of, responses, uniform_play
from tacit.leaves.continuations import (
    ContinuationLeaves,
    LeafTiles,
    Play,
    one_action_subgames,
    payoff_operators,
)
from tacit.leaves.evaluators import RandomLeaves
from tacit.search.config import CFR_AVE, MODIFIED_CFR_AVE, SearchConfig
from tacit.search.continuations import ContinuationConfig, answers_to_search, continuation_play
from tacit.search.groups import GroupPasses
from tacit.search.search import BatchSearch
from tacit.search.solve import played_strategy
from tacit.solvers.lp import solve_lp
from tacit.solvers.safety import RE_SOLVING
from tacit.tree.beliefs import belief_state
from tacit.tree.compiler import compile_game
from tacit.tree.held import Held
from tacit.tree.navigate import Navigator, Place
from tacit.tree.observations import Arrival, resolve_chance
from tacit.tree.public_tree import Floats, PublicTree
from tacit.tree.search_space import SearchSpace, search_space
from tacit.tree.source import RuleSource
from tests.oracles import histories
from tests.random_games import RandomGame

PURE = 1e9
"""A bias factor so large that biased play is pure."""


@lru_cache(maxsize=8)
def space_of(name: str, depth: int | str | None) -> SearchSpace:
    return search_space(compile_game(load_game(name)), depth)


def random_play(space: SearchSpace, counts: tuple[int, int], seed: int = 0) -> tuple[Play, list[Floats]]:
    """Returns random strategies `[E]`, and the same strategies as continuations."""
    generator, tree = np.random.default_rng(seed), space.tree
    strategies = [tree.normalise(generator.random(tree.num_entries)) for _ in range(max(counts))]
    return play_of(space, strategies).first(counts), strategies


def one_hot_play(space: SearchSpace) -> Play:
    """Returns each action of every infostate as a continuation; where there are fewer actions, the last one repeats."""
    by_class, steps = [], one_action_subgames(space)
    most = max(int(np.diff(step.tree.entry_start).max()) for step in steps)
    for step in steps:
        sizes, starts = np.diff(step.tree.entry_start), step.tree.entry_start[:-1]
        versions = np.zeros((most, step.tree.num_entries))
        for k in range(most):
            versions[k, starts + np.minimum(k, sizes - 1)] = 1.0
        by_class.append(versions)
    return Play((most, most), by_class, np.array([step.tree.require_nodes().actor[0] for step in steps]))


def searched(space: SearchSpace, leaves: Any, solver: str = "cfr+", iterations: int = 300, **options: Any) -> Any:
    """Returns the result of one search from the start of a game."""
    config = SearchConfig(solver, iterations, space.depth, **options)
    return BatchSearch(space, leaves, config).run(space.root_class[:1], torch.from_numpy(space.root_reaches[:1]))


def root_values(space: SearchSpace, result: Any) -> list[float]:
    reaches, deals = space.root_reaches[0].astype(float), space.tables.deals[space.root_class[0]]
    joint = deals * np.outer(reaches[0], reaches[1])
    joint /= joint.sum()
    values = result.values[0].double().nan_to_num(0.0).numpy()
    return [float(joint.sum(1 - player) @ values[player]) for player in (0, 1)]


def values_below(tree: PublicTree, arrival: Arrival, place: Place, strategies: tuple[Floats, Floats]) -> float:
    """Returns player 0's expected return from a history on, by the rules: player p continues with `strategies[p]`."""
    game, navigator = tree.game, Navigator(tree)
    if arrival.actor == TERMINAL:
        return float(game.returns(arrival.state)[0])
    infostate, total = navigator.infostate(place), 0.0
    for number, action in enumerate(game.legal_actions(arrival.state)):
        share = strategies[arrival.actor][tree.entry_start[infostate] + number]
        for after in resolve_chance(game, game.apply(arrival.state, action)):
            below = place if after.actor == TERMINAL else navigator.follow(place, arrival.actor, action, after)
            total += share * after.chance * values_below(tree, after, below, strategies)
    return total


@pytest.mark.parametrize(
    "game",
    [load_game("kuhn_poker"), load_game("modified_rps"), *(RandomGame(seed=seed, length=3) for seed in range(12))],
    ids=str,
)
def test_operators_are_expected_values_by_the_rules(game: Game[Any]) -> None:
    """Sums over histories agree for every class, both players' continuations, and every pair of private states."""
    space = search_space(compile_game(game), 1)
    tree, counts = space.tree, (2, 3)
    play, strategies = random_play(space, counts)
    operators = payoff_operators(one_action_subgames(space), play)
    starts, seen = tree.require_nodes().row_start, 0
    expected = [np.zeros_like(operator) for operator in operators]
    for arrival, place, _, chance in histories(tree):
        kind = -1 if arrival.actor == TERMINAL else int(space.classes.of_node[place.node])
        if kind < 0 or space.classes.representative[kind] != place.node:
            continue
        rows = [place.rows[player] - int(starts[player][place.node]) for player in (0, 1)]
        share = chance / tree.require_nodes().joint(place.node).sum()
        for k in range(counts[0]):
            for m in range(counts[1]):
                worth = values_below(tree, arrival, place, (strategies[k], strategies[m]))
                expected[kind][k, m, rows[0], rows[1]] += share * worth
        seen += 1
    assert seen
    for operator, wanted in zip(operators, expected, strict=True):
        np.testing.assert_allclose(operator, wanted, atol=1e-9)


def test_operators_need_no_compiled_game() -> None:
    game = load_game("liars_dice(dice=1,faces=3)")
    source = RuleSource(game, 2)
    source.explore_all(1_000)
    expanded, compiled = SearchSpace(source), search_space(compile_game(game, direct=False), 2)
    tables = []
    for space in (expanded, compiled):
        play = biased_play(space, uniform_play(space), 10.0)
        operators = payoff_operators(one_action_subgames(space), play)
        tables.append((play.counts, operators[int(space.root_class[0])]))
    assert tables[0][0] == tables[1][0] == (3, 3)
    np.testing.assert_allclose(tables[0][1], tables[1][1], atol=1e-12)


def test_fixed_leaf_values_fail_and_all_pure_continuations_do_not() -> None:
    """The paper's example: rock-paper-scissors where Scissors count twice, solved by 0.4 / 0.4 / 0.2 with value 0."""
    space = space_of("modified_rps", 1)
    _, known = solve_lp(space.tree)
    assert known == pytest.approx(0.0, abs=1e-9)
    equilibrium = play_of(space, [np.tile([0.4, 0.4, 0.2], 2)])
    for fixed in (equilibrium, uniform_play(space)):  # against an equilibrium, even, all actions are worth the same
        played = searched(space, ContinuationLeaves(space, fixed)).average_strategy.numpy()
        assert np.abs(played - [0.4, 0.4, 0.2]).max() > 0.1
    result = searched(space, ContinuationLeaves(space, biased_play(space, equilibrium, PURE)), iterations=1_000)
    np.testing.assert_allclose(result.average_strategy.numpy(), [0.4, 0.4, 0.2], atol=0.005)
    np.testing.assert_allclose(root_values(space, result), [0.0, 0.0], atol=0.005)


@pytest.mark.parametrize("solver", ["cfr", "cfr+", "linear-cfr", "dcfr", "pcfr+"])
@pytest.mark.parametrize("alternating", [True, False])
@pytest.mark.parametrize(("name", "depth"), [("modified_rps", 1), ("kuhn_poker", 2)])
def test_choosing_a_last_action_is_taking_it(name: str, depth: int, solver: str, alternating: bool) -> None:
    """If one action remains and the continuations are its choices, every step of the search equals that of the whole game."""
    short, whole = space_of(name, depth), space_of(name, None)
    leaves = ContinuationLeaves(short, one_hot_play(short))
    found = searched(short, leaves, solver, 25, alternating=alternating)
    expected = searched(whole, RandomLeaves(whole), solver, 25, alternating=alternating)
    trunk = np.searchsorted(whole.subgame_at(0).entry_index, short.subgame_at(0).entry_index)
    torch.testing.assert_close(found.average_strategy, expected.average_strategy[trunk], atol=2e-5, rtol=0)
    torch.testing.assert_close(found.values, expected.values, atol=2e-5, rtol=1e-4, equal_nan=True)


@dataclass(frozen=True)
class Guess(Game[Any]):
    """A game of perfect information: player 0 makes a pointless move, then picks; then player 1 picks.

    If the picks agree, player 0 wins 3 for a 0 and 1 for a 1.
    """

    name = "guess"

    def initial_state(self) -> Any:
        return ()

    def actor(self, state: Any) -> int:
        return (0, 0, 1, TERMINAL)[len(state)]

    def legal_actions(self, state: Any) -> Any:
        return (0, 1)

    def apply(self, state: Any, action: int) -> Any:
        return (*state, action)

    def public_observation(self, state: Any) -> str:
        return str(state[-1]) if state else ""

    def returns(self, state: Any) -> tuple[float, float]:
        payoff = (3.0, 1.0)[state[1]] if state[1] == state[2] else 0.0
        return payoff, -payoff


def test_decisions_are_asked_again_where_nothing_is_hidden() -> None:
    """Beliefs never change there, but choices at the leaves do: they are hidden, so they form a matrix game worth 3/4."""
    space = search_space(compile_game(Guess()), 1)
    result = searched(space, ContinuationLeaves(space, one_hot_play(space)), iterations=1_000)
    np.testing.assert_allclose(root_values(space, result), [0.75, -0.75], atol=0.01)


def test_games_of_a_batch_learn_apart() -> None:
    """Leaves of many classes and groups of different sizes: each game gets the result it gets alone."""
    space = space_of("leduc_poker", 2)
    generator = np.random.default_rng(0)
    leaves = ContinuationLeaves(space, random_play(space, (3, 2))[0])
    classes = generator.integers(0, len(space.classes), 40)
    classes[:9] = 0
    counts = torch.from_numpy(np.stack([table.num_roots[classes] for table in space.tables.players], axis=1))
    real = torch.arange(space.tables.num_private_states) < counts[:, :, None]
    reaches = torch.rand(40, 2, space.tables.num_private_states, generator=torch.Generator().manual_seed(0)) * real
    search = BatchSearch(space, leaves, SearchConfig("dcfr", 12, 2))
    together = search.run(classes, reaches).values
    for game in range(0, 40, 7):
        alone = search.run(classes[game : game + 1], reaches[game : game + 1]).values
        torch.testing.assert_close(together[game : game + 1], alone, atol=1e-5, rtol=1e-4, equal_nan=True)
    again = search.run(classes, reaches).values  # nothing remains of the previous search
    torch.testing.assert_close(together, again, atol=0.0, rtol=0.0, equal_nan=True)


@dataclass(frozen=True)
class Choosing(Game[Any]):
    """Another game cut off after some actions: both players then choose a continuation in secret, and its value is paid.

    Attributes:
      tree: The other game, compiled.
      depth: The number of actions before the cut.
      play: For each player, the strategies `[E]` to choose from.
    """

    tree: PublicTree
    depth: int
    play: tuple[tuple[Floats, ...], tuple[Floats, ...]]

    name = "choosing"

    def initial_state(self) -> Any:
        return self.tree.game.initial_state(), 0, ()

    def _stops(self, state: Any) -> bool:
        return state[1] == self.depth and self.tree.game.actor(state[0]) in (0, 1)

    def actor(self, state: Any) -> int:
        if self._stops(state):
            return len(state[2]) if len(state[2]) < 2 else TERMINAL
        return self.tree.game.actor(state[0])

    def legal_actions(self, state: Any) -> Any:
        return range(len(self.play[len(state[2])])) if self._stops(state) else self.tree.game.legal_actions(state[0])

    def chance_outcomes(self, state: Any) -> Any:
        return self.tree.game.chance_outcomes(state[0])

    def apply(self, state: Any, action: int) -> Any:
        inner, moves, chosen = state
        if self._stops(state):
            return inner, moves, (*chosen, action)
        return self.tree.game.apply(inner, action), moves + (self.tree.game.actor(inner) in (0, 1)), chosen

    def public_observation(self, state: Any) -> str:
        return "" if state[2] else self.tree.game.public_observation(state[0])

    def private_observation(self, state: Any, player: int) -> str:
        return "" if state[2] else self.tree.game.private_observation(state[0], player)

    def returns(self, state: Any) -> tuple[float, float]:
        inner, _, chosen = state
        if not chosen:
            return self.tree.game.returns(inner)
        arrival, place = self._places()[inner]
        worth = values_below(self.tree, arrival, place, (self.play[0][chosen[0]], self.play[1][chosen[1]]))
        return worth, -worth

    def _places(self) -> Any:
        known = _PLACES.setdefault(id(self.tree), {})
        if not known:
            known.update({arrival.state: (arrival, place) for arrival, place, *_ in histories(self.tree)})
        return known

    def __hash__(self) -> int:
        return id(self)

    def __str__(self) -> str:
        return f"choosing at depth {self.depth} in {self.tree.game}"


_PLACES: dict[int, Any] = {}


@pytest.mark.parametrize("counts", [(1, 3), (3, 1), (3, 3)])
@pytest.mark.parametrize(
    ("game", "depth"),
    [(load_game("kuhn_poker"), 1), (load_game("kuhn_poker"), 2), (RandomGame(seed=1), 1), (RandomGame(seed=5), 2)],
    ids=str,
)
def test_search_finds_the_value_of_the_game_with_choices(game: Game[Any], depth: int, counts: tuple[int, int]) -> None:
    """The value equals that of the game whose leaves are decisions, written as rules and solved as a linear program."""
    space = search_space(compile_game(game), depth)
    play, strategies = random_play(space, counts, seed=3)
    with_choices = Choosing(space.tree, depth, (tuple(strategies[: counts[0]]), tuple(strategies[: counts[1]])))
    _, value = solve_lp(compile_game(with_choices))
    fixed = search_space(compile_game(game), None).tree
    assert value != pytest.approx(solve_lp(fixed)[1], abs=1e-3)  # so that the choices matter
    result = searched(space, ContinuationLeaves(space, play), iterations=2_000)
    np.testing.assert_allclose(root_values(space, result), [value, -value], atol=5e-3)


def trunk_losses(space: SearchSpace, result: Any) -> list[float]:
    """Returns what each player loses by following a search down to its leaves and playing its best below (linear programs)."""
    tree, entries = space.tree, space.subgame_at(0).entry_index
    strategy = tree.uniform_strategy()
    strategy[entries] = result.average_strategy.double().numpy()
    strategy, (_, value), losses = tree.normalise(strategy), solve_lp(tree), []
    for player in (0, 1):
        mine = entries[tree.entry_player[entries] == player]
        held = solve_lp(tree.hold(Held(mine, strategy[mine])))[1]
        losses.append(value - held if player == 0 else held - value)
    return losses


def test_pure_continuations_make_search_in_kuhn_poker_exact() -> None:
    """Below one action nobody decides twice, so the pure continuations cover every strategy: -1/18 (Kuhn 1950)."""
    space = space_of("kuhn_poker", 1)
    fixed = searched(space, ContinuationLeaves(space, uniform_play(space)), iterations=1_000)
    exact = searched(space, ContinuationLeaves(space, biased_play(space, uniform_play(space), PURE)), iterations=1_000)
    np.testing.assert_allclose(root_values(space, exact), [-1 / 18, 1 / 18], atol=1e-3)
    assert max(trunk_losses(space, exact)) < 0.005
    assert max(trunk_losses(space, fixed)) > 0.05


def test_an_equilibrium_and_its_responses_find_the_value_of_leduc() -> None:
    """The value is known: -0.085606424078. The paper's one-sided game bounds it from the chooser's side."""
    space = space_of("leduc_poker", "round")
    blueprint, value = solve_lp(space.tree)
    assert value == pytest.approx(-0.085606424078, abs=1e-6)
    play = continuation_play(space, ContinuationConfig("search", 8), blueprint)
    both = searched(space, ContinuationLeaves(space, play), "dcfr", 400)
    assert root_values(space, both)[0] == pytest.approx(value, abs=0.01)
    assert sum(trunk_losses(space, both)) < 0.05
    fixed = searched(space, ContinuationLeaves(space, play.first((1, 1))), "dcfr", 400)
    assert sum(trunk_losses(space, fixed)) > 0.1
    for chooser, sign in ((0, 1.0), (1, -1.0)):
        counts = (8, 1) if chooser == 0 else (1, 8)
        found = root_values(space, searched(space, ContinuationLeaves(space, play.first(counts)), "dcfr", 400))[0]
        assert sign * (found - value) > 0.005


def test_more_continuations_make_leduc_less_exploitable() -> None:
    """Whole games played by re-solving, evaluated exactly: K = 1, 2, 4 and 8, with a blueprint of 20 iterations."""
    found, space = [], space_of("leduc_poker", "round")
    play = continuation_play(space, ContinuationConfig("search", 8))
    for count in (1, 2, 4, 8):
        leaves = ContinuationLeaves(space, play.first((count, count)))
        strategy = played_strategy(BatchSearch(space, leaves, SearchConfig("dcfr", 100, "round")), RE_SOLVING)
        quality = tacit.open(space.tree.strategy(strategy)).evaluate()
        found.append(quality.figure)
    assert found == sorted(found, reverse=True)
    assert found[0] > 0.15
    assert found[-1] < 0.05


def leaf_game_value(operator: Floats, beliefs: Floats) -> float:
    """Returns the value of choosing at one leaf, by linear program: player 0's plan against every answer of a private state."""
    K, M, H0, H1 = operator.shape
    bounds = [(0, None)] * (K * H0) + [(None, None)] * H1
    upper = np.zeros((M * H1, K * H0 + H1))
    for m in range(M):
        for h in range(H1):
            upper[m * H1 + h, : K * H0] = -operator[:, m, :, h].ravel() * beliefs[1, h]
            upper[m * H1 + h, K * H0 + h] = 1.0
    plan = np.zeros((H0, K * H0 + H1))
    for h in range(H0):
        plan[h, [k * H0 + h for k in range(K)]] = 1.0
    objective = np.concatenate([np.zeros(K * H0), -np.ones(H1)])
    solution = linprog(objective, upper, np.zeros(M * H1), plan, beliefs[0, :H0], bounds)
    return -float(solution.fun)


@pytest.mark.parametrize("seed", range(3))
def test_whoever_asks_once_gets_the_value_of_choosing_at_the_beliefs(seed: int) -> None:
    space = space_of("leduc_poker", 2)
    play = random_play(space, (3, 4), seed)[0]
    operators = payoff_operators(one_action_subgames(space), play)
    classes = np.unique(space.tables.leaf_class)[seed::40]
    generator, H = np.random.default_rng(seed), space.tables.num_private_states
    beliefs = np.zeros((len(classes), 2, H))
    for row, public_class in enumerate(classes):
        for player in (0, 1):
            count = int(space.tables.players[player].num_roots[public_class])
            beliefs[row, player, :count] = generator.dirichlet(np.ones(count))
    columns = torch.from_numpy(beliefs.reshape(len(classes), -1).T).float()
    values = ContinuationLeaves(space, play).evaluate(torch.from_numpy(classes).long(), columns).double().numpy()
    for row, public_class in enumerate(classes):
        deals, (first, second) = space.tables.deals[public_class], beliefs[row]
        worth = [(first * (deals @ second)) @ values[:H, row], (second * (deals.T @ first)) @ values[H:, row]]
        expected = leaf_game_value(operators[public_class], beliefs[row])
        np.testing.assert_allclose(worth, [expected, -expected], atol=0.02)


def test_weights_of_leaves_make_values_counterfactual() -> None:
    """`leaf_weight` times the probability of a private state under the class's deals and beliefs equals `leaf_likelihood`."""
    space = space_of("leduc_poker", 2)
    classes = np.array([0, 3, 3])
    reaches = torch.rand(3, 2, 6, generator=torch.Generator().manual_seed(1)) * (
        torch.arange(6) < torch.from_numpy(space.tables.players[0].num_roots[classes])[:, None, None]
    )
    search = BatchSearch(space, RandomLeaves(space), SearchConfig("cfr", 1, 2))
    passes = GroupPasses(space, search.kernels, classes, reaches)
    strategy, beliefs = passes.uniform(), passes.new_beliefs()
    reach = [passes.reach(player, strategy) for player in (0, 1)]
    for player in (0, 1):
        passes.leaf_beliefs(player, reach[player], beliefs)
    deals, chances = torch.from_numpy(space.tables.deals[passes.batch.leaf_class]), set()
    for player in (0, 1):
        theirs = beliefs.view(2, 6, -1)[1 - player]
        met = torch.einsum("lij,jl->il" if player == 0 else "lij,il->jl", deals, theirs)
        weight = passes.leaf_weight(player, reach[1 - player])
        torch.testing.assert_close(weight * met, passes.leaf_likelihood(player, reach[1 - player]), atol=1e-6, rtol=1e-5)
        chances.update(weight.tolist())
    assert len(chances) > 2


def test_tiles_give_each_leaf_the_matrix_of_its_kind() -> None:
    generator = torch.Generator().manual_seed(0)
    for kinds in (np.array([3]), np.array([1, 0, 1, 1, 4, 1, 0]), np.random.default_rng(0).integers(0, 9, 300)):
        tiles = LeafTiles(kinds, torch.device("cpu"))
        matrices, numbers = torch.rand(9, 4, 5, generator=generator), torch.rand(5, len(kinds), generator=generator)
        expected = torch.stack([matrices[kind] @ numbers[:, leaf] for leaf, kind in enumerate(kinds)], dim=1)
        torch.testing.assert_close(tiles.product(matrices[tiles.kind], numbers), expected)
        assert len(tiles.kind) <= 2 * len(kinds)


def test_a_continuation_plays_the_mean_over_the_states_of_a_class() -> None:
    """The mean is weighted by own reach, which preserves each class's probability of a private state and an action there."""
    space = space_of("liars_dice(dice=1,faces=2)", 1)
    tree, classes = space.tree, space.classes
    strategy = tree.normalise(np.random.default_rng(0).random(tree.num_entries))
    play, merged = play_of(space, [strategy]), 0
    nodes = tree.require_nodes()
    for public_class in range(len(classes)):
        actor = int(nodes.actor[classes.representative[public_class]])
        total = 0.0
        members = np.flatnonzero(classes.of_node == public_class)
        for node in members.tolist():
            reach = belief_state(tree, strategy, node).reaches[actor]
            rows = range(nodes.row_start[actor][node], nodes.row_start[actor][node + 1])
            entries = [slice(*tree.entry_start[i : i + 2]) for i in tree.rows[actor].infostate[rows.start : rows.stop]]
            total = total + np.stack([r * strategy[e] for r, e in zip(reach, entries, strict=True)])
        expected = total / total.sum(1, keepdims=True)
        np.testing.assert_allclose(play.by_class[public_class][0], expected.ravel(), atol=1e-6)
        merged += len(members) > 1
    assert merged


def test_kinds_of_actions_are_names_without_numbers() -> None:
    assert action_kinds(load_game("leduc_poker"), 0, range(3)) == {0: 0, 1: 1, 2: 2}
    dice = load_game("liars_dice(dice=1,faces=4)")
    kinds = action_kinds(dice, 0, range(9))
    assert len(set(kinds.values())) == 2
    assert [kinds[action] for action in range(9)].count(kinds[0]) == 8
    assert len(set(action_kinds(load_game("goofspiel(cards=4)"), 0, range(4)).values())) == 4


def test_biased_continuations_multiply_a_kind_of_action() -> None:
    space = space_of("leduc_poker", "round")
    play, blueprint = biased_play(space, uniform_play(space), 10.0), uniform_play(space)
    assert play.counts == (4, 4)
    facing = next(c for c, entries in enumerate(blueprint.by_class) if np.allclose(entries, 1 / 3))
    first = play.by_class[facing][:, :3]
    np.testing.assert_allclose(first, [[1 / 3] * 3, *(np.full((3, 3), 1 / 12) + np.eye(3) * 9 / 12)], atol=1e-12)


def test_responses_answer_the_mean_of_all_before_them() -> None:
    space = space_of("leduc_poker", "round")
    tree = space.tree
    found = responses(tree, tree.uniform_strategy(), 3)
    assert len(found) == 3
    uniform = tacit.open(tree.strategy(found[0])).evaluate().details["best_response_values"]
    mixed = [tree.strategy(np.where(tree.entry_player == p, found[1], found[0])) for p in (0, 1)]
    values = [tacit.open(strategy).evaluate().details["value"] for strategy in mixed]
    np.testing.assert_allclose([values[0], -values[1]], uniform, atol=1e-9)
    assert not np.array_equal(found[1], found[2])


def test_each_response_to_search_beats_what_search_played() -> None:
    space = space_of("leduc_poker", "round")
    found = answers_to_search(space, space.tree.uniform_strategy(), 2)
    leaves = ContinuationLeaves(space, play_of(space, found[:1]))
    played = played_strategy(BatchSearch(space, leaves, SearchConfig("dcfr", 64, "round")), "unsafe")
    exact = tacit.open(space.tree.strategy(played)).evaluate()
    for player, sign in ((0, 1.0), (1, -1.0)):
        met = np.where(space.tree.entry_player == player, found[1], played)
        value = sign * tacit.open(space.tree.strategy(met)).evaluate().details["value"]
        gained = value - sign * exact.details["value"]
        assert gained > 0.9 * (exact.details["best_response_values"][player] - sign * exact.details["value"])


def test_other_ways_of_valuing_leaves_ask_for_solved_decisions() -> None:
    space = space_of("modified_rps", 1)
    leaves = ContinuationLeaves(space, biased_play(space, uniform_play(space), PURE))
    assert isinstance(leaves, DecidingEvaluator)
    for solver, decomposition in (("linear-fp", "cfr-d"), ("cfr+", MODIFIED_CFR_AVE)):
        played = searched(space, leaves, solver, 40, decomposition=decomposition).average_strategy.numpy()
        np.testing.assert_allclose(played, [0.4, 0.4, 0.2], atol=0.06)
    with pytest.raises(TacitError, match="cfr-ave needs leaves that are solved"):
        searched(space, leaves, decomposition=CFR_AVE)


def test_leaf_values_can_be_used_again() -> None:
    """With `recycle`, decisions at leaves learn whenever they are queried."""
    space = space_of("modified_rps", 1)
    leaves = ContinuationLeaves(space, biased_play(space, uniform_play(space), PURE))
    played = searched(space, leaves, iterations=2_000, recycle=2).average_strategy.numpy()
    np.testing.assert_allclose(played, [0.4, 0.4, 0.2], atol=0.05)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("continuations(by=magic)", "unknown kind of continuations 'magic': choose one of bias, responses, search"),
        ("continuations(count=0)", "at least 1 continuation"),
        ("continuations(factor=0)", "positive number"),
        ("continuations(factor=nan)", "positive number"),
        ("continuations(iterations=-1)", "cannot be solved in -1 iterations"),
        ("continuations(chooser=2)", "unknown chooser '2'"),
        ("continuations(contains=3)", "has no parameter 'contains'"),
        ("continuations(count=2", "cannot read"),
        ("continuations(blueprint=nowhere.tacit)", "no agent 'nowhere.tacit'"),
    ],
)
def test_names_that_mean_nothing_are_refused(name: str, message: str) -> None:
    with pytest.raises(TacitError, match=message.replace("(", r"\(")):
        tacit.solve_by_search("kuhn_poker", depth=1, leaf=name, iterations=2)
    with pytest.raises(TacitError, match="unknown safety 'none'"):
        tacit.solve_by_search("kuhn_poker", depth=1, leaf="zero", safety="none")


def test_continuations_by_name(tmp_path: Any) -> None:
    """A blueprint from a file, either chooser, and searches that reach the end of the game."""
    saved = tmp_path / "kuhn.tacit"
    tacit.solve("kuhn_poker", iterations=200).save(saved)
    tacit.solve("leduc_poker", iterations=2).save(tmp_path / "leduc.tacit")
    artifact = tacit.open(f"continuations(blueprint={saved},count=3,chooser=1)", "kuhn_poker")
    assert artifact.leaf(space_of("kuhn_poker", 1)).counts == (1, 3)
    with pytest.raises(TacitError, match="leduc_poker"):
        tacit.open(f"continuations(blueprint={tmp_path / 'leduc.tacit'})", "kuhn_poker").leaf(space_of("kuhn_poker", 1))
    whole = tacit.solve_by_search("kuhn_poker", depth=9, leaf="continuations", iterations=400)
    assert whole.exploitability < 0.01


def test_searches_below_keep_what_was_promised_unless_told_otherwise() -> None:
    leaf, found = f"continuations(factor={PURE},iterations=0)", {}
    for safety in (None, "re-solving", "sampled", "unsafe"):
        result = tacit.solve_by_search("kuhn_poker", depth=1, leaf=leaf, iterations=200, safety=safety)
        found[safety] = result.exploitability
    assert found[None] == found["re-solving"] < 0.02 < found["sampled"]
    assert found["unsafe"] > 0.02
    zero = [tacit.solve_by_search("kuhn_poker", depth=1, leaf="zero", iterations=8, safety=s) for s in (None, "sampled")]
    assert zero[0].exploitability == zero[1].exploitability  # leaves that only have values are unaffected


def test_evaluators_of_ones_own_can_decide_too() -> None:
    def pure(space: SearchSpace) -> ContinuationLeaves:
        return ContinuationLeaves(space, biased_play(space, uniform_play(space), PURE))

    named = f"continuations(factor={PURE},iterations=0)"
    by_name, own = (tacit.solve_by_search("kuhn_poker", depth=1, leaf=leaf, iterations=20) for leaf in (named, pure))
    assert own.exploitability == by_name.exploitability


def test_agents_play_by_continuations(capsys: pytest.CaptureFixture[str]) -> None:
    agent = tacit.open("continuations", "kuhn_poker")
    figure = agent.evaluate(iterations=100)
    assert figure.kind == "exact"
    assert figure.figure < 0.05
    assert figure.details["safety"] == RE_SOLVING
    assert agent.evaluate(safety="sampled", iterations=50, playthroughs=4).kind == "upper bound"
    with pytest.raises(TacitError, match="draws nothing"):
        agent.evaluate(playthroughs=4)
    match = tacit.match("continuations", "random", game="kuhn_poker", hands=20)
    assert match.agents == ("continuations", "random")
    from tacit.cli.main import main

    with pytest.raises(SystemExit) as stopped:
        main(["solve", "kuhn_poker", "--depth", "1", "--leaf", "continuations", "--safety", "re-solving", "--json"])
    assert not stopped.value.code
    told = json.loads(capsys.readouterr().out)
    assert told["exploitability"] < 0.1
