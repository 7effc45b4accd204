"""The sequence layout, and many iterations in one call."""

from dataclasses import replace

import numpy as np
import pytest
from numba import njit

from tacit.games import load_game
from tacit.kernels import make_passes
from tacit.kernels.simd import gather, scatter_add, width
from tacit.solvers.driver import DriverOptions
from tacit.solvers.schedules import find_schedule
from tacit.solvers.tabular import TabularDriver
from tacit.tree.compiler import compile_game
from tacit.tree.sequences import LANES, sequence_layout

GAMES = ["goofspiel(cards=4)", "leduc_poker", "openspiel:dark_hex(num_rows=2,num_cols=2)"]


def load_tree(name: str):
    if name.startswith("openspiel"):
        pytest.importorskip("pyspiel")
    return compile_game(load_game(name))


def test_a_place_that_occurs_twice_gets_both_lanes() -> None:
    lanes = width(4)

    @njit
    def move(source, index, target):
        for row in range(len(index)):
            scatter_add(target, index, row, gather(source, index, row, lanes))

    source, target = np.arange(6.0), np.zeros(6)
    index = np.array([[0, 5, 5, 2], [1, 1, 1, 1]], np.int32)
    move(source, index, target)
    np.testing.assert_array_equal(target, [0.0, 4.0, 2.0, 0.0, 0.0, 10.0])


@pytest.mark.parametrize("name", GAMES)
def test_pairs_of_sequences_pay_what_the_pairs_of_rows_pay(name: str) -> None:
    tree = load_tree(name)
    layout = sequence_layout(tree)
    sizes = [player.num_rows * LANES for player in layout.players]
    expected = np.zeros(sizes)
    first, second = (layout.players[player].of_row[tree.payoff_rows[player]] for player in (0, 1))
    np.add.at(expected, (first, second), tree.payoff)
    for player, sign in ((0, 1.0), (1, -1.0)):
        pairs = layout.players[player].pairs
        paid = np.zeros((sizes[player], sizes[1 - player]))
        own = np.repeat(pairs.own, np.diff(pairs.start), axis=0)
        np.add.at(paid, (own, pairs.other), pairs.payoff)
        np.testing.assert_allclose(paid, sign * (expected if player == 0 else expected.T), atol=1e-15)


@pytest.mark.parametrize("name", GAMES)
def test_rows_of_a_sequence_differ_in_nothing_the_player_did(name: str) -> None:
    tree = load_tree(name)
    layout = sequence_layout(tree)
    for player in (0, 1):
        own_moves: dict[int, tuple[int, ...]] = {}
        rows, num_roots = tree.rows[player], int(tree.rows[player].level_start[1])
        for row, sequence in enumerate(layout.players[player].of_row.tolist()):
            path = tree.row_path(player, row)
            moves = tuple(int(rows.entry[r]) for r in path if rows.entry[r] < tree.num_entries) or (-1 - path[0],)
            assert own_moves.setdefault(sequence, moves) == moves
        mine = int((tree.entry_player == player).sum())
        assert len(own_moves) <= num_roots + mine < len(rows)


@pytest.mark.parametrize("name", GAMES)
def test_a_block_holds_infostates_of_one_player_with_as_many_actions(name: str) -> None:
    tree = load_tree(name)
    layout = sequence_layout(tree)
    assert len(np.unique(layout.entry_position)) == tree.num_entries
    block = layout.infostate_position // LANES
    np.testing.assert_array_equal(np.diff(layout.block_start)[block], np.diff(tree.entry_start))
    first_of_second = layout.players[1].blocks[0]
    np.testing.assert_array_equal(block >= first_of_second, tree.infostate_player == 1)
    for player in layout.players:  # an infostate's parent is decided in an earlier block
        for at in range(*player.blocks):
            assert layout.above[at].max() // LANES < layout.block_start[at] + player.shift


@pytest.mark.parametrize("solver", ["cfr", "cfr+", "dcfr", "pcfr+"])
@pytest.mark.parametrize("alternating", [True, False])
@pytest.mark.parametrize("name", ["goofspiel(cards=3)", "kuhn_poker"])
def test_many_iterations_in_one_call_are_as_many_steps(name: str, alternating: bool, solver: str) -> None:
    passes = make_passes(compile_game(load_game(name)))
    schedule = replace(find_schedule(solver), alternating=alternating)
    together, stepwise = (TabularDriver(passes, schedule) for _ in range(2))
    assert passes.span > 1
    for count in (3, 1, 8):
        together.run(count)
        for _ in range(count):
            stepwise.step()
        assert together.iteration == stepwise.iteration
        for key, expected in stepwise.state().items():
            np.testing.assert_allclose(together.state()[key], expected, rtol=0.0, atol=1e-13, err_msg=key)
    together.step()  # the iteration count and the reaches go on from there
    stepwise.step()
    np.testing.assert_allclose(together.average_strategy(), stepwise.average_strategy(), rtol=0.0, atol=1e-13)


def test_what_is_summed_up_on_the_way_is_not_left_out() -> None:
    passes = make_passes(compile_game(load_game("kuhn_poker")))
    driver = TabularDriver(passes, find_schedule("cfr"), DriverOptions(values_roots=True))
    driver.run(5)
    reference = TabularDriver(passes, find_schedule("cfr"), DriverOptions(values_roots=True))
    for _ in range(5):
        reference.step()
    assert np.abs(reference.root_sum[0]).max() > 0.1
    for mine, expected in zip(driver.root_sum, reference.root_sum, strict=True):
        np.testing.assert_allclose(mine, expected, atol=1e-15)
