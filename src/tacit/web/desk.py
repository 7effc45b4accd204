"""Desks: the objects in worker processes that answer the browser's messages, one per browser tab and page.

A desk stays in one process as long as its tab is open, so it may keep compiled games, agents and the hidden state of a hand.
It never sees the network: messages come in as dictionaries, and frames go out through `Outlet`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Protocol

from tacit.errors import TacitError
from tacit.files import parse_json

Frame = dict[str, Any]
Message = Mapping[str, Any]

QUICK, SLOW = "quick", "slow"
"""The two kinds of workers: quick ones never run anything that takes seconds, so their visitors never wait for long."""

DESKS: dict[str, str] = {
    "play": "tacit.web.play.desk:PlayDesk",
    "explore": "tacit.web.explore.desk:ExploreDesk",
}
"""Each desk's class by name, as `module:class`; workers import it with the first message."""


class Outlet:
    """A desk's way to send frames and records while it works on a message.

    Args:
      send: Takes `("frame", frame)` and `("record", record)`.
      is_busy: Returns whether other tabs are waiting for this worker.
    """

    def __init__(self, send: Callable[[str, Frame], None], is_busy: Callable[[], bool] = lambda: False) -> None:
        self._send, self.is_busy = send, is_busy
        self._cut = threading.Event()

    def frame(self, kind: str, /, **fields: Any) -> None:
        """Sends a frame to the browser."""
        self._send("frame", {"type": kind, **fields})

    def record(self, **fields: Any) -> None:
        """Sends a finished hand to the server, which keeps it and sends the browser the new score."""
        self._send("record", fields)

    def cut(self) -> None:
        """Asks the work in progress to end soon with the result it has."""
        self._cut.set()

    def is_cut(self) -> bool:
        """Returns whether the browser asked for an early end."""
        return self._cut.is_set()

    def restart(self) -> None:
        """Clears a cut before the next message."""
        self._cut.clear()


class Desk(Protocol):
    """Answers the messages of one tab."""

    def handle(self, message: Message, out: Outlet) -> None:
        """Works on a message and sends its results.

        Raises:
          TacitError: the message cannot be carried out; the browser gets the text.
        """

    def close(self) -> None:
        """Releases everything when the tab is closed."""


def make_desk(name: str, context: Mapping[str, Any]) -> Desk:
    """Returns a new desk.

    Args:
      name: One of `DESKS`.
      context: The server's settings for every desk, such as `seconds`.

    Raises:
      TacitError: there is no such desk.
    """
    if name not in DESKS:
        raise TacitError(f"no desk {name!r}: there are {', '.join(DESKS)}")
    module, _, class_name = DESKS[name].partition(":")
    desk: Desk = getattr(import_module(module), class_name)(context)
    return desk


def read_message(text: str) -> dict[str, Any]:
    """Returns the message that a browser sent.

    Raises:
      TacitError: it is not a JSON object that says what to do.
    """
    try:
        message = parse_json(text, strict=True)
    except ValueError:
        raise TacitError("a message must be JSON") from None
    if not isinstance(message, dict) or not isinstance(message.get("do"), str):
        raise TacitError('a message must be an object with a "do"')
    if not isinstance(message.get("desk"), str | None):
        raise TacitError(f"no such desk: there are {', '.join(DESKS)}")
    if not isinstance(message.get("id"), int | str | None):
        raise TacitError("the id of a message must be a number or a text")
    return message


def text_of(message: Message, key: str, default: str | None = None) -> str:
    """Returns a text in a message.

    Raises:
      TacitError: it is missing or not a text.
    """
    value = message.get(key, default)
    if not isinstance(value, str) or len(value) > 2_000:
        raise TacitError(f"{key} must be a text")
    return value


def flag_of(message: Message, key: str) -> bool:
    """Returns a truth value in a message, False if it is missing.

    Raises:
      TacitError: it is neither true nor false.
    """
    value = message.get(key, False)
    if not isinstance(value, bool):
        raise TacitError(f"{key} must be true or false")
    return value


def number_of(message: Message, key: str, default: float) -> float:
    """Returns a positive number in a message.

    Raises:
      TacitError: it is not a positive number.
    """
    value = message.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e9:
        raise TacitError(f"{key} must be a positive number")
    return float(value)


def refuse_code(context: Mapping[str, Any], *names: str) -> None:
    """Raises for names that would run a Python file or have OpenSpiel read a file, unless only this machine has access.

    Raises:
      TacitError: one of the names would.
    """
    if not context.get("files", True) and any(".py" in name or "filename" in name for name in names):
        raise TacitError("your own files can be opened only by a server that listens on 127.0.0.1")
