"""Fixtures and settings that apply to every test."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator

import pytest

# Ray fixes a process's authentication mode on first use, and then cannot join a cluster that wants another one.
os.environ["RAY_AUTH_MODE"] = "disabled"

# A shell that starts the tests in the background makes them and their children ignore Ctrl-C, which some tests send.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _threads_stay_as_they_are() -> Iterator[None]:
    """Restores thread counts: two workers with two threads each on shared tensors are many times slower, and no test fails."""
    before = _torch_threads()
    yield
    after = _torch_threads()
    assert before is None or after == before, f"torch had {before} threads before the test, {after} after it"


@pytest.fixture(autouse=True)
def _no_life_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turns off timed progress lines, which would disturb tests that read standard error."""
    monkeypatch.setattr("tacit.cli.pace.FIRST_PAUSE", 1e9)


def _torch_threads() -> int | None:
    torch = sys.modules.get("torch")
    return None if torch is None else torch.get_num_threads()
