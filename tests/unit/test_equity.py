"""Equities of ranges and the order of hands, against pokerkit's enumerations and published figures."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest

from tacit.cards.deck import NUM_CARDS, card_names, parse_cards
from tacit.cards.equity import preflop_order, range_equity
from tacit.cards.grid import CELLS, SIZE, cell_name
from tacit.cards.hands import NUM_HANDS, hand_index
from tacit.cards.ranges import parse_range, write_range
from tacit.errors import TacitError
from tests.command import tacit


@pytest.mark.parametrize(
    ("first", "second", "equity"),
    [
        # Wins plus half the ties over 1,712,304 boards, counted with an independent evaluator.
        ("AsAh", "KdKc", (1_388_072 + 6_538 / 2) / 1_712_304),
        ("AsKs", "QhQd", (787_966 + 6_732 / 2) / 1_712_304),
        ("7c2d", "AhKh", (521_448 + 8_354 / 2) / 1_712_304),
        ("AA", "KK", 0.81946),  # as poker calculators print it: averaged over suits
        ("AA", "random", 0.85204),
        ("72o", "random", 0.34584),
        ("32o", "random", 0.32303),
    ],
)
def test_known_equities_before_the_flop(first: str, second: str, equity: float) -> None:
    found = range_equity(parse_range(first), parse_range(second), ())
    assert found.num_boards == 1_712_304
    assert found.equity == pytest.approx(equity, abs=1e-12 if len(first) == 4 else 5e-6)


@pytest.mark.parametrize("board", ["3s7hTdKs", "3s7hTdKs2c"])
def test_equities_of_ranges_are_those_that_pokerkit_counts(board: str) -> None:
    kit = pytest.importorskip("pokerkit")
    first, second = {"AsQs": 1.0, "7d7c": 0.5, "KhJh": 0.25}, {"AhKd": 1.0, "9h8h": 0.75, "TsTc": 0.5, "QsJs": 1.0}
    shares: dict[str, list[float]] = {}
    total = weight = 0.0
    lying = parse_cards(board)
    for one, own in first.items():
        for other, faced in second.items():
            cards = {*lying, *parse_cards(one), *parse_cards(other)}
            if len(cards) < len(lying) + 4:
                continue
            rests = combinations([card for card in range(NUM_CARDS) if card not in cards], 5 - len(lying))
            hands = [
                [kit.StandardHighHand.from_game(hand, card_names((*lying, *rest))) for hand in (one, other)] for rest in rests
            ]
            share = sum((a > b) + 0.5 * (a == b) for a, b in hands) / len(hands)
            shares[one] = [sum(pair) for pair in zip(shares.get(one, [0.0, 0.0]), (faced * share, faced), strict=True)]
            total, weight = total + own * faced * share, weight + own * faced
    ranges = [parse_range(",".join(f"{hand}:{weight}" for hand, weight in part.items())) for part in (first, second)]
    found = range_equity(ranges[0], ranges[1], lying)
    assert found.equity == pytest.approx(total / weight, abs=1e-12)
    for hand, (won, met) in shares.items():
        assert found.hand_equity[0][hand_index(*parse_cards(hand))] == pytest.approx(won / met, abs=1e-12)
    assert np.isnan(found.hand_equity[0]).sum() == NUM_HANDS - 3
    back = range_equity(ranges[1], ranges[0], lying)
    assert back.equity == pytest.approx(1 - found.equity, abs=1e-12)


def test_hands_are_ordered_by_equity_against_a_random_hand() -> None:
    order, equity = preflop_order()
    names = [cell_name(*divmod(cell, SIZE)) for cell in order]
    assert names[:10] == ["AA", "KK", "QQ", "JJ", "TT", "99", "88", "AKs", "77", "AQs"]  # as published
    assert names[-1] == "32o"
    assert sorted(order) == list(range(169))
    assert (np.diff(equity[list(order)]) <= 1e-12).all()
    ace, random = parse_range("AKs"), np.ones(NUM_HANDS)
    assert equity[order[7]] == pytest.approx(range_equity(ace, random, ()).equity, abs=1e-12)


@pytest.mark.parametrize("share", [0.1, 0.4525, 5, 20, 33.3, 99.9, 100])
def test_the_top_is_as_much_as_it_says(share: float) -> None:
    weights = parse_range(f"top {share}%")
    assert weights.sum() == pytest.approx(share / 100 * NUM_HANDS)
    _, equity = preflop_order()
    inside, outside = equity[CELLS[weights == 1]], equity[CELLS[weights == 0]]
    assert not len(inside) or not len(outside) or inside.min() > outside.max()
    partly = np.unique(CELLS[(weights > 0) & (weights < 1)])
    assert len(partly) <= 1


def test_the_top_in_a_range() -> None:
    assert write_range(parse_range("top 20%")) == "55+,A3s+,K8s+,QTs+,A7o+,KTo+,K9o:0.1,QJo"
    assert write_range(parse_range("top 1.357466% , 72o:0.25")) == "QQ+,72o:0.25"
    assert write_range(parse_range("TOP1.357466%:0.5,AA,KK:0")) == "AA,QQ:0.5"


TOPS = ["top", "top%", "top 20", "20%", "top 0%", "top 100.1%", "top -5%", "top x%", "top 20%%", "top 5%-10%", "top 20% 72o"]


@pytest.mark.parametrize("text", TOPS)
def test_wrong_tops_are_refused_in_a_line(text: str) -> None:
    with pytest.raises(TacitError, match="as top 20%") as caught:
        parse_range(text)
    assert "\n" not in str(caught.value)


def test_the_command_prints_equities() -> None:
    shown = tacit("equity", "AA", "KK,QQ:0.5", "--board", "3s7hTd", "--hands")
    assert shown.returncode == 0
    assert "exact on 3s7hTd: all 990 boards" in shown.stdout
    assert "AcAd" in shown.stdout or "AdAc" in shown.stdout
    told = json.loads(tacit("equity", "AsAh", "KdKc", "--json", "--hands").stdout)
    assert told["equity"] == pytest.approx([0.8125548967940273, 1 - 0.8125548967940273], abs=1e-12)
    assert told["kind"] == "exact"
    assert told["hands"][0] == {"player": 0, "hand": "AsAh", "weight": 1.0, "equity": pytest.approx(told["equity"][0])}
    assert "hands" not in json.loads(tacit("equity", "AA", "KK", "--json").stdout)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("AA",), "Missing argument 'RANGE1'"),
        (("AA", "KK", "QQ"), "unexpected extra argument"),
        (("AA", ""), "range 1: the range is empty"),
        (("Ax", "KK"), "range 0: 'x' in 'Ax' is no rank"),
        (("AA", "KK:2"), "range 1: the weight 2 in 'KK:2' is not between 0 and 1"),
        (("AA", "top 0%"), "range 1: cannot read 'top0%'"),
        (("AsAh", "AsKs"), "no hand of one range can be held together with one of the other"),
        (("AA", "KK", "--board", "3s7h"), "--board must have 3, 4 or 5 cards, or none, not 2"),
        (("AA", "KK", "--board", "3s7hTdTd"), "Td comes twice"),
        (("AA", "KK", "--board", "3s7h1d"), "is no card"),
        (("AsAh", "KK", "--board", "As7hTd"), "range 0: no hand of the range can be held with As7hTd on the table"),
        (("AA", "KK", "--boards", "3"), "No such option"),
    ],
)
def test_wrong_uses_are_refused_in_a_line(arguments: tuple[str, ...], message: str) -> None:
    result = tacit("equity", *arguments)
    assert result.returncode == 2
    assert message.lower() in result.stderr.lower()
    assert result.stderr.count("\n") == 1
