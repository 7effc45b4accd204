"""Hostile tabs on real sockets: floods, garbage, and browsers that never read. Other people keep playing."""

from __future__ import annotations

import json
import random
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from tacit.web.guard import PATIENCE, FloodWatch
from tacit.web.settings import ServeSettings
from tacit.web.sockets import FLOOD
from tests.fuzz.mutations import mutate
from tests.fuzz.pages import EXPLORE, PLAY
from tests.web.client import Tab
from tests.web.conftest import Server


def resident(server: Server) -> int:
    """Returns how many bytes of memory the server's own process uses."""
    return int(Path(f"/proc/{server.process.pid}/statm").read_text().split()[1]) * 4096


def socket_to(server: Server, **options: Any) -> ClientConnection:
    return connect(server.address.replace("http", "ws") + "/ws", origin=server.address, max_size=None, **options)


def pour(socket: ClientConnection, text: str, times: int) -> tuple[int, int | None]:
    """Sends a text until the connection closes; returns how often it was sent, and the close code."""
    for sent in range(times):
        try:
            socket.send(text)
        except ConnectionClosed:
            return sent, socket.close_code
    return times, None


def test_a_flood_is_told_from_a_tab_that_is_a_little_fast() -> None:
    settings = ServeSettings()
    watch = FloodWatch(settings.messages_per_second, settings.burst)
    allowed = [watch.allows(now=10.0) for _ in range(settings.burst + 100)]
    assert allowed == [True] * settings.burst + [False] * 100
    assert not watch.is_flood
    for _ in range(PATIENCE * settings.burst):
        watch.allows(now=10.0)
    assert watch.is_flood
    quiet = FloodWatch(settings.messages_per_second, settings.burst)
    assert all(quiet.allows(now=10.0 + number / settings.messages_per_second) for number in range(1, 5_000))


def test_a_flood_of_messages_closes_its_tab_and_nobody_elses(server: Server) -> None:
    guest = Tab(server, player="guest-of-the-flood")
    table = guest.open("kuhn_poker", opponent="random", seat="0")
    before = resident(server)
    with socket_to(server, max_queue=None) as flood:  # it keeps reading, so it notices when it is closed
        sent, closed = pour(flood, json.dumps({"do": "now", "desk": "play"}), 200_000)
        assert closed == FLOOD
        assert sent < 200_000
    guest.play_hand(table, random.Random(1))
    assert resident(server) - before < 100 * 2**20
    guest.close()


def test_a_browser_that_never_reads_costs_a_bounded_number_of_frames(server: Server) -> None:
    before = resident(server)
    with socket_to(server) as deaf:
        deaf.send(json.dumps({"do": "hello", "player": "deaf-to-everything"}))
        end = time.monotonic() + 3
        try:
            while time.monotonic() < end:
                deaf.send(json.dumps({"do": "hands"}))
        except ConnectionClosed:
            pass
        assert resident(server) - before < 100 * 2**20
    tab = Tab(server, player="somebody-else")
    tab.close()


def test_garbage_gets_errors_and_never_a_traceback(tmp_path: Path) -> None:
    """Mutated messages on real sockets; `tests/fuzz/pages.py` fuzzes the desks with many more, without sockets."""
    server = Server(tmp_path, "--seconds", "0.1")
    chooser, seeds = random.Random(5), (*PLAY, *EXPLORE)
    harmless = [seed for seed in seeds if json.loads(seed)["do"] not in ("open", "load", "solve")]
    try:
        for round_number in range(4):
            with socket_to(server) as socket:
                with suppress(ConnectionClosed):  # invalid text closes the connection, and does nothing else
                    socket.send(PLAY[0].decode())
                    for _ in range(30):
                        text = mutate(chooser.choice(harmless), seeds, chooser).decode("utf-8", "replace")
                        if '"open"' not in text and '"load"' not in text:
                            socket.send(text if len(text) < 60_000 else "x")
                    socket.send(json.dumps({"do": "hello", "player": f"garbage-{round_number}"}))
                    while json.loads(socket.recv(timeout=60))["type"] != "welcome":
                        pass
                assert socket.close_code in (None, 1007, 1009, 4408, FLOOD)
        tab = Tab(server, player="after-the-garbage")
        tab.play_hand(tab.open("kuhn_poker", opponent="random", seat="0"), chooser)
        tab.close()
    finally:
        server.stop()
    assert server.process.stderr is not None
    said = server.process.stderr.read()
    assert "Traceback" not in said, said
