"""Reports of long preparations to a listener, for example a command that shows them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

PreparationListener = Callable[[str, float | None], None]

_listener: ContextVar[PreparationListener] = ContextVar("listener", default=lambda _what, _share: None)


def say_preparing(what: str, share: float | None = None) -> None:
    """Tells the listener what is being prepared, and which share of it is done, if known."""
    _listener.get()(what, share)


@contextmanager
def preparations_told(listener: PreparationListener) -> Iterator[None]:
    """Sends reports of preparations inside a `with` block to a listener."""
    before = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(before)
