"""Search: equal to tabular solving without a depth limit, sound with an oracle, and with beliefs that follow Bayes' rule."""

import numpy as np
import pytest
import torch

from tacit.evaluation import evaluate
from tacit.games import load_game
from tacit.kernels import make_passes
from tacit.kernels.base import LeafValues
from tacit.leaves.evaluators import OracleLeaves, RandomLeaves, ZeroLeaves, exact_values
from tacit.search.config import SearchConfig
from tacit.search.groups import GroupPasses
from tacit.search.playthroughs import playthrough_quality, playthrough_strategy
from tacit.search.search import BatchSearch
from tacit.search.solved_leaves import SolvedLeaves
from tacit.search.walk import GAME_OVER, explore, leaf_chances, leaf_states, sample_leaves
from tacit.solvers import solve
from tacit.solvers.driver import Driver, DriverOptions
from tacit.solvers.schedules import plain_schedule
from tacit.tree.beliefs import belief_state
from tacit.tree.classes import public_classes
from tacit.tree.compiler import compile_game
from tacit.tree.public_tree import LEAF
from tacit.tree.search_space import SearchSpace, edge_above, search_space


def space_of(name: str, depth: int | str | None) -> SearchSpace:
    return search_space(compile_game(load_game(name)), depth)


def root_reaches(space: SearchSpace, count: int) -> torch.Tensor:
    reaches = torch.zeros(count, 2, space.tables.num_private_states)
    for player in (0, 1):
        states = int(space.tables.players[player].num_roots[0])
        reaches[:, player, :states] = 1.0 / states
    return reaches


def test_public_states_that_play_alike_are_one_class() -> None:
    dice = compile_game(load_game("liars_dice(dice=1,faces=4)"))
    classes = public_classes(dice)
    # The root, and last bid x acting player; after bid 1 (bid 2) only player 1 (player 0 or 1) can act, and so on.
    assert len(classes) == 16
    labels = [
        [*dice.public_label(int(n)).split()[-1:], int(dice.require_nodes().actor[n])] for n in range(len(dice.require_nodes()))
    ]
    for node, kind in enumerate(classes.of_node):
        if kind >= 0:
            assert labels[node] == labels[classes.representative[kind]]
    assert len(public_classes(compile_game(load_game("kuhn_poker")))) == 4


@pytest.mark.parametrize(
    "name", ["kuhn_poker", "leduc_poker", "goofspiel(cards=4)", "liars_dice(dice=1,faces=4)", "modified_rps"]
)
@pytest.mark.parametrize("solver", ["cfr+", "flop"])
def test_search_to_the_end_is_tabular_solving(name: str, solver: str) -> None:
    space = space_of(name, None)
    games = 3
    search = BatchSearch(space, ZeroLeaves(), SearchConfig(solver, 40, None))
    result = search.run(np.zeros(games, np.int64), root_reaches(space, games), np.full(games, 5))
    strategy = np.zeros(space.tree.num_entries)
    strategy[space.subgame_at(0).entry_index] = result.average_strategy.view(-1, games)[:, 1]
    ours = evaluate(make_passes(space.tree), strategy)
    exact = solve(name, solver=solver, iterations=40)
    assert ours.exploitability == pytest.approx(exact.exploitability, rel=0.02 if solver == "cfr+" else 0.35)
    reaches = root_reaches(space, 1)[0].numpy()
    joint = space.tables.deals[0] * np.outer(reaches[0], reaches[1])
    values = [float((joint.sum(1 - p) / joint.sum() * result.values[1, p].numpy()).sum()) for p in (0, 1)]
    if solver == "flop":  # root values are those of the averages; values of responses to them would both be too high
        assert values == pytest.approx([ours.value, -ours.value], abs=1e-5)
    else:  # root values are what the strategies earned during the search
        assert values[0] == pytest.approx(exact.value, abs=4 * exact.exploitability + 0.02)


@pytest.mark.parametrize(("name", "depth"), [("kuhn_poker", 1), ("kuhn_poker", 2), ("liars_dice(dice=1,faces=2)", 1)])
def test_cfr_d_with_an_oracle_finds_the_value(name: str, depth: int) -> None:
    """Depth-limited search with exact leaf values (ReBeL, section 5.1): its mean root values converge to the game's value."""
    space = space_of(name, depth)
    search = BatchSearch(space, OracleLeaves(space), SearchConfig("cfr+", 150, depth))
    result = search.run(np.zeros(1, np.int64), root_reaches(space, 1), np.ones(1, np.int64))
    values, reaches = result.values[0].double().numpy(), root_reaches(space, 1)[0].double().numpy()
    joint = space.tables.deals[0] * np.outer(reaches[0], reaches[1])
    joint /= joint.sum()
    exact = solve(name, solver="lp").value
    assert float(joint.sum(1) @ values[0]) == pytest.approx(exact, abs=0.03)
    assert float(joint.sum(0) @ values[1]) == pytest.approx(-exact, abs=0.03)


def test_groups_filled_up_with_copies_change_nothing() -> None:
    """GPUs need aligned groups (`Batch`); the copies must not affect the searches, the walk or the playthroughs."""
    space = space_of("leduc_poker", 2)
    classes = np.random.default_rng(0).integers(0, len(space.classes), 50)
    counts = torch.from_numpy(np.stack([table.num_roots[classes] for table in space.tables.players], axis=1))
    H = space.tables.num_private_states
    reaches = torch.rand(50, 2, H, generator=torch.Generator().manual_seed(0)) * (torch.arange(H) < counts[:, :, None])
    leaf = torch.from_numpy((np.diff(space.tables.leaf_start)[classes] - 1).astype(np.int64))
    found = []
    for alignment in (1, 8):
        search = BatchSearch(space, ZeroLeaves(), SearchConfig("cfr+", 5, 2))
        search.kernels.alignment = alignment
        result = search.run(classes, reaches, np.full(50, 3))
        assert len(result.batch.order) % alignment == 0
        chances = leaf_chances(search, result.batch, result.sampled_strategy, reaches)
        new_class, new_reaches = leaf_states(search, result.batch, result.sampled_strategy, reaches, leaf)
        policy = playthrough_strategy(search, 5, np.random.default_rng(1))
        found.append((result.values, chances, new_class, new_reaches, torch.from_numpy(policy)))
    for plain, filled in zip(*found, strict=True):
        torch.testing.assert_close(plain, filled, equal_nan=True)


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["cfr+", "flop"])
def test_playthroughs_of_sound_search_are_an_equilibrium(solver: str) -> None:
    """Theorem 3 in Kuhn poker: a random iteration in every subgame, beliefs passed down, exact leaf values (section 6)."""
    space = space_of("kuhn_poker", 1)
    search = BatchSearch(space, OracleLeaves(space), SearchConfig(solver, 50, 1))
    quality = playthrough_quality(search, 30, np.random.default_rng(0))
    uniform = evaluate(make_passes(space.tree), space.tree.uniform_strategy())
    assert quality.exploitability < (0.1 if solver == "cfr+" else 0.25) * uniform.exploitability


def test_search_with_beliefs_finds_what_one_ply_search_cannot() -> None:
    """Modified rock-paper-scissors (ReBeL, Figure 1): with values of belief states one ply suffices for 0.4 / 0.4 / 0.2."""
    space = space_of("modified_rps", 1)
    search = BatchSearch(space, OracleLeaves(space), SearchConfig("cfr+", 200, 1))
    result = search.run(np.zeros(1, np.int64), root_reaches(space, 1), np.ones(1, np.int64))
    np.testing.assert_allclose(result.average_strategy.numpy(), [0.4, 0.4, 0.2], atol=0.02)


@pytest.mark.parametrize("name", ["coin_guess(p=0.4)", "kuhn_poker", "liars_dice(dice=1,faces=3)"])
@pytest.mark.parametrize("seed", range(4))
def test_infostate_values_are_a_supergradient_of_the_value(name: str, seed: int) -> None:
    """Theorem 1: from any beliefs, the plane of the infostate values lies above the value at all other beliefs."""
    space = space_of(name, 1)
    generator = np.random.default_rng(seed)
    H = space.tables.num_private_states
    for public_class in range(min(len(space.classes), 3)):
        counts = [int(space.tables.players[p].num_roots[public_class]) for p in (0, 1)]
        deals = space.tables.deals[public_class]

        def beliefs_of(first: np.ndarray, second: np.ndarray, counts: list[int] = counts) -> np.ndarray:
            both = np.zeros((2, H))
            both[0, : counts[0]], both[1, : counts[1]] = first, second
            return both

        second = generator.dirichlet(np.ones(counts[1]))
        here, there = (beliefs_of(generator.dirichlet(np.ones(counts[0])), second) for _ in range(2))
        likelihood = deals @ here[1]  # of player 0's private states, by chance and the opponent
        values = [exact_values(space, public_class, b)[0] for b in (here, there)]
        value_there = float((there[0] * likelihood)[: counts[0]] @ values[1])
        plane_there = float((there[0] * likelihood)[: counts[0]] @ values[0])
        assert value_there <= plane_there + 1e-9


def test_leaves_are_sampled_by_their_probability_and_beliefs_follow_bayes() -> None:
    space = space_of("leduc_poker", 2)
    games = 40_000
    search = BatchSearch(space, ZeroLeaves(), SearchConfig("cfr+", 3, 2))
    reaches = root_reaches(space, games)
    result = search.run(np.zeros(games, np.int64), reaches, np.full(games, 2))
    played = explore(search, result.batch, *[result.sampled_strategy] * 2, torch.zeros(games, dtype=torch.int64), 0.5)
    played = explore(
        search, result.batch, played, played, torch.ones(games, dtype=torch.int64), 0.5
    )  # so that some games end in a fold
    draws = torch.from_numpy(np.random.default_rng(0).random(games, np.float32))
    leaf = sample_leaves(leaf_chances(search, result.batch, played, reaches), draws)
    new_class, new_reaches = leaf_states(search, result.batch, played, reaches, leaf)

    subgame = space.subgame_at(0)
    strategy = space.tree.uniform_strategy()
    strategy[subgame.entry_index] = played.view(-1, games)[:, 0]
    leaves = np.flatnonzero(subgame.tree.require_nodes().actor == LEAF)
    going_on = 0.0
    for number, at in enumerate(leaves):
        node = int(subgame.node_index[at])
        pbs = belief_state(space.tree, strategy, node)
        going_on += pbs.probability
        share = float((leaf == number).float().mean())
        assert share == pytest.approx(pbs.probability, abs=4 * np.sqrt(pbs.probability / games) + 1e-4)
        there = (leaf == number).nonzero()[:1, 0]
        if len(there) and pbs.probability > 0:
            assert int(new_class[there]) == space.classes.of_node[node]
            for player in (0, 1):
                expected = pbs.reaches[player] / pbs.reaches[player].sum()
                np.testing.assert_allclose(new_reaches[there[0], player, : len(expected)], expected, atol=1e-5)
    assert 1.0 - going_on > 0.01
    assert float((leaf == GAME_OVER).float().mean()) == pytest.approx(1.0 - going_on, abs=0.01)


def test_exploration_leans_to_uniform_for_one_player() -> None:
    space = space_of("kuhn_poker", None)
    search = BatchSearch(space, ZeroLeaves(), SearchConfig("cfr+", 5, None))
    result = search.run(np.zeros(2, np.int64), root_reaches(space, 2), np.full(2, 5))
    plain, others = result.sampled_strategy.view(-1, 2), result.average_strategy.view(-1, 2)
    mixed = explore(search, result.batch, plain.flatten(), others.flatten(), torch.tensor([0, 1]), 0.25).view(-1, 2)
    owner = space.subgames[0].tree.entry_player
    uniform = torch.from_numpy(space.subgames[0].tree.uniform_strategy()).float()
    for game in (0, 1):
        explored = owner == game
        np.testing.assert_allclose(mixed[explored, game], 0.75 * plain[explored, game] + 0.25 * uniform[explored], atol=1e-6)
        np.testing.assert_array_equal(mixed[~explored, game], others[~explored, game])


def test_search_to_the_end_of_the_round_stops_where_a_card_is_dealt() -> None:
    space = space_of("leduc_poker", "round")
    subgame = space.subgame_at(0)
    leaves = subgame.node_index[subgame.tree.require_nodes().actor == LEAF]
    labels = [space.tree.public_label(int(node)) for node in leaves]
    # The first round ends in five ways without a fold; six cards can follow.
    assert len(labels) == 30
    assert {label.split()[-1] for label in labels} == {rank + suit for rank in "JQK" for suit in "sh"}
    search = BatchSearch(space, SolvedLeaves(space, 60), SearchConfig("dcfr", 60, "round"))
    result = search.run(np.zeros(1, np.int64), root_reaches(space, 1), np.ones(1, np.int64))
    joint = space.tables.deals[0] / space.tables.deals[0].sum()
    assert float((joint.sum(1) * result.values[0, 0].numpy()).sum()) == pytest.approx(-0.0856, abs=0.03)


def test_what_a_search_promises_is_the_mean_over_its_iterations() -> None:
    """Counterfactual values get the strategies' weights; at a leaf they hold the reach of chance and the opponent."""
    space = search_space(compile_game(load_game("leduc_poker")), 2)
    search = BatchSearch(space, RandomLeaves(space), SearchConfig("cfr+", 6, 2))
    reaches, classes, player = torch.full((1, 2, 6), 1 / 6), np.zeros(1, np.int64), 1
    found = search.run(classes, reaches, np.ones(1, np.int64), values_rows=player).row_values
    passes = GroupPasses(space, search.kernels, classes, reaches)
    driver = Driver(passes, plain_schedule("cfr+"), DriverOptions(search.evaluator))
    cfvs, likelihoods = [], []
    for iteration in range(1, 7):
        driver.clock.tick()
        for answering in (0, 1):
            beliefs = passes.new_beliefs()
            for one in (0, 1):
                passes.leaf_beliefs(one, driver.reaches[one], beliefs)
            values = search.evaluator.evaluate(passes.leaf_states, beliefs)
            if answering == player:
                likelihoods.append(iteration * passes.leaf_likelihood(player, driver.reaches[0]))
                cfvs.append(likelihoods[-1] * values[6:])
            numbers = (driver.strategy, driver.regret, driver.average, driver.reaches)
            passes.update_regrets(answering, *numbers, driver.clock, LeafValues(values))
            passes.reach(answering, driver.strategy, out=driver.reaches[answering])
    assert (torch.stack(likelihoods).std(0) > 1e-4).any()
    nodes, mean = space.subgames[0].tree.require_nodes(), sum(cfvs) / sum(range(1, 7))
    leaves = np.flatnonzero(nodes.actor == LEAF)
    assert len(leaves) == mean.shape[1] > 1
    for column, leaf in enumerate(leaves):
        rows = slice(*nodes.row_start[player][leaf : leaf + 2])
        torch.testing.assert_close(found[rows], mean[: rows.stop - rows.start, column], rtol=1e-4, atol=1e-6)


def test_ends_after_one_action_are_merged() -> None:
    """All-in before the board: one terminal public state for each card, but one pair of rows for each pair of hands."""
    space = space_of("pot_limit_leduc", "round")
    tree, table = space.subgames[0].tree, space.tables.players[0]
    rows = slice(*table.row_start[:2])
    meets, at_end = np.diff(table.meeting_start[: rows.stop + 1]), table.leaf[rows] < 0
    assert 0 < meets[at_end].sum() < len(tree.payoff)
    meetings = np.repeat(at_end, meets)
    assert table.meeting_weight[: meets.sum()][meetings].sum() == pytest.approx(tree.payoff.sum(), abs=1e-3)
    edge, nodes = edge_above(tree), tree.require_nodes()
    assert len(np.unique(edge)) < len(nodes)
    assert np.array_equal(nodes.parent[edge], nodes.parent)


@pytest.mark.parametrize(
    ("name", "depth"), [("pot_limit_leduc", "round"), ("liars_dice(dice=1,faces=3)", 2), ("goofspiel(cards=3)", None)]
)
def test_places_are_those_of_the_subgame_cut_out(name: str, depth: int | str | None) -> None:
    space = space_of(name, depth)
    for node in np.flatnonzero(space.classes.of_node >= 0).tolist():
        subgame, places = space.subgame_at(node), space.places_at(node)
        np.testing.assert_array_equal(places[0], subgame.node_index)
        np.testing.assert_array_equal(places[1], subgame.entry_index)
