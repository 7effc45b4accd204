"""The rules of hold'em against two independent implementations, and their edge cases."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

from tacit.cards.deck import card_name, card_names
from tacit.errors import TacitError
from tacit.games import CHANCE, TERMINAL, Game, GameSize, load_game
from tacit.games.betting import (
    ALL_IN,
    BOARD_CARDS,
    CALL,
    DEAL,
    FOLD,
    FOLDED,
    PREFLOP,
    RIVER,
    SHOWDOWN,
    Betting,
    BettingRules,
    LimitBetting,
    NoLimitBetting,
)
from tacit.games.check import check_game
from tacit.games.holdem import Holdem, HoldemState, LimitHoldem, NoLimitHoldem, TurnEndgameHoldem
from tacit.games.holdem_size import DECISION, count_betting
from tacit.games.sizes import parse_menu
from tacit.tree.compiler import compile_game
from tests.referees import Limits, OpenSpiel, Pokerkit

NO_LIMIT = [
    NoLimitHoldem(),
    NoLimitHoldem(stack=20_000, small_blind=50, big_blind=100, bets="0.5|1|allin", raises=""),
    NoLimitHoldem(stack=1_000),
    NoLimitHoldem(stack=333),
    NoLimitHoldem(stack=101),
    NoLimitHoldem(stack=100),
    NoLimitHoldem(stack=400, small_blind=1, big_blind=2),
    NoLimitHoldem(stack=77, small_blind=3, big_blind=7),
    NoLimitHoldem(stack=500, small_blind=4, big_blind=5),
]
ENDGAMES = [
    TurnEndgameHoldem(),
    TurnEndgameHoldem(board=""),
    TurnEndgameHoldem(stack=1_500, board=""),
    NoLimitHoldem(stack=5_000, board="Ah7c7d", pot=600),
    NoLimitHoldem(stack=1_000, board="Ah7c7dKc", pot=200),
    NoLimitHoldem(stack=20_000, board="AhKhQhJhTh", pot=39_000),  # everybody has a royal flush
]


def random_action(game: Holdem, betting: Betting, generator: np.random.Generator) -> int:
    """Returns an action that covers everything: few folds, raises on and off the menu, the smallest and the largest."""
    limits = game.rules.all_raises(betting)
    menu = [action for action in game.rules.actions(betting) if action > CALL]
    if limits is None or generator.random() < 0.45:
        return FOLD if betting.to_call and generator.random() < 0.15 else CALL
    smallest, largest = limits
    kind = generator.random()
    if kind < 0.35:
        return smallest
    if kind < 0.42:
        return largest
    if kind < 0.7:
        return int(generator.choice(menu[:-1] or menu))
    return int(min(largest, smallest + generator.exponential(betting.pot)))


def play_to_the_start(game: Holdem, referee: Any) -> None:
    """Raises, calls and checks in the full game until an endgame starts; the first cards of its board are dealt on the way."""
    rules, board = game.rules, list(game.known_board)
    for street in range(rules.first_street):
        half = rules.pot // 2
        for action in (half if half > rules.big_blind else CALL, CALL) if street == PREFLOP else (CALL, CALL):
            referee.act(action)
        for _ in range(BOARD_CARDS[street + 1] - BOARD_CARDS[street]):
            referee.card(board.pop(0))


def play_hand(game: Holdem, generator: np.random.Generator, seen: Counter[str]) -> None:
    """Plays one hand in three implementations at once and compares them at every step."""
    state = game.initial_state()
    while game.actor(state) == CHANCE:
        state = game.apply(state, draw(game, state, generator))
    fixed = game if len(game.known_board) == len(state.board) else with_board(game, state)
    referees: list[Any] = [Pokerkit(game), OpenSpiel(game)]
    for referee in referees:
        referee.hands(state.hands)
        play_to_the_start(fixed, referee)
    while (actor := game.actor(state)) != TERMINAL:
        if actor == CHANCE:
            action = draw(game, state, generator)
            for referee in referees:
                referee.card(action)
            seen["cards after all-in"] += state.betting.actor == SHOWDOWN
        else:
            betting, actions = state.betting, game.legal_actions(state)
            ours = (actor, FOLD in actions, game.rules.all_raises(betting))
            assert [referee.view(betting) for referee in referees] == [ours, ours], state
            action = random_action(game, betting, generator)
            for referee in referees:
                referee.act(action)
            note(seen, ours[2], actions, action)
        state = game.apply(state, action)
    returns = list(game.returns(state))
    assert [referee.returns() for referee in referees] == [returns, returns], state
    ending = "fold" if state.betting.actor == FOLDED else "split" if returns[0] == 0 else "win"
    seen[ending] += 1
    seen[f"last street {state.betting.street}"] += 1


def note(seen: Counter[str], limits: Limits, actions: tuple[int, ...], action: int) -> None:
    if limits is not None and action > CALL:
        seen["smallest raise"] += action == limits[0] < limits[1]
        seen["all-in"] += action == limits[1]
        seen["all-in below a raise"] += limits[0] == limits[1]
        seen["off the menu"] += action not in actions
    seen["check"] += action == CALL and FOLD not in actions


def draw(game: Holdem, state: HoldemState, generator: np.random.Generator) -> int:
    outcomes = game.chance_outcomes(state)
    return int(outcomes[generator.integers(len(outcomes))][0])


def with_board(game: Holdem, state: HoldemState) -> Holdem:
    return load_game(str(game).replace("board=", f"board={card_names(state.board)}"))  # type: ignore[return-value]


COUNTS = [100, pytest.param(10_000, marks=pytest.mark.slow)]


@pytest.mark.parametrize("num_hands", COUNTS)
def test_no_limit_is_that_of_pokerkit_and_openspiel(num_hands: int) -> None:
    generator, seen = np.random.default_rng(0), Counter[str]()
    for hand in range(num_hands):
        play_hand(NO_LIMIT[hand % len(NO_LIMIT)], generator, seen)
    for event in ("smallest raise", "all-in", "all-in below a raise", "off the menu", "check", "cards after all-in"):
        assert seen[event] > num_hands // 20, (event, seen)
    for event in ("fold", "win", *(f"last street {street}" for street in range(4))):
        assert seen[event] > num_hands // 20, (event, seen)
    assert seen["split"]


@pytest.mark.parametrize("num_hands", COUNTS)
def test_limit_is_that_of_pokerkit_and_openspiel(num_hands: int) -> None:
    generator, seen = np.random.default_rng(1), Counter[str]()
    games = [LimitHoldem(), LimitHoldem(small_blind=1, big_blind=3)]
    for hand in range(num_hands):
        play_hand(games[hand % len(games)], generator, seen)
    for event in ("fold", "win", "check", "last street 3"):
        assert seen[event] > num_hands // 20, (event, seen)
    assert seen["split"]


@pytest.mark.parametrize("num_hands", COUNTS)
def test_endgames_are_the_full_game_from_there_on(num_hands: int) -> None:
    generator, seen = np.random.default_rng(2), Counter[str]()
    for hand in range(num_hands):
        play_hand(ENDGAMES[hand % len(ENDGAMES)], generator, seen)
    for event in ("fold", "win", "split", "off the menu", "cards after all-in", "last street 2", "last street 3"):
        assert seen[event] > num_hands // 50, (event, seen)


SMALL = [
    "no_limit_holdem(stack=100)",
    "no_limit_holdem(stack=150,board=3s7hTdKs2c,pot=200,bets=1|allin)",
    "no_limit_holdem(stack=2,small_blind=1,big_blind=2)",
    "limit_holdem(board=3s7hTdKs2c,pot=40)",
    "turn_endgame_holdem(board=)",
    "turn_endgame_holdem(stack=1001)",
]


@pytest.mark.parametrize("name", SMALL)
def test_small_settings_keep_the_protocol(name: str) -> None:
    report = check_game(load_game(name), max_histories=2_000)
    assert report.ok, str(report)


def no_limit(**changes: Any) -> NoLimitBetting:
    settings = {"stack": 20_000, "small_blind": 50, "big_blind": 100, "bets": (0.5, 1, ALL_IN), "raises": (0.75, ALL_IN)}
    return NoLimitBetting(**{**settings, **changes})


def after(rules: BettingRules, *actions: int) -> Betting:
    """Returns the state after some actions; streets start by themselves."""
    betting = rules.start()
    for action in actions:
        betting = rules.apply(betting, action)
        betting = rules.deal(betting) if betting.actor == DEAL else betting
    return betting


@pytest.mark.parametrize(
    ("changes", "actions", "menu"),
    [
        ({}, (), (0, 1, 200, 300, 20_000)),  # call 50, then raise by half of 200 or by 200
        ({}, (CALL,), (1, 200, 300, 20_000)),  # the big blind may raise a call
        ({}, (300,), (0, 1, 750, 20_000)),  # later raises use the other sizes
        ({"raises": ()}, (300,), (0, 1, 600, 900, 20_000)),  # unless none are given
        ({}, (CALL, CALL), (1, 200, 300, 20_000)),  # on the flop 100 is already in
        ({}, (300, CALL), (1, 600, 900, 20_000)),
        ({}, (300, CALL, CALL, 600), (0, 1, 1_500, 20_000)),
        ({"bets": (0.01, 0.1, 0.2)}, (CALL, CALL), (1, 200)),  # sizes below the smallest bet become the smallest bet
        ({"bets": (0.333,)}, (500, CALL), (1, 833)),  # rounded to whole chips
        ({"stack": 350}, (), (0, 1, 200, 300, 350)),
        ({"stack": 300}, (), (0, 1, 200, 300)),  # sizes that amount to all-in appear once
        ({"stack": 250}, (), (0, 1, 200, 250)),
        ({"stack": 150}, (), (0, 1, 150)),  # all-in below the smallest raise
        ({"stack": 100}, (), (0, 1)),
        ({}, (20_000,), (0, 1)),
        ({"first_street": 2, "pot": 2_000}, (), (1, 2_000, 3_000, 20_000)),
        ({"first_street": 2, "pot": 2_000}, (2_000,), (0, 1, 5_000, 20_000)),
    ],
)
def test_the_menu(changes: dict[str, Any], actions: tuple[int, ...], menu: tuple[int, ...]) -> None:
    rules = no_limit(**changes)
    assert rules.actions(after(rules, *actions)) == menu


def test_raises_grow_by_the_last_raise_of_the_street() -> None:
    rules = no_limit()
    assert rules.all_raises(after(rules)) == (200, 20_000)
    assert rules.all_raises(after(rules, 1_000)) == (1_900, 20_000)
    assert rules.all_raises(after(rules, 1_000, 2_500)) == (4_000, 20_000)
    assert rules.all_raises(after(rules, 1_000, CALL)) == (1_100, 20_000)
    assert rules.all_raises(after(rules, 19_000)) == (20_000, 20_000)
    assert rules.all_raises(after(rules, 20_000)) is None


def test_limit_raises_have_one_size_and_an_end() -> None:
    rules = LimitBetting(LimitBetting.deepest(10), 5, 10)
    betting, totals = rules.start(), []
    while betting.actor != SHOWDOWN:
        raises = rules.all_raises(betting)
        action = CALL if raises is None else raises[0]
        totals += [] if raises is None else [action]
        betting = rules.apply(betting, action)
        betting = rules.deal(betting) if betting.actor == DEAL else betting
    assert totals == [20, 30, 40, 50, 60, 70, 80, 100, 120, 140, 160, 180, 200, 220, 240]
    assert betting.spent == (240, 240)
    assert rules.stack == 240


def test_states_say_what_comes_next() -> None:
    rules = no_limit()
    start = rules.start()
    assert (start.actor, start.spent, start.to_call, start.pot) == (1, (100, 50), 50, 150)
    folded = rules.apply(start, FOLD)
    assert (folded.actor, folded.folder, folded.spent) == (FOLDED, 1, (100, 50))
    called = rules.apply(start, CALL)
    assert (called.actor, called.street) == (0, PREFLOP)
    assert rules.apply(called, CALL).actor == DEAL
    flop = after(rules, CALL, CALL)
    assert (flop.actor, flop.street, flop.spent) == (0, 1, (100, 100))
    both_in = after(rules, CALL, CALL, 20_000, CALL)
    assert (both_in.actor, both_in.street, both_in.spent) == (SHOWDOWN, 1, (20_000, 20_000))
    assert after(rules, *[CALL] * 8).actor == SHOWDOWN
    assert after(rules, *[CALL] * 7).street == RIVER
    blind_in = after(no_limit(stack=100), CALL)
    assert (blind_in.actor, blind_in.street) == (SHOWDOWN, PREFLOP)


@pytest.mark.parametrize(
    ("actions", "illegal", "message"),
    [
        ((), 150, "raises are from 200 to 20000 here"),
        ((), 20_001, "raises are from 200 to 20000 here"),
        ((), -3, "-3 is not a legal action"),
        ((CALL,), FOLD, "a fold is only allowed against a bet"),
        ((20_000,), 20_000, "no raise is allowed here"),
        ((FOLD,), CALL, "nobody is to act"),
    ],
)
def test_illegal_actions_are_refused_in_a_line(actions: tuple[int, ...], illegal: int, message: str) -> None:
    rules = no_limit()
    with pytest.raises(TacitError) as caught:
        rules.apply(after(rules, *actions), illegal)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_cards_are_dealt_only_between_streets() -> None:
    rules = no_limit()
    for betting in (rules.start(), after(rules, FOLD), after(rules, 20_000, CALL)):
        with pytest.raises(TacitError, match="no cards are to be dealt"):
            rules.deal(betting)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no_limit_holdem(board=3s7h,pot=400)", "board must have 0, 3, 4 or 5 cards, not 2"),
        ("no_limit_holdem(board=3s,pot=400)", "board must have 0, 3, 4 or 5 cards, not 1"),
        ("no_limit_holdem(board=3s7hTdKs2c4c,pot=400)", "not 6"),
        ("no_limit_holdem(board=3s7h3s,pot=400)", "3s comes twice"),
        ("no_limit_holdem(board=3s7hXd,pot=400)", "'Xd' in '3s7hXd' is no card"),
        ("no_limit_holdem(board=3s7hT,pot=400)", "is no card"),
        ("no_limit_holdem(board=3s7hTd)", "pot must be even, at least 2"),
        ("no_limit_holdem(board=3s7hTd,pot=401)", "pot must be even"),
        ("no_limit_holdem(board=3s7hTd,pot=-400)", "pot must be even"),
        ("no_limit_holdem(board=3s7hTd,pot=40000)", "below both stacks together, 40000, not 40000"),
        ("no_limit_holdem(pot=400)", "pot must be 0 before the flop"),
        ("no_limit_holdem(stack=-5)", "stack must be from the big blind, 100"),
        ("no_limit_holdem(stack=99)", "stack must be from the big blind, 100"),
        ("no_limit_holdem(stack=100,small_blind=100)", "stack must be from"),
        ("no_limit_holdem(stack=3000000000)", "to 2,147,483,647"),
        ("no_limit_holdem(small_blind=0)", "blinds must be 1 <= small_blind <= big_blind"),
        ("no_limit_holdem(small_blind=200)", "blinds must be 1 <= small_blind <= big_blind, not 200 and 100"),
        ("no_limit_holdem(bets=)", "bets is empty"),
        (
            "no_limit_holdem(bets=half)",
            "'half' in 'half' is no bet: write sizes in pots, 3x, geo, 2geo and allin, like 0.5|1|allin",
        ),
        ("no_limit_holdem(bets=0.5||1)", "'' in '0.5||1' is no bet"),
        ("no_limit_holdem(bets=-1|allin)", "'-1' in '-1|allin' is no bet"),
        ("no_limit_holdem(bets=0)", "is no bet"),
        (f"no_limit_holdem(bets={'9' * 400})", "is no bet"),
        ("no_limit_holdem(bets=nan)", "is no bet"),
        ("no_limit_holdem(raises=inf)", "is no bet"),
        ("no_limit_holdem(raises=1|2|3|4|5|6|7|8)", "8 bets; with fold and call there are at most 9 actions"),
        ("limit_holdem(big_blind=0)", "blinds must be"),
        ("limit_holdem(board=3s7hTd,pot=3)", "pot must be even"),
        ("turn_endgame_holdem(board=3s7hTd)", "board must have 0 or 4 cards, not 3"),
        ("turn_endgame_holdem(stack=1000)", "below both stacks together, 2000, not 2000"),
        ("turn_endgame_holdem(pot=0)", "pot must be even, at least 2"),
    ],
)
def test_malformed_parameters_are_refused_in_a_line(name: str, message: str) -> None:
    with pytest.raises(TacitError) as caught:
        load_game(name)
    assert str(caught.value).startswith(f"{name.partition('(')[0]}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def play(game: Game[HoldemState], *moves: int) -> list[HoldemState]:
    states = [game.initial_state()]
    for move in moves:
        states.append(game.apply(states[-1], move))
    return states


def test_players_see_hands_and_flops_when_they_are_complete() -> None:
    game = NoLimitHoldem()
    cards = [48, 51, 0, 5, 7, 50, 3]
    states = play(game, *cards[:4], 300, CALL, *cards[4:], CALL, 900, FOLD)
    assert [card_name(card) for card in cards] == ["Ac", "As", "2c", "3d", "3s", "Ah", "2s"]
    news = ["", "", "", "", "", "raise to 300", "call", "", "", "Ah3s2s", "check", "bet to 900", "fold"]
    assert [game.public_observation(state) for state in states] == news
    for player, hand in enumerate(("AsAc", "3d2c")):
        seen = [game.private_observation(state, player) for state in states]
        assert seen == ["", "", "", "", hand] + [""] * 8
    assert game.actor(states[-1]) == TERMINAL
    assert game.returns(states[-1]) == (-300.0, 300.0)


def test_the_order_of_cards_makes_no_infostates() -> None:
    game = TurnEndgameHoldem(board="")
    one, other = (play(game, *cards, 51)[-1] for cards in ((3, 9, 20, 30, 10, 11, 12), (9, 3, 30, 20, 12, 10, 11)))
    assert one.board == other.board
    assert one.news == other.news
    assert one.betting == other.betting
    assert game.actor(one) == 0


def test_both_all_in_see_the_rest_of_the_board() -> None:
    game = NoLimitHoldem(stack=500)
    states = play(game, 48, 49, 0, 5, 500, CALL, 1, 2, 3, 50, 51)
    assert [game.actor(state) for state in states[5:]] == [0] + [CHANCE] * 5 + [TERMINAL]
    assert game.returns(states[-1]) == (500.0, -500.0)  # four aces beat three twos


def test_limit_holdem_has_its_published_size() -> None:
    size = LimitHoldem().size()
    assert size is not None
    assert size.infostates == 319_365_922_522_608  # 3.19e14 decision points (Bowling et al. 2015)
    counts = count_betting(LimitHoldem().rules)
    assert counts is not None
    deals = [math.comb(52, 2) * math.comb(50, 2) * boards for boards in (1, 17_296, 17_296 * 45, 17_296 * 45 * 44)]
    states = sum(counts[street, DECISION] * number for street, number in enumerate(deals))
    assert states == pytest.approx(3.16e17, rel=1e-3)  # possible states, from the same source


def test_sizes_of_the_smallest_games_are_those_by_hand() -> None:
    boards = math.comb(52, 3) * 49 * 48
    all_in = GameSize(2 * math.perm(52, 4) + math.perm(52, 9), 2 + boards, math.comb(52, 2))  # fold, or call and see the board
    assert NoLimitHoldem(stack=100).size() == all_in
    river = GameSize(27 * math.perm(47, 4), 27, 10 * math.comb(47, 2))  # 10 decisions, 8 folds, 9 showdowns
    assert LimitHoldem(board="3s7hTdKs2c", pot=40).size() == river
    # Check or all-in, then call or fold: 4 decisions and 2 folds on each street, 2 showdowns from the turn and 3 on the river.
    deals, boards, hands = math.perm(48, 4), 48, 4 * math.comb(48, 2) + 4 * 48 * math.comb(47, 2)
    turn = GameSize(6 * deals + (2 + 6 + 3) * deals * 44, 6 + (2 + 6 + 3) * boards, hands)
    assert TurnEndgameHoldem(stack=1_001, bets="allin").size() == turn


def test_sizes_are_those_of_a_walk() -> None:
    rules = no_limit(stack=1_500, bets=(0.5, ALL_IN))
    walked = Counter[tuple[int, int]]()
    stack = [rules.start()]
    while stack:
        betting = stack.pop()
        if betting.actor == DEAL:
            stack.append(rules.deal(betting))
            continue
        walked[betting.street, min(betting.actor, 0)] += 1
        if betting.actor >= 0:
            stack += [rules.apply(betting, action) for action in rules.actions(betting)]
    counts = count_betting(rules)
    assert counts == walked


@pytest.mark.parametrize(
    "name", ["no_limit_holdem", "limit_holdem", "turn_endgame_holdem", "no_limit_holdem(stack=2000000,big_blind=50,bets=0.01)"]
)
def test_whole_games_are_refused_in_a_line(name: str) -> None:
    with pytest.raises(TacitError, match=r"does not fit: (about )?\d\.\de\+\d+ histories need") as caught:
        compile_game(load_game(name))
    assert "\n" not in str(caught.value)


def test_menus_are_read_and_written() -> None:
    assert parse_menu(" allin | 0.5|1|1 ") == (0.5, 1.0, ALL_IN)
    assert parse_menu("") == ()
    for game in (NoLimitHoldem(), TurnEndgameHoldem(board=""), LimitHoldem()):
        assert load_game(str(game)) == game
