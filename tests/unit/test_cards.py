"""Cards, hands and strengths, checked against well-known counts and an independent evaluator."""

import numpy as np
import pytest

from tacit.cards import HANDS, NUM_HANDS, card_name, hand_index, hand_name, hand_strengths, parse_cards, seven_card_strengths
from tacit.cards.hands import possible_hands
from tacit.cards.strength import IMPOSSIBLE, strength_tables
from tacit.errors import TacitError

CATEGORIES = (
    "high card", "pair", "two pair", "three of a kind", "straight", "flush", "full house", "four of a kind", "straight flush",
)  # fmt: skip


def test_cards_and_hands_have_names() -> None:
    assert [card_name(card) for card in (0, 51)] == ["2c", "As"]
    assert parse_cards("3s7hTd Ks") == tuple(
        4 * "23456789TJQKA".index(r) + "cdhs".index(s) for r, s in ("3s", "7h", "Td", "Ks")
    )
    assert NUM_HANDS == 1_326
    assert all(hand_index(*cards) == hand for hand, cards in enumerate(HANDS))
    assert hand_name(hand_index(*parse_cards("KdAs"))) == "AsKd"
    assert possible_hands(parse_cards("3s7hTdKs")).sum() == 48 * 47 // 2


@pytest.mark.parametrize(("text", "message"), [("3x", "'3x' in '3x' is no card"), ("K", "no card"), ("KsKs", "Ks comes twice")])
def test_what_is_no_card_is_refused(text: str, message: str) -> None:
    with pytest.raises(TacitError, match=message):
        parse_cards(text)


def test_there_are_7462_kinds_of_five_cards() -> None:
    category = strength_tables().category
    assert np.bincount(category).tolist() == [1_277, 2_860, 858, 858, 10, 1_277, 156, 156, 10]
    assert (np.diff(category) >= 0).all()


@pytest.mark.parametrize(
    ("cards", "category"),
    [
        ("As2d3h4c5s9dKd", "straight"), ("AsKsQsJsTs2d2h", "straight flush"), ("As2s3s4s5s6d7d", "straight flush"),
        ("AsAdAhKsKdKh2c", "full house"), ("2s2d2h2cAsAdAh", "four of a kind"), ("2s4s6s8sTs2d2h", "flush"),
        ("AsAdKsKdQsQd2h", "two pair"), ("AsKdQhJc9s8d7h", "high card"),
    ],
)  # fmt: skip
def test_seven_cards_make_their_best_hand(cards: str, category: str) -> None:
    strength = seven_card_strengths(np.array(parse_cards(cards)))
    assert CATEGORIES[strength_tables().category[strength]] == category


def test_strengths_order_hands_like_another_evaluator() -> None:
    evaluate_cards = pytest.importorskip("phevaluator").evaluate_cards
    cards = np.argsort(np.random.default_rng(0).random((20_000, 52)), axis=1)[:, :7]
    ours = seven_card_strengths(cards)
    theirs = np.array([evaluate_cards(*(card_name(card) for card in hand)) for hand in cards])  # 1 is the best of 7,462
    np.testing.assert_array_equal(ours, 7_462 - theirs)


def test_all_hands_of_a_board_at_once() -> None:
    for board in ("3s7hTdKsAs", "2s5s9sKsAs", "2c2d2h2sAs", "AsKsQs2d3d"):
        cards = parse_cards(board)
        strengths, possible = hand_strengths(cards), possible_hands(cards)
        assert (strengths[~possible] == IMPOSSIBLE).all()
        seven = np.concatenate([HANDS[possible], np.tile(cards, (int(possible.sum()), 1))], axis=1)
        np.testing.assert_array_equal(strengths[possible], seven_card_strengths(seven))


@pytest.mark.slow
def test_all_seven_card_hands_are_counted_right() -> None:
    """All 133,784,560 hands: three fixed cards at a time, with every choice of the four higher ones."""
    tables, counts, seen = strength_tables(), np.zeros(9, np.int64), np.zeros(7_462, bool)
    high, low = np.triu_indices(52, 1)
    pairs = np.stack([high, low], axis=1)  # each pair in ascending order
    for first in range(46):
        for second in range(first + 1, 47):
            for third in range(second + 1, 48):
                fours = pairs[pairs[:, 0] > third]
                # The last four cards: two pairs, the second entirely above the first.
                left, right = np.nonzero(fours[:, 1][:, None] < fours[:, 0][None, :])
                if not len(left):
                    continue
                rest = np.concatenate([fours[left], fours[right]], axis=1)
                cards = np.concatenate([np.tile([first, second, third], (len(rest), 1)), rest], axis=1)
                found = seven_card_strengths(cards)
                counts += np.bincount(tables.category[found], minlength=9)
                seen[found] = True
    assert counts.tolist() == [
        23_294_460, 58_627_800, 31_433_400, 6_461_620, 6_180_020, 4_047_644, 3_473_184, 224_848, 41_584,
    ]  # fmt: skip
    assert counts.sum() == 133_784_560
    assert seen.sum() == 4_824


def test_hands_that_share_aces_with_the_board_are_impossible_and_do_no_harm() -> None:
    strength = hand_strengths(parse_cards("AsAhAdKsKh"))
    assert strength[hand_index(*parse_cards("AsAh"))] == -1
    assert strength[hand_index(*parse_cards("AcKd"))] == strength.max()
