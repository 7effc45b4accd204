"""Decides who may talk to the server: checks host, origin and token of every request, and the rate of messages.

A page of another site can make a browser send requests to 127.0.0.1. But it cannot choose their `Origin`, and if it has pointed
its own name at this machine (DNS rebinding), the `Host` is wrong. So both are checked.
"""

from __future__ import annotations

import secrets
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tacit.web.settings import ServeSettings, is_loopback

COOKIE = "tacit_token"
PATIENCE = 10
"""The number of bursts of refused messages after which a tab counts as a flood."""
HEADERS = [
    (b"content-security-policy", b"default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-cache"),
]
"""Headers of every response: the page loads nothing from other sites and cannot be framed by them."""


class Guard:
    """Middleware that refuses requests that do not come from our own page."""

    def __init__(self, app: Any, settings: ServeSettings) -> None:
        self._app, self._settings = app, settings

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        problem = self._problem(scope, headers)
        if problem:
            await _refuse(scope, send, problem)
            return
        extra = list(HEADERS)
        if self._settings.token and scope["type"] == "http" and _query_token(scope):
            cookie = f"{COOKIE}={self._settings.token}; Path=/; HttpOnly; SameSite=Strict"
            extra.append((b"set-cookie", cookie.encode("latin-1")))

        async def send_with_headers(event: Any) -> None:
            if event["type"] == "http.response.start":
                event = {**event, "headers": [*event.get("headers", []), *extra]}
            await send(event)

        await self._app(scope, receive, send_with_headers)

    def _problem(self, scope: Any, headers: dict[str, str]) -> str:
        """Returns why a request is refused, or an empty text."""
        host = headers.get("host", "")
        name = _host_name(f"//{host}")
        if self._settings.is_local and not is_loopback(name):
            return f"this server answers only to 127.0.0.1 and localhost, not to {name or 'no name'}"
        changes = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD")
        origin = headers.get("origin")
        if changes and (origin is None or origin.partition("://")[2] != host):
            return "the origin of this request is another site"
        if self._settings.token and not self._has_token(scope, headers):
            return "this server requires its token: open the address that it printed, with ?token=..."
        return ""

    def _has_token(self, scope: Any, headers: dict[str, str]) -> bool:
        cookies = (pair.strip().partition("=") for pair in headers.get("cookie", "").split(";"))
        given = _query_token(scope) or next((value for name, _, value in cookies if name == COOKIE), "")
        return secrets.compare_digest(given.encode(), self._settings.token.encode())


def _host_name(address: str) -> str:
    """Returns the name of the host in an address, or an empty text if it cannot be read."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _query_token(scope: Any) -> str:
    query: bytes = scope.get("query_string", b"")
    return parse_qs(query.decode("latin-1")).get("token", [""])[0]


async def _refuse(scope: Any, send: Any, problem: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 4403, "reason": problem[:100]})
        return
    body = (problem + "\n").encode()
    await send({"type": "http.response.start", "status": 403, "headers": [(b"content-type", b"text/plain; charset=utf-8")]})
    await send({"type": "http.response.body", "body": body})


class MessageRate:
    """A token bucket: a steady rate of messages, with bursts.

    Args:
      per_second: The steady rate.
      burst: The number of messages that may come at once.
    """

    def __init__(self, per_second: float, burst: int) -> None:
        self._per_second, self._burst, self._left, self._last = per_second, burst, float(burst), 0.0

    def allows(self, now: float) -> bool:
        """Returns whether a message at the time `now`, in seconds, is within the rate."""
        self._left = min(self._burst, self._left + (now - self._last) * self._per_second)
        self._last = now
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True


class FloodWatch:
    """Tells a tab that is a little fast from one that floods the server.

    Args:
      per_second: The steady rate of messages.
      burst: The number of messages that may come at once. A tab may exceed this by a factor of `PATIENCE` before it is closed.
    """

    def __init__(self, per_second: float, burst: int) -> None:
        self._rate = MessageRate(per_second, burst)
        self._patience = MessageRate(per_second, PATIENCE * burst)
        self.is_flood = False

    def allows(self, now: float) -> bool:
        """Returns whether a message at the time `now`, in seconds, is within the rate."""
        if self._rate.allows(now):
            return True
        self.is_flood = not self._patience.allows(now)
        return False
