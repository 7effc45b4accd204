"""A browser tab without a browser: messages in, frames out."""

from __future__ import annotations

import json
import random
import time
from typing import Any

from websockets.sync.client import ClientConnection, connect

from tests.web.conftest import Server


class Tab:
    """A websocket to a server.

    Attributes:
      frames: Everything received so far.
    """

    def __init__(self, server: Server, player: str = "tester-one", **options: Any) -> None:
        origin = options.pop("origin", server.address)
        headers = options.pop("headers", {})
        address = server.address.replace("http", "ws") + "/ws"
        manager = connect(address, origin=origin, additional_headers=headers, max_size=None, **options)
        self.socket: ClientConnection = manager.__enter__()  # stays open until `close`
        self.frames: list[dict[str, Any]] = []
        if player:
            self.send(do="hello", player=player)
            self.wait("welcome")

    def send(self, **message: Any) -> None:
        """Sends a message, to the Play desk unless it names another."""
        self.socket.send(json.dumps({"desk": "play", **message}))

    def wait(self, *kinds: str, seconds: float = 60.0) -> dict[str, Any]:
        """Returns the next frame of one of these types; fails on an error frame unless errors are asked for."""
        end = time.monotonic() + seconds
        while True:
            frame = json.loads(self.socket.recv(timeout=max(0.01, end - time.monotonic())))
            self.frames.append(frame)
            if frame["type"] in kinds:
                return dict(frame)
            assert frame["type"] not in ("error", "lost"), frame

    def table(self, seconds: float = 60.0) -> dict[str, Any]:
        """Returns the next table at which the person must act or the hand is over."""
        while True:
            frame = self.wait("table", seconds=seconds)
            if frame["turn"] != "it":
                return frame

    def open(self, game: str, **fields: Any) -> dict[str, Any]:
        """Opens a table and returns its first decision."""
        self.send(do="open", game=game, **fields)
        return self.table(seconds=120)

    def play_hand(self, table: dict[str, Any], chooser: random.Random) -> dict[str, Any]:
        """Plays a hand with random choices and returns its last table."""
        while table["turn"] == "you":
            self.send(do="act", action=chooser.choice(table["choices"])["action"])
            table = self.table()
        return table

    def close(self) -> None:
        """Closes the connection."""
        self.socket.close()
