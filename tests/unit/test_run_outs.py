"""Values of hands that are checked down, against brute force over boards, published odds and other streets."""

from itertools import combinations
from math import comb

import numpy as np
import pytest

from tacit.cards import NUM_HANDS, hand_index, parse_cards
from tacit.cards.deck import NUM_CARDS
from tacit.cards.equity import win_chances
from tacit.cards.hands import HANDS, meetings, possible_hands
from tacit.cards.run_outs import leads, run_out_margins
from tacit.cards.strength import hand_strengths, seven_card_strengths


def hand(text: str) -> int:
    return hand_index(*parse_cards(text))


def only(text: str) -> np.ndarray:
    weights = np.zeros(NUM_HANDS)
    weights[hand(text)] = 1.0
    return weights


def test_a_pair_before_the_flop_equals_all_its_boards() -> None:
    first, second = parse_cards("8h7h"), parse_cards("AsKh")
    left = [card for card in range(NUM_CARDS) if card not in (*first, *second)]
    boards = np.fromiter((card for board in combinations(left, 5) for card in board), np.int16).reshape(-1, 5)
    assert len(boards) == comb(48, 5)
    found = 0
    for part in np.array_split(boards, 40):
        strengths = [seven_card_strengths(np.hstack([np.tile(cards, (len(part), 1)), part])) for cards in (first, second)]
        found += int((strengths[0] > strengths[1]).sum()) - int((strengths[0] < strengths[1]).sum())
    assert run_out_margins(())[hand("8h7h"), hand("AsKh")] * comb(48, 5) == pytest.approx(found, abs=1e-6)


def test_published_odds_before_the_flop() -> None:
    """Well-known equities, with ties as half: hands against a random one, and aces against kings."""
    table = run_out_margins(())
    np.testing.assert_allclose(table, -table.T)
    against_any = 0.5 + 0.5 * table.sum(axis=1) / 1_225
    assert against_any[hand("AcAd")] == pytest.approx(0.8520, abs=5e-5)
    assert against_any[hand("3c2d")] == pytest.approx(0.3230, abs=5e-5)
    assert against_any[hand("7c2d")] == pytest.approx(0.3458, abs=5e-5)
    assert 0.5 + 0.5 * table[hand("AcAd"), hand("KhKs")] == pytest.approx(0.8126, abs=5e-5)
    assert 0.5 + 0.5 * table[hand("AhAs"), hand("KhKs")] == pytest.approx(0.8264, abs=5e-5)


@pytest.mark.parametrize("board", ["3s7hTd", "3s7hTdKs", "3s7hTdKs2c", "AsAhAdAc2c"])
def test_leads_equal_a_plain_count_of_boards(board: str) -> None:
    cards, held = parse_cards(board), hand("JcJd")
    dead = (*cards, *parse_cards("JcJd"))
    left = [card for card in range(NUM_CARDS) if card not in dead]
    won, seen = np.zeros(NUM_HANDS), np.zeros(NUM_HANDS)
    for rest in combinations(left, 5 - len(cards)):
        strength = hand_strengths((*cards, *rest))
        won += (strength >= 0) * (np.sign(strength.astype(int) - strength[held]))
        seen += strength >= 0
    met = possible_hands(dead)
    np.testing.assert_allclose(leads(cards, only("JcJd"))[met], won[met] / seen[met], atol=1e-12)
    np.testing.assert_allclose(win_chances(held, cards)[met], 0.5 - 0.5 * won[met] / seen[met], atol=1e-12)
    assert not win_chances(held, cards)[~met].any()


def test_the_mean_over_the_next_card_is_the_value_before_it() -> None:
    """This holds for pairs of ranges; AIVAT relies on it when it values only the card that came."""
    board, generator = parse_cards("3s7hTd"), np.random.default_rng(3)
    first, second = (generator.random(NUM_HANDS) * possible_hands(board) for _ in range(2))
    total = 0.0
    for card in range(NUM_CARDS):
        if card not in board:
            after, left = (*board, card), possible_hands((*board, card))
            total += float((first * left) @ leads(after, second * left)) / 45
    assert total == pytest.approx(float(first @ leads(board, second)), rel=1e-12)


def test_meetings_leave_out_shared_cards() -> None:
    weights = np.random.default_rng(0).random(NUM_HANDS)
    shares = (HANDS[:, None, :, None] == HANDS[None, :, None, :]).any(axis=(2, 3))
    np.testing.assert_allclose(meetings(weights), ~shares @ weights)
