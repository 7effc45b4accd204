"""Games in a user's own files: every mistake in them gets one line."""

import json
from pathlib import Path

import pytest

from tacit.cli.main import main
from tacit.errors import TacitError
from tacit.games import load_game, register_game
from tacit.games.base import Game
from tacit.games.check import check_game
from tacit.solvers import load_result, solve
from tacit.tree.compiler import compile_game
from tests.unit.test_arena import assert_refused

BLUFF = f"{Path(__file__).parents[2] / 'examples' / 'own_game.py'}:OneCardBluff"
BASE = """
import math
from dataclasses import dataclass, field
from tacit.games import CHANCE, TERMINAL, Game

class Base(Game):
    def initial_state(self): return ()
    def actor(self, state): return TERMINAL if state else 0
    def legal_actions(self, state): return (0, 1)
    def apply(self, state, action): return (*state, action)
    def returns(self, state): return (1.0, -1.0) if state[0] else (0.0, 0.0)

@dataclass(frozen=True)
class Mine(Base):
    name = "mine"
"""


def own_file(folder: Path, body: str, name: str = "own.py") -> Path:
    path = folder / name
    path.write_text(BASE + body)
    return path


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("    def returns(self, state): return 1 / 0", "Mine.returns() raised ZeroDivisionError: division by zero"),
        ("    def returns(self, state): return (math.nan, math.nan)", "two finite numbers"),
        ("    def returns(self, state): return (1.0, 1.0)", "sum to 2, not to 0"),
        ("    def legal_actions(self, state): return ()", "at least one"),
        ("    def legal_actions(self, state): return ('a', 'b')", "must be integers"),
        ("    def actor(self, state): return 5", "actor() gives 5"),
        ("    def actor(self, state): return TERMINAL if state else CHANCE", "no chance_outcomes()"),
        ("    cards: int", "mine needs a value for cards"),
        ("    size: int = 3", "has a parameter 'size', which is a word of the Game protocol"),
        ("    def __post_init__(self): raise ValueError('no luck')", "Mine() raised ValueError: no luck"),
        ("@dataclass(frozen=True)\nclass Mine(Base):\n    pass", "Mine has no name"),
        ("class Mine(Base):\n    name = 'mine'", "Mine must be a dataclass"),
        ("@dataclass(frozen=True)\nclass Mine(Game):\n    name = 'mine'", "Mine lacks actor, apply, initial_state"),
        ("Mine = 3", "Mine is not a game: write class Mine(tacit.Game)"),
        ("raise SystemExit(4)", "cannot be imported: SystemExit: 4"),
        ("import nothing_like_this", "cannot be imported: ModuleNotFoundError"),
        ("def (", "cannot be imported: SyntaxError"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_in_a_line(body: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(TacitError) as caught:
        load_game(f"{own_file(tmp_path, body)}:Mine")
    assert message in str(caught.value)
    assert "own.py" in str(caught.value) or "mine" in str(caught.value)


def test_parameters_are_read_by_their_annotations(tmp_path: Path) -> None:
    body = """
    limit: int | None = None
    share: "float" = 0.5
    cards: list = field(default_factory=list)
"""
    path = own_file(tmp_path, body)
    assert load_game(f"{path}:Mine").parameters == {"limit": None, "share": 0.5, "cards": []}
    assert load_game(f"{path}:Mine(limit=3,share=1)").parameters == {"limit": 3, "share": 1.0, "cards": []}
    assert load_game(f"{path}:Mine(limit=none)").parameters["limit"] is None
    for text, message in (
        ("limit=x", "must be a whole number"),
        ("cards=1", "only in Python"),
        ("limit=1,limit=2", "given twice"),
    ):
        with pytest.raises(TacitError, match=message):
            load_game(f"{path}:Mine({text})")


def test_a_file_named_like_a_module_does_not_replace_it(tmp_path: Path) -> None:
    import json

    load_game(f"{own_file(tmp_path, '', name='json.py')}:Mine")
    import json as again

    assert again is json


def test_a_flaw_too_deep_for_the_quick_check_is_a_line_too(tmp_path: Path) -> None:
    body = """
    def actor(self, state): return TERMINAL if len(state) == 14 else 0
    def public_observation(self, state): return str(state[-1:])
    def returns(self, state): return (1 / sum(state), -1 / sum(state))
"""
    game = load_game(f"{own_file(tmp_path, body)}:Mine")
    with pytest.raises(TacitError, match=r"mine raised ZeroDivisionError: .*own.py:\d+\); tacit.check_game says after"):
        compile_game(game)


def test_a_class_that_cannot_be_a_game_is_not_registered() -> None:
    class Nameless(Game[int]):
        """Lacks everything."""

    with pytest.raises(TacitError, match="Nameless lacks actor"):
        register_game(Nameless)


def test_saves_of_own_games_are_continued(tmp_path: Path) -> None:
    game = load_game(f"{own_file(tmp_path, '')}:Mine")
    assert check_game(game).ok
    solve(game, iterations=3).save(tmp_path / "mine.tacit")
    assert load_result(tmp_path / "mine.tacit").iterations == 3  # it records where its game is
    with pytest.raises(TacitError, match="is a solve of mine, not of kuhn_poker"):
        load_result(tmp_path / "mine.tacit", load_game("kuhn_poker"))
    assert solve(game, iterations=5, resume=load_result(tmp_path / "mine.tacit", game)).iterations == 5


def test_a_project_that_moved_finds_its_game(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    (old / "rules").mkdir(parents=True)
    (old / "runs").mkdir()
    game = load_game(f"{own_file(old / 'rules', '')}:Mine")
    solve(game, iterations=3).save(old / "runs" / "mine.tacit")
    old.rename(new)
    assert load_result(new / "runs" / "mine.tacit").game == "mine"
    (new / "rules" / "own.py").rename(tmp_path / "elsewhere.py")
    with pytest.raises(TacitError, match=r"own.py is no longer there, nor near .*mine.tacit; or give the game itself"):
        load_result(new / "runs" / "mine.tacit")
    (new / "own.py").write_text(BASE.replace('name = "mine"', 'name = "yours"'))
    with pytest.raises(TacitError, match=r"own.py:Mine is yours now, not mine"):
        load_result(new / "runs" / "mine.tacit")


def test_modules_beside_a_file_can_be_imported(tmp_path: Path) -> None:
    payoffs = {}
    for folder in ("first", "second"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "payoffs.py").write_text(f"WIN = {len(folder)}.0\n")
        late = "    def returns(self, state):\n        import payoffs\n        return (WIN, -payoffs.WIN)\n"
        path = own_file(tmp_path / folder, f"    from payoffs import WIN\n{late}".replace("(WIN", "(self.WIN"))
        payoffs[folder] = load_game(f"{path}:Mine").returns((1,))
    assert payoffs == {"first": (5.0, -5.0), "second": (6.0, -6.0)}


def test_a_file_is_imported_once_until_it_changes(tmp_path: Path) -> None:
    path = own_file(tmp_path, "")
    first, second = (type(load_game(f"{path}:Mine")) for _ in range(2))
    assert first is second
    path.write_text(BASE.replace("(1.0, -1.0)", "(2.0, -2.0)"))
    assert load_game(f"{path}:Mine").returns((1,)) == (2.0, -2.0)


def test_the_line_of_an_exception_is_told(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("def pay():\n    raise KeyError('joker')\n")
    body = "    def returns(self, state):\n        import helper\n        return helper.pay()\n"
    with pytest.raises(TacitError, match=r"Mine.returns\(\) raised KeyError: 'joker' \(.*helper.py:2\)"):
        load_game(f"{own_file(tmp_path, body)}:Mine")
    with pytest.raises(TacitError, match=r"cannot be imported: ZeroDivisionError: division by zero \(.*own.py:16\)"):
        load_game(f"{own_file(tmp_path, '1 / 0')}:Mine")
    with pytest.raises(TacitError, match=r"cannot be imported: SyntaxError: .* \(.*own.py:16\)"):
        load_game(f"{own_file(tmp_path, 'def (')}:Mine")


def test_check_explains_by_named_moves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = """
    def actor(self, state): return CHANCE if not state else TERMINAL if len(state) == 3 else len(state) - 1
    def chance_outcomes(self, state): return [(0, 0.5), (1, 0.5)]
    def private_observation(self, state, player): return f"card {state[0]}" if len(state) == 1 and player == 0 else ""
    def legal_actions(self, state): return (0, 1) if len(state) == 1 else (2, 3)[:1 + state[0]]
    def action_name(self, action): return ("pass", "bet", "take", "leave")[action]
"""
    path = own_file(tmp_path, body)
    with pytest.raises(SystemExit) as ended:
        main(["check", f"{path}:Mine"])
    assert ended.value.code == 1
    out = capsys.readouterr().out
    assert "1 rule broken" in out
    there = "take, leave after chance 1 (player 0 sees card 1), player 0: bet"
    assert f"player 1 has the actions take here and {there}, and cannot tell the two apart" in out
    assert "(after chance 0 (player 0 sees card 0), player 0: bet)" in out
    with pytest.raises(SystemExit):
        main(["check", f"{path}:Mine", "--json"])
    report = json.loads(capsys.readouterr().out)
    assert (report["ok"], report["complete"]) == (False, True)
    assert report["violations"][0]["history"] == [0, 1]
    assert report["violations"][0]["words"] == ["chance 0 (player 0 sees card 0)", "player 0: bet"]
    assert "no violation" in run_command(["check", BLUFF], capsys)[0]
    for wrong, message in (
        (str(path), "write FILE.py:CLASS"),
        (f"{path}:Mne", "defines no Game called Mne: did you mean Mine?"),
        (f"{path}:Mine(cards=2)", "mine has no parameter 'cards' (it takes: none)"),
        (f"{tmp_path}/none.py:Mine", "no Python file at"),
        (f"{path}:CHANCE", "CHANCE is not a game"),
    ):
        assert_refused(["check", wrong], message, capsys)


def run_command(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """Returns the output of a command, which must succeed."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    out, err = capsys.readouterr()
    assert ended.value.code == 0, err
    return out, err


@pytest.mark.parametrize(("system", "settings"), [("rebel", ()), ("nfsp", ("--set", "epoch_rounds=5"))])
def test_own_games_are_trained_continued_and_evaluated(
    system: str, settings: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, name = str(tmp_path / "run"), "one_card_bluff(cards=4)"
    start = ["train", system, BLUFF, "--run", run]
    out, _ = run_command([*start, "--preset", "smoke", "--set", "epochs=1", *settings], capsys)
    assert f"play {BLUFF} --agent {run}" in out  # the printed command can be copied
    out, err = run_command([*start, "--resume", "--set", "epochs=2", "--json"], capsys)
    assert "resuming after epoch 1" in err
    assert (json.loads(out)["epoch"], json.loads(out)["game"]) == (2, name)
    measures = {"exploitability": ("--playthroughs", "4"), "network-error": ("--samples", "4")}
    for metric, options in measures.items() if system == "rebel" else [("exploitability", ())]:
        judge = ["evaluate", run, *options, "--json"]
        for named in ((), ("--game", BLUFF)):
            out, _ = run_command([*judge, "--metric", metric, *named], capsys)
            assert json.loads(out)["game"] == name
        another = [*judge, "--metric", metric, "--game", "kuhn_poker"]
        assert_refused(another, f"{run} was trained on {name}, not on kuhn_poker", capsys)
    assert_refused(
        ["train", system, f"{BLUFF}(cards=5)", "--run", run, "--resume"],
        f"{run} holds a run of {name}, not of one_card_bluff",
        capsys,
    )
