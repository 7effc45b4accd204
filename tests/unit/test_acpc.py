"""The competition's protocol: texts by hand, random hands there and back, and real matches over sockets between processes."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tacit.agents.base import Sight
from tacit.agents.bots import RandomBot
from tacit.agents.table import play_game
from tacit.arena.acpc import Client, MatchState, accept_action, read_state, write_state
from tacit.arena.dealer import Dealer, Player, await_players, listen
from tacit.arena.hand_history import History, read_hands, write_hand
from tacit.arena.hands import HandRecord, replay
from tacit.arena.journal import read_journal
from tacit.arena.lines import MAX_LINE, Lines, LostError
from tacit.arena.notation import AcpcWords, read_line, write_line
from tacit.arena.score import Score
from tacit.arena.seat import Seat
from tacit.cards.deck import parse_cards
from tacit.cli.main import main
from tacit.errors import TacitError
from tacit.games.betting import CALL, FOLD, FOLDED, SHOWDOWN
from tacit.games.holdem import Holdem, LimitHoldem, NoLimitHoldem
from tests.random_hands import random_hand

ROOT = Path(__file__).parents[2]
NO_LIMIT, LIMIT = NoLimitHoldem(), LimitHoldem()


def test_betting_by_hand() -> None:
    # The second example of the protocol's description: 200 called, checks, a bet of 300, a raise, and so on.
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
        (NO_LIMIT, "", "r-300", CALL, "is no action"),
        (NO_LIMIT, "", "", CALL, "is no action"),
        (NO_LIMIT, "", "cc", CALL, "is no action"),
        (NO_LIMIT, "c", "f", CALL, "without a bet"),
        (NO_LIMIT, "r20000", "r20000", CALL, "no raise is allowed"),
        (LIMIT, "", "r", 20, None),
        (LIMIT, "", "r20", CALL, "r alone"),
        (LIMIT, "rrr", "r", CALL, "no raise is allowed"),
    ],
)
def test_what_the_dealer_takes_for_an_action(game: Holdem, before: str, word: str, action: int, complaint: str | None) -> None:
    betting = read_line(game.rules, AcpcWords(game.rules), before).betting
    answer = accept_action(game.rules, betting, word)
    assert answer.action == action
    game.rules.apply(betting, answer.action)
    assert (answer.complaint is None) == (complaint is None)
    assert complaint is None or complaint in str(answer.complaint)


class Watcher(RandomBot):
    """Plays at random and keeps what it saw."""

    def __init__(self, generator: np.random.Generator) -> None:
        super().__init__(generator)
        self.seen: list[Any] = []

    def start(self, player: int) -> None:
        self.seen.append(player)

    def observe(self, sight: Sight) -> None:
        super().observe(sight)
        self.seen.append(sight)


@pytest.mark.parametrize("game", [NO_LIMIT, LIMIT])
@pytest.mark.parametrize("steps", [True, False])
def test_a_seat_sees_what_a_table_shows(game: Holdem, steps: bool) -> None:
    for seed in range(30):
        at_table = [Watcher(np.random.default_rng([seed, player])) for player in (0, 1)]
        states: list[Any] = []
        play_game(game, at_table, np.random.default_rng(seed), lambda table, states=states: states.append(table._state))
        end, actions = states[-1], [sight.action for sight in at_table[0].seen[1:]]
        others = [sight.action for sight in at_table[1].seen[1:]]
        played = [a if a is not None else b for a, b in zip(actions, others, strict=True)][1:]
        for player in (0, 1):
            watcher = Watcher(np.random.default_rng(0))
            seat = Seat(game, watcher)
            seat.start(player, end.hands[2 * player : 2 * player + 2])
            for number in range(len(played) + 1) if steps else [len(played)]:
                seat.follow(played[:number], end.board)
            assert watcher.seen == at_table[player].seen


def test_a_seat_follows_raises_off_the_menu() -> None:
    watcher = Watcher(np.random.default_rng(0))
    seat = Seat(NO_LIMIT, watcher)
    seat.start(0, parse_cards("AsKd"))
    seat.follow((777,), ())
    sight = watcher.seen[-1]
    assert sight.public == ("raise to 777",)
    assert sight.legal_actions == (FOLD, CALL, 1554, 2331, 3885, 20_000)  # 0.5, 1 and 2 pots on top, and everything
    with pytest.raises(TacitError, match="needs more"):
        seat.follow((777, CALL), parse_cards("2c3c"))
    seat.follow((777, CALL), parse_cards("2c3c4d"))  # a mistake of the other side does no lasting harm
    assert watcher.seen[-1].public == ("call", "4d3c2c")
    with pytest.raises(TacitError, match="dealt twice"):
        seat.follow((777, CALL), parse_cards("2c3cAs"))


def test_scores() -> None:
    score = Score(100)
    assert (score.mbb_per_hand, score.interval, str(score)) == (None, None, "no hands")
    for winnings in (100, -50, 250, 0):
        score.add(winnings)
    mean, deviation = 75.0, np.std([100, -50, 250, 0], ddof=1)
    assert score.mbb_per_hand == 750.0
    assert score.interval is not None
    assert score.interval == pytest.approx([10 * (mean - 1.959964 * deviation / 2), 10 * (mean + 1.959964 * deviation / 2)])


# Matches inside this process, to see both ends.


@pytest.fixture
def server() -> Iterator[socket.socket]:
    with listen("127.0.0.1", 0) as made:
        yield made


class Far:
    """The far end of a connection, driven by a test."""

    def __init__(self, server: socket.socket, hello: bytes = b"VERSION:2.0.0\r\n") -> None:
        self.socket = socket.create_connection(server.getsockname())
        self.socket.settimeout(10)
        self.socket.sendall(hello)
        self.file = self.socket.makefile("rb")

    def read(self) -> str:
        line = self.file.readline().decode()
        assert line.endswith("\r\n"), line
        return line[:-2]

    def say(self, text: str) -> None:
        self.socket.sendall(text.encode() + b"\r\n")


def in_thread(target: Any) -> tuple[threading.Thread, list[Any]]:
    result: list[Any] = []

    def run() -> None:
        try:
            result.append(target())
        except TacitError as error:
            result.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread, result


def test_a_hand_line_by_line_with_a_bad_player(server: socket.socket) -> None:
    notes: list[str] = []
    first, second = Far(server), Far(server)
    players = await_players(server, ["ours", "theirs"], 5.0, notes.append)
    thread, result = in_thread(lambda: Dealer(NO_LIMIT, players, 3, 5.0, notes.append).deal(0))
    mine, others = first.read(), second.read()
    assert re.fullmatch(r"MATCHSTATE:0:0::\w{4}\|", mine)
    assert re.fullmatch(r"MATCHSTATE:1:0::\|\w{4}", others)
    second.say("; a comment")
    second.say("what?")
    second.say("MATCHSTATE:1:5::|AsKs:c")  # another hand
    second.say(f"{others}:r150")  # too small
    assert first.read() == mine.replace("0:0::", "0:0:r200:")
    others = second.read()
    first.say(f"{mine}:r9999")  # the state before
    first.say(f"{mine.replace('0:0::', '0:0:r200:')}:dance")
    assert first.read().split(":")[3] == "r200c/"
    mine, others = "", second.read()
    assert re.fullmatch(r"MATCHSTATE:1:0:r200c/:\|\w{4}/\w{6}", others)
    first.say(others)  # not its line
    first.say(f"{others.replace('MATCHSTATE:1', 'MATCHSTATE:0')}:f")  # nor its cards
    time.sleep(0.2)
    assert thread.is_alive()
    first.socket.close()
    first.file.close()
    thread.join(10)
    assert isinstance(result[0], LostError)
    assert "ours" in str(result[0])
    assert "hand 0" in str(result[0])
    assert [note.split(": ")[0] for note in notes[2:]] == ["theirs in hand 0"] * 3 + ["ours in hand 0"] * 4
    for note, words in zip(notes[2:], ("what?", "another|asked", "r150", "asked", "dance", "asked", "asked"), strict=True):
        assert re.search(words, note), note
    assert not any("\n" in note for note in notes)


def test_who_may_play(server: socket.socket) -> None:
    notes: list[str] = []
    wrong, old, long = Far(server, b"HELLO\r\n"), Far(server, b"VERSION:1.0.0\r\n"), Far(server, b"x" * (3 * MAX_LINE))
    gone = socket.create_connection(server.getsockname())
    gone.close()
    Far(server, b"# first a comment\r\nVERSION:2.0.1\r\n")
    with pytest.raises(TacitError, match=r"only 1 of 2 players connected within 1 s"):
        await_players(server, ["ours", "theirs"], 1.0, notes.append)
    assert wrong.read() == "# this dealer speaks VERSION:2.0.0"
    assert [note.split(" ")[0] for note in notes] == ["sent"] * 4 + ["ours"]
    assert "'HELLO'" in notes[0]
    assert "VERSION:1.0.0" in notes[1]
    assert "more than" in notes[2]
    assert "closed" in notes[3] or "left" in notes[3]
    del old, long


def test_silence_ends_a_match(server: socket.socket) -> None:
    ends = [Far(server), Far(server)]
    players = await_players(server, ["ours", "theirs"], 5.0, lambda _: None)
    with pytest.raises(LostError, match=r"theirs gave no answer for 0\.3 s in hand 0"):
        Dealer(NO_LIMIT, players, 0, 0.3, lambda _: None).deal(0)
    del ends


def test_floods_of_nonsense_are_counted_but_not_printed(server: socket.socket) -> None:
    notes: list[str] = []
    ends = [Far(server), Far(server)]
    players = await_players(server, ["ours", "theirs"], 5.0, lambda _: None)
    ends[1].socket.sendall(b"\xff\x00nonsense\n" * 500)
    with pytest.raises(LostError, match="no answer"):
        Dealer(NO_LIMIT, players, 0, 0.5, notes.append).deal(0)
    assert players[1].warnings == 500
    assert len(notes) == 10
    assert "more from it is not shown" in notes[-1]


def test_a_client_bears_with_a_bad_dealer(server: socket.socket) -> None:
    notes: list[str] = []
    client = Client(NO_LIMIT, RandomBot(np.random.default_rng(0)), notes.append)
    near = Lines(socket.create_connection(server.getsockname()), "the dealer")
    thread, result = in_thread(lambda: client.play(near, 10.0))
    connection, _ = server.accept()
    connection.settimeout(10)
    file = connection.makefile("rwb")
    assert file.readline() == b"VERSION:2.0.0\r\n"
    state = b"MATCHSTATE:0:4:r777:AsKd|"
    file.write(
        b"# hello\r\n\r\nnonsense\r\nMATCHSTATE:0:4:r50:AsKd|\r\nMATCHSTATE:0:4:r777:|\r\n" + state + b"\r\n" + state + b"\n"
    )
    file.flush()
    answers = [file.readline(), file.readline()]
    assert answers[0] == answers[1]
    assert answers[0].startswith(state + b":")
    file.write(b"MATCHSTATE:0:4:r777f:AsKd|\r\nMATCHSTATE:0:4:r777f:AsKd|\r\n")  # what it said is not what counts
    file.write(b"MATCHSTATE:1:5:r300c/cc/cc/cc:AsAd|KsKd/2c3c4d/7h/8h\r\n")  # from the middle
    file.flush()
    file.close()
    connection.close()
    thread.join(10)
    assert result == [None]
    assert (client.score.hands, client.score.total) == (2, -100 - 300)
    assert len(notes) == 3
    assert all(note.startswith("ignored what the dealer sent") for note in notes)


class Wire:
    """A connection to a client of ours without a network: it answers at once."""

    def __init__(self, client: Client) -> None:
        self.client, self.sent, self.answers = client, list[str](), list[str]()

    def send(self, text: str, seconds: float) -> None:
        del seconds
        self.sent.append(text)
        answer = self.client.answer(text)
        if answer is not None:
            self.answers.append(answer)

    def receive(self, seconds: float) -> str:
        del seconds
        return self.answers.pop(0)


class Wild(RandomBot):
    """Raises to any number of chips, not only to those on the menu."""

    def act(self) -> int:
        raises = [action for action in self._legal_actions if action > CALL]
        if raises and self._generator.random() < 0.3:
            return int(self._generator.integers(raises[0], raises[-1] + 1))
        return FOLD if FOLD in self._legal_actions and self._generator.random() < 0.1 else CALL


@pytest.mark.parametrize("game", [NO_LIMIT, LIMIT])
def test_the_dealer_sends_what_pokerkit_would(game: Holdem) -> None:
    kit = pytest.importorskip("pokerkit")
    wires = [Wire(Client(game, Wild(np.random.default_rng(seed)), pytest.fail)) for seed in (1, 2)]
    dealer = Dealer(game, [Player(str(i), wire) for i, wire in enumerate(wires)], 9, 1.0, pytest.fail)  # type: ignore[arg-type]
    ends = set()
    for number in range(100):
        hand = dealer.deal(number)
        history = kit.HandHistory.loads(write_hand(History(game, hand.record, number)))
        for position, seat in enumerate(hand.seats):
            lines = list(history.to_acpc_protocol(position))
            assert [line.rstrip() for way, line in lines if way == "S->"] == wires[seat].sent
            wires[seat].sent.clear()
        ends.add((hand.text.split(":")[2][-1], len(hand.record.board)))
    assert {("f", 0), ("c", 5)} <= ends
    assert (("/", 5) in ends) == (game is NO_LIMIT)  # all-in before the river
    assert wires[0].client.score.total == -wires[1].client.score.total
    assert wires[0].client.score.hands == 100


# Matches between processes, as users run them.


def tacit(*arguments: str, cwd: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tacit", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd, env=environment)


def start_dealer(folder: Path, *arguments: str) -> tuple[subprocess.Popen[str], str]:
    dealer = tacit("acpc", "dealer", "--port", "0", "--out", "match.jsonl", *arguments, cwd=folder)
    assert dealer.stderr is not None
    found = re.search(r"at 127\.0\.0\.1:(\d+); waiting", dealer.stderr.readline())
    assert found is not None
    return dealer, found[1]


@pytest.mark.parametrize("game", ["no_limit_holdem", "limit_holdem"])
def test_two_clients_play_200_hands(tmp_path: Path, game: str) -> None:
    options = ("--hands", "200", "--names", "a,b", "--seed", "5", "--phh", "hands.phhs", "--json")
    dealer, port = start_dealer(tmp_path, "--game", game, *options)
    clients = [
        tacit("acpc", "client", "random", "127.0.0.1", port, "--game", game, "--seed", str(seed), "--json", cwd=tmp_path)
        for seed in (1, 2)
    ]
    printed, notes = dealer.communicate(timeout=60)
    assert dealer.returncode == 0, notes
    totals = [json.loads(client.communicate(timeout=30)[0])["total"] for client in clients]
    assert all(client.returncode == 0 for client in clients)
    result, (head, *hands, end) = json.loads(printed), read_journal(tmp_path / "match.jsonl")
    assert result["hands"] == len(hands) == 200
    assert end == {"finished": True, "hands": 200, "totals": result["totals"]}
    assert head["players"] == ["a", "b"]
    assert sum(result["totals"]) == 0
    assert sorted(totals) == sorted(result["totals"])
    assert np.sum([hand["payoffs"] for hand in hands], axis=0).tolist() == result["totals"]
    rules = NO_LIMIT if game == "no_limit_holdem" else LIMIT
    histories = read_hands(tmp_path / "hands.phhs")
    for number, (hand, history) in enumerate(zip(hands, histories, strict=True)):
        _, text_number, betting, cards, payoffs, names = hand["state"].split(":")
        assert (int(text_number), sum(hand["payoffs"])) == (number, 0)
        assert names == ("a|b" if number % 2 == 0 else "b|a")
        state = read_state(rules.rules, f"MATCHSTATE:0:0:{betting}:{cards}")
        record = HandRecord((*state.hands[0], *state.hands[1]), state.board, state.actions)  # type: ignore[arg-type]
        returns = rules.returns(replay(rules, record))
        assert (history.record, history.number, "|".join(history.players)) == (record, number, names)
        assert payoffs == f"{returns[0]:.0f}|{-returns[0]:.0f}".replace("-0", "0")
        assert hand["payoffs"] == list(returns if number % 2 == 0 else returns[::-1])
    kit = pytest.importorskip("pokerkit")
    blinds = (rules.rules.small_blind, rules.rules.big_blind)
    if game == "no_limit_holdem":
        theirs = kit.NoLimitTexasHoldem((), True, 0, blinds, 100)
    else:
        theirs = kit.FixedLimitTexasHoldem((), True, 0, blinds, 10, 20)
    text = "\n".join(hand["state"] for hand in hands)
    read = list(kit.HandHistory.from_acpc_protocol(theirs, rules.rules.stack, text, error_status=True))
    assert len(read) == 200
    for history, hand in zip(read, hands, strict=True):
        *_, last = history
        assert "|".join(str(payoff) for payoff in last.payoffs) == hand["state"].split(":")[4]


def test_a_client_that_dies_leaves_saved_results(tmp_path: Path) -> None:
    dealer, port = start_dealer(tmp_path, "--hands", "1000000")
    clients = [tacit("acpc", "client", "random", "127.0.0.1", port, cwd=tmp_path) for _ in (0, 1)]
    file = tmp_path / "match.jsonl"
    deadline = time.monotonic() + 60
    while file.read_bytes().count(b"\n") < 20 and time.monotonic() < deadline:
        time.sleep(0.05)
    clients[0].send_signal(signal.SIGKILL)
    _, notes = dealer.communicate(timeout=30)
    assert dealer.returncode == 2
    last = notes.splitlines()[-1]
    head, *hands, end = read_journal(file)
    assert re.fullmatch(
        rf"tacit: player\d \S.* in hand {len(hands)}; {len(hands)} of 1000000 hands are in match.jsonl", last
    ), last
    assert len(notes.splitlines()) == 3  # two connected, one left
    assert len(hands) >= 19
    assert end["finished"] is False
    assert end["totals"] == np.sum([hand["payoffs"] for hand in hands], axis=0).tolist()
    assert [hand["hand"] for hand in hands] == list(range(len(hands)))
    _, complaint = clients[1].communicate(timeout=30)
    clients[0].communicate(timeout=30)
    assert head["hands"] == 1_000_000
    if clients[1].returncode:  # the dealer may hang up between two hands, which looks like an end
        assert clients[1].returncode == 2
        assert len(complaint.splitlines()) == 1
        assert "in the middle of hand" in complaint


def test_ctrl_c_ends_a_match_with_its_results(tmp_path: Path) -> None:
    dealer, port = start_dealer(tmp_path, "--hands", "1000000")
    with (
        socket.create_connection(("127.0.0.1", int(port))) as first,
        socket.create_connection(("127.0.0.1", int(port))) as second,
    ):
        clients = [Client(NO_LIMIT, RandomBot(np.random.default_rng(seed)), pytest.fail) for seed in (0, 1)]
        threads = [
            in_thread(lambda client=client, end=end: client.play(Lines(end, "the dealer"), 30.0))[0]
            for client, end in zip(clients, (first, second), strict=True)
        ]
        deadline = time.monotonic() + 60
        while (tmp_path / "match.jsonl").read_bytes().count(b"\n") < 5 and time.monotonic() < deadline:
            time.sleep(0.02)
        dealer.send_signal(signal.SIGINT)
        _, notes = dealer.communicate(timeout=30)
        for thread in threads:
            thread.join(10)
    assert dealer.returncode == 130
    _, *hands, end = read_journal(tmp_path / "match.jsonl")
    assert notes.splitlines()[-1] == f"tacit: stopped by Ctrl-C; {len(hands)} of 1000000 hands are in match.jsonl"
    assert (end["finished"], end["hands"]) == (False, len(hands))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("client", "random", "127.0.0.1", "1", "--connect-timeout", "0"), "no dealer at 127.0.0.1:1"),
        (("client", "random", "no.such.host.invalid", "20000"), "no dealer at no.such.host.invalid"),
        (("client", "nobody", "127.0.0.1", "1"), "no agent 'nobody'"),
        (("client", "random", "127.0.0.1", "1", "--game", "kuhn_poker"), "is not hold'em"),
        (("dealer", "--game", "turn_endgame_holdem"), "is not hold'em"),
        (("dealer", "--names", "one"), "takes two different names"),
        (("dealer", "--names", "a,a"), "takes two different names"),
        (("dealer", "--host", "203.0.113.1"), "cannot listen at"),
        (("dealer", "--port", "0", "--out", "there.jsonl"), "there.jsonl exists"),
        (("dealer", "--port", "0", "--phh", "there.jsonl"), "must end in .phhs"),
        (("dealer", "--port", "0", "--start-timeout", "0.2"), "only 0 of 2 players"),
        (("dealer", "--hands", "0"), "--hands"),
        (("dealer", "--timeout", "nan"), "--timeout"),
        (("client", "random", "127.0.0.1", "1", "--connect-timeout", "nan"), "--connect-timeout"),
    ],
)
def test_mistakes_get_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.jsonl").write_text("{}\n")
    with pytest.raises(SystemExit) as left:
        main(["acpc", *arguments])
    printed, notes = capsys.readouterr()
    assert left.value.code == 2
    assert printed == ""
    last = notes.splitlines()[-1]
    assert last.startswith("tacit: ")
    assert message in last
    assert len(notes.splitlines()) == (2 if "waiting" in notes else 1)
