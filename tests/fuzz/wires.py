"""Targets that reach us over sockets from other programs (dealers, players, Slumbot), and what we write for others to read."""

from __future__ import annotations

import json
import socket
import tomllib
from functools import partial
from pathlib import Path
from typing import Any

from tests.fuzz.target import Prepared, Target, first_refusal

FIRST = "MATCHSTATE:0:7::AsKd|"
LINES = (
    FIRST, "MATCHSTATE:1:7::|7h2c", "MATCHSTATE:0:7:r300:AsKd|", "MATCHSTATE:0:7:r300c/:AsKd|/3c4d9h",
    "MATCHSTATE:0:7:r300c/cr900c/cc/cr3000f:AsKd|/3c4d9h/Ts/2d", "MATCHSTATE:1:0:r20000c///:AsAd|KhKc/3c4d9h/Ts/2d",
    "MATCHSTATE:0:8:cc/cc/cc/cc:AsKd|7h2c/3c4d9h/Ts/2d", "# a comment", "VERSION:2.0.0",
)  # fmt: skip


def _dealer_lines(folder: Path) -> Prepared:
    """A dealer's lines, as our client reads them."""
    import numpy as np

    from tacit.arena.acpc import Client, read_state, write_state
    from tacit.artifacts import load_agent
    from tacit.games import load_game

    games: list[Any] = [load_game("no_limit_holdem"), load_game("limit_holdem")]

    def run(data: bytes) -> None:
        lines = data.decode("ascii", "replace").split("\n")[:6]
        clients = [Client(game, load_agent("random", game, np.random.default_rng(0)), lambda _: None) for game in games]
        first_refusal(
            partial(answer, client, game, line) for client, game in zip(clients, games, strict=True) for line in lines
        )

    def answer(client: Any, game: Any, line: str) -> None:
        client.answer(line)
        state = read_state(game.rules, line)
        assert read_state(game.rules, write_state(game.rules, state)) == state

    return Prepared((*(line.encode() for line in LINES), "\n".join(LINES[:5]).encode()), run)


def _player_lines(folder: Path) -> Prepared:
    """Players' answers, as our dealer reads them: two players on real sockets who answer with the input's lines."""
    from tacit.arena.dealer import Dealer, Player
    from tacit.arena.lines import Lines
    from tacit.games import load_game

    games: list[Any] = [load_game("no_limit_holdem"), load_game("limit_holdem")]

    def run(data: bytes) -> None:
        for game in games:
            pairs = [socket.socketpair(), socket.socketpair()]
            try:
                for _, far in pairs:
                    far.settimeout(0.2)
                    far.sendall(data[:60_000])
                    far.shutdown(socket.SHUT_WR)
                near = [_Near(pair[0]) for pair in pairs]
                players = [Player(name, Lines(end, name)) for name, end in zip(("one", "two"), near, strict=True)]  # type: ignore[arg-type]
                dealt = Dealer(game, players, 3, 0.2, lambda _: None).deal(0)
                assert sum(dealt.payoffs) == 0
            finally:
                for near_end, far in pairs:
                    near_end.close()
                    far.close()

    answer = b"MATCHSTATE:1:0::|%s:" + b"c\r\n"
    seeds = [b"%s:c\r\n" % line.encode() for line in LINES] + [answer % b"7h2c", b"c\r\n" * 20, b"r300\r\nf\r\n", b"# x\n\n;\n"]
    return Prepared(tuple(seeds), run)


class _Near:
    """One end of a socket pair, which ignores TCP options."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end

    def setsockopt(self, *_: object) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        return getattr(self._end, name)


def _actions(folder: Path) -> Prepared:
    """Words for actions; the dealer replaces illegal ones."""
    from tacit.arena.acpc import accept_action
    from tacit.arena.notation import SlumbotWords, read_line, write_line
    from tacit.games import load_game

    rules = [load_game(name).rules for name in ("no_limit_holdem", "limit_holdem")]  # type: ignore[attr-defined]

    def run(data: bytes) -> None:
        text = data.decode("ascii", "replace")
        for betting in rules:
            action, _ = accept_action(betting, betting.start(), text[-30:])
            betting.apply(betting.start(), action)
        line = read_line(rules[0], SlumbotWords(), text)
        if line.actions and "/" in text:
            assert (
                read_line(rules[0], SlumbotWords(), write_line(rules[0], SlumbotWords(), line.actions)).actions == line.actions
            )

    return Prepared(
        (b"b300c/kb300c/kk/kb3000f", b"r300", b"c", b"f", b"b20000c///", b"ck/kk/kk/kb100c", b"b200b600b20000f"), run
    )


def _slumbot(folder: Path) -> Prepared:
    """Slumbot's answers: everything that happens once the bytes have arrived from its server."""
    import numpy as np

    from tacit.arena import slumbot
    from tacit.artifacts import load_agent
    from tacit.games import load_game

    game = load_game("no_limit_holdem")

    class Replies(slumbot.Connection):
        """A connection whose server answers with the lines of an input, one after another."""

        def __init__(self, lines: list[bytes]) -> None:
            super().__init__("http://127.0.0.1:9", 0.0, 1.0, clock=lambda: 0.0, sleep=lambda _: None)
            self._lines = lines

        def _exchange(self, name: str, body: dict[str, Any]) -> dict[str, Any]:
            json.dumps(body)
            if not self._lines:
                raise slumbot.UnclearError("no more")
            return slumbot.read_reply(name, self._lines.pop(0))

    def run(data: bytes) -> None:
        agent = load_agent("random", game, np.random.default_rng(0))
        match = slumbot.SlumbotMatch(game, agent, Replies(data.split(b"\n")), lambda _: None, retries=3)  # type: ignore[arg-type]
        hand = match.play(lambda _: None)
        json.dumps(hand.state._asdict())

    base = {"old_action": "", "action": "", "client_pos": 1, "hole_cards": ["As", "Kd"], "board": [], "token": "t1"}
    won = {**base, "action": "b300f", "client_pos": 0, "winnings": -100, "bot_hole_cards": ["2c", "2d"], "baseline_winnings": 0}
    later = {**base, "action": "b300c/kk", "board": ["2h", "3h", "4h", "9c"], "client_pos": 0, "token": "t2"}
    seeds = (base, won, later, {"error_msg": "no"})
    lines = tuple(json.dumps(seed).encode() for seed in seeds)
    return Prepared((*lines, b"\n".join([lines[0], lines[0], lines[1]]), b"\n".join(lines)), run)


def _histories(folder: Path) -> Prepared:
    """Player names in hand histories: whatever they are, the file must stay TOML and give them back."""
    from tacit.arena.hand_history import write_hand
    from tacit.arena.hands import HandRecord
    from tacit.games import load_game

    game = load_game("no_limit_holdem")
    record = HandRecord((50, 44, 0, 5), (20, 24, 29, 33, 40), (300, 1, 1, 1, 1, 1, 1, 1))

    def run(data: bytes) -> None:
        name = data.decode("utf-8", "replace")
        text = write_hand(game, record, 1, (name, "two"))  # type: ignore[arg-type]
        assert tomllib.loads(text)["players"] == [name, "two"]

    return Prepared((b"random", 'J\u00f6rg "x" \\ \x7f'.encode(), b"a\nb = 1"), run)


WIRES = (
    Target("dealer-lines", _dealer_lines),
    Target("player-lines", _player_lines, seconds=5.0),
    Target("actions", _actions),
    Target("slumbot", _slumbot),
    Target("histories", _histories),
)
