"""Trees grown from the rules: the same game in whatever order leaves are opened, with numbers that never change."""

import numpy as np
import pytest

from tacit.errors import TacitError
from tacit.evaluation import evaluate
from tacit.games import Game, load_game
from tacit.kernels import AnyTreePasses, make_passes
from tacit.kernels.numba_rows import RowPasses
from tacit.kernels.torch_rows import TorchPasses
from tacit.solvers.lp import solve_lp
from tacit.solvers.schedules import find_schedule
from tacit.solvers.tabular import TabularDriver
from tacit.tree.beliefs import initial_belief_state
from tacit.tree.classes import public_classes
from tacit.tree.compiler import compile_game
from tacit.tree.growing import GrowingTree
from tacit.tree.public_tree import LEAF, PublicTree
from tacit.tree.subgame import extract_subgame
from tests.growth import LateTicTacToe, assert_same_arrays, entry_names, grow_at_random
from tests.oracles import expected_value, random_strategy

GAMES = [
    *(load_game(name) for name in ("kuhn_poker", "leduc_poker", "goofspiel(cards=3)", "modified_rps", "coin_guess")),
    LateTicTacToe(),
]


def cfr_average(passes: AnyTreePasses, iterations: int) -> np.ndarray:
    """Returns the average strategy of vanilla CFR with alternating updates."""
    driver = TabularDriver(passes, find_schedule("cfr"))
    driver.run(iterations)
    return driver.average_strategy()


@pytest.mark.parametrize("game", GAMES, ids=str)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_tree_grown_in_random_order_is_the_compiled_game(game: Game, seed: int) -> None:
    compiled, grown = compile_game(game, direct=False), grow_at_random(GrowingTree(game), seed).tree
    old, new = entry_names(compiled), entry_names(grown)
    assert old.keys() == new.keys()
    order = np.empty(grown.num_entries, np.int64)
    order[[new[name] for name in old]] = list(old.values())
    strategy = random_strategy(compiled, seed)
    expected, quality = evaluate(RowPasses(compiled), strategy), evaluate(RowPasses(grown), strategy[order])
    assert quality.value == pytest.approx(expected.value, abs=1e-12)
    assert quality.best_response_values == pytest.approx(expected.best_response_values, abs=1e-12)
    assert solve_lp(grown)[1] == pytest.approx(solve_lp(compiled)[1], abs=1e-9)
    averages = [cfr_average(RowPasses(tree), 20) for tree in (compiled, grown)]
    np.testing.assert_allclose(averages[1], averages[0][order], atol=1e-9)
    assert expected_value(grown, strategy[order]) == pytest.approx(expected.value, abs=1e-12)  # by enumerating histories


@pytest.mark.parametrize("game", GAMES, ids=str)
def test_opened_level_by_level_the_compiled_arrays_come_out(game: Game) -> None:
    growing = GrowingTree(game)
    while growing.leaves:
        growing.open(*growing.leaves)
    assert_same_arrays(compile_game(game, direct=False), growing.tree)


def beginnings(tree: PublicTree, small: PublicTree) -> list[tuple[np.ndarray, np.ndarray]]:
    """Returns pairs of arrays that must be equal: one from a smaller tree, one from the same part of the tree grown from it."""
    pairs = []
    nodes, old = tree.require_nodes(), small.require_nodes()
    for name in ("parent", "joint_start", "joint_rows", "joint_chance", "token"):
        pairs.append((getattr(nodes, name), getattr(old, name)))
    opened = old.actor != LEAF
    pairs.append((nodes.actor[: len(old)][opened], old.actor[opened]))
    for name in ("infostate_player", "infostate_row", "entry_start", "entry_action", "payoff_rows", "payoff", "payoff_chance"):
        pairs.append((getattr(tree, name), getattr(small, name)))
    for player in (0, 1):
        rows, before = tree.rows[player], small.rows[player]
        pairs += [(nodes.row_start[player], old.row_start[player]), (rows.parent, before.parent), (rows.token, before.token)]
        moved, acting = before.entry < small.num_entries, before.infostate >= 0
        pairs.append((rows.entry[: len(before)][moved], before.entry[moved]))
        assert np.all(rows.entry[: len(before)][~moved] == tree.num_entries)
        pairs.append((rows.infostate[: len(before)][acting], before.infostate[acting]))
    return [(np.asarray(new)[..., : np.shape(was)[-1]], np.asarray(was)) for new, was in pairs]


@pytest.mark.parametrize("game", GAMES[1:], ids=str)
def test_an_opening_changes_no_number(game: Game) -> None:
    growing = GrowingTree(game)
    before = growing.tree
    for opening in range(25):
        if not growing.leaves:
            break
        grow_at_random(growing, opening, 1)
        for new, was in beginnings(growing.tree, before):
            np.testing.assert_array_equal(new, was)
        nodes = growing.tree.require_nodes()
        level = np.repeat(np.arange(len(nodes.level_start) - 1), np.diff(nodes.level_start))
        assert np.all(level[nodes.parent[nodes.num_roots :]] < level[nodes.num_roots :])
        assert set(np.flatnonzero(nodes.actor == LEAF).tolist()) == set(growing.leaves)
        before = growing.tree


@pytest.mark.parametrize("game", GAMES, ids=str)
@pytest.mark.parametrize("openings", [1, 7, 40])
def test_backends_agree_on_a_tree_that_is_half_grown(game: Game, openings: int) -> None:
    tree = grow_at_random(GrowingTree(game), 3, openings).tree
    strategy = random_strategy(tree, openings)
    results = [evaluate(passes, strategy) for passes in (RowPasses(tree), TorchPasses(tree), make_passes(tree))]
    averages = [cfr_average(passes(tree), 5) for passes in (RowPasses, TorchPasses)]
    for other in results[1:]:
        assert other.value == pytest.approx(results[0].value, abs=1e-12)
        assert other.best_response_values == pytest.approx(results[0].best_response_values, abs=1e-12)
    np.testing.assert_allclose(averages[0], averages[1], atol=1e-9)


@pytest.mark.parametrize("game", GAMES, ids=str)
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_opened_to_a_depth_it_is_the_subgame_of_that_depth(game: Game, depth: int) -> None:
    growing = GrowingTree(game)
    for _ in range(depth):
        if growing.leaves:
            growing.open(*growing.leaves)
    subgame = extract_subgame(initial_belief_state(compile_game(game, direct=False)), depth).tree
    assert_same_arrays(subgame, growing.tree)
    strategy = random_strategy(subgame, depth)
    expected = evaluate(RowPasses(subgame), strategy).value  # leaf values are zero
    assert evaluate(RowPasses(growing.tree), strategy).value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("game", GAMES, ids=str)
def test_subgames_and_classes_of_a_tree_grown_in_random_order(game: Game) -> None:
    compiled, grown = compile_game(game, direct=False), grow_at_random(GrowingTree(game), 5).tree
    assert len(public_classes(grown)) == len(public_classes(compiled))
    by_path = {path(compiled, node): node for node in range(compiled.num_nodes)}
    for node in np.flatnonzero(grown.require_nodes().actor >= 0)[:40]:
        twin = by_path[path(grown, int(node))]
        values = []
        for tree, root in ((grown, int(node)), (compiled, twin)):
            pbs = initial_belief_state(tree, root)
            ones = [np.ones(int(start[root + 1] - start[root])) for start in tree.require_nodes().row_start]
            pbs = type(pbs)(tree, root, (ones[0], ones[1]))
            small = extract_subgame(pbs, 2).tree
            values.append((small.num_nodes, small.num_entries, evaluate(RowPasses(small), small.uniform_strategy()).value))
        assert values[0][:2] == values[1][:2]
        assert values[0][2] == pytest.approx(values[1][2], abs=1e-12)


def path(tree: PublicTree, node: int) -> tuple[tuple[int, str], ...]:
    nodes = tree.require_nodes()
    return tuple((int(nodes.actor[n]), nodes.token[n]) for n in tree.node_path(node))


def test_a_tree_that_was_shown_stays_as_it_was() -> None:
    growing = GrowingTree(load_game("leduc_poker"))
    growing.open(0)
    before = growing.tree
    leaves, entries = int(np.sum(before.require_nodes().actor == LEAF)), before.num_entries
    growing.open(*growing.leaves)
    assert (int(np.sum(before.require_nodes().actor == LEAF)), before.num_entries) == (leaves, entries)
    assert growing.tree.num_entries > entries
    with pytest.raises(KeyError):
        growing.open(0)


def test_a_leaf_keeps_its_histories_until_it_is_opened() -> None:
    game = load_game("leduc_poker")
    growing = GrowingTree(game)
    histories = growing.histories(0)
    assert histories.actor == 0
    assert len(histories.states) == 30
    assert sum(histories.chance) == pytest.approx(1.0)
    growing.open(0)
    for leaf in growing.leaves:
        here = growing.histories(leaf)
        assert {game.actor(state) for state in here.states} == {here.actor}
        joint = growing.tree.require_nodes().joint(leaf)
        weights = np.zeros_like(joint)
        np.add.at(weights, (np.array(here.rows[0]), np.array(here.rows[1])), here.chance)
        np.testing.assert_allclose(weights, joint)


def test_games_that_name_their_infostates_cannot_grow() -> None:
    pytest.importorskip("pyspiel")
    with pytest.raises(TacitError, match="its tree cannot grow"):
        GrowingTree(load_game("openspiel:kuhn_poker"))


def test_a_solve_goes_on_while_its_tree_grows() -> None:
    """Leaves are opened between iterations: old numbers stay, and the solve reaches the full game's value in the end."""
    game, rng = load_game("leduc_poker"), np.random.default_rng(0)
    growing = GrowingTree(game)
    driver = TabularDriver(RowPasses(growing.tree), find_schedule("dcfr"))
    while growing.leaves:
        driver.step()
        before = driver.state()
        growing.open(int(rng.choice(list(growing.leaves))))
        driver.grow(RowPasses(growing.tree))
        after = driver.state()
        for name, numbers in before.items():
            np.testing.assert_array_equal(after[name][: len(numbers)], numbers)
        new = after["strategy"][len(before["strategy"]) :]
        np.testing.assert_array_equal(new, growing.tree.uniform_strategy()[len(before["strategy"]) :])
    assert driver.iteration > 50
    driver.run(2_000)
    compiled = compile_game(game, direct=False)
    grown, average, strategy = entry_names(growing.tree), driver.average_strategy(), np.zeros(compiled.num_entries)
    for name, entry in entry_names(compiled).items():
        strategy[entry] = average[grown[name]]
    quality = evaluate(make_passes(compiled), strategy)
    assert quality.exploitability < 0.01
    assert quality.value == pytest.approx(-0.085606424078, abs=0.01)
