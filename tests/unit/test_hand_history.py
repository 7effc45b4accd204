"""Hand histories: pokerkit reads what we write and computes the same final stacks."""

from pathlib import Path

import numpy as np
import pytest

from tacit.arena.hand_history import HistoryWriter, write_hand
from tacit.arena.hands import HandRecord, replay
from tacit.cards.deck import parse_cards
from tacit.errors import TacitError
from tacit.games.betting import CALL, FOLD, TURN
from tacit.games.holdem import Holdem, LimitHoldem, NoLimitHoldem
from tests.random_hands import random_hand

GAMES = [NoLimitHoldem(), LimitHoldem(), NoLimitHoldem(stack=1_000, small_blind=5, big_blind=10)]


def cards(text: str) -> tuple[int, int, int, int]:
    first, second, third, fourth = parse_cards(text)
    return first, second, third, fourth


HAND = HandRecord(cards("AsKd2c2d"), parse_cards("Tc5c4c9h"), (300, CALL, CALL, 500, CALL, 800, FOLD))


def test_a_hand_by_hand() -> None:
    text = write_hand(GAMES[0], HAND, 7, ("ours", 'the "other"'))
    assert text == (
        'variant = "NT"\n'
        "antes = [0, 0]\n"
        "blinds_or_straddles = [50, 100]\n"
        "min_bet = 100\n"
        "starting_stacks = [20000, 20000]\n"
        'actions = ["d dh p1 AsKd", "d dh p2 2c2d", "p2 cbr 300", "p1 cc", "d db Tc5c4c", "p1 cc", "p2 cbr 200", "p1 cc", '
        '"d db 9h", "p1 cbr 300", "p2 f"]\n'
        "finishing_stacks = [20500, 19500]\n"
        "hand = 7\n"
        'players = ["ours", "the \\"other\\""]\n'
    )


@pytest.mark.parametrize("game", GAMES)
def test_pokerkit_comes_to_the_same_stacks(game: Holdem, tmp_path: Path) -> None:
    kit = pytest.importorskip("pokerkit")
    generator = np.random.default_rng(3)
    writer = HistoryWriter(tmp_path / "hands.phhs")
    histories, payoffs = [], []
    for number in range(200):
        record, returns = random_hand(game, generator)
        histories.append((game, record, number, ("a\tü", "b\\'")))
        payoffs.append(list(returns))
        writer.write(*histories[-1])
    streets = [len(record.board) for _, record, *_ in histories]
    assert {0, 3, 4, 5} == set(streets)  # folds on every street, and showdowns
    with (tmp_path / "hands.phhs").open("rb") as file:
        theirs = list(kit.HandHistory.load_all(file))
    assert len(theirs) == 200
    for history, (_, name), returns, ours in zip(theirs, [h.players for h in theirs], payoffs, histories, strict=True):
        *_, state = history
        assert not state.status
        assert list(state.payoffs) == returns
        assert list(state.stacks) == history.finishing_stacks == [game.rules.stack + payoff for payoff in returns]
        assert (history.hand, name) == (ours[2], "b\\'")
        single = kit.HandHistory.loads(write_hand(*ours))
        assert single.actions == history.actions


def test_files_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "there.phhs").write_text("")
    HistoryWriter(tmp_path / "there.phhs").write(GAMES[0], HAND, 0, ("a", "b"))
    with pytest.raises(TacitError, match="exists"):
        HistoryWriter(tmp_path / "there.phhs")
    with pytest.raises(TacitError, match="must end in"):
        HistoryWriter(tmp_path / "hands.txt")
    with pytest.raises(TacitError, match="goes on after its end"):
        write_hand(GAMES[0], HandRecord(HAND.hands, HAND.board, (*HAND.actions, CALL)), 0, ("a", "b"))
    assert len(HAND.board) == 4
    assert replay(GAMES[0], HAND).betting.street == TURN
