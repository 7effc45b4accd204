"""`tacit slumbot`: plays, saves, resumes, and refuses in one line."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tacit.arena.journal import read_journal
from tacit.arena.score import Score
from tacit.cli.main import main
from tests.slumbot_stand_in import stand_in

ROOT = Path(__file__).parents[2]


class Command:
    """Runs `tacit slumbot` in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str) -> tuple[Any, str, str]:
        """Returns the exit code, and what was printed on standard output and on standard error."""
        with pytest.raises(SystemExit) as left:
            main(["slumbot", *arguments])
        return left.value.code, *self._capsys.readouterr()


@pytest.fixture
def tacit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return Command(capsys)


def test_the_command_plays_saves_and_resumes(tmp_path: Path, tacit: Command) -> None:
    file = tmp_path / "slumbot.jsonl"
    with stand_in(5, trouble=0.05) as (stand, url):
        options = ("--url", url, "--pause", "0")
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "tacit", "slumbot", "random", "--hands", "40", *options, "--json"]
        first = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False, timeout=120)
        assert first.returncode == 0, first.stderr
        result = json.loads(first.stdout)
        assert result["hands"] == 40
        assert result["total"] == sum(answer["winnings"] for answer in stand.finished)
        with file.open("a") as damaged:
            damaged.write('{"hand": 40, "winn')  # killed while writing
        code, _, notes = tacit("random", "--hands", "60", *options)
        assert (code, "exists" in notes) == (2, True)
        stand.out_of_service = True
        code, _, notes = tacit("random", "--hands", "60", *options, "--retries", "2", "--resume")
        assert code == 2
        assert "40 of 60 hands are in slumbot.jsonl; continue with --resume" in notes.splitlines()[-1]
        stand.out_of_service = False
        code, printed, notes = tacit("random", "--hands", "60", *options, "--resume")
    assert code == 0, notes
    head, *entries = read_journal(file)
    hands = [entry for entry in entries if "abandoned" not in entry]
    assert head["agent"] == "random"
    assert [hand["hand"] for hand in hands] == list(range(60))
    score = Score(100)
    for hand, answer in zip(hands, stand.finished, strict=True):
        assert (hand["winnings"], hand["action"]) == (answer["winnings"], answer["action"])
        assert hand["replayed"] == hand["winnings"]
        assert hand["bot_hole_cards"] == "".join(answer["bot_hole_cards"])
        score.add(hand["winnings"])
    assert str(score) in printed
    assert "mbb/hand (95 % interval" in printed
    given_up = len(entries) - len(hands)
    assert (f"{given_up} more were given up" in printed) == (given_up > 0)


def test_the_command_refuses_in_one_line(tmp_path: Path, tacit: Command) -> None:
    (tmp_path / "other.jsonl").write_text('{"agent": "someone"}\n')
    with stand_in(5, login=True) as (_, url):
        for arguments, message in (
            (("random", "--username", "me"), "go together"),
            (("random", "--url", "ftp://x"), "is not an address"),
            (("random", "--game", "limit_holdem"), "stacks of 20,000"),
            (("nobody",), "no agent 'nobody'"),
            (("random", "--out", "other.jsonl", "--resume"), "holds hands of 'someone'"),
            (("random", "--url", url, "--username", "me", "--password", "guess"), "login was refused: Wrong password"),
        ):
            code, printed, notes = tacit(*arguments)
            assert (code, printed) == (2, "")
            assert len(notes.splitlines()) == 1, notes
            assert message in notes
