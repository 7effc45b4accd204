"""`tacit play` as a newcomer meets it: scripted through standard input, and at a pseudo-terminal."""

import io
import json
import os
import pty
import re
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tacit.agents.table import Table
from tacit.errors import TacitError
from tacit.games import load_game
from tacit.games.betting import CALL
from tacit.solvers import solve
from tests.command import tacit

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "src")}


def play(*arguments: str, typed: str = "", cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return tacit("play", *arguments, typed=typed, cwd=cwd)


def test_a_session_with_mistakes(tmp_path: Path) -> None:
    solve("kuhn_poker", solver="lp").save(tmp_path / "kuhn.tacit")
    typed = "\n17\nfly\nRAISE\n" * 3
    result = play(
        "kuhn_poker", "--agent", "kuhn.tacit", "--seat", "0", "--games", "3", "--seed", "4", typed=typed, cwd=tmp_path
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("kuhn_poker against kuhn.tacit; q stops\n\ngame 1 of 3: you are player 0\n")
    assert result.stdout.count("no move 'fly': type a number or one of the names, or q to stop") == 3
    assert result.stdout.count("  1) check  2) bet 1\n") == 3
    payoffs = [
        float(f"{'-' if how == 'lose' else ''}{size}") for how, size in re.findall(r"you (win|lose) (\d)", result.stdout)
    ]
    assert len(payoffs) == 3
    assert f"score: you have {sum(payoffs):+g} after 3 games" in result.stdout
    # A bet of 1 is folded to (1 point) or called (2 points), and cards are shown at the end.
    for held, mine in zip(
        re.findall(r"it held (\w)", result.stdout), re.findall(r"you hold: (\w)", result.stdout), strict=True
    ):
        assert held != mine
    for payoff, move in zip(payoffs, re.findall(r"and played (\w+)", result.stdout), strict=True):
        assert abs(payoff) == (1 if move == "fold" else 2)


@pytest.mark.parametrize("typed", ["1x1\nq\n", "1x1\n", "quit\n", ""])
def test_leaving_early_is_polite_and_json_stands_alone(typed: str) -> None:
    arguments = ("liars_dice(dice=1,faces=4)", "--iterations", "8", "--seat", "0", "--seed", "2", "--json", "--show-beliefs")
    result = play(*arguments, typed=typed)
    assert result.returncode == 0, result.stderr
    data = json.loads(result.stdout)
    assert data["agent"] == "pretrained:liars_dice_1x4f"
    assert data["stopped"] is True
    assert data["total"] == sum(game["payoff"] for game in data["results"])
    assert "it believes you hold: 1 25%  2 25%  3 25%  4 25%" in result.stderr
    assert f"goodbye; you have {data['total']:+g} after {data['games']} game" in result.stderr


def test_the_same_seed_deals_the_same_games() -> None:
    first, second = (
        play("leduc_poker", "--agent", "random", "--games", "4", "--seed", "7", typed="call\n" * 30).stdout for _ in range(2)
    )
    assert first == second
    assert "game 4 of 4" in first


def test_at_a_terminal_and_against_a_game_of_openspiel() -> None:
    pytest.importorskip("pyspiel")
    main, other = pty.openpty()
    command = [sys.executable, "-m", "tacit", "play", "openspiel:kuhn_poker", "--games", "1", "--seat", "0", "--seed", "1"]
    process = subprocess.Popen(command, stdin=other, stdout=other, stderr=subprocess.DEVNULL, env=ENVIRONMENT)
    os.close(other)
    seen = read_until(main, "your move: ")
    assert "you know: " in seen
    assert "1) Pass  2) Bet" in seen
    os.write(main, b"bet\n")
    seen += read_until(main, "after 1 game")
    assert process.wait(timeout=30) == 0
    assert re.search(r"you (win|lose) [12]", seen)
    os.close(main)


class Terminal(io.StringIO):
    """A text stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


def shown_at_a_terminal(*arguments: str, cwd: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Returns what a command writes to standard error on a terminal of 140 columns."""
    terminal = Terminal()
    with monkeypatch.context() as patch:
        patch.setenv("TERM", "xterm")
        patch.setenv("COLUMNS", "140")
        done = tacit(*arguments, cwd=cwd, errors=terminal)
    assert done.returncode == 0, done.stderr
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", done.stderr)


def test_what_takes_long_before_a_game_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspiel")
    game = "openspiel:leduc_poker"
    show = partial(shown_at_a_terminal, cwd=tmp_path, monkeypatch=monkeypatch)
    seen = show("play", game, "--games", "1")
    assert re.search(r"compiling the game: \d+,\d+ histories", seen)
    assert re.search(r"500/500 iterations .* exploitability 0\.000\d", seen)
    solve(game, iterations=1).save(tmp_path / "leduc.tacit")
    seen = show("play", game, "--agent", "leduc.tacit", "--games", "1")
    assert re.search(r"loading leduc\.tacit .* compiling the game", seen)
    seen = show("match", "leduc.tacit", "random", "--game", game, "--hands", "2")
    assert re.search(r"loading leduc\.tacit .* compiling the game", seen)
    seen = show("match", "random", "random", "--game", "leduc_poker", "--hands", "2", "--aivat")
    assert re.search(r"AIVAT .* compiling the game", seen)


def read_until(terminal: int, text: str) -> str:
    seen, end = "", time.monotonic() + 60
    while text not in seen:
        assert time.monotonic() < end, seen
        seen += os.read(terminal, 1_000).decode()
    return seen


def test_ranges_are_told_in_the_usual_notation() -> None:
    game = "no_limit_holdem(board=3s7hTdKs2c,pot=2000,stack=3000,bets=allin,range0=AA|KQs,range1=QQ|JTs)"
    result = play(game, "--seat", "0", "--games", "1", "--seed", "1", "--show-beliefs", typed="check\nfold\n")
    assert result.returncode == 0, result.stderr
    assert "it believes you hold: AA  KQs\n" in result.stdout
    assert "it keeps no beliefs" not in result.stdout


def test_bets_go_by_what_is_put_in_on_the_street() -> None:
    table = Table(load_game("no_limit_holdem(stack=1000,small_blind=5,big_blind=10)"), np.random.default_rng(0))
    told = []
    for action in (30, CALL, CALL, 90, 250, CALL, 400, 1_000):  # chips over the whole hand
        table.play(action)
        sight = table.sights[0]
        assert sight is not None
        told.append(sight.told[0])
    assert told == ["raise to 30", "call 20", "check", "bet 60", "raise to 220", "call 160", "bet 150", "raise to 750 (all-in)"]
    assert sight.chips is not None
    told = ["pot 1,400; on the turn you have put in 150 and it 750; a call costs 600", "you have 600 left, it 0"]
    assert sight.chips.situation(0) == told
    assert [sight.chips.name(action) for action in sight.legal_actions] == ["fold", "call 600"]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("b 450", 550),
        ("bet 450", 550),
        ("raise to 450", 550),
        ("450", 550),
        ("1,000", 1_100),
        ("all-in", 20_000),
        ("c", CALL),
        ("check", CALL),
        ("f", "there is nothing to fold to: check"),
        ("99", "99 is not allowed: bet between 100 and 19,900"),
        ("r 19901", "19,901 is not allowed: bet between 100 and 19,900"),
        ("bet", "how much? bet between 100 and 19,900"),
        ("hello", None),
        ("b -3", None),
        ("b 4.5", None),
    ],
)
def test_any_size_that_is_legal_can_be_typed(typed: str, said: int | str | None) -> None:
    table = Table(load_game("no_limit_holdem(board=3s7hTd,pot=200)"), np.random.default_rng(0))
    sight = table.sights[0]
    assert sight is not None
    assert sight.chips is not None
    if isinstance(said, str):
        with pytest.raises(TacitError, match=f"^{re.escape(said)}$"):
            sight.chips.read(typed)
    else:
        assert sight.chips.read(typed) == said
        if said is not None:
            table.play(said)


@pytest.mark.parametrize(
    ("game", "moves", "typed", "said"),
    [
        ("limit_holdem", (2 * 10, 3 * 10, 4 * 10), "raise", "nobody may raise here: call 10 or fold"),
        ("limit_holdem", (), "raise", 20),
        ("limit_holdem", (), "check", "there is a bet: call 5 or fold"),
        ("limit_holdem", (), "15", "15 is not allowed: raise to 20"),
        ("limit_holdem", (), "all-in", "nobody can go all-in here: raise to 20 at most"),
        ("leduc_poker", (), "b 2", 2),
        ("leduc_poker", (2,), "r 4", 2),
        ("leduc_poker", (2,), "r 5", "5 is not allowed: raise to 4"),
        ("pot_limit_leduc", (2,), "all-in", 2),
        ("tplo", (), "b 200", 2),
    ],
)
def test_games_of_one_size_take_it_alone(game: str, moves: tuple[int, ...], typed: str, said: int | str) -> None:
    table = Table(load_game(game), np.random.default_rng(0))
    for move in moves:
        table.play(move)
    sight = table.sights[table.actor]
    assert sight is not None
    assert sight.chips is not None
    if isinstance(said, str):
        with pytest.raises(TacitError, match=f"^{re.escape(said)}$"):
            sight.chips.read(typed)
    else:
        assert sight.chips.read(typed) == said


def test_an_illegal_size_costs_nothing_and_a_legal_one_is_played() -> None:
    game = "no_limit_holdem(board=3s7hTdKs2c,pot=200,stack=3000)"
    result = play(game, "--agent", "always-call", "--seat", "0", "--games", "1", "--seed", "1", typed="50\nb 5000\nb 333\n")
    assert (result.returncode, result.stderr) == (0, "")
    assert "  pot 200; on the river you have put in 0 and it 0\n  you have 2,900 left, it 2,900\n" in result.stdout
    assert "  or any size from 100 to 2,900\n" in result.stdout
    assert "  50 is not allowed: bet between 100 and 2,900\n" in result.stdout
    assert "  5,000 is not allowed: bet between 100 and 2,900\n" in result.stdout
    assert "  it moves: call 333\n" in result.stdout
    assert re.search(r"you (win|lose) 433\n", result.stdout)
