"""Twenty people at once: everybody finishes, tabs take fair turns, and the server keeps answering."""

import asyncio
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from tacit.errors import TacitError
from tacit.web.pool import WorkerPool
from tacit.web.settings import ServeSettings
from tacit.web.sockets import Tabs
from tests.web.client import Tab
from tests.web.conftest import Server

TABS, HANDS = 20, 2
GAMES = ("kuhn_poker", "leduc_poker", "liars_dice(dice=1,faces=4)?random", "goofspiel(cards=4)?random")


def test_twenty_people_play_at_once(server: Server) -> None:
    finished: list[int] = []
    problems: list[Any] = []

    def visit(number: int) -> None:
        try:
            tab, (game, _, opponent) = Tab(server, f"person-{number:03}"), GAMES[number % len(GAMES)].partition("?")
            table, chooser = tab.open(game, opponent=opponent or "default"), random.Random(number)
            for _ in range(HANDS):
                tab.play_hand(table, chooser)
                tab.wait("score")
                tab.send(do="next")
                table = tab.table()
            tab.close()
            finished.append(number)
        except Exception as error:
            problems.append((number, repr(error)))

    people = [threading.Thread(target=visit, args=(number,)) for number in range(TABS)]
    for person in people:
        person.start()
    slowest = 0.0
    while any(person.is_alive() for person in people):
        began = time.monotonic()
        assert httpx.get(f"{server.address}/api/catalog", timeout=30).status_code == 200
        slowest = max(slowest, time.monotonic() - began)
        time.sleep(0.2)
    assert problems == []
    assert sorted(finished) == list(range(TABS))
    assert slowest < 5.0  # a search never blocks the event loop; the limit is generous because machines can be busy


class Quiet(WorkerPool):
    """A pool without processes, which records what workers would be told."""

    def __init__(self, max_waiting: int) -> None:
        self.delivered: list[tuple[str, Any]] = []
        self.kept: list[tuple[str, Any]] = []
        deliver, keep = (lambda place, frame, to=to: to.append((place, frame)) for to in (self.delivered, self.kept))
        super().__init__({"quick": 1, "slow": 1}, {}, deliver, keep, max_waiting)
        self.told: list[tuple[str, str, str]] = []

    def _tell(self, process: Any, what: str, place: str, payload: Any) -> None:
        self.told.append((what, place, "" if payload is None else payload["do"]))

    def hear(self, lane: str, what: str, place: str, payload: Any = None) -> None:
        """Delivers a message as if a worker had sent it."""
        self._hear(next(one for one in self._processes if one.lane == lane), what, place, payload)


def test_tabs_take_turns_and_none_can_fill_the_queue() -> None:
    pool = Quiet(max_waiting=3)
    for number in range(4):
        pool.submit("a/play", "quick", {"do": f"a{number}"})
    with pytest.raises(TacitError, match="too many messages are waiting"):
        pool.submit("a/play", "quick", {"do": "a4"})
    pool.submit("b/play", "quick", {"do": "b0"})
    pool.submit("c/play", "slow", {"do": "c0"})
    for place in ("a/play", "a/play", "b/play", "a/play", "a/play"):
        pool.hear("quick", "done", place)
    assert [do for _, _, do in pool.told] == ["a0", "c0", "a1", "b0", "a2", "a3"]
    assert pool.delivered == [("b/play", {"type": "queued", "desk": None, "ahead": 2})]


def test_a_closed_tab_gets_nothing_and_waits_for_nothing() -> None:
    pool = Quiet(max_waiting=3)
    pool.submit("a/play", "quick", {"do": "a0"})
    pool.submit("a/play", "quick", {"do": "a1"})
    pool.hear("quick", "frame", "a/play", {"type": "table"})
    pool.cut("a/play")
    pool.close("a/play")
    pool.hear("quick", "frame", "a/play", {"type": "table"})
    pool.hear("quick", "record", "a/play", {})
    pool.hear("quick", "done", "a/play")
    assert pool.told == [("job", "a/play", "a0"), ("cut", "a/play", ""), ("cut", "a/play", ""), ("close", "a/play", "")]
    assert (len(pool.delivered), pool.kept, pool.load()) == (1, [], {"quick": 0, "slow": 0})


def test_the_server_is_full_at_its_limit() -> None:
    """The limit comes from the settings; a tab beyond it is told so and closed."""

    class Socket:
        sent: str = ""
        closed: int = 0

        async def accept(self) -> None: ...

        async def send_text(self, text: str) -> None:
            self.sent = text

        async def close(self, code: int) -> None:
            self.closed = code

    socket = Socket()
    tabs = Tabs(ServeSettings(max_connections=0, data=Path()), None, lambda _: "quick")  # type: ignore[arg-type]
    with ThreadPoolExecutor(1) as thread:  # another test's browser may run an event loop in this thread
        thread.submit(asyncio.run, tabs.serve(socket)).result()  # type: ignore[arg-type]
    assert "the server is full" in socket.sent
    assert socket.closed == 4429
