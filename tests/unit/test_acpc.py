"""The competition's protocol as text: betting and states by hand, random hands both ways, and what the dealer accepts."""

import re

import numpy as np
import pytest

from tacit.arena.acpc import MatchState, accept_action, read_state, write_state
from tacit.arena.hands import replay
from tacit.arena.notation import AcpcWords, read_line, write_line
from tacit.cards.deck import parse_cards
from tacit.errors import TacitError
from tacit.games.betting import CALL, FOLD, FOLDED, SHOWDOWN
from tacit.games.holdem import Holdem, LimitHoldem, NoLimitHoldem
from tests.random_hands import random_hand

NO_LIMIT, LIMIT = NoLimitHoldem(), LimitHoldem()


def test_betting_by_hand() -> None:
    # The second example in the protocol's description: 200 called, checks, a bet of 300, a raise, and so on.
    rules, words = NO_LIMIT.rules, AcpcWords(NO_LIMIT.rules)
    line = read_line(rules, words, "r200c/cr500r1100c/")
    assert line.actions == (200, CALL, CALL, 500, 1100, CALL)
    assert line.betting.street == 2
    assert line.betting.spent == (1100, 1100)
    assert (line.betting.actor, line.begun) == (0, 1100)
    assert write_line(rules, words, line.actions) == "r200c/cr500r1100c/"
    allin = read_line(rules, words, "r20000c///")
    assert allin.betting.actor == SHOWDOWN
    assert write_line(rules, words, allin.actions) == "r20000c///"
    assert read_line(rules, words, "r20000c") == allin
    assert write_line(rules, words, (300, 900, FOLD)) == "r300r900f"
    assert read_line(rules, words, "r300r900f").betting.actor == FOLDED
    limit = AcpcWords(LIMIT.rules)
    assert read_line(LIMIT.rules, limit, "rrrc/rrc/cc/cr").actions == (20, 30, 40, CALL, 50, 60, CALL, CALL, CALL, CALL, 80)
    assert write_line(LIMIT.rules, limit, (20, 30, 40, CALL, 50)) == "rrrc/r"


@pytest.mark.parametrize(
    ("game", "text", "message"),
    [
        (NO_LIMIT, "r", "a number of chips"),
        (NO_LIMIT, "r150", "raises are from 200 to 20000"),
        (NO_LIMIT, "r20001", "raises are from 200 to 20000"),
        (NO_LIMIT, "r99999999999999999999", "raises are from 200"),
        (NO_LIMIT, "cc", None),
        (NO_LIMIT, "ccc", "a / is missing"),
        (NO_LIMIT, "c/", "cannot read '/'"),
        (NO_LIMIT, "f/", "the hand is over"),
        (NO_LIMIT, "ff", "the hand is over"),
        (NO_LIMIT, "cf", "only allowed against a bet"),
        (NO_LIMIT, "x", "cannot read 'x'"),
        (NO_LIMIT, "r20000c/", None),
        (NO_LIMIT, "r20000c////", "the hand is over"),
        (NO_LIMIT, "cc//", "cannot read '/'"),
        (NO_LIMIT, "cc/cc/cc/cc/", "the hand is over"),
        (LIMIT, "r20", "r alone"),
        (LIMIT, "rrrr", "no raise is allowed"),
    ],
)
def test_betting_that_cannot_be(game: Holdem, text: str, message: str | None) -> None:
    if message is None:
        read_line(game.rules, AcpcWords(game.rules), text)
        return
    with pytest.raises(TacitError, match=re.escape(message)):
        read_line(game.rules, AcpcWords(game.rules), text)


def test_states_by_hand() -> None:
    text = "MATCHSTATE:1:30:r200c/cr500:|TdAs/2c8c3h"
    state = read_state(NO_LIMIT.rules, text)
    assert (state.position, state.number, state.actions) == (1, 30, (200, CALL, CALL, 500))
    assert state.hands == ((), parse_cards("TdAs"))
    assert state.board == parse_cards("2c8c3h")
    assert state.betting.actor == 0
    assert not state.over
    assert write_state(NO_LIMIT.rules, state) == text
    over = read_state(LIMIT.rules, "MATCHSTATE:0:9:rrf:TdAs|")
    assert over.over
    shown = read_state(NO_LIMIT.rules, "MATCHSTATE:0:9:r20000c///:TdAs|2s2d/2c8c3h/4h/5h")
    assert shown.over
    assert len(shown.board) == 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not MATCHSTATE"),
        ("MATCHSTATE:2:0::AsKs|", "is not MATCHSTATE"),
        ("MATCHSTATE:0:-1::AsKs|", "is not MATCHSTATE"),
        ("MATCHSTATE:0:1::AsKs", "two hands"),
        ("MATCHSTATE:0:1::AsKsQs|", "two hands"),
        ("MATCHSTATE:0:1::AsXs|", "no card"),
        ("MATCHSTATE:0:1::AsKs|AsQd", "dealt twice"),
        ("MATCHSTATE:0:1::AsKs|/2c3c4c", "does not fit the betting"),
        ("MATCHSTATE:0:1:cc/:AsKs|", "does not fit the betting"),
        ("MATCHSTATE:0:1:cc/:AsKs|/2c3c", "does not fit the betting"),
        ("MATCHSTATE:0:1:cc/:AsKs|/2c3cAs", "dealt twice"),
        ("MATCHSTATE:0:1:cc/:AsKs|/2c3c4c:c", "is not MATCHSTATE"),
    ],
)
def test_states_that_cannot_be(text: str, message: str) -> None:
    with pytest.raises(TacitError, match=re.escape(message)):
        read_state(NO_LIMIT.rules, text)


@pytest.mark.parametrize("game", [NO_LIMIT, LIMIT, NoLimitHoldem(stack=1_000)])
def test_random_hands_come_back_from_text(game: Holdem) -> None:
    generator = np.random.default_rng(1)
    for _ in range(200):
        record, payoffs = random_hand(game, generator)
        words = AcpcWords(game.rules)
        text = write_line(game.rules, words, record.actions)
        line = read_line(game.rules, words, text)
        assert line.actions == record.actions
        state = MatchState(1, 7, record.actions, (record.hands[:2], record.hands[2:]), record.board, line.betting)
        assert read_state(game.rules, write_state(game.rules, state)) == state
        assert game.returns(replay(game, record)) == payoffs


@pytest.mark.parametrize(
    ("game", "before", "word", "action", "complaint"),
    [
        (NO_LIMIT, "", "f", FOLD, None),
        (NO_LIMIT, "", "c", CALL, None),
        (NO_LIMIT, "", "r777", 777, None),
        (NO_LIMIT, "", "r20000", 20_000, None),
        (NO_LIMIT, "", "r150", 200, "out of bounds"),
        (NO_LIMIT, "", "r0", 200, "out of bounds"),
        (NO_LIMIT, "", "r99999999999999", 20_000, "out of bounds"),
        (NO_LIMIT, "", "r", CALL, "a number of chips"),
        (NO_LIMIT, "", "r-300", CALL, "is not an action"),
        (NO_LIMIT, "", "", CALL, "is not an action"),
        (NO_LIMIT, "", "cc", CALL, "is not an action"),
        (NO_LIMIT, "c", "f", CALL, "without a bet"),
        (NO_LIMIT, "r20000", "r20000", CALL, "no raise is allowed"),
        (LIMIT, "", "r", 20, None),
        (LIMIT, "", "r20", CALL, "r alone"),
        (LIMIT, "rrr", "r", CALL, "no raise is allowed"),
    ],
)
def test_what_the_dealer_takes_for_an_action(game: Holdem, before: str, word: str, action: int, complaint: str | None) -> None:
    betting = read_line(game.rules, AcpcWords(game.rules), before).betting
    taken, wrong = accept_action(game.rules, betting, word)
    assert taken == action
    game.rules.apply(betting, taken)
    assert (wrong is None) == (complaint is None)
    assert complaint is None or complaint in str(wrong)
