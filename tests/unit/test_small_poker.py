"""Poker with a small deck: hands against pokerkit's evaluator, the direct builder against a walk over all histories."""

from collections import Counter
from dataclasses import dataclass
from itertools import combinations, pairwise

import pytest
from pokerkit import StandardHighHand

from tacit.errors import TacitError
from tacit.evaluation import evaluate
from tacit.games import load_game
from tacit.games.base import CHANCE, TERMINAL
from tacit.games.check import check_game
from tacit.games.small_poker import CALL, FOLD, RAISE, PokerState
from tacit.games.tplo import Tplo
from tacit.kernels import make_passes
from tacit.solvers.lp import solve_lp
from tacit.solvers.solve import solve
from tacit.tree.compiler import compile_game


@dataclass(frozen=True)
class ShortTplo(Tplo):
    """TPLO with six cards and fewer chips: small enough for a walk over all histories."""

    name = "short_tplo"
    ranks = "QKA"
    suits = "sh"
    stack = 300


@pytest.mark.parametrize(("cards", "filler"), [(1, "2c3d"), (2, "2c"), (3, "")])
def test_hands_are_ordered_as_in_poker(cards: int, filler: str) -> None:
    """Four ranks in three suits allow no straight, flush or four of a kind; low cards fill hands up to five."""
    game = Tplo(cards)
    board = (1, 8)
    left = [number for number, hand in enumerate(game.hands) if not set(hand) & set(board)]
    checked, found = 0, []
    for hand in left:
        ranks = Counter(card // 3 for card in (*game.hands[hand], *board))
        if sorted(ranks.values()) == [2, 3]:  # a full house, which counts as three of a kind here
            continue
        name = "".join(game.card_name(card) for card in (*game.hands[hand], *board)) + filler
        found.append((game.strength(hand, board), StandardHighHand(name)))
    for (ours, theirs), (our_other, their_other) in combinations(found, 2):
        assert (ours > our_other) == (theirs > their_other)
        assert (ours == our_other) == (theirs == their_other)
        checked += 1
    assert checked > 30


def test_the_higher_pair_counts_first_and_a_full_house_is_three_of_a_kind() -> None:
    game = Tplo(3)
    hand = {game.hand_name(number): number for number in range(len(game.hands))}
    board = (0, 3)  # Js Qs
    assert game.strength(hand["JhAsAh"], board) > game.strength(hand["QhKsKh"], board)  # aces up, kings up
    trips, house = game.strength(hand["JhJdAs"], board), game.strength(hand["JhJdQh"], board)
    assert trips > house > game.strength(hand["JhAsAh"], board)  # jacks with an ace, jacks with two queens


def test_bets_are_the_pot_up_to_all_in() -> None:
    game = Tplo(1)
    state, totals = PokerState((0, 1), ((),)), [100]
    for _ in range(4):
        state = game.apply(state, RAISE)
        totals.append(max(game.contributions(state)))
    assert totals == [100, 300, 900, 2_700, 5_000]
    assert game.legal_actions(state) == (FOLD, CALL)
    state = game.apply(state, CALL)
    for card in (2, 3):  # both cards come without further betting
        assert game.actor(state) == CHANCE
        state = game.apply(state, card)
    assert game.actor(state) == TERMINAL
    assert game.returns(state) == (0.0, 0.0)  # two jacks


def test_hands_and_boards_share_no_card_and_have_their_true_chances() -> None:
    game = Tplo(2)
    second = game.chance_outcomes(game.apply(game.initial_state(), 0))
    assert len(second) == 45
    dealt = game.apply(game.apply(game.initial_state(), 0), second[0][0])
    for action, left in ((CALL, 8), (CALL, 7)):
        dealt = game.apply(game.apply(dealt, action), CALL)
        outcomes = game.chance_outcomes(dealt)
        held = {*game.hands[dealt.cards[0]], *game.hands[dealt.cards[1]], *dealt.cards[2:]}
        assert held.isdisjoint(card for card, _ in outcomes)
        assert [chance for _, chance in outcomes] == [1 / left] * left
        dealt = game.apply(dealt, outcomes[0][0])


@pytest.mark.parametrize("cards", [1, 2])
def test_the_direct_builder_finds_what_a_walk_over_histories_finds(cards: int) -> None:
    game = ShortTplo(cards)
    report = check_game(game, max_histories=3_000)
    assert report.ok, report.violations
    direct, walked = compile_game(game), compile_game(game, direct=False)
    size = game.size()
    assert (size.public_states, size.infostates) == (direct.num_nodes, direct.num_infostates)
    assert (walked.num_nodes, walked.num_infostates) == (direct.num_nodes, direct.num_infostates)
    uniform = [evaluate(make_passes(tree), tree.uniform_strategy()) for tree in (direct, walked)]
    assert uniform[0].value == pytest.approx(uniform[1].value, abs=1e-9)
    assert uniform[0].best_response_values == pytest.approx(uniform[1].best_response_values, abs=1e-9)
    solved = solve(game, solver="dcfr", iterations=500)
    assert solved.value == pytest.approx(solve_lp(walked)[1], abs=solved.exploitability + 1e-6)
    assert solved.exploitability < 0.1  # of 300 chips


def test_the_size_of_tplo() -> None:
    tree = compile_game(load_game("tplo"))
    nodes = tree.require_nodes()
    assert int((nodes.actor >= 0).sum()) == 18_778  # its authors count about 18.8 thousand
    small, middle, large = (load_game(f"tplo(cards={cards})").size() for cards in (1, 2, 3))
    assert small.public_states == middle.public_states == large.public_states == tree.num_nodes
    assert all(a.infostates < b.infostates for a, b in pairwise((small, middle, large)))


@pytest.mark.parametrize("cards", [0, 4])
def test_only_one_two_or_three_cards(cards: int) -> None:
    with pytest.raises(TacitError, match="cards must be 1, 2 or 3"):
        load_game(f"tplo(cards={cards})")
