"""The competition's dealer and client over sockets: bad players and dealers, silence, and the lines pokerkit would send."""

import re
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tacit.agents.bots import RandomBot
from tacit.arena.acpc import Client
from tacit.arena.dealer import Dealer, Player, await_players, listen
from tacit.arena.hand_history import write_hand
from tacit.arena.lines import MAX_LINE, Lines, LostError
from tacit.errors import TacitError
from tacit.games.betting import CALL, FOLD
from tacit.games.holdem import Holdem, LimitHoldem, NoLimitHoldem

NO_LIMIT, LIMIT = NoLimitHoldem(), LimitHoldem()


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
    second.say("MATCHSTATE:1:5::|AsKs:c")  # answers another hand
    second.say(f"{others}:r150")  # raise too small
    assert first.read() == mine.replace("0:0::", "0:0:r200:")
    others = second.read()
    first.say(f"{mine}:r9999")  # answers the previous state
    first.say(f"{mine.replace('0:0::', '0:0:r200:')}:dance")
    assert first.read().split(":")[3] == "r200c/"
    mine, others = "", second.read()
    assert re.fullmatch(r"MATCHSTATE:1:0:r200c/:\|\w{4}/\w{6}", others)
    first.say(others)  # the other player's line
    first.say(f"{others.replace('MATCHSTATE:1', 'MATCHSTATE:0')}:f")  # with the other player's cards
    time.sleep(0.2)
    assert thread.is_alive()
    first.socket.close()
    first.file.close()
    thread.join(10)
    assert isinstance(result[0], LostError)
    assert "ours" in str(result[0])
    assert "hand 0" in str(result[0])
    assert [note.split(": ")[0] for note in notes[2:]] == ["theirs in hand 0"] * 3 + ["ours in hand 0"] * 4
    words = ("what?", "another|was sent", "r150", "was sent", "dance", "was sent", "was sent")
    for note, word in zip(notes[2:], words, strict=True):
        assert re.search(word, note), note
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
    file.write(b"MATCHSTATE:0:4:r777f:AsKd|\r\nMATCHSTATE:0:4:r777f:AsKd|\r\n")  # the dealer's record is what counts
    file.write(b"MATCHSTATE:1:5:r300c/cc/cc/cc:AsAd|KsKd/2c3c4d/7h/8h\r\n")  # a hand whose beginning the client never saw
    file.flush()
    file.close()
    connection.close()
    thread.join(10)
    assert result == [None]
    assert (client.score.hands, client.score.total) == (2, -100 - 300)
    assert len(notes) == 3
    assert all(note.startswith("ignored what the dealer sent") for note in notes)


class Wire:
    """A connection to our own client without a network: it answers at once."""

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
    """Raises to any legal number of chips, on or off the menu."""

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
        history = kit.HandHistory.loads(write_hand(game, hand.record, number, ("a", "b")))
        for position, seat in enumerate(hand.seats):
            lines = list(history.to_acpc_protocol(position))
            assert [line.rstrip() for way, line in lines if way == "S->"] == wires[seat].sent
            wires[seat].sent.clear()
        ends.add((hand.text.split(":")[2][-1], len(hand.record.board)))
    assert {("f", 0), ("c", 5)} <= ends
    assert (("/", 5) in ends) == (game is NO_LIMIT)  # all-in before the river
    assert wires[0].client.score.total == -wires[1].client.score.total
    assert wires[0].client.score.hands == 100
