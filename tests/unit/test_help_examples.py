"""Runs the examples in every command's help as printed, except for numbers that make them small."""

import itertools
import re
import shlex
import socket
from pathlib import Path

import pytest
import typer

from tacit.cli.main import app
from tests.command import tacit

ROOT = Path(__file__).parents[2]
NEED_OTHERS = ("tacit slumbot ", "tacit acpc ", "tacit serve", "--engine ray")
"""Commands that talk to other programs or serve until stopped; their own tests run them."""
SLOW = ("tacit bench ", "tacit reproduce ", "blueprint", " rebel no_limit_holdem", " limit_holdem", "--seeds", "runs/limit")
"""Parts of examples that take more than a few seconds even when small."""
SMALLER: list[tuple[str, str]] = [
    (r"--target \S+", "--iterations 2"),
    (r"--iterations \d{2,}", "--iterations 4"),
    (r"--hands \d+", "--hands 4"),
    (r"--playthroughs \d+", "--playthroughs 2"),
    (r"--boards \d+", "--boards 2 --iterations 2"),
    (r"--seconds \d+", "--seconds 0.02"),
    (r"--seeds \d", "--seeds 2"),
    (r"--histories \d+", "--histories 500"),
    (r"epochs=\d+", "epochs=4"),
    (r" --device cuda| --time-limit \d+m| --preset (gpu|paper)(?! --json)", ""),
    (r"^(tacit train (?!.*--settings|.*--resume|.*--preset|.*\.py:).*)", r"\1 --preset smoke"),
    (r"^(tacit train \S+\.py:.*)", r"\1 --set epochs=1"),
    (r"^(tacit evaluate pretrained:\S+)$", r"\1 --playthroughs 2"),
    (r"^(tacit evaluate .* network-error)$", r"\1 --samples 4"),
    (r"^(tacit evaluate holdem-search .*)", r"\1 --iterations 2"),
    (r"^(tacit report (?!.*--boards).*)", r"\1 --boards 2 --iterations 2"),
    (r"^(tacit match (?!.*--hands).*)", r"\1 --hands 4"),
    (r"^(tacit reproduce (?!.*--scale).*)", r"\1 --scale smoke"),
    (r"--scale (gpu|cpu)", "--scale smoke"),
    (r"^(tacit bench growth.*)", r"\1 --quick"),
    (r"^(tacit compare .*)--time \S+", r"\1--time 0.1s --preset smoke"),
    (r"^(tacit compare (?!.*--systems).*)", r"\1 --systems cfr,rpg"),
]
"""How an example is made small: patterns and their replacements."""


def examples() -> list[str]:
    """Returns every example in the help of every command, once each."""
    found: dict[str, None] = {}
    for name in typer.main.get_command(app).commands:  # type: ignore[attr-defined]
        found |= dict.fromkeys(re.findall(r"^    (tacit .*)$", tacit(name, "--help").stdout, re.MULTILINE))
    return list(found)


EXAMPLES = examples()


def made_by(path: str) -> str | None:
    """Returns the example that creates a file or folder which another one uses."""
    return next((line for line in EXAMPLES if re.search(rf"(--save|--run|--out) {re.escape(path)}( |$)", line)), None)


def small(line: str) -> str:
    for pattern, instead in SMALLER:
        line = re.sub(pattern, instead, line)
    return line


def run(line: str, folder: Path) -> None:
    """Runs a small version of an example, after the examples that create what it uses."""
    words = shlex.split(small(line))[1:]
    outputs = {after for word, after in itertools.pairwise(words) if word in ("--save", "--run", "--out")}
    for word in words:
        path = word.partition(":")[0]
        maker = made_by(path)
        needed = path not in outputs or "--resume" in words
        if maker is not None and maker != line and needed and not (folder / path).exists():
            run(maker, folder)
    for path in outputs if "--resume" not in words else ():
        assert not (folder / path).exists(), path
    ended = tacit(*words, cwd=folder, typed="q\n")
    assert ended.returncode == 0, f"{line}\nas {shlex.join(words)}\n{ended.stderr}"
    assert ended.stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Returns a folder like a fresh checkout: it has the examples, and no results."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    return tmp_path


def _marked(line: str) -> object:
    return pytest.param(line, marks=pytest.mark.slow) if any(part in line for part in SLOW) else line


@pytest.mark.parametrize("line", [_marked(line) for line in EXAMPLES if not any(part in line for part in NEED_OTHERS)])
def test_an_example_of_help_runs(line: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "slumbot.jsonl" in line:
        pytest.skip("what tacit slumbot wrote: tests/unit/test_slumbot_command.py")
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("an example talks to somebody"))
    run(line, folder)


def test_small_versions_are_made_of_the_examples_alone() -> None:
    assert small("tacit train nfsp leduc_poker --run runs/paper --preset paper --set memory=window") == (
        "tacit train nfsp leduc_poker --run runs/paper --set memory=window --preset smoke"
    )
    assert small('tacit report "x" --at "check" --json') == 'tacit report "x" --at "check" --json --boards 2 --iterations 2'
    assert small("tacit solve a --target 0.5%pot --grid g.png") == "tacit solve a --iterations 2 --grid g.png"
    unused = [pattern for pattern, _ in SMALLER if not any(re.search(pattern, line) for line in EXAMPLES)]
    assert not unused
    assert made_by("leduc.tacit") is not None
    assert made_by("curve.png") is None
