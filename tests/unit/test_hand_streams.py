"""Solves that store only regrets and averages, with lanes for each player's own hands, on any number of threads."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tacit
from tacit.cards.deck import parse_cards
from tacit.cards.hands import NUM_HANDS, possible_hands
from tacit.cards.ranges import parse_range
from tacit.errors import TacitError
from tacit.evaluation import evaluate, evaluate_weights
from tacit.kernels import hand_streams
from tacit.kernels.clock import OneStep, RegretStep
from tacit.kernels.numba_hands import HandPasses, Packed
from tacit.solvers.lp import solve_lp
from tacit.solvers.schedules import find_schedule, regret_steps
from tacit.solvers.tabular import TabularDriver
from tacit.threads import num_threads
from tacit.tree.compiler import compile_game
from tacit.tree.hand_builder import build_hand_tree
from tacit.tree.hand_forest import join_hand_trees
from tacit.tree.hand_tree import HandTree, Spot
from tests.unit.test_hand_tree import FIRST, ONE_BET, RIVER_BOARD, SECOND, SHORT_TURN, TINY_FLOP, Endgame

RANGES = parse_range("66+,AQs+,KJs"), parse_range("TT-55,AQo+,KJs+")
TURN = parse_cards("2s5h9sKd")


def turn(held: bool = False) -> HandTree:
    """Returns a turn with partly overlapping ranges; with `held`, both players have lanes for the hands of either range."""
    either = possible_hands(TURN) & (RANGES[0] + RANGES[1] > 0)
    return build_hand_tree(None, SHORT_TURN, TURN, RANGES, held=either if held else None)


def streamed(
    tree: HandTree, solver: str, iterations: int, alternating: bool = True
) -> tuple[HandPasses, np.ndarray, np.ndarray]:
    passes = HandPasses(tree, np.float64)
    assert passes.lean
    regret, average = passes.zeros(), passes.zeros()
    steps = regret_steps(find_schedule(solver), 1, iterations)
    passes.repeat(None, regret, average, (), steps, alternating)  # type: ignore[arg-type]
    return passes, regret, average


@pytest.mark.parametrize("alternating", [True, False])
@pytest.mark.parametrize("solver", ["dcfr", "cfr+", "cfr"])
def test_what_is_streamed_is_what_updates_one_by_one_give(solver: str, alternating: bool) -> None:
    passes, regret, average = streamed(turn(), solver, 5, alternating)
    strategy, old_regret, old_average = passes.uniform(), passes.zeros(), passes.zeros()
    reaches = [passes.reach(player, strategy) for player in (0, 1)]
    for weights in regret_steps(find_schedule(solver), 1, 5):
        clock = OneStep(RegretStep(*weights)).clock()
        for players in ((0,), (1,)) if alternating else ((0, 1),):
            for player in players:
                passes.update_regrets(player, strategy, old_regret, old_average, reaches, clock)
            for player in players:
                passes.reach(player, strategy, out=reaches[player])
    np.testing.assert_allclose(regret, old_regret, atol=1e-10)
    np.testing.assert_allclose(average, old_average, rtol=1e-10, atol=1e-10)
    for player in (0, 1):
        faced = passes.reach(1 - player, passes.normalise(average))
        expected = passes.best_response(player, faced)[0]
        np.testing.assert_allclose(passes.played_values(player, average, True), expected, atol=1e-9)
        expected = passes.values(player, passes.normalise(average), faced)
        np.testing.assert_allclose(passes.played_values(player, average, False), expected, atol=1e-9)


@pytest.mark.parametrize("members", [2, 3, 7])
def test_results_do_not_depend_on_the_number_of_threads(members: int, monkeypatch: pytest.MonkeyPatch) -> None:
    full = np.ones(NUM_HANDS), np.ones(NUM_HANDS)
    trees = [
        turn(),
        build_hand_tree(None, TINY_FLOP, parse_cards("2s5h9s"), (FIRST, SECOND)),
        join_hand_trees([turn(), build_hand_tree(None, replace(SHORT_TURN, stack=800), parse_cards("2s2hTcKs"), full)]),
    ]
    monkeypatch.setattr(hand_streams, "NUMBERS_PER_THREAD", 1)
    for tree in trees:
        found = []
        for threads in (1, members):
            monkeypatch.setattr(hand_streams, "num_threads", lambda threads=threads: threads)
            passes, regret, average = streamed(tree, "dcfr", 4)
            assert passes._streams.members == threads
            found.append((regret, average, passes.played_values(0, average, True)))
        for alone, together in zip(*found, strict=True):
            assert np.array_equal(alone, together)


def test_small_trees_stay_on_one_thread() -> None:
    river = HandPasses(build_hand_tree(None, SHORT_TURN, RIVER_BOARD[:4], (FIRST, SECOND)))
    assert river._streams.members == 1 <= num_threads()


def test_hands_that_a_player_never_holds_change_nothing() -> None:
    """Lanes for the hands of either range give each hand the same play as lanes for the player's own range."""
    tree, held = turn(), turn(held=True)
    assert np.array_equal(tree.blocks.hand, held.blocks.hand)
    sizes = [HandPasses(part)._layout.num_entries for part in (tree, held)]
    assert sizes[0] < 0.8 * sizes[1]
    learners = [TabularDriver(HandPasses(part, np.float64), find_schedule("dcfr")) for part in (tree, held)]
    for learner in learners:
        learner.run(20)
    own, every = (learner.average_strategy() for learner in learners)
    played = 0
    for node in tree.decisions:
        mine = tree.own[tree.actor[node]][slice(*tree.blocks.lane_start[tree.block[node] : tree.block[node] + 2])]
        np.testing.assert_allclose(tree.decision(own, node)[:, mine], tree.decision(every, node)[:, mine], atol=1e-9)
        played += int(mine.sum())
    assert played > 1_000


def test_reaches_come_in_the_order_of_the_tree() -> None:
    """Row by row: a hand's reach is its initial weight times the probabilities of its actions on the way."""
    tree = turn()
    passes = HandPasses(tree, np.float64)
    weights = np.random.default_rng(0).random(tree.num_entries)
    strategy = tree.normalise(weights)
    for player in (0, 1):
        rows = passes.rows_to_numpy(player, passes.reach(player, passes.entries(strategy)))
        assert rows.shape == (tree.row_offset[player][-1],)
        for node in np.random.default_rng(player).choice(tree.decisions, 20):
            block, start = int(tree.block[node]), tree.row_offset[player][tree.reach_row[player][node]]
            expected = tree.strategy(strategy).range_at(Spot(int(node)), player)[tree.blocks.hands(block)]
            np.testing.assert_allclose(rows[start : start + len(expected)], expected, atol=1e-12)


def test_a_lean_solve_goes_on_from_its_state() -> None:
    whole, part, later = (TabularDriver(HandPasses(turn()), find_schedule("dcfr")) for _ in range(3))
    assert whole.lean
    whole.run(6)
    part.run(4)
    later.restore(part.state(), 4)
    later.run(2)
    for name, numbers in whole.state().items():
        assert np.array_equal(numbers, later.state()[name])
    predictive = TabularDriver(HandPasses(turn()), find_schedule("pcfr+"))
    assert not predictive.lean


@pytest.mark.parametrize("solver", ["dcfr", "cfr+", "linear-cfr"])
def test_sixteen_bits_solve_as_well_in_half_the_memory(solver: str) -> None:
    tree = build_hand_tree(None, ONE_BET, RIVER_BOARD, (FIRST, SECOND))
    _, value = solve_lp(compile_game(Endgame(ONE_BET, RIVER_BOARD, (FIRST, SECOND))))
    learners = [TabularDriver(HandPasses(tree, bits=bits), find_schedule(solver)) for bits in (32, 16)]
    for learner in learners:
        learner.run(600)
    full, packed = (learner.average for learner in learners)
    assert isinstance(packed, Packed)
    assert packed.numbers.nbytes * 2 == full.nbytes
    quality = evaluate(HandPasses(tree, np.float64), learners[1].average_strategy().astype(np.float64))
    assert quality.value == pytest.approx(value, abs=1.0)  # in chips; the pot is 400
    assert quality.exploitability < 0.5
    assert evaluate_weights(learners[1].passes.exact(), packed).exploitability == pytest.approx(
        quality.exploitability, abs=1e-3
    )


def test_integers_have_the_scale_of_their_decision() -> None:
    tree = turn()
    passes = HandPasses(tree, bits=16)
    numbers = np.random.default_rng(0).normal(size=tree.num_entries).astype(np.float32)
    mine = np.repeat(tree.actor[tree.entry_node], np.diff(tree.entry_offset))
    lanes = np.concatenate([np.arange(*tree.blocks.lane_start[b : b + 2]) for b in tree.block[tree.entry_node]])
    numbers *= np.where(mine == 0, tree.own[0][lanes], tree.own[1][lanes]) * (1 + 1_000 * (mine == 0))
    found = passes.to_numpy(passes.entries(numbers))
    for node in tree.decisions:
        largest = np.abs(tree.decision(numbers, node)).max()
        np.testing.assert_allclose(tree.decision(found, node), tree.decision(numbers, node), atol=largest / 32_767)
    learner, later = (TabularDriver(HandPasses(tree, bits=16), find_schedule("dcfr")) for _ in range(2))
    learner.run(5)
    later.restore(learner.state(), 5)
    for ours, theirs in zip(learner.regret, later.regret, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_sixteen_bits_are_for_what_keeps_regrets_and_averages_alone() -> None:
    river = "no_limit_holdem(board=3s7hTdKs2c,pot=2000,stack=3000,bets=allin,range0=AA|KQs,range1=QQ|JTs)"
    assert tacit.solve(river, iterations=50, bits=16).exploitability < 30.0
    with pytest.raises(TacitError, match=r"pcfr\+ keeps more .* 16 bits are for cfr"):
        tacit.solve(river, solver="pcfr+", bits=16)
    with pytest.raises(TacitError, match="flop keeps more"):
        tacit.solve(river, solver="flop", bits=16)
    with pytest.raises(TacitError, match="32 bits or 16, not 8"):
        tacit.solve(river, bits=8)
    with pytest.raises(TacitError, match="only hold'em on the cpu"):
        tacit.solve("kuhn_poker", bits=16)
