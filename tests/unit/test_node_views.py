"""Views of a solve against brute force over all histories and all pairs of hands, and against pokerkit's equities."""

from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.cards import HANDS, hand_name, parse_cards, seven_card_strengths
from tacit.cards.ranges import parse_range
from tacit.errors import TacitError
from tacit.evaluation import StrategyViews
from tacit.games import CHANCE, TERMINAL
from tacit.games.betting import DEAL, FOLDED, RIVER, SHOWDOWN, TURN, BettingRules, NoLimitBetting
from tacit.games.sizes import parse_menu
from tacit.tree.base import Spot, Strategy
from tacit.tree.compiler import compile_game
from tacit.tree.hand_builder import build_hand_tree
from tacit.tree.hand_strategy import HandStrategy
from tacit.tree.navigate import NOWHERE, Navigator, Place
from tacit.tree.node_view import NodeView
from tacit.tree.observations import resolve_chance
from tacit.tree.public_tree import NO_ACTION, PublicTree
from tests.oracles import best_response_value
from tests.random_games import RandomGame

Key = tuple[Any, int, str]
"""A public state, a player and a private state."""


class Tally:
    """Sums over all terminal histories of a game, each weighted by its probability."""

    def __init__(self) -> None:
        self.likely: dict[Key, float] = defaultdict(float)
        self.won: dict[Key, float] = defaultdict(float)
        self.reach: dict[Key, float] = {}
        self.at: dict[Any, float] = defaultdict(float)

    def add(self, stops: list[tuple[Any, tuple[str, str], tuple[float, float]]], probability: float, won: float) -> None:
        """Adds a terminal history: the public states on its way, with both private states and own reaches at each."""
        for state, private, reaches in stops:
            self.at[state] += probability
            for player, sign in enumerate((1.0, -1.0)):
                key = state, player, private[player]
                self.likely[key] += probability
                self.won[key] += sign * probability * won
                self.reach[key] = reaches[player]

    def check(self, state: Any, view: NodeView) -> None:
        """Asserts that a view agrees with the sums."""
        assert view.probability == pytest.approx(self.at[state], abs=1e-12)
        for player, one in enumerate(view.players):
            assert one.infostate_value is not None
            keys = [(state, player, name) for name in one.names]
            held = {key for key in self.reach if key[:2] == (state, player) and self.reach[key] > 0}
            assert held == set(keys)
            np.testing.assert_allclose(one.reach, [self.reach[key] for key in keys], atol=1e-12)
            possible = np.array([self.likely[key] > 0 for key in keys], bool)
            np.testing.assert_array_equal(~np.isnan(one.infostate_value), possible)
            if self.at[state] > 0:
                np.testing.assert_allclose(one.weight, [self.likely[key] / self.at[state] for key in keys], atol=1e-12)
            expected = [self.won[key] / self.likely[key] for key in keys if self.likely[key] > 0]
            np.testing.assert_allclose(one.infostate_value[possible], expected, atol=1e-9)


def by_histories(tree: PublicTree, strategy: np.ndarray) -> Tally:
    """Returns the sums of a walk by the rules through every history."""
    game, navigator, tally = tree.game, Navigator(tree), Tally()

    def walk(arrival: Any, place: Place, stops: list[Any], probability: float, reaches: tuple[float, float]) -> None:
        if arrival.actor == TERMINAL:
            tally.add(stops, probability, game.returns(arrival.state)[0])
            return
        private = tree.private_label(0, place.rows[0]), tree.private_label(1, place.rows[1])
        stops = [*stops, (place.node, private, reaches)]
        first = tree.entry_start[navigator.infostate(place)]
        for number, action in enumerate(game.legal_actions(arrival.state)):
            share = float(strategy[first + number])
            after = reaches[0] * (share if arrival.actor == 0 else 1.0), reaches[1] * (share if arrival.actor == 1 else 1.0)
            for below in resolve_chance(game, game.apply(arrival.state, action)):
                on = place if below.actor == TERMINAL else navigator.follow(place, arrival.actor, action, below)
                walk(below, on, stops, probability * share * below.chance, after)

    for arrival in resolve_chance(game, game.initial_state()):
        walk(arrival, navigator.follow(NOWHERE, CHANCE, NO_ACTION, arrival), [], arrival.chance, (1.0, 1.0))
    return tally


def some_strategy(tree: Any, seed: int, pure: float = 0.2) -> Strategy:
    """Returns a random strategy that never takes some of the actions."""
    generator = np.random.default_rng(seed)
    weights = generator.random(tree.num_entries) * (generator.random(tree.num_entries) > pure)
    strategy: Strategy = tree.strategy(tree.normalise(weights))
    return strategy


@pytest.mark.parametrize(
    "game",
    [
        tacit.load_game("kuhn_poker"),
        tacit.load_game("leduc_poker"),
        RandomGame(seed=3, numbering="typed"),
        RandomGame(seed=5, length=4, roots=2, numbering="shuffled"),
        RandomGame(seed=8, length=4, hidden=False, draws=False),
    ],
    ids=str,
)
def test_views_are_sums_over_all_histories(game: Any) -> None:
    tree = compile_game(game)
    for pure in (0.0, 0.5):
        strategy = some_strategy(tree, 1, pure)
        tally = by_histories(tree, strategy.probabilities)
        for spot, view in zip(tree.decision_spots, StrategyViews(strategy), strict=True):
            tally.check(spot.node, view)
            assert tree.find(view.line) == spot
            np.testing.assert_allclose(np.nansum(view.strategy, axis=1), 1.0)
            for decision in view:
                assert sum(decision.probabilities.values()) == pytest.approx(1.0)


def by_pairs(strategy: HandStrategy, rules: BettingRules, board: tuple[int, ...], ranges: tuple[Any, Any]) -> Tally:
    """Returns the sums of playing every pair of hands through the betting rules and every card."""
    tree, tally = strategy.tree, Tally()
    played = cache(strategy.played)
    strength = cache(lambda hand, board: int(seven_card_strengths(np.array([*HANDS[hand], *board]))))

    def walk(hands: Any, spot: Spot, betting: Any, lie: Any, stops: list[Any], probability: float, reaches: Any) -> None:
        if betting.actor == FOLDED:
            tally.add(stops, probability, betting.spent[1] if betting.folder == 1 else -betting.spent[0])
        elif betting.actor == SHOWDOWN and len(lie) == 5:
            first, second = (strength(hand, lie) for hand in hands)
            tally.add(stops, probability, betting.facing * (int(first > second) - int(first < second)))
        elif betting.actor in (DEAL, SHOWDOWN):
            left = [card for card in range(52) if card not in {*lie, *HANDS[list(hands)].ravel().tolist()}]
            on = rules.deal(betting) if betting.actor == DEAL else betting
            for card in left:
                below = tree.after(spot, card)
                walk(hands, below, on, (*lie, card), stops, probability / len(left), reaches)
        else:
            stops = [*stops, (spot, (hand_name(hands[0]), hand_name(hands[1])), reaches)]
            for action, shares in zip(tree.actions(spot.node), played(spot), strict=True):
                share = float(shares[hands[betting.actor]])
                after = [reach * (share if player == betting.actor else 1.0) for player, reach in enumerate(reaches)]
                walk(hands, tree.after(spot, action), rules.apply(betting, action), lie, stops, probability * share, after)

    pairs = [
        pair for pair in product(*map(np.flatnonzero, ranges)) if len({*HANDS[list(pair)].ravel(), *board}) == len(board) + 4
    ]
    weights = [ranges[0][first] * ranges[1][second] for first, second in pairs]
    for (first, second), weight in zip(pairs, weights, strict=True):
        start = ranges[0][first], ranges[1][second]
        walk((int(first), int(second)), Spot(), rules.start(), board, [], weight / sum(weights), start)
    return tally


@pytest.mark.parametrize(
    ("board", "ranges", "bets"),
    [
        ("3s7hTdKs2c", ("KK,QJs:0.5,A5s,33", "AK:0.25,TT,65s"), "1|allin"),
        (
            "3s7sTsKs",
            ("AA,Q2s:0.5", "QQ,54s"),
            "allin",
        ),  # clubs, diamonds and hearts are equivalent: one block for each orbit of cards
    ],
)
def test_views_of_holdem_are_sums_over_all_pairs_of_hands(board: str, ranges: tuple[str, str], bets: str) -> None:
    cards = parse_cards(board)
    rules = NoLimitBetting(500, 50, 100, RIVER if len(cards) == 5 else TURN, 400, parse_menu(bets))
    weights = parse_range(ranges[0]), parse_range(ranges[1])
    tree = build_hand_tree(None, rules, cards, weights)
    strategy = some_strategy(tree, 2)
    assert isinstance(strategy, HandStrategy)
    tally = by_pairs(strategy, rules, cards, weights)
    views, spots = StrategyViews(strategy), tree.decision_spots
    assert len(tree.blocks.board) < len({tree.board(spot) for spot in spots}) or len(cards) == 5
    for spot in spots if len(cards) == 5 else [*spots[:12], *spots[12::7]]:
        tally.check(spot, views.view(spot))


def kit_equity(hand: str, board: str, others: dict[str, float]) -> float:
    """Returns pokerkit's equity of a hand against weighted hands, with ties as half."""
    kit = pytest.importorskip("pokerkit")
    deck = [f"{rank}{suit}" for rank in "23456789TJQKA" for suit in "cdhs"]
    won = met = 0.0
    for other, weight in others.items():
        known = {text[place : place + 2] for text in (hand, board, other) for place in range(0, len(text), 2)}
        if len(known) < (len(hand) + len(board) + len(other)) // 2:
            continue
        rivers = [card for card in deck if card not in known] if len(board) == 8 else [""]
        for river in rivers:
            first, second = (kit.StandardHighHand.from_game(cards, board + river) for cards in (hand, other))
            won += weight * (1.0 if first > second else 0.5 if first == second else 0.0) / len(rivers)
        met += weight
    return won / met


@pytest.mark.parametrize(("board", "line"), [("3s7hTdKs2c", "check"), ("3s7hTdKs", "")])
def test_equities_are_those_of_pokerkit(board: str, line: str) -> None:
    cards = parse_cards(board)
    rules = NoLimitBetting(500, 50, 100, RIVER if len(cards) == 5 else TURN, 400, parse_menu("1|allin"))
    tree = build_hand_tree(None, rules, cards, (parse_range("KK,QJs:0.5,A5s"), parse_range("AKs:0.25,TT,65s,QJs")))
    view = some_strategy(tree, 4).at(line)
    for player in (0, 1):
        other = view.players[1 - player]
        weights = dict(zip(other.names, other.reach.tolist(), strict=True))
        equity = view.players[player].equity
        assert equity is not None
        for place in range(0, len(equity), 3 if len(cards) == 5 else 6):
            expected = kit_equity(view.players[player].names[place], board, weights)
            assert equity[place] == pytest.approx(expected, abs=1e-12)
    first, second = (one.mean(one.equity) for one in view.players)
    assert first + second == pytest.approx(1.0, abs=1e-12)


def test_a_hand_that_meets_no_other_has_no_value_and_no_equity() -> None:
    rules, cards = NoLimitBetting(500, 50, 100, RIVER, 400, parse_menu("allin")), parse_cards("3s7hTdKs2c")
    tree = build_hand_tree(None, rules, cards, (parse_range("AA,QsQh"), parse_range("QsQd,QhQd:0.3")))
    view = StrategyViews(tree.strategy(tree.uniform_strategy())).at("")
    blocked = view["QsQh"]
    assert (blocked.reach, blocked.weight) == (1.0, 0.0)
    assert np.isnan([blocked.infostate_value, blocked.equity]).all()
    assert view["AsAd"].equity == 1.0
    assert view.values == (pytest.approx(-view.values[1]), pytest.approx(-view.values[0])) if view.values else False


def test_phantom_games_are_told_infostate_by_infostate() -> None:
    """Views match a walk over every history of OpenSpiel's own states."""
    spiel = pytest.importorskip("pyspiel")
    strategy = some_strategy(compile_game(tacit.load_game("openspiel:dark_hex(board_size=2)")), 6)
    tree = strategy.tree
    assert isinstance(tree, PublicTree)
    assert tree.nodes is None
    number = {(int(tree.infostate_player[s]), tree.infostate_label(s)[2]): s for s in range(tree.num_infostates)}
    tally = Tally()

    def walk(state: Any, stops: list[Any], probability: float, reaches: tuple[float, float]) -> None:
        if state.is_terminal():
            tally.add(stops, probability, state.returns()[0])
            return
        player = state.current_player()
        name = state.information_state_string()
        infostate = number[player, name]
        stops = [*stops, ((player, name), (name, name), reaches)]
        for place, action in enumerate(state.legal_actions()):
            share = float(strategy.probabilities[tree.entry_start[infostate] + place])
            after = reaches[0] * (share if player == 0 else 1.0), reaches[1] * (share if player == 1 else 1.0)
            walk(state.child(action), stops, probability * share, after)

    walk(spiel.load_game("dark_hex(board_size=2)").new_initial_state(), [], 1.0, (1.0, 1.0))
    told = list(StrategyViews(strategy).decisions())
    assert {(one.player, one.private) for one in told} == {
        key[0] for key, reach in tally.reach.items() if reach > 0 and key[0][0] == key[1]
    }
    for one in told:
        key = (one.player, one.private), one.player, one.private
        assert one.reach == pytest.approx(tally.reach[key])
        if tally.likely[key] > 0:
            assert one.infostate_value == pytest.approx(tally.won[key] / tally.likely[key])
    with pytest.raises(TacitError, match="the player to act is not public"):
        strategy.at("")


def lines(name: str) -> Iterator[str]:
    tree = compile_game(tacit.load_game(name))
    return (tree.label(spot) for spot in tree.decision_spots)


def test_lines_name_every_public_state() -> None:
    assert list(lines("modified_rps")) == ["", "-"]
    assert set(lines("goofspiel(cards=3)")) == {
        "",
        "-",
        *(f"- / {end}{on}" for end in ("tie", "first wins", "second wins") for on in ("", " / -")),
    }
    tree = compile_game(tacit.load_game("goofspiel(cards=3)"))
    assert tree.find("tie") == tree.find("- / tie")  # silent steps may be left out
    roots = compile_game(RandomGame(seed=5, roots=2))
    assert [roots.label(spot) for spot in roots.decision_spots[:2]] == ["deal 0", "deal 1"]
    with pytest.raises(TacitError, match="starts in one of 2 ways: choose one of deal 0, deal 1"):
        roots.find("")
    with pytest.raises(TacitError, match="no 'deal 7' after the start: choose one of deal 0, deal 1"):
        roots.find("deal 7")
    pytest.importorskip("pyspiel")
    spiel = list(lines("openspiel:leduc_poker"))
    assert len(set(spiel)) == len(spiel) == 186
    assert {"Call", "Raise / Call (6)"} <= {*spiel}


def test_a_result_answers_questions() -> None:
    result = tacit.solve("kuhn_poker", iterations=100)
    assert repr(result).startswith("<kuhn_poker by dcfr, 100 iterations: value -0.05")
    assert repr(result.strategy) == "<strategy of kuhn_poker: 12 infostates>"
    assert repr(result.strategy.tree) == "<tree of kuhn_poker: 9 public states, 12 infostates>"
    assert "exploitability" in repr(result.quality)
    decision = result.strategy[0, "check / bet", "Q"]
    assert decision["call"] == decision.probabilities["call"] == pytest.approx(2 / 3, abs=0.4)
    view = result.show("check / bet")
    assert view["Q"].infostate_value == pytest.approx(-1.0, abs=0.05)  # indifferent between folding and calling
    assert view.next_steps == ["fold", "call"]
    assert view.values is not None
    assert view.values[0] == pytest.approx(-view.values[1])
    assert result.show().values == (pytest.approx(result.value), pytest.approx(-result.value))
    first, second = result.beliefs("bet")
    assert first["K"] / first["J"] == pytest.approx(3.0, abs=0.5)  # kings bet three times as often as jacks (Kuhn 1950)
    assert sum(second.probabilities) == pytest.approx(1.0)
    assert first["A"] == 0.0
    assert repr(first).startswith("<belief about player 0: K 0.")
    tree = result.strategy.tree
    assert isinstance(tree, PublicTree)
    for player in (0, 1):
        response = result.best_response(player)
        assert response.value == pytest.approx(best_response_value(tree, result.strategy.probabilities, player))
        assert response.value == pytest.approx(result.quality.best_response_values[player])
        worth = StrategyViews(response.strategy).at("").values
        assert worth is not None
        assert worth[player] == pytest.approx(response.value)
        assert repr(response) == f"<best response of player {player}: worth {response.value:.6g} to it>"


def test_a_best_response_in_holdem_is_worth_what_it_wins() -> None:
    result = tacit.solve(
        "no_limit_holdem(board=3s7hTdKs2c,pot=2000,stack=10000,bets=1,raises=1,range0=KK|QQ|87s,range1=AKs|TT)", iterations=20
    )
    for player in (0, 1):
        response = result.best_response(player)
        worth = StrategyViews(response.strategy).at("").values
        assert worth is not None
        assert worth[player] == pytest.approx(response.value)
        assert response.value == pytest.approx(result.quality.best_response_values[player])
    assert result.strategy[0, "", "KdKc"] == result.strategy[0, "", "KcKd"]
    hands = {f"A{suit}K{suit}" for suit in "cdh"} | {"TsTc", "ThTc", "TsTh"}  # the board has Ks and Td
    assert set(result.show("check").acting.names) == hands


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda result: result.show("dance"), "no 'dance' after the start: choose one of check, bet"),
        (lambda result: result.show("bet / call"), "nobody acts after 'bet / call': choose a line"),
        (lambda result: result.show("bet / call / bet"), "the game is over there"),
        (lambda result: result.strategy[1, "", "K"], "player 1 does not act at the start: player 0 does"),
        (lambda result: result.strategy[0, "", "A"], "player 0 does not hold 'A' at the start: it may hold J, Q, K"),
        (lambda result: result.strategy[0, "", "K"]["dance"], "no action 'dance' here: choose one of call, raise"),
        (lambda result: result.best_response(2), "there is no player 2"),
        (lambda result: result.plot("curve.txt"), "the name must end in .png"),
    ],
)
def test_wrong_questions_are_answered_in_one_line(ask: Any, message: str) -> None:
    result = tacit.solve("kuhn_poker", iterations=2)
    with pytest.raises(TacitError) as error:
        ask(result)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_points_that_nobody_comes_to_say_so() -> None:
    tree = compile_game(tacit.load_game("kuhn_poker"))
    weights = tree.uniform_strategy()
    weights[tree.entry_start[:3] + 1] = 0.0  # player 0 never bets
    views = StrategyViews(tree.strategy(tree.normalise(weights)))
    after = views.at("bet")
    assert (after.probability, len(after), len(after.players[0])) == (0.0, 3, 0)
    assert np.isnan(after["K"].infostate_value)
    assert after["K"].probabilities == {"fold": 0.5, "call": 0.5}
    assert np.isnan(after.frequencies).all()
    with pytest.raises(TacitError, match="no beliefs after 'bet': the strategies never lead there"):
        _ = after.beliefs
    assert len(list(views.decisions())) == 12  # all of them can occur: player 1's opponent may deviate
    weights[tree.entry_start[:3]] = 0.0
    weights[tree.entry_start[:3] + 1] = 1.0
    nobody = StrategyViews(tree.strategy(tree.normalise(weights))).at("check / bet")
    assert nobody.text().endswith("player 0 never comes here")


def test_the_curve_is_drawn(tmp_path: Any) -> None:
    result = tacit.solve("kuhn_poker", iterations=20)
    figure = result.plot(tmp_path / "curve.png")
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
    (line,) = figure.axes[0].lines
    assert line.get_ydata().tolist() == [point.exploitability for point in result.curve]


def test_a_drawn_figure_is_not_kept(tmp_path: Any) -> None:
    """A program that trains for days draws thousands."""
    from matplotlib import pyplot

    from tacit.plots import LearningCurve, learning_panels

    before = pyplot.get_fignums()
    learning_panels({"kuhn_poker": [LearningCurve("rebel", [(1.0, 0.5), (2.0, 0.1)])]}, "", tmp_path / "curve.png")
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert pyplot.get_fignums() == before
