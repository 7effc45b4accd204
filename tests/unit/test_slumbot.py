"""The client of Slumbot against a strict stand-in: it keeps its own account of bets by street, and loses requests at will."""

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tacit.agents.base import Sight
from tacit.agents.bots import RandomBot
from tacit.arena.hands import HandRecord, replay
from tacit.arena.journal import read_journal
from tacit.arena.notation import SlumbotWords, read_line, write_line
from tacit.arena.score import Score
from tacit.arena.slumbot import Connection, SlumbotHand, SlumbotMatch
from tacit.cards.deck import card_name, parse_cards
from tacit.cards.strength import seven_card_strengths
from tacit.cli.main import main
from tacit.errors import TacitError
from tacit.games.betting import CALL, FOLD, SHOWDOWN
from tacit.games.holdem import NoLimitHoldem
from tests.random_hands import random_hand

ROOT = Path(__file__).parents[2]
GAME = NoLimitHoldem()
WORDS = SlumbotWords()
STACK = 20_000


class StreetHand:
    """A hand in Slumbot's terms: chips on this street and before it. Shares no code with our betting rules."""

    def __init__(self, generator: np.random.Generator) -> None:
        self.cards = generator.permutation(52).tolist()[:9]
        self.action = ""
        self.street, self.before, self.bets = 0, 0, [100, 50]
        self.to_act, self.last_raise, self.acted = 1, 100, False
        self.winner: float | None = None  # of position 0: 1 wins, 0.5 splits

    @property
    def over(self) -> bool:
        return self.winner is not None

    @property
    def board(self) -> list[str]:
        return [card_name(card) for card in self.cards[4 : 4 + (0, 3, 4, 5)[self.street]]]

    def limits(self) -> tuple[int, int] | None:
        """The smallest and the largest bet, on this street."""
        most, behind = max(self.bets), STACK - self.before
        if most >= behind:
            return None
        return min(most + self.last_raise, behind), behind

    def apply(self, incr: str) -> str | None:
        """Takes an action; returns what is wrong with it."""
        mine, other = self.bets[self.to_act], self.bets[1 - self.to_act]
        if re.fullmatch(r"b[1-9]\d*", incr):
            size, limits = int(incr[1:]), self.limits()
            if limits is None or not limits[0] <= size <= limits[1]:
                return f"Illegal bet {incr}"
            self.last_raise = max(self.last_raise, size - other)
            self.bets[self.to_act] = size
            self.action += incr
            self.to_act, self.acted = 1 - self.to_act, True
            return None
        if incr == "f":
            if mine >= other:
                return "Illegal fold"
            self.action += "f"
            self.winner = float(self.to_act)  # position 1 folds: position 0 wins
            return None
        if incr not in ("k", "c") or (incr == "k") != (mine == other):
            return f"Illegal action {incr!r}"
        self.action += incr
        self.bets[self.to_act] = max(mine, other)
        if self.acted or self.bets[0] + self.before >= STACK:
            self._next_street()
        else:
            self.to_act, self.acted = 1 - self.to_act, True
        return None

    def _next_street(self) -> None:
        self.before += self.bets[0]
        self.bets, self.to_act, self.last_raise, self.acted = [0, 0], 0, 100, False
        if self.street == 3 or self.before >= STACK:
            self.action += "/" * (3 - self.street)
            self.street = 3
            first, second = seven_card_strengths(np.array([self.cards[:2] + self.cards[4:], self.cards[2:]]))
            self.winner = 0.5 + 0.5 * float(np.sign(int(first) - int(second)))
        else:
            self.street += 1
            self.action += "/"

    def winnings(self, position: int) -> int:
        assert self.winner is not None
        if self.winner == 0.5:
            return 0
        lost = self.before + (self.bets[int(self.winner)] if self.action.endswith("f") else 0)
        return lost if (self.winner == 1.0) == (position == 0) else -lost

    def random_action(self, generator: np.random.Generator) -> str:
        facing = self.bets[self.to_act] < self.bets[1 - self.to_act]
        limits, draw = self.limits(), generator.random()
        if limits is not None and draw < 0.35:
            size = int(np.exp(generator.uniform(np.log(limits[0]), np.log(limits[1] + 1))))
            return f"b{min(max(size, limits[0]), limits[1])}"
        return "f" if facing and draw > 0.9 else "c" if facing else "k"


class Stand:
    """The server: one session, a new token with every answer, and trouble."""

    def __init__(self, seed: int, trouble: float, login: bool) -> None:
        self.generator = np.random.default_rng(seed)
        self.trouble, self.login = trouble, login
        self.hand: StreetHand | None = None
        self.token: str | None = None
        self.position, self.tokens = 1, 0
        self.finished: list[dict[str, Any]] = []
        self.refused: list[str] = []
        self.times: list[float] = []
        self.lost = 0
        self.broken = False
        """An answer to an action of this hand was lost: the client must not act in it again."""
        self.resent = 0
        self.logins = 0
        self.out_of_service = False
        self.wrong: dict[str, Any] = {}
        self.bonus = 0

    def respond(self, path: str, body: dict[str, Any]) -> dict[str, Any] | str:
        """Returns the answer, or the kind of trouble: what happens instead."""
        self.times.append(time.monotonic())
        kind = str(self.generator.choice(["early", "late", "500", "garbage"])) if self.generator.random() < self.trouble else ""
        if self.out_of_service:
            return "500"
        if kind == "early":
            self.lost += 1
            self.broken |= path == "/api/act"
            return kind
        answer = self._handle(path, body)
        if "error_msg" in answer:
            self.refused.append(f"{path}: {answer['error_msg']}")
        if kind:
            self.lost += 1
            self.broken |= path == "/api/act"
            return kind
        if "winnings" in answer:
            answer["winnings"] += self.bonus
            self.finished.append(answer)
        return {**answer, **self.wrong}

    def _handle(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        if path == "/api/login":
            if body != {"username": "me", "password": "secret"}:
                return {"error_msg": "Wrong password"}
            self.logins += 1
            return {"token": self._new_token()}
        if path == "/api/new_hand":
            if set(body) - {"token"} or body.get("token", self.token) != self.token or (self.login and "token" not in body):
                return {"error_msg": "Bad token"}
            self.hand, self.position, self.broken = StreetHand(self.generator), 1 - self.position, False
        elif path == "/api/act":
            if set(body) != {"token", "incr"} or body["token"] != self.token:
                return {"error_msg": "Bad token"}
            if self.hand is None or self.hand.over:
                return {"error_msg": "No hand"}
            self.resent += self.broken
            problem = self.hand.apply(body["incr"])
            if problem is not None:
                return {"error_msg": problem}
        else:
            return {"error_msg": "No such request"}
        return self._state()

    def _state(self) -> dict[str, Any]:
        hand = self.hand
        assert hand is not None
        while not hand.over and hand.to_act != self.position:
            assert hand.apply(hand.random_action(self.generator)) is None
        names = [card_name(card) for card in hand.cards]
        mine, bot = names[2 * self.position :][:2], names[2 - 2 * self.position :][:2]
        state = {
            "old_action": "", "action": hand.action, "client_pos": self.position, "hole_cards": mine, "board": hand.board,
            "token": self._new_token(),
        }  # fmt: skip
        if hand.over:
            state |= {"winnings": hand.winnings(self.position), "bot_hole_cards": bot, "baseline_winnings": 0}
        return state

    def _new_token(self) -> str:
        self.tokens += 1
        self.token = f"token-{self.tokens}"
        return self.token


@contextmanager
def stand_in(seed: int = 0, trouble: float = 0.0, login: bool = False) -> Iterator[tuple[Stand, str]]:
    stand = Stand(seed, trouble, login)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            assert self.headers["Content-Type"] == "application/json"
            answer = stand.respond(self.path, body)
            if answer in ("early", "late"):
                self.connection.close()
                return
            content = b"<html>oops" if isinstance(answer, str) else json.dumps(answer).encode()
            self.send_response(500 if answer == "500" else 200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            pass

        def handle(self) -> None:
            with suppress(OSError, ValueError):  # the connection was closed on purpose
                super().handle()

        def finish(self) -> None:
            with suppress(OSError, ValueError):
                super().finish()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield stand, f"http://127.0.0.1:{server.server_address[1]}/api"
    finally:
        server.shutdown()
        server.server_close()


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
    """Every limit, every amount and every payoff agrees with an account that was written apart."""
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
        record = HandRecord(cards, state.board, hand.actions)  # type: ignore[arg-type]
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
        ({"hole_cards": ["As", "Xx"]}, "cards that are none"),
        ({"hole_cards": 5}, "cards that are none"),
        ({"action": "zzz"}, "cannot read 'zzz'"),
        ({"action": "b200b600b1800"}, "not the actions that were sent"),
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
    with pytest.raises(TacitError, match="is no address"):
        Connection("slumbot.com", 0, 1)


# As users run it.


class Command:
    """`tacit slumbot` in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str) -> tuple[Any, str, str]:
        """Returns the exit code, and what was printed on standard output and on standard error."""
        with pytest.raises(SystemExit) as left:
            main(["slumbot", *arguments])
        return left.value.code, *self._capsys.readouterr()


@pytest.fixture
def tacit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return Command(capsys)


def test_the_command_plays_saves_and_resumes(tmp_path: Path, tacit: Command) -> None:
    file = tmp_path / "slumbot.jsonl"
    with stand_in(5, trouble=0.05) as (stand, url):
        options = ("--url", url, "--pause", "0")
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "tacit", "slumbot", "random", "--hands", "40", *options, "--json"]
        first = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False, timeout=120)
        assert first.returncode == 0, first.stderr
        result = json.loads(first.stdout)
        assert result["hands"] == 40
        assert result["total"] == sum(answer["winnings"] for answer in stand.finished)
        with file.open("a") as damaged:
            damaged.write('{"hand": 40, "winn')  # killed while writing
        code, _, notes = tacit("random", "--hands", "60", *options)
        assert (code, "exists" in notes) == (2, True)
        stand.out_of_service = True
        code, _, notes = tacit("random", "--hands", "60", *options, "--retries", "2", "--resume")
        assert code == 2
        assert "40 of 60 hands are in slumbot.jsonl; go on with --resume" in notes.splitlines()[-1]
        stand.out_of_service = False
        code, printed, notes = tacit("random", "--hands", "60", *options, "--resume")
    assert code == 0, notes
    head, *entries = read_journal(file)
    hands = [entry for entry in entries if "abandoned" not in entry]
    assert head["agent"] == "random"
    assert [hand["hand"] for hand in hands] == list(range(60))
    score = Score(100)
    for hand, answer in zip(hands, stand.finished, strict=True):
        assert (hand["winnings"], hand["action"]) == (answer["winnings"], answer["action"])
        assert hand["replayed"] == hand["winnings"]
        assert hand["bot_hole_cards"] == "".join(answer["bot_hole_cards"])
        score.add(hand["winnings"])
    assert str(score) in printed
    assert "mbb/hand (95 % interval" in printed
    given_up = len(entries) - len(hands)
    assert (f"{given_up} more were given up" in printed) == (given_up > 0)


def test_the_command_refuses_in_one_line(tmp_path: Path, tacit: Command) -> None:
    (tmp_path / "other.jsonl").write_text('{"agent": "someone"}\n')
    with stand_in(5, login=True) as (_, url):
        for arguments, message in (
            (("random", "--username", "me"), "go together"),
            (("random", "--url", "ftp://x"), "is no address"),
            (("random", "--game", "limit_holdem"), "stacks of 20,000"),
            (("nobody",), "no agent 'nobody'"),
            (("random", "--out", "other.jsonl", "--resume"), "holds hands of 'someone'"),
            (("random", "--url", url, "--username", "me", "--password", "guess"), "login was refused: Wrong password"),
        ):
            code, printed, notes = tacit(*arguments)
            assert (code, printed) == (2, "")
            assert len(notes.splitlines()) == 1, notes
            assert message in notes
