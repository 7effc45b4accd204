"""The websocket of a browser tab: reads messages, checks them, and passes them to desks."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from tacit.errors import TacitError
from tacit.web.desk import DESKS, SLOW, Frame, read_message
from tacit.web.guard import FloodWatch
from tacit.web.pool import WorkerPool
from tacit.web.settings import ServeSettings
from tacit.web.store import Store

MAX_FRAMES = 1_000
"""The most frames that may wait for a browser that does not read them; then its tab is closed."""
FLOOD = 4429
"""The close code for tabs that send far too many messages."""
_PLAYER = re.compile(r"[A-Za-z0-9_-]{8,64}")


class Tabs:
    """All open tabs, and the frames sent to them.

    Args:
      settings: The limits.
      store: The scores and histories.
      choose_lane: Returns the lane for a message that opens something, by its desk and content.
    """

    def __init__(self, settings: ServeSettings, store: Store, choose_lane: Callable[[dict[str, Any]], str]) -> None:
        self._settings, self._store, self._choose_lane = settings, store, choose_lane
        self._tabs: dict[str, _Tab] = {}
        self._count = 0
        self.pool: WorkerPool

    def deliver(self, place: str, frame: Frame) -> None:
        """Sends a desk's frame to its tab, if the tab is still open."""
        tab = self._tabs.get(place.partition("/")[0])
        if tab is not None:
            tab.send(frame)

    def keep(self, place: str, record: dict[str, Any]) -> None:
        """Stores a finished hand of a tab's player and sends the new score."""
        tab = self._tabs.get(place.partition("/")[0])
        if tab is None:
            return
        desk, kept = record.pop("desk"), record
        hand = self._store.add(tab.player, kept)
        score = self._store.score(tab.player, kept["game"], kept["opponent"])
        tab.send({"type": "score", "desk": desk, "hand": hand, **score})

    async def serve(self, socket: WebSocket) -> None:
        """Serves a tab until it is closed."""
        await socket.accept()
        if len(self._tabs) >= self._settings.max_connections:
            await socket.send_text(json.dumps({"type": "error", "message": "the server is full: try again in a while"}))
            await socket.close(FLOOD)
            return
        self._count += 1
        name = f"tab{self._count}"
        tab = self._tabs[name] = _Tab(name, FloodWatch(self._settings.messages_per_second, self._settings.burst))
        sender = asyncio.create_task(tab.pump(socket))
        try:
            while True:
                text = await socket.receive_text()
                try:
                    self._take(tab, text)
                except TacitError as error:
                    tab.send({"type": "error", "message": " ".join(str(error).split())})
                if tab.watch.is_flood:  # our page never does that, and each answer costs as much as a message
                    await socket.close(FLOOD)
                    return
        except (WebSocketDisconnect, KeyError, RuntimeError):
            pass  # the tab left, or sent bytes instead of text
        finally:
            sender.cancel()
            del self._tabs[name]
            for desk in tab.lanes:
                self.pool.close(f"{name}/{desk}")

    def _take(self, tab: _Tab, text: str) -> None:
        """Works on one message of a browser."""
        if not tab.watch.allows(time.monotonic()):
            raise TacitError("too many messages: slow down")
        if len(text.encode()) > self._settings.max_message:
            raise TacitError(f"a message may have at most {self._settings.max_message:,} bytes")
        message = read_message(text)
        if message["do"] == "hello":
            self._greet(tab, message)
        elif message["do"] == "now":
            self.pool.cut(f"{tab.name}/{message.get('desk')}")
        elif message["do"] == "hands":
            game = message.get("game")
            hands = self._store.hands(tab.player, game if isinstance(game, str) else None)
            tab.send({"type": "hands", "desk": "play", "hands": hands})
        elif message["do"] == "replay":
            hand = message.get("hand")
            record = self._store.record(tab.player, hand) if isinstance(hand, int) else None
            if record is None:
                raise TacitError(f"you have played no hand {hand!r}")
            tab.send({"type": "past", "desk": "play", "hand": hand, **record})
        else:
            self._pass_on(tab, message)

    def _greet(self, tab: _Tab, message: dict[str, Any]) -> None:
        player = message.get("player")
        if not isinstance(player, str) or not _PLAYER.fullmatch(player):
            raise TacitError("player must be 8 to 64 letters, digits, - or _")
        tab.player = player
        tab.send({"type": "welcome"})

    def _pass_on(self, tab: _Tab, message: dict[str, Any]) -> None:
        desk = message.get("desk")
        if desk not in DESKS:
            raise TacitError(f"no desk {desk!r}: there are {', '.join(DESKS)}")
        if not tab.player:
            raise TacitError("say hello first")
        place = f"{tab.name}/{desk}"
        lane = self._choose_lane(message) if message["do"] == "open" else tab.lanes.get(desk, SLOW)
        if message["do"] == "open":
            self.pool.cut(place)  # the old table's answers are no longer needed
        if tab.lanes.setdefault(desk, lane) != lane:
            self.pool.close(place)
            tab.lanes[desk] = lane
        self.pool.submit(place, lane, message)


class _Tab:
    """One browser tab."""

    def __init__(self, name: str, watch: FloodWatch) -> None:
        self.name, self.player, self.watch = name, "", watch
        self.lanes: dict[str, str] = {}
        self._frames: asyncio.Queue[Frame | None] = asyncio.Queue(MAX_FRAMES)

    def send(self, frame: Frame) -> None:
        """Queues a frame. A tab that does not read its frames is closed."""
        try:
            self._frames.put_nowait(frame)
        except asyncio.QueueFull:
            self._frames.get_nowait()
            self._frames.put_nowait(None)

    async def pump(self, socket: WebSocket) -> None:
        """Sends the frames of the queue."""
        while (frame := await self._frames.get()) is not None:
            await socket.send_text(json.dumps(frame, allow_nan=False))
        await socket.close(4408)
