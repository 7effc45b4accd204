"""What holds around every test."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator

import pytest

# Ray keeps the first way of a process to prove who one is, and cannot join a cluster that wants another one.
os.environ["RAY_AUTH_MODE"] = "disabled"

# A shell that starts the tests in the background has them, and all that they start, ignore Ctrl-C, which some of them press.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _threads_stay_as_they_are() -> Iterator[None]:
    """Two workers whose tensors are shared by two threads each are many times slower, and no test would fail."""
    before = _torch_threads()
    yield
    after = _torch_threads()
    assert before is None or after == before, f"torch had {before} threads before the test, {after} after it"


@pytest.fixture(autouse=True)
def _no_life_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines that come by the clock would be in the way of tests that read standard error."""
    monkeypatch.setattr("tacit.cli.pace.FIRST_PAUSE", 1e9)


def _torch_threads() -> int | None:
    torch = sys.modules.get("torch")
    return None if torch is None else torch.get_num_threads()
