"""Nothing lost, nothing silent: saves, resumed solves, Ctrl-C, narrow terminals and the examples of every command's help."""

import json
import re
import shlex
import signal
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from tacit.arena.match import Deal
from tacit.arena.workers import Table
from tacit.artifacts.base import Artifact
from tacit.artifacts.plans import MatchPlan
from tacit.cli import solve as solve_command
from tacit.cli.main import app
from tacit.errors import TacitError
from tacit.files import write_whole
from tacit.solvers import load_result, result, solve
from tests.command import tacit


def test_a_save_that_fails_is_kept_elsewhere_after_the_result_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(path: str | Path, content: bytes) -> None:
        if Path(path).parent.name == "gone":
            raise TacitError(f"cannot write {path}: No space left on device")
        write_whole(path, content)

    monkeypatch.setattr(result, "write_whole", write)
    monkeypatch.setattr(solve_command, "AUTOSAVE_SECONDS", 0.0)
    ran = tacit("solve", "kuhn_poker", "--iterations", "50", "--save", "gone/kuhn.tacit", "--export", "k.csv", "--json",
                cwd=tmp_path)  # fmt: skip
    assert ran.returncode == 2, ran.stderr
    assert json.loads(ran.stdout)["iterations"] == 50
    assert (tmp_path / "k.csv").exists()
    assert "not saved on the way: cannot write" in ran.stderr
    last = ran.stderr.splitlines()[-1]
    kept = re.fullmatch(r"tacit: cannot write gone/kuhn\.tacit: No space left .*; the solve is kept in (\S+kuhn\.tacit)", last)
    assert kept is not None, last
    assert load_result(kept[1]).iterations == 50


def test_a_picture_that_fails_does_not_lose_the_solve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise TacitError("cannot write k.png: No space left on device")

    monkeypatch.setattr("tacit.solvers.SolveResult.plot", fail)
    ran = tacit("solve", "kuhn_poker", "--iterations", "9", "--save", "k.tacit", "--plot", "k.png", cwd=tmp_path)
    assert ran.returncode == 2
    assert "exploitability" in ran.stdout
    assert "k.tacit" in ran.stdout
    assert "k.png" not in ran.stdout
    assert load_result(tmp_path / "k.tacit").iterations == 9


def test_a_save_replaces_nothing_but_a_solve_of_the_same_game(tmp_path: Path) -> None:
    path = tmp_path / "a.tacit"
    solve("kuhn_poker", iterations=5).save(path)
    ran = tacit("solve", "coin_guess", "--iterations", "5", "--save", str(path))
    assert (ran.returncode, ran.stdout) == (2, "")
    assert f"{path} holds a solve of kuhn_poker: it is not overwritten, choose another name for --save" in ran.stderr
    assert load_result(path).game == "kuhn_poker"
    assert tacit("solve", "kuhn_poker", "--iterations", "6", "--save", str(path)).returncode == 0
    assert load_result(path).iterations == 6
    path.write_text("my notes")
    ran = tacit("solve", "kuhn_poker", "--iterations", "5", "--save", str(path))
    assert (ran.returncode, path.read_text()) == (2, "my notes")
    assert "is not a saved solve: it is not overwritten" in ran.stderr


def test_a_resumed_solve_keeps_its_solver_and_seed_and_says_that_it_goes_on(tmp_path: Path) -> None:
    path = str(tmp_path / "a.tacit")
    options = ("solve", "kuhn_poker", "--iterations")
    assert tacit(*options, "20", "--solver", "xfp(noise=0.2)", "--seed", "7", "--save", path).returncode == 0
    ran = tacit(*options, "50", "--resume", path, "--save", path, "--json")
    assert ran.returncode == 0, ran.stderr
    assert "continuing xfp(noise=0.2) on kuhn_poker after 20 iterations" in ran.stderr
    straight = solve("kuhn_poker", solver="xfp(noise=0.2)", iterations=50, seed=7)
    assert json.loads(ran.stdout)["exploitability"] == pytest.approx(straight.exploitability, abs=1e-12)
    for wrong, message in (
        (("60", "--seed", "8"), "has the seed 7, not 8"),
        (("60", "--solver", "cfr"), "is xfp(noise=0.2) on kuhn_poker"),
        (("50",), "has 50 iterations already: ask for more than that in all"),
    ):
        ran = tacit(*options, *wrong, "--resume", path)
        assert (ran.returncode, ran.stdout) == (2, "")
        assert message in ran.stderr.splitlines()[-1]


def interrupt(*_: object, **__: object) -> Any:
    signal.raise_signal(signal.SIGINT)


def one_deal_at(table: Callable[..., Table]) -> Callable[..., Table]:
    """Returns a table that is interrupted by Ctrl-C after the first deal."""

    def interrupted(*arguments: Any) -> Table:
        def first_of_them(numbers: Iterable[int]) -> Iterator[Deal]:
            yield next(table(*arguments)(numbers))
            interrupt()

        return first_of_them

    return interrupted


@pytest.mark.parametrize(
    ("command", "patched", "replacement"),
    [
        ("solve kuhn_poker --time-limit 60s --json", (solve_command, "_autosave"), lambda *_: interrupt),
        ("match random random --game kuhn_poker --hands 100 --json", (MatchPlan, "table"), one_deal_at(MatchPlan.table)),
        ("evaluate random --game kuhn_poker --json", (Artifact, "evaluate"), interrupt),
        ("reproduce flop --scale smoke --json", ("tacit.cli.reproduce._tabular",), interrupt),
        ("train rebel kuhn_poker --run r --preset smoke", ("tacit.games.load_game",), interrupt),
        ("play kuhn_poker --agent random --json", ("tacit.cli.play._play_one",), interrupt),
    ],
)
def test_every_command_exits_alike_after_ctrl_c(
    command: str, patched: tuple[Any, ...], replacement: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(*patched, replacement)
    ran = tacit(*command.split(), cwd=tmp_path)
    assert ran.returncode == 130, ran.stderr
    assert ran.stderr.splitlines()[-1].startswith("tacit: stopped")
    if command.startswith(("solve", "match")):  # their partial results are still useful
        assert json.loads(ran.stdout)["interrupted"] is True


@pytest.mark.parametrize("columns", ["30", "60", "200"])
def test_what_is_too_wide_is_wrapped_and_never_cut(columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    for arguments in (("solve", "liars_dice(dice=1,faces=3)", "--iterations", "3", "--show", "4"), ("games",)):
        ran = tacit(*arguments)
        assert ran.returncode == 0, ran.stderr
        assert "…" not in ran.stdout
    assert "turn_endgame_holdem" in "".join(ran.stdout.split())


def test_the_examples_of_every_help_are_commands_on_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    commands: dict[tuple[str, ...], Any] = {}
    groups: list[tuple[tuple[str, ...], Any]] = [((), typer.main.get_command(app))]
    for path, group in groups:
        for name, command in group.commands.items():
            commands[*path, name] = command
            if hasattr(command, "commands"):
                groups.append(((*path, name), command))
    for path, command in commands.items():
        lines = re.findall(r"^    (tacit .*)$", tacit(*path, "--help").stdout, re.MULTILINE)
        assert lines or hasattr(command, "commands"), path
        for line in lines:
            words = tuple(shlex.split(line)[1:])
            meant = words[:1] if words[:2] not in commands else words[:2]
            # Raises where an option or a value is wrong.
            commands[meant].make_context(meant[-1], list(words[len(meant) :]))
