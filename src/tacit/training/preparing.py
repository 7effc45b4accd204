"""Long preparations say what they do: to whoever listens, for example a command that shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

PreparationListener = Callable[[str, float | None], None]

_listener: ContextVar[PreparationListener] = ContextVar("listener", default=lambda _what, _share: None)


def say_preparing(what: str, share: float | None = None) -> None:
    """Tells the listener what is being prepared, and the share of it that is done, if known."""
    _listener.get()(what, share)


@contextmanager
def preparations_told(listener: PreparationListener) -> Iterator[None]:
    """Has a listener hear of preparations."""
    before = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(before)
