"""A stand-in for Slumbot: a server written from the description of its interface, with failures on demand."""

import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

from tacit.cards.deck import card_name
from tacit.cards.strength import seven_card_strengths

STACK = 20_000


class StreetHand:
    """A hand in Slumbot's terms: chips on this street and chips before it. Shares no code with our betting rules."""

    def __init__(self, generator: np.random.Generator) -> None:
        self.cards = generator.permutation(52).tolist()[:9]
        self.action = ""
        self.street, self.before, self.bets = 0, 0, [100, 50]
        self.to_act, self.last_raise, self.acted = 1, 100, False
        self.winner: float | None = None  # as position 0 sees it: 1 is a win, 0.5 a split

    @property
    def over(self) -> bool:
        return self.winner is not None

    @property
    def board(self) -> list[str]:
        return [card_name(card) for card in self.cards[4 : 4 + (0, 3, 4, 5)[self.street]]]

    def limits(self) -> tuple[int, int] | None:
        """Returns the smallest and the largest bet on this street."""
        most, behind = max(self.bets), STACK - self.before
        if most >= behind:
            return None
        return min(most + self.last_raise, behind), behind

    def apply(self, incr: str) -> str | None:
        """Applies an action; returns what is wrong with it, if anything."""
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
    """The server: one session, a new token in every answer, and failures."""

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
        """The answer to an action in this hand was lost: the client must not act in the hand again."""
        self.resent = 0
        self.logins = 0
        self.out_of_service = False
        self.wrong: dict[str, Any] = {}
        self.bonus = 0

    def respond(self, path: str, body: dict[str, Any]) -> dict[str, Any] | str:
        """Returns the answer, or the kind of failure that happens instead."""
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
            with suppress(OSError, ValueError):  # we closed the connection on purpose
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
