"""Hold'em endgames as trees over hands: against brute force, the generic compiler's best responses, and a linear program."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest

from tacit.cards import HANDS, NUM_HANDS, card_name, hand_index, hand_name, parse_cards, seven_card_strengths
from tacit.errors import TacitError
from tacit.evaluation import evaluate
from tacit.games import TERMINAL, Game
from tacit.games.base import CHANCE
from tacit.games.betting import DEAL, FLOP, FOLDED, RIVER, SHOWDOWN, TURN, Betting, BettingRules, NoLimitBetting
from tacit.games.sizes import parse_menu
from tacit.kernels import make_passes
from tacit.kernels.card_removal import LANES, NUM_CARDS, fold_values, showdown_values
from tacit.kernels.numba_hands import HandPasses
from tacit.solvers.lp import solve_lp
from tacit.solvers.schedules import find_schedule
from tacit.solvers.tabular import TabularDriver
from tacit.tree.compiler import compile_game
from tacit.tree.hand_builder import build_hand_tree, meeting_weight
from tacit.tree.hand_forest import join_hand_trees
from tacit.tree.hand_tree import HandTree
from tacit.tree.public_tree import Floats, PublicTree

RIVER_BOARD, TURN_BOARD = parse_cards("3s7hTdKs2c"), parse_cards("3s7hTdKs")
ONE_BET = NoLimitBetting(1_000, 50, 100, RIVER, 400, parse_menu("1|allin"))
TINY_FLOP = NoLimitBetting(300, 50, 100, FLOP, 400, parse_menu("allin"))
SHORT_TURN = NoLimitBetting(500, 50, 100, TURN, 400, parse_menu("allin"))


class State(NamedTuple):
    """Both players' hands once they are dealt, the board, and the betting."""

    hands: tuple[int, ...]
    board: tuple[int, ...]
    betting: Betting
    last: str


@dataclass(frozen=True)
class Endgame(Game[State]):
    """The same endgame from the rules, one hand against one, for the generic compiler."""

    name = "endgame"
    rules: BettingRules
    board: tuple[int, ...]
    ranges: tuple[Floats, Floats] = field(compare=False)

    def __str__(self) -> str:
        return "endgame"

    def initial_state(self) -> State:
        return State((), self.board, self.rules.start(), "")

    def actor(self, state: State) -> int:
        if not state.hands or (state.betting.actor in (DEAL, SHOWDOWN) and len(state.board) < 5):
            return CHANCE
        return TERMINAL if state.betting.actor in (FOLDED, SHOWDOWN) else state.betting.actor

    def chance_outcomes(self, state: State) -> Sequence[tuple[int, float]]:
        if not state.hands:
            deals = [(a, b) for a, b in product(*(np.flatnonzero(r) for r in self.ranges)) if not shares(a, b, self.board)]
            weights = np.array([self.ranges[0][a] * self.ranges[1][b] for a, b in deals])
            return [(int(a) * NUM_HANDS + int(b), w) for (a, b), w in zip(deals, weights / weights.sum(), strict=True)]
        gone = {*state.board, *HANDS[list(state.hands)].ravel().tolist()}
        return [(card, 1 / (NUM_CARDS - len(gone))) for card in range(NUM_CARDS) if card not in gone]

    def legal_actions(self, state: State) -> Sequence[int]:
        return self.rules.actions(state.betting)

    def apply(self, state: State, action: int) -> State:
        if not state.hands:
            return state._replace(hands=divmod(action, NUM_HANDS), last="")
        if self.actor(state) == CHANCE:
            betting = self.rules.deal(state.betting) if state.betting.actor == DEAL else state.betting
            return State(state.hands, (*state.board, action), betting, card_name(action))
        return state._replace(betting=self.rules.apply(state.betting, action), last=str(action))

    def returns(self, state: State) -> tuple[float, float]:
        betting = state.betting
        if betting.actor == FOLDED:
            won = betting.spent[1] if betting.folder == 1 else -betting.spent[0]
        else:
            first, second = (seven_card_strengths(np.array([*HANDS[hand], *state.board])) for hand in state.hands)
            won = betting.facing * (int(first > second) - int(first < second))
        return float(won), -float(won)

    def public_observation(self, state: State) -> str:
        return state.last

    def private_observation(self, state: State, player: int) -> str:
        return hand_name(state.hands[player]) if state.hands and not state.last else ""


def shares(first: int, second: int, board: tuple[int, ...] = ()) -> bool:
    cards = [*HANDS[first], *HANDS[second], *board]
    return len(set(cards)) < len(cards)


def some_hands(*hands: str) -> Floats:
    weights = np.zeros(NUM_HANDS)
    weights[[hand_index(*parse_cards(hand)) for hand in hands]] = 1.0
    return weights


FIRST = some_hands("KdKh", "KcQc", "TsTc", "5s5d", "AhAd", "9c8c", "7s6s", "4d4h")
SECOND = some_hands("KhQh", "3d3h", "JcJd", "5s5d", "Ac2d", "9s8s", "7d6d", "KdQd")
SECOND[hand_index(*parse_cards("JcJd"))] = 0.25


def solved(tree: HandTree, iterations: int, solver: str = "dcfr", dtype: type = np.float64) -> tuple[HandPasses, Floats]:
    passes = HandPasses(tree, dtype)
    learner = TabularDriver(passes, find_schedule(solver))
    for _ in range(iterations):
        learner.step()
    return passes, learner.average_strategy()


def as_public(tree: HandTree, public: PublicTree, strategy: Floats) -> Floats:
    """Returns a strategy over hands as a strategy of the generic tree."""
    place = {}
    for spot in tree.decision_spots:
        steps = [card_name(what) if player < 0 else str(what) for player, what in tree.path(spot)]
        for lane, hand in enumerate(tree.hands(spot).tolist()):
            place[int(tree.actor[spot.node]), " ".join(steps), hand_name(hand)] = (spot.node, lane)
    spread = np.zeros(public.num_entries)
    for infostate in range(public.num_infostates):
        player, told, private = public.infostate_label(infostate)
        node, lane = place[player, " ".join(told.split()) if told != "-" else "", private]
        entries = slice(public.entry_start[infostate], public.entry_start[infostate + 1])
        spread[entries] = tree.decision(strategy, node)[:, lane]
    return spread


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-9), (np.float32, 2e-2)])
def test_folds_and_showdowns_are_those_of_all_pairs(dtype: type, tolerance: float) -> None:
    tree = build_hand_tree(None, ONE_BET, RIVER_BOARD, (np.ones(NUM_HANDS),) * 2)
    blocks, size = tree.blocks, tree.blocks.width(0)
    assert size == 47 * 46 // 2
    cards, generator = blocks.cards[:size].astype(int), np.random.default_rng(0)
    reach, amount = generator.random((size, LANES)).astype(dtype), generator.random((1, LANES)).astype(dtype)
    strength = seven_card_strengths(np.concatenate([cards, np.tile(RIVER_BOARD, (size, 1))], axis=1)).astype(int)
    meets = ~(cards[:, None, :, None] == cards[None, :, None, :]).any((2, 3))
    beats = np.sign(strength[:, None] - strength[None]) * meets
    found, room = np.empty_like(reach), np.empty((NUM_CARDS, LANES), dtype)
    tie = blocks.tie[:size].astype(int)
    fold_values(reach, blocks.cards[:size], np.arange(size), blocks.cards[:size], amount, room, found)
    np.testing.assert_allclose(found, amount * (meets @ reach.astype(np.float64)), atol=tolerance, rtol=0)
    ranks = tie, np.searchsorted(tie, tie, side="right")
    showdown_values(reach, blocks.cards[:size], ranks, blocks.cards[:size], amount, room, found)
    np.testing.assert_allclose(found, amount * (beats @ reach.astype(np.float64)), atol=tolerance, rtol=0)


def test_the_weight_of_all_pairs() -> None:
    generator = np.random.default_rng(1)
    first, second = generator.random((2, NUM_HANDS))
    pairs = ~(HANDS[:, None, :, None] == HANDS[None, :, None, :]).any((2, 3))
    assert meeting_weight(first, second, np.arange(len(HANDS))) == pytest.approx(first @ pairs @ second, rel=1e-12)


@pytest.mark.parametrize(("rules", "board"), [(ONE_BET, RIVER_BOARD), (SHORT_TURN, TURN_BOARD), (TINY_FLOP, TURN_BOARD[:3])])
def test_values_and_best_responses_are_those_of_the_generic_tree(rules: BettingRules, board: tuple[int, ...]) -> None:
    """Any strategy must have the same value and exact exploitability in both trees."""
    few = {5: (99, 99), 4: (4, 3), 3: (2, 2)}[len(board)]  # the ranges keep their first hands, up to this total weight
    first, second = FIRST * (np.cumsum(FIRST) < few[0]), SECOND * (np.cumsum(SECOND) < few[1])
    tree = build_hand_tree(None, rules, board, (first, second))
    public = compile_game(Endgame(rules, board, (first, second)))
    generator = np.random.default_rng(0)
    for strategy in (tree.uniform_strategy(), tree.normalise(generator.random(tree.num_entries) ** 3), solved(tree, 30)[1]):
        ours = evaluate(HandPasses(tree, np.float64), strategy)
        theirs = evaluate(make_passes(public), as_public(tree, public, strategy))
        assert ours.value == pytest.approx(theirs.value, abs=1e-9 * rules.stack)
        np.testing.assert_allclose(ours.best_response_values, theirs.best_response_values, atol=1e-9 * rules.stack)


@pytest.mark.parametrize("solver", ["dcfr", "cfr+", "linear-cfr", "pcfr+", "flop"])
def test_a_river_is_solved_to_the_value_of_the_linear_program(solver: str) -> None:
    tree = build_hand_tree(None, ONE_BET, RIVER_BOARD, (FIRST, SECOND))
    _, exact = solve_lp(compile_game(Endgame(ONE_BET, RIVER_BOARD, (FIRST, SECOND))))
    passes, strategy = solved(tree, 600, solver)
    quality = evaluate(passes, strategy)
    assert quality.value == pytest.approx(exact, abs=1.0)  # in chips; the pot is 400
    assert quality.exploitability < (4.0 if solver == "flop" else 0.5)
    single = evaluate(passes, solved(tree, 600, solver, np.float32)[1])
    assert single.exploitability == pytest.approx(quality.exploitability, abs=0.3)


def test_hands_keep_their_names_through_a_deal() -> None:
    tree = build_hand_tree(None, SHORT_TURN, TURN_BOARD, (FIRST, SECOND))
    blocks = tree.blocks
    assert len(blocks.board) == 1 + 48
    held = np.flatnonzero((FIRST > 0) | (SECOND > 0))
    assert set(blocks.hands(0)) == {hand for hand in held if not np.isin(HANDS[hand], TURN_BOARD).any()}
    for block in (1, 30, 48):
        lanes = slice(blocks.lane_start[block], blocks.lane_start[block + 1])
        np.testing.assert_array_equal(blocks.hands(0)[blocks.above[lanes]], blocks.hands(block))
        assert not np.isin(blocks.cards[lanes], blocks.board[block]).any()


@pytest.mark.parametrize("solver", ["dcfr", "flop"])
def test_the_trees_of_a_forest_are_solved_as_if_alone(solver: str) -> None:
    full = (np.ones(NUM_HANDS), np.ones(NUM_HANDS))
    trees = [
        build_hand_tree(None, SHORT_TURN, TURN_BOARD, (FIRST, SECOND)),
        build_hand_tree(None, ONE_BET, RIVER_BOARD, full),
        build_hand_tree(None, replace(SHORT_TURN, stack=800), parse_cards("2s2hTcKs"), full),
    ]
    alone, together = ([TabularDriver(HandPasses(tree, np.float64), find_schedule(solver)) for tree in part]
                       for part in (trees, [join_hand_trees(trees)]))  # fmt: skip
    for learner in (*alone, *together):
        for _ in range(3):
            learner.step()
    for name in together[0].state():
        assert np.array_equal(np.concatenate([learner.state()[name] for learner in alone]), together[0].state()[name])
    values = [evaluate(learner.passes, learner.average_strategy()).value for learner in (*alone, *together)]
    assert sum(values[:3]) == pytest.approx(values[3], abs=1e-9)


def test_ranges_that_exclude_each_other_are_refused() -> None:
    only = some_hands("AsAd")
    with pytest.raises(TacitError, match="no hand of one range"):
        build_hand_tree(None, ONE_BET, RIVER_BOARD, (only, only))
