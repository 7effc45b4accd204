"""A worker process: runs desks, one message at a time, while listening for cuts."""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
import traceback
from collections.abc import Mapping
from multiprocessing.connection import Connection
from typing import Any

from tacit.errors import TacitError
from tacit.web.desk import Desk, Outlet, make_desk

JOB, CUT, CLOSE, STOP = "job", "cut", "close", "stop"
"""The server's commands: work on a message, end the work in progress early, forget a place, end the process."""
FRAME, RECORD, DONE, READY = "frame", "record", "done", "ready"
"""A worker's answers: a frame for the browser, a hand to keep, a message is answered, the process has started."""


def work(connection: Connection, context: Mapping[str, Any]) -> None:
    """Runs a worker until the server stops it or goes away.

    Args:
      connection: The connection to the server; both sides send `(what, place, payload)`.
      context: The settings passed to every desk.
    """
    if context.get("is_slow") and hasattr(os, "nice"):
        os.nice(5)  # with few cores, quick decisions come first
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the server decides when to stop
    sys.stdin = open(os.devnull)  # noqa: SIM115, for the whole process
    _Worker(connection, context).run()


class _Worker:
    """The desks of one process."""

    def __init__(self, connection: Connection, context: Mapping[str, Any]) -> None:
        self._connection, self._context = connection, context
        self._desks: dict[str, tuple[Desk, Outlet]] = {}
        self._inbox: queue.SimpleQueue[tuple[str, str, Any]] = queue.SimpleQueue()
        self._busy = bool(context.get("busy", False))
        self._sending = threading.Lock()

    def run(self) -> None:
        threading.Thread(target=self._listen, daemon=True).start()
        self._say(READY, "", None)
        while True:
            what, place, payload = self._inbox.get()
            if what == STOP:
                return
            if what == CLOSE:
                self._close(place)
            else:
                self._answer(place, payload)

    def _listen(self) -> None:
        """Reads the server's commands; cuts take effect at once, all others in turn."""
        try:
            while True:
                what, place, payload = self._connection.recv()
                if what != CUT:
                    self._inbox.put((what, place, payload))
                    continue
                if place in self._desks:
                    self._desks[place][1].cut()
        except (EOFError, OSError):
            self._inbox.put((STOP, "", None))

    def _answer(self, place: str, message: dict[str, Any]) -> None:
        """Works on one message. If anything goes wrong, the browser gets an error frame and the worker lives on."""
        name, number = str(message.get("desk")), message.get("id")
        self._busy = bool(message.get("busy"))
        try:
            desk, out = self._desk(place, name)
            out.restart()
            desk.handle(message, out)
        except TacitError as error:
            self._say(FRAME, place, {"type": "error", "desk": name, "id": number, "message": " ".join(str(error).split())})
        except Exception:
            traceback.print_exc()
            text = "something went wrong in the server; its terminal has the details"
            self._say(FRAME, place, {"type": "error", "desk": name, "id": number, "message": text})
        self._say(DONE, place, None)

    def _desk(self, place: str, name: str) -> tuple[Desk, Outlet]:
        if place not in self._desks:

            def send(what: str, frame: dict[str, Any]) -> None:
                self._say(what, place, {"desk": name, **frame})

            self._desks[place] = make_desk(name, self._context), Outlet(send, lambda: self._busy)
        return self._desks[place]

    def _close(self, place: str) -> None:
        if place in self._desks:
            self._desks.pop(place)[0].close()

    def _say(self, what: str, place: str, payload: Any) -> None:
        with self._sending:
            self._connection.send((what, place, payload))
