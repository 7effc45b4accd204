"""Depth-limited hold'em trees and the values of their leaves: against brute force, full trees and published figures."""

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
import pytest

from tacit.cards import HANDS, NUM_HANDS, hand_index, parse_cards, seven_card_strengths
from tacit.cards.grid import CELLS, cell_name
from tacit.cards.hands import possible_hands
from tacit.cards.ranges import parse_range
from tacit.cards.run_outs import _AT_ONCE, PREFLOP_FILE, _count, _meet, run_out_margins
from tacit.cards.strength import hand_strengths
from tacit.cards.suits import RENAMED_CARDS, RENAMED_HANDS
from tacit.errors import TacitError
from tacit.evaluation import evaluate
from tacit.evaluation.exact import leaf_values
from tacit.games.betting import ALL_IN, CALL, FLOP, FOLD, PREFLOP, TURN, Betting, NoLimitBetting
from tacit.games.sizes import parse_menu
from tacit.kernels.base import LeafEvaluator
from tacit.kernels.numba_hands import HandPasses
from tacit.leaves.check_down import CheckDownLeaves
from tacit.leaves.solved_hands import SolvedHandLeaves
from tacit.solvers.driver import DriverOptions
from tacit.solvers.schedules import find_schedule
from tacit.solvers.tabular import TabularDriver
from tacit.tree.hand_builder import build_hand_tree, num_hand_entries
from tacit.tree.hand_tree import DEALS, FOLDS, LEAF, RUNS_OUT, HandTree
from tacit.tree.public_tree import Floats
from tacit.tree.subgame import ROUND

FLOP_BOARD, TURN_BOARD = parse_cards("3s7hTd"), parse_cards("3s7hTdKs")
SHORT_TURN = NoLimitBetting(600, 50, 100, TURN, 400, parse_menu("allin"))
FIRST, SECOND = "22+,A2s+,KTs+,QJs,JTs,T9s,AJo+", "66+,A9s+,KJs+,76s,65s,54s,KQo,AQo+"


@dataclass(frozen=True)
class JamOrFold(NoLimitBetting):
    """The button goes all-in or folds, and the other player calls or folds."""

    def actions(self, betting: Betting) -> tuple[int, ...]:
        return (FOLD, self.stack) if betting.facing < self.stack else (FOLD, CALL)


def ranges_on(board: tuple[int, ...], first: str = "random", second: str = "random") -> tuple[Floats, Floats]:
    possible = possible_hands(board)
    return parse_range(first) * possible, parse_range(second) * possible


def solved(tree: HandTree, iterations: int, leaves: LeafEvaluator | None) -> tuple[HandPasses, Floats]:
    passes = HandPasses(tree)
    driver = TabularDriver(passes, find_schedule("dcfr"), DriverOptions(leaves))
    driver.run(iterations)
    return passes, driver.average_strategy()


def hand(text: str) -> int:
    return hand_index(*parse_cards(text))


def counted_margin(first: str, second: str, board: tuple[int, ...] = ()) -> float:
    """Returns wins minus losses of one hand against another, averaged over all boards, by seven-card strengths."""
    gone = {*parse_cards(first), *parse_cards(second), *board}
    left = [card for card in range(52) if card not in gone]
    rests = np.array(list(combinations(left, 5 - len(board))))
    full = np.concatenate([np.tile(board, (len(rests), 1)), rests], axis=1).astype(int)
    mine, theirs = (
        seven_card_strengths(np.concatenate([np.tile(parse_cards(one), (len(full), 1)), full], axis=1)).astype(int)
        for one in (first, second)
    )
    return float(np.sign(mine - theirs).mean())


@pytest.mark.parametrize("board", [FLOP_BOARD, TURN_BOARD, (*TURN_BOARD, 0)])
def test_margins_are_those_of_all_boards(board: tuple[int, ...]) -> None:
    hands = np.flatnonzero(possible_hands(board))
    margins = run_out_margins(board)
    np.testing.assert_array_equal(margins, -margins.T)
    shared = (HANDS[hands][:, None, :, None] == HANDS[hands][None, :, None, :]).any((2, 3))
    assert (margins[shared] == 0).all()
    place = {int(number): lane for lane, number in enumerate(hands)}
    for first, second in (("AsKh", "9c9d"), ("JsTs", "6d6c"), ("As4s", "4d5d"), ("AcAd", "AhQh")):
        found = margins[place[hand(first)], place[hand(second)]]
        assert found == pytest.approx(counted_margin(first, second, board), abs=1e-9)


@pytest.mark.slow  # test_run_outs.py tests another pair
def test_margins_before_the_flop_are_those_of_all_boards() -> None:
    margins = run_out_margins(())
    np.testing.assert_array_equal(margins, -margins.T)
    for first, second in (("AsAh", "KsKd"), ("9c8c", "AcKd")):  # 1.7 million boards each
        assert margins[hand(first), hand(second)] == pytest.approx(counted_margin(first, second), abs=1e-9)


@pytest.mark.parametrize(
    ("first", "second", "equity"),
    # From Cardplayer's odds calculator and tables of heads-up odds, averaged over suits.
    [("AA", "KK", 0.8195), ("AKs", "QQ", 0.460), ("22", "AKo", 0.527), ("AA", "random", 0.852), ("32o", "random", 0.323)],
)
def test_known_odds_before_the_flop(first: str, second: str, equity: float) -> None:
    mine, theirs = parse_range(first), parse_range(second)
    apart = ~(HANDS[:, None, :, None] == HANDS[None, :, None, :]).any((2, 3))
    margin = mine @ run_out_margins(()) @ theirs / (mine @ apart @ theirs)
    assert (1 + margin) / 2 == pytest.approx(equity, abs=0.002)


def distinct_boards() -> dict[int, list[tuple[int, ...]]]:
    """Returns one full board from each group that differs only by renaming suits, by the size of the group."""
    cards = np.array(list(combinations(range(52), 5)), np.int8)
    code = np.left_shift(np.int64(1), cards.astype(np.int64)).sum(axis=1)
    least = code.copy()
    for renamed in RENAMED_CARDS[1:]:
        np.minimum(least, np.left_shift(np.int64(1), renamed[cards].astype(np.int64)).sum(axis=1), out=least)
    _, first, counts = np.unique(least, return_index=True, return_counts=True)
    return {int(n): [tuple(board) for board in cards[first[counts == n]].tolist()] for n in np.unique(counts)}


@pytest.mark.slow
def test_the_file_of_margins_is_what_counting_gives() -> None:
    """This is how the file was made: boards equal up to suits are counted once, with hands under all 24 renamings."""
    total = np.zeros((NUM_HANDS, NUM_HANDS), np.int64)
    for weight, boards in distinct_boards().items():
        for first in range(0, len(boards), _AT_ONCE):
            counted = np.zeros((NUM_HANDS, NUM_HANDS), np.int32)
            _count(np.stack([hand_strengths(board) for board in boards[first : first + _AT_ONCE]]), counted)
            total += weight * counted
    rows = np.unique(CELLS, return_index=True)[1]
    sums = sum(total[name[rows]][:, name] for name in RENAMED_HANDS)
    known = sums // len(RENAMED_HANDS) - (comb(50, 5) - comb(48, 5))  # remove boards that only the other hand's cards exclude
    margins = np.where(_meet(rows, np.arange(NUM_HANDS)), known, 0)
    np.testing.assert_array_equal(np.load(PREFLOP_FILE)["margins"], margins)


@pytest.mark.parametrize("board", [pytest.param(FLOP_BOARD, marks=pytest.mark.slow), TURN_BOARD])
def test_checking_down_is_what_the_full_tree_gives(board: tuple[int, ...]) -> None:
    """Any strategy until the street ends, then checks: the full tree deals every card, the cut tree uses equities."""
    rules = NoLimitBetting(600, 50, 100, {3: FLOP, 4: TURN}[len(board)], 400, parse_menu("allin"))
    ranges = ranges_on(board, FIRST, SECOND)
    full, cut = build_hand_tree(None, rules, board, ranges), build_hand_tree(None, rules, board, ranges, depth=ROUND)
    assert len(cut) == full.blocks.node_start[1]
    np.testing.assert_array_equal(cut.kind == LEAF, (full.kind[: len(cut)] == DEALS) & (cut.kind != RUNS_OUT))
    assert (cut.kind == RUNS_OUT).sum() == 2
    assert [betting.pot for betting in cut.leaf_betting] == [400]
    start = cut.normalise(np.random.default_rng(0).random(cut.num_entries))
    checks = np.repeat(full.entry_action == CALL, np.diff(full.entry_offset)).astype(float)
    checks[: cut.num_entries] = start
    whole, limited = HandPasses(full, np.float64), HandPasses(cut, np.float64)
    start, checks = limited.entries(start), whole.entries(checks)
    reaches = [limited.reach(player, start) for player in (0, 1)]
    for player in (0, 1):
        expected = whole.values(player, checks, whole.reach(1 - player, checks))
        leaves = leaf_values(limited, CheckDownLeaves(), reaches)[player]
        found = limited.values(player, start, reaches[1 - player], leaves)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def test_leaves_are_worth_nothing_without_an_evaluator_but_all_in_hands_are_run_out() -> None:
    cut = build_hand_tree(None, SHORT_TURN, TURN_BOARD, ranges_on(TURN_BOARD), depth=ROUND)
    strategy = cut.uniform_strategy()
    found = {}
    for name, leaves in (("zero", None), ("equity", CheckDownLeaves())):
        passes = HandPasses(cut, np.float64)
        reaches = [passes.reach(player, strategy) for player in (0, 1)]
        passes.values(0, strategy, reaches[1], leaf_values(passes, leaves, reaches)[0])
        found[name] = [passes.node_values(0, node) for node in range(len(cut))]
    for node in np.flatnonzero(cut.kind != LEAF):
        if cut.kind[node] in (RUNS_OUT, FOLDS):
            np.testing.assert_array_equal(found["zero"][node], found["equity"][node])
            assert np.abs(found["zero"][node]).max() > 0
    leaf = int(np.flatnonzero(cut.kind == LEAF)[0])
    assert (found["zero"][leaf] == 0).all()
    assert np.abs(found["equity"][leaf]).max() > 0


def test_a_solution_stays_one_when_solved_leaves_stand_for_the_river() -> None:
    """The part of an equilibrium before the cut is an equilibrium of the cut game, with the same value."""
    ranges = ranges_on(TURN_BOARD, FIRST, SECOND)
    full, cut = (build_hand_tree(None, SHORT_TURN, TURN_BOARD, ranges, depth=depth) for depth in (None, ROUND))
    passes, strategy = solved(full, 200, None)
    exact = evaluate(passes, strategy)
    assert exact.exploitability < 0.3  # in chips; the pot is 400
    start = strategy[: cut.num_entries]
    found = evaluate(HandPasses(cut), start, SolvedHandLeaves(SHORT_TURN, 200))
    assert found.value == pytest.approx(exact.value, abs=1.0)
    assert found.exploitability < 1.0
    guessed = evaluate(HandPasses(cut), start, CheckDownLeaves())
    assert abs(guessed.value - exact.value) > 2.0  # so the river does matter


@pytest.mark.slow
def test_a_turn_is_solved_with_solved_leaves_to_the_value_of_the_full_tree() -> None:
    ranges = ranges_on(TURN_BOARD, FIRST, SECOND)
    full, cut = (build_hand_tree(None, SHORT_TURN, TURN_BOARD, ranges, depth=depth) for depth in (None, ROUND))
    passes, strategy = solved(full, 200, None)
    limited, start = solved(cut, 60, SolvedHandLeaves(SHORT_TURN, 40))
    assert evaluate(limited, start, SolvedHandLeaves(SHORT_TURN, 40)).value == pytest.approx(
        evaluate(passes, strategy).value, abs=4.0
    )


def test_jam_or_fold_with_ten_big_blinds() -> None:
    """The known equilibrium: the button jams about 58 % of hands, the big blind calls with about 37 %."""
    tree = build_hand_tree(None, JamOrFold(1_000, 50, 100), (), ranges_on(()), depth=ROUND)
    assert len(tree) == 5
    early, late = (evaluate(*solved(tree, iterations, CheckDownLeaves()), CheckDownLeaves()) for iterations in (10, 300))
    assert late.exploitability < min(0.1, 0.2 * early.exploitability)  # chips: 0.1 is 1 mbb
    _, strategy = solved(tree, 300, CheckDownLeaves())
    jams = tree.decision(strategy, 0)[1]
    calls = tree.decision(strategy, int(tree.children(0)[1]))[1]
    assert jams.mean() == pytest.approx(0.58, abs=0.02)
    assert calls.mean() == pytest.approx(0.375, abs=0.02)
    cells = {cell_name(*divmod(int(cell), 13)): cell for cell in np.unique(CELLS)}
    for name, jam, call in (("AA", 1, 1), ("A2o", 1, 1), ("22", 1, 1), ("72o", 0, 0), ("32o", 0, 0), ("65s", 1, 0)):
        of_cell = cells[name] == CELLS
        np.testing.assert_allclose(jams[of_cell], jam, atol=0.02)
        np.testing.assert_allclose(calls[of_cell], call, atol=0.02)


def test_sizes_and_depths_that_are_refused() -> None:
    before = NoLimitBetting(1_000, 50, 100, PREFLOP, 0, (1.0, ALL_IN))
    tree = build_hand_tree(None, before, (), ranges_on(()), depth=ROUND)
    assert tree.blocks.width(0) == NUM_HANDS
    assert num_hand_entries(before, (), ranges_on(()), depth=ROUND) == tree.num_entries
    with pytest.raises(TacitError, match="before the flop"):
        build_hand_tree(None, before, (), ranges_on(()))
    with pytest.raises(TacitError, match=r"not 2$"):
        build_hand_tree(None, SHORT_TURN, TURN_BOARD, ranges_on(TURN_BOARD), depth=2)
    with pytest.raises(TacitError, match="the tree ends there"):
        tree.find("call / check / check")
