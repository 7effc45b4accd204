"""Progress lines: the first after two seconds, then less and less often; preparation gets a line, too."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tacit.cli import pace
from tacit.cli.common import progress_monitor
from tacit.cli.pace import Pace, preparation_shown
from tacit.training.preparing import say_preparing


def test_pauses_double(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "FIRST_PAUSE", 2.0)
    now = [0.0]
    lines = Pace(lambda: now[0])
    due = []
    for tenth in range(2_500):
        now[0] = tenth / 10
        if lines.due():
            due.append(now[0])
    assert due == [2.0, 6.0, 14.0, 30.0, 62.0, 122.0, 182.0, 242.0]


def test_a_long_preparation_says_what_it_does(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(pace, "FIRST_PAUSE", 0.1)
    with preparation_shown("preparing kuhn_poker"):
        say_preparing("finding buckets", 0.25)
        until = time.monotonic() + 10.0
        while time.monotonic() < until and not (told := capsys.readouterr().err):
            time.sleep(0.05)
    assert told == "finding buckets, 25% (0 s) ...\n"
    say_preparing("nobody listens")
    assert capsys.readouterr().err == ""


_LOADED_WHEN_SHOWN = """
import contextlib, sys
from tacit.cli import main, train

@contextlib.contextmanager
def shown(title):
    print(title, "torch" in sys.modules)
    raise SystemExit(0)
    yield

train.preparation_shown = shown
main.main(sys.argv[1:])
"""


@pytest.mark.parametrize("seeds", [[], ["--seeds", "2"]])
def test_a_training_shows_life_before_torch_is_loaded(tmp_path: Path, seeds: list[str]) -> None:
    arguments = ["train", "rebel", "kuhn_poker", "--run", str(tmp_path / "run"), *seeds]
    shown = subprocess.run([sys.executable, "-c", _LOADED_WHEN_SHOWN, *arguments], capture_output=True, text=True, check=True)
    assert shown.stdout == "preparing rebel on kuhn_poker False\n"


def test_where_no_bar_can_be_drawn_lines_say_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tacit.cli.pace.FIRST_PAUSE", 0.0)
    monkeypatch.setattr("tacit.cli.pace.LONGEST_PAUSE", 0.0)
    with progress_monitor() as monitor:
        monitor.step("agents judged", 3, 1_100, "agents", "the longest first")
        monitor.step("loading", 2)
    lines = capsys.readouterr().err.splitlines()
    assert [line.strip() for line in lines] == ["agents judged: 3 of 1,100 agents the longest first (0 s)", "loading: 2 (0 s)"]
