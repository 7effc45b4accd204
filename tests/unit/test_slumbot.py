"""The Slumbot client against a strict stand-in, which keeps its own account of bets by street and loses requests at will."""

import re
from typing import Any

import numpy as np
import pytest

from tacit.agents.base import Sight
from tacit.agents.bots import RandomBot
from tacit.arena.hands import HandRecord, replay
from tacit.arena.notation import SlumbotWords, read_line, write_line
from tacit.arena.slumbot import Connection, SlumbotHand, SlumbotMatch
from tacit.cards.deck import parse_cards
from tacit.errors import TacitError
from tacit.games.betting import CALL, FOLD, SHOWDOWN
from tacit.games.holdem import NoLimitHoldem
from tests.random_hands import random_hand
from tests.slumbot_stand_in import StreetHand, stand_in

GAME = NoLimitHoldem()
WORDS = SlumbotWords()


class Wild(RandomBot):
    """Raises to any number of chips, not only to those on the menu."""

    def observe(self, sight: Sight) -> None:
        super().observe(sight)
        self._raises = [action for action in sight.legal_actions if action > CALL]

    def act(self) -> int:
        draw = self._generator.random()
        if self._raises and draw < 0.4:
            return int(self._generator.integers(self._raises[0], self._raises[-1] + 1))
        return FOLD if draw > 0.95 and FOLD in self._legal_actions else CALL


def play(
    url: str, hands: int, agent: RandomBot, notes: list[str], retries: int = 8, **options: Any
) -> tuple[list[SlumbotHand], SlumbotMatch]:
    match = SlumbotMatch(GAME, agent, Connection(url, **{"pause": 0.0, "timeout": 10.0, **options}), notes.append, retries)
    return [match.play(notes.append) for _ in range(hands)], match


def test_betting_by_hand() -> None:
    rules = GAME.rules
    line = read_line(rules, WORDS, "b200c/kb200c/kb400c/kk")
    assert line.actions == (200, CALL, CALL, 400, CALL, CALL, 800, CALL, CALL, CALL)
    assert line.betting.actor == SHOWDOWN
    assert line.betting.spent == (800, 800)
    assert write_line(rules, WORDS, line.actions) == "b200c/kb200c/kb400c/kk"
    assert read_line(rules, WORDS, "ck/b100").actions == (CALL, CALL, 200)  # the smallest bet, after a limp
    assert read_line(rules, WORDS, "b200c/").begun == 200
    assert read_line(rules, WORDS, "b200c") == read_line(rules, WORDS, "b200c/")
    raised = read_line(rules, WORDS, "b300b900c/b1000b3000")
    assert raised.actions == (300, 900, CALL, 1_900, 3_900)
    assert raised.begun == 900
    assert read_line(rules, WORDS, "b300c/b500c/b19200c/").actions == (300, CALL, 800, CALL, 20_000, CALL)
    assert write_line(rules, WORDS, (300, CALL, 800, CALL, 20_000, CALL)) == "b300c/b500c/b19200c/"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("k", "a check where there is a bet"),
        ("cc", "a call without a bet"),
        ("b", "cannot read"),
        ("b0", "a bet of nothing"),
        ("b150", "raises are from 200"),
        ("ck/b50", "raises are from 200"),
        ("b200c/b20000", "raises are from 300 to 20000"),
        ("r200", "cannot read"),
        ("ckk", "a / is missing"),
    ],
)
def test_betting_that_cannot_be(text: str, message: str) -> None:
    with pytest.raises(TacitError, match=re.escape(message)):
        read_line(GAME.rules, WORDS, text)


def test_bets_by_street_are_those_of_the_stand_in() -> None:
    """Every limit, every amount and every payoff agrees with accounting that was written independently."""
    generator = np.random.default_rng(2)
    for _ in range(500):
        record, payoffs = random_hand(GAME, generator)
        hand = StreetHand(generator)
        hand.cards = [*record.hands, *record.board, *hand.cards][:9]
        betting, done = GAME.rules.start(), list[int]()
        for action in record.actions:
            line = read_line(GAME.rules, WORDS, hand.action)
            assert line.actions == tuple(done)
            betting = line.betting
            assert (betting.actor, betting.street) == (hand.to_act, hand.street)
            limits, theirs = GAME.rules.all_raises(betting), hand.limits()
            assert (limits is None) == (theirs is None)
            if limits is not None and theirs is not None:
                assert tuple(limit - line.begun for limit in limits) == theirs
            assert hand.apply(WORDS.write(betting, line.begun, action)) is None
            done.append(action)
        assert hand.over
        assert write_line(GAME.rules, WORDS, done) == hand.action
        assert read_line(GAME.rules, WORDS, hand.action).actions == record.actions
        assert [hand.winnings(0), hand.winnings(1)] == list(payoffs)


@pytest.mark.parametrize("agent", [RandomBot, Wild])
def test_a_match_without_trouble(agent: type[RandomBot]) -> None:
    notes: list[str] = []
    with stand_in(1) as (stand, url):
        hands, match = play(url, 150, agent(np.random.default_rng(0)), notes)
    assert notes == []
    assert stand.refused == []
    assert match.abandoned == 0
    assert [hand.state.winnings for hand in hands] == [answer["winnings"] for answer in stand.finished]
    assert [hand.state.position for hand in hands] == [0, 1] * 75
    assert len({len(hand.state.board) for hand in hands}) == 4
    assert any(hand.state.text.endswith("//") for hand in hands)  # all-in before the river
    assert any("f" in hand.state.text for hand in hands)
    for hand, answer in zip(hands, stand.finished, strict=True):
        state = hand.state
        assert hand.replayed == state.winnings
        assert state.bot_hand == parse_cards("".join(answer["bot_hole_cards"]))
        cards = (*state.hand, *state.bot_hand) if state.position == 0 else (*state.bot_hand, *state.hand)
        record = HandRecord(cards, state.board, hand.actions)
        assert GAME.returns(replay(GAME, record))[state.position] == state.winnings


@pytest.mark.parametrize("login", [False, True])
def test_lost_requests_cost_hands_but_no_action_is_sent_twice(login: bool) -> None:
    notes: list[str] = []
    credentials = ("me", "secret") if login else None
    with stand_in(3, trouble=0.1, login=login) as (stand, url):
        hands, match = play(url, 100, Wild(np.random.default_rng(1)), notes, retries=30, credentials=credentials)
    assert len(hands) == 100
    assert stand.lost > 20
    assert match.abandoned > 5
    assert stand.resent == 0
    assert set(stand.refused) <= {"/api/new_hand: Bad token"}  # after an answer with the new token was lost
    assert (stand.logins > 1) == login
    assert [hand.state.winnings for hand in hands] == [answer["winnings"] for answer in stand.finished]
    assert all(hand.replayed == hand.state.winnings for hand in hands)
    assert not any("\n" in note for note in notes)


def test_requests_keep_their_distance() -> None:
    with stand_in(1) as (stand, url):
        play(url, 3, RandomBot(np.random.default_rng(0)), [], pause=0.05)
    gaps = np.diff(stand.times)
    assert len(gaps) >= 2
    assert gaps.min() >= 0.049


def test_a_server_that_is_down_ends_the_match_after_longer_and_longer_waits() -> None:
    waits: list[float] = []
    with stand_in(1) as (_, url):
        pass
    with pytest.raises(TacitError, match=r"new_hand: Connection refused \(attempt 9 in a row\)"):
        play(
            url, 1, RandomBot(np.random.default_rng(0)), [], pause=0.5, clock=lambda: 1e9 * (len(waits) + 1), sleep=waits.append
        )
    assert waits == [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"client_pos": 2}, "client_pos"),
        ({"hole_cards": ["As"]}, "two hole_cards"),
        ({"hole_cards": ["As", "Xx"]}, "invalid cards"),
        ({"hole_cards": 5}, "invalid cards"),
        ({"action": "zzz"}, "cannot read 'zzz'"),
        ({"action": "b200b600b1800"}, "does not contain the actions that were sent"),
        ({"board": []}, "has 0 cards"),
        ({"winnings": 1}, "says that the hand is over"),
        ({"action": None}, "without action"),
        ({"error_msg": "Too\nmany"}, "was refused: Too"),
    ],
)
def test_nonsense_ends_the_match(wrong: dict[str, Any], message: str) -> None:
    with stand_in(1) as (stand, url):
        stand.wrong = wrong
        with pytest.raises(TacitError, match=re.escape(message)) as stopped:
            play(url, 50, RandomBot(np.random.default_rng(0)), [], retries=0)
    assert "attempt 1 in a row" in str(stopped.value)


def test_a_server_that_counts_differently_is_noticed() -> None:
    notes: list[str] = []
    with stand_in(1) as (stand, url):
        stand.bonus = 7
        hands, _ = play(url, 5, RandomBot(np.random.default_rng(0)), notes)
    assert [hand.state.winnings for hand in hands] == [(hand.replayed or 0) + 7 for hand in hands]
    assert len(notes) == 5
    assert all("by our rules it is" in note for note in notes)


def test_only_slumbots_game() -> None:
    with pytest.raises(TacitError, match="stacks of 20,000"):
        SlumbotMatch(NoLimitHoldem(stack=10_000), RandomBot(np.random.default_rng(0)), Connection("http://x", 0, 1), print)
    with pytest.raises(TacitError, match="is not an address"):
        Connection("slumbot.com", 0, 1)
