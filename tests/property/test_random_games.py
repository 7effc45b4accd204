"""Properties that hold in every game, tested on random ones."""

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tacit.evaluation import evaluate, infostate_values
from tacit.games import TERMINAL, Game
from tacit.games.check import check_game
from tacit.kernels import AnyTreePasses, RegretStep, make_passes
from tacit.kernels.base import LeafValues, Passes
from tacit.kernels.clock import OneStep
from tacit.kernels.numba_rows import RowPasses
from tacit.kernels.torch_rows import TorchPasses
from tacit.solvers.lp import solve_lp
from tacit.solvers.schedules import SCHEDULES
from tacit.solvers.tabular import TabularDriver
from tacit.tree.beliefs import belief_state
from tacit.tree.compiler import compile_game
from tacit.tree.growing import GrowingTree
from tacit.tree.lanes import lane_layout
from tacit.tree.public_tree import LEAF, PublicTree
from tacit.tree.source import RuleSource, TreeSource
from tacit.tree.subgame import extract_subgame
from tests.growth import assert_same_arrays, entry_names, grow_at_random
from tests.oracles import (
    best_response_value,
    count_pure_strategies,
    expected_value,
    public_posterior,
    random_strategy,
)
from tests.random_games import RandomGame

GAMES = st.builds(
    RandomGame,
    seed=st.integers(0, 10**6),
    length=st.integers(1, 3),
    hidden=st.booleans(),
    draws=st.booleans(),
    numbering=st.sampled_from(["plain", "shuffled", "typed"]),
    roots=st.integers(1, 2),
)
PUBLIC_GAMES = st.builds(
    RandomGame,
    seed=st.integers(0, 10**6),
    length=st.integers(2, 4),
    hidden=st.just(False),
    draws=st.just(False),
    numbering=st.sampled_from(["plain", "shuffled"]),
    roots=st.integers(1, 2),
)
few = settings(max_examples=25, deadline=None)


def all_passes(tree: PublicTree) -> list[Passes]:
    return [make_passes(tree), RowPasses(tree), TorchPasses(tree)]


def decision_nodes(tree: PublicTree) -> np.ndarray:
    return np.flatnonzero(tree.require_nodes().actor >= 0)


@few
@given(GAMES)
def test_random_games_keep_the_protocol(game: Game) -> None:
    assert str(check_game(game)).endswith("no violation")


@few
@given(GAMES, st.integers(0, 1000))
def test_values_and_best_responses_equal_brute_force(game: Game, seed: int) -> None:
    tree = compile_game(game)
    strategy = random_strategy(tree, seed)
    for passes in all_passes(tree):
        quality = evaluate(passes, strategy)
        assert quality.value == pytest.approx(expected_value(tree, strategy), abs=1e-12)
        for player in (0, 1):
            if count_pure_strategies(tree, player) <= 300:
                expected = best_response_value(tree, strategy, player)
                assert quality.best_response_values[player] == pytest.approx(expected, abs=1e-12)
            own = quality.value if player == 0 else -quality.value
            assert quality.best_response_values[player] >= own - 1e-12


@few
@given(GAMES, st.integers(0, 1000))
def test_games_grown_in_random_order_are_the_compiled_ones(game: Game, seed: int) -> None:
    compiled, grown = compile_game(game), grow_at_random(GrowingTree(game), seed).tree
    old, new = entry_names(compiled), entry_names(grown)
    assert old.keys() == new.keys()
    order = np.empty(grown.num_entries, np.int64)
    order[[new[name] for name in old]] = list(old.values())
    strategy = random_strategy(compiled, seed)
    expected = evaluate(RowPasses(compiled), strategy)
    for passes in all_passes(grown):
        quality = evaluate(passes, strategy[order])
        assert quality.value == pytest.approx(expected.value, abs=1e-12)
        assert quality.best_response_values == pytest.approx(expected.best_response_values, abs=1e-12)
    assert solve_lp(grown)[1] == pytest.approx(solve_lp(compiled)[1], abs=1e-8)


@few
@given(GAMES, st.integers(0, 1000))
def test_siblings_follow_the_legal_actions_and_rows_the_rows_above(game: Game, seed: int) -> None:
    tree = grow_at_random(GrowingTree(game), seed, seed % 20).tree
    nodes = tree.require_nodes()
    for node in range(nodes.num_roots, len(nodes)):
        for player, rows in enumerate(tree.rows):
            here = slice(nodes.row_start[player][node], nodes.row_start[player][node + 1])
            moves = np.append(tree.entry_action, -1)[rows.entry[here]]
            assert list(zip(rows.parent[here], moves, strict=True)) == sorted(zip(rows.parent[here], moves, strict=True))
            assert set(rows.parent[here]) <= set(range(*nodes.row_start[player][nodes.parent[node] : nodes.parent[node] + 2]))
            if nodes.actor[node] == TERMINAL:
                assert len(set(moves)) == 1  # all rows end with the same action
    for node in np.flatnonzero(nodes.num_children):
        slots, mover = [], int(nodes.actor[node])
        for child in nodes.children(np.array([node])):
            entries = tree.rows[mover].entry[nodes.row_start[mover][child] : nodes.row_start[mover][child + 1]]
            slots.append(min(entries - tree.entry_start[tree.entry_infostate[entries]]))
        assert slots == sorted(slots)


@few
@given(GAMES, st.integers(1, 3))
def test_subgames_from_the_rules_are_those_cut_from_the_compiled_tree(game: Game, depth: int) -> None:
    rules, tree = RuleSource(game, depth), TreeSource(compile_game(game), depth)
    rules.explore_all(10_000)
    assert len(rules) == np.sum(tree.tree.require_nodes().actor >= 0)  # without a key every public state is its own class
    pairs = list(zip(rules.roots.classes.tolist(), tree.roots.classes.tolist(), strict=True))
    for mine, theirs in pairs:
        ours, cut = rules.subgame(mine), tree.subgame(theirs)
        assert_same_arrays(cut.tree, ours.tree, skip=("token",))
        leaves = np.flatnonzero(cut.tree.require_nodes().actor == LEAF)
        below = zip(ours.node_class[leaves].tolist(), cut.node_class[leaves].tolist(), strict=True)
        pairs += [pair for pair in below if pair not in pairs]


@few
@given(GAMES, st.integers(0, 1000))
def test_backends_agree_on_every_pass(game: Game, seed: int) -> None:
    tree = compile_game(game)
    rng = np.random.default_rng(seed)
    strategy, regret, average = random_strategy(tree, seed), rng.normal(size=tree.num_entries), rng.random(tree.num_entries)
    clock = OneStep(RegretStep(0.7, 0.4, -0.3, 0.5, 2.0), 0.3).clock()
    results = []
    for passes in all_passes(tree):
        layout = passes.entries(strategy)
        reaches = [passes.reach(player, layout) for player in (0, 1)]
        out = [passes.rows_to_numpy(player, reaches[player]).copy() for player in (0, 1)]
        for player in (0, 1):
            out += [passes.values(player, layout, reaches[1 - player]), passes.row_values(player)]
            cfv, response = passes.best_response(player, reaches[1 - player])
            into = passes.entries(strategy)
            passes.best_response(player, reaches[1 - player], out=into)
            mine = tree.entry_player == player
            out += [cfv, passes.row_values(player), passes.to_numpy(response)[mine]]
            np.testing.assert_array_equal(passes.to_numpy(into), np.where(mine, passes.to_numpy(response), strategy))
            sums = passes.entries(average)
            passes.reach(player, layout, average=sums, clock=clock)
            new_strategy, new_regret, new_average = (passes.entries(x) for x in (strategy, regret, average))
            passes.update_regrets(player, new_strategy, new_regret, new_average, reaches, clock)
            out += [passes.root_cfv(player), passes.get_roots(player, reaches[player])]
            passes.set_roots(player, reaches[player], 0.5 * passes.get_roots(player, reaches[player]))
            out.append(passes.rows_to_numpy(player, passes.reach(player, layout, out=reaches[player])).copy())
            reaches[player] = passes.reach(player, layout)
            out += [passes.to_numpy(x)[mine] for x in (sums, new_strategy, new_regret, new_average)]
        results.append(out)
    for other in results[1:]:
        for mine, theirs in zip(results[0], other, strict=True):
            np.testing.assert_allclose(mine, theirs, atol=1e-12)


def some_values(passes: AnyTreePasses, seed: int) -> LeafValues:
    generator = torch.Generator().manual_seed(seed)
    return LeafValues(torch.randn(passes.new_beliefs().shape, generator=generator, dtype=torch.float64))


@few
@given(PUBLIC_GAMES, st.integers(0, 1000))
def test_leaves_are_worth_zero_in_every_backend(game: Game, seed: int) -> None:
    whole = compile_game(game)
    pbs = belief_state(whole, random_strategy(whole, seed), int(decision_nodes(whole)[0]))
    tree = extract_subgame(pbs, depth=1).tree
    nodes, strategy = tree.require_nodes(), random_strategy(tree, seed)
    results = []
    for passes in all_passes(tree):
        layout = passes.entries(strategy)
        for player in (0, 1):
            reach = passes.reach(1 - player, layout)
            values = []
            for leaves in (
                None,
                some_values(passes, seed) if passes.leaf_states is not None else None,
                None,
            ):  # values of an earlier call must not remain
                passes.values(player, layout, reach, leaves)
                values.append(passes.row_values(player))
            passes.best_response(player, reach)
            values.append(passes.row_values(player))
            at_leaf = np.repeat(nodes.actor == LEAF, np.diff(nodes.row_start[player]))
            results.append(values.pop(1))
            assert not any(value[at_leaf].any() for value in values)
            results.append(np.concatenate(values))
    for mine, theirs in zip(results[4:], results, strict=False):
        np.testing.assert_allclose(mine, theirs, atol=1e-12)


@few
@given(PUBLIC_GAMES)
def test_public_games_get_lanes(game: Game) -> None:
    tree = compile_game(game)
    # The random number of legal actions may depend on the private type: then rows of a node differ, and lanes do not apply.
    nodes, starts = tree.require_nodes(), np.diff(tree.entry_start)
    same = all(
        len({starts[s] for s in tree.rows[p].infostate[nodes.row_start[p][n] : nodes.row_start[p][n + 1]]}) == 1
        for n in decision_nodes(tree)
        for p in [nodes.actor[n]]
    )
    assert (lane_layout(tree) is not None) == same


@few
@given(GAMES, st.integers(0, 1000))
def test_beliefs_equal_enumeration(game: Game, seed: int) -> None:
    tree = compile_game(game)
    strategy = random_strategy(tree, seed)
    for node in decision_nodes(tree)[:6]:
        ours, exact = belief_state(tree, strategy, int(node)).beliefs, public_posterior(tree, strategy, int(node))
        for player in (0, 1):
            assert ours[player].sum() == pytest.approx(1.0)
            np.testing.assert_allclose(ours[player], exact[player], atol=1e-12)


@few
@given(GAMES, st.integers(0, 1000))
def test_subgames_continue_the_game(game: Game, seed: int) -> None:
    """A subgame's root value is the mean of the infostate values at its root."""
    tree = compile_game(game)
    strategy = random_strategy(tree, seed)
    subgames, expected = [], []
    for node in decision_nodes(tree)[:8]:
        pbs = belief_state(tree, strategy, int(node))
        expected.append(float(pbs.beliefs[0] @ infostate_values(make_passes(tree), strategy, 0, int(node))))
        subgames.append(extract_subgame(pbs))
        small = evaluate(make_passes(subgames[-1].tree), strategy[subgames[-1].entry_index])
        assert small.value == pytest.approx(expected[-1], abs=1e-12)


@few
@given(GAMES, st.integers(0, 1000), st.sampled_from([1, 2, None, "round"]))
def test_a_subgame_within_a_subgame_is_the_subgame(game: Game, seed: int, depth: int | str | None) -> None:
    tree = compile_game(game)
    strategy = random_strategy(tree, seed)
    outer = extract_subgame(belief_state(tree, strategy, int(decision_nodes(tree)[0])))
    node = int(decision_nodes(outer.tree)[-1])
    direct = extract_subgame(belief_state(tree, strategy, int(outer.node_index[node])), depth)
    inner = extract_subgame(belief_state(outer.tree, strategy[outer.entry_index], node), depth)
    np.testing.assert_array_equal(outer.node_index[inner.node_index], direct.node_index)
    np.testing.assert_array_equal(outer.entry_index[inner.entry_index], direct.entry_index)
    value = evaluate(make_passes(direct.tree), strategy[direct.entry_index]).value
    assert evaluate(make_passes(inner.tree), strategy[direct.entry_index]).value == pytest.approx(value, abs=1e-12)


@settings(max_examples=15, deadline=None)
@given(GAMES)
def test_cfr_reaches_the_value_of_the_linear_program(game: Game) -> None:
    tree = compile_game(game)
    assume(tree.num_infostates < 200)
    equilibrium, value = solve_lp(tree)
    passes = make_passes(tree)
    assert evaluate(passes, equilibrium).exploitability < 1e-8
    learner = TabularDriver(passes, SCHEDULES["cfr+"])
    for _ in range(300):
        learner.step()
    quality = evaluate(passes, learner.average_strategy())
    assert quality.exploitability < 0.02
    assert -quality.best_response_values[1] - 1e-9 <= value <= quality.best_response_values[0] + 1e-9


@few
@given(GAMES, st.integers(0, 1000), st.integers(1, 2))
def test_depth_limits_cut_at_decisions(game: Game, seed: int, depth: int) -> None:
    tree = compile_game(game)
    nodes = tree.require_nodes()
    pbs = belief_state(tree, random_strategy(tree, seed), int(decision_nodes(tree)[0]))
    small = extract_subgame(pbs, depth)
    cut = small.tree.require_nodes()
    assert len(cut.level_start) - 1 <= depth + 1
    for n, original in enumerate(small.node_index):
        is_deepest = n >= cut.level_start[min(depth, len(cut.level_start) - 1)] and len(cut.level_start) - 1 > depth
        expected = -3 if is_deepest and nodes.actor[original] >= 0 else nodes.actor[original]
        assert cut.actor[n] == expected
