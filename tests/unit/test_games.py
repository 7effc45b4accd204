"""Rules, the registry and check_game."""

import importlib.util
import math
import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tacit.errors import TacitError
from tacit.games import CHANCE, TERMINAL, Game, load_game, registered_games
from tacit.games.base import Moves, SequenceGame
from tacit.games.check import check_game
from tacit.games.words import history_in_words
from tacit.tree.compiler import compile_game
from tacit.tree.estimate import Budget, MemoryWatch, estimate
from tacit.tree.growing import compile_observations
from tacit.tree.sweeps import MAX_VISITS, count_tree

ROOT = Path(__file__).parents[2]


HOLDEM = [name for name in registered_games() if name.endswith("holdem")]


@pytest.mark.parametrize(
    ("name", "histories"),
    [
        *((name, 20_000) for name in registered_games() if name not in HOLDEM),
        *((name, 2_000) for name in HOLDEM),
        *(pytest.param(name, 20_000, marks=pytest.mark.slow) for name in HOLDEM),
    ],
)
def test_every_game_keeps_the_protocol(name: str, histories: int) -> None:
    report = check_game(load_game(name), max_histories=histories)
    assert report.ok, str(report)


@pytest.mark.parametrize(
    "name", ["modified_rps", "coin_guess", "kuhn_poker", "leduc_poker", "pot_limit_leduc", "liars_dice(faces=4)"]
)
def test_sizes_in_closed_form_are_those_of_the_tree(name: str) -> None:
    game = load_game(name)
    tree, size = compile_game(game, direct=False), game.size()
    assert size is not None
    assert (size.public_states, size.infostates) == (tree.num_nodes, tree.num_infostates)
    pairs = tree.require_nodes().joint_start[-1] + len(tree.payoff)
    assert size.histories == pairs  # in these games no two histories look alike to both players


def test_names_are_read_and_written() -> None:
    game = load_game(" liars_dice( dice=2 , faces=3 ) ")
    assert str(game) == "liars_dice(dice=2,faces=3)"
    assert load_game(str(game)) == game
    assert load_game("coin_guess(p=0.25)").parameters == {"p": 0.25}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kuhn", "unknown game 'kuhn'"),
        ("kuhn_pokr", "did you mean kuhn_poker"),
        ("liars_dice(sides=4)", "it takes: dice, faces"),
        ("liars_dice(dice=many)", "dice must be a whole number, not 'many'"),
        ("liars_dice(dice=0)", "dice >= 1"),
        ("coin_guess(p=2)", "between 0 and 1"),
        ("goofspiel(cards=1)", "from 2 to 13"),
        ("kuhn_poker((", "cannot read"),
        ("nowhere.py:Mine", "no Python file at nowhere.py"),
    ],
)
def test_bad_names_say_what_would_be_right(text: str, message: str) -> None:
    with pytest.raises(TacitError, match=None) as caught:
        load_game(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_game_in_a_file_loads_by_path() -> None:
    game = load_game(f"{ROOT / 'examples' / 'own_game.py'}:OneCardBluff(cards=3)")
    assert game.parameters == {"cards": 3}
    assert check_game(game).ok


def test_a_game_too_large_is_refused_with_its_estimate() -> None:
    game = load_game("liars_dice(dice=2,faces=6)")
    assert estimate(game, direct=True).num_bytes > 10**11
    with pytest.raises(TacitError, match=r"does not fit: 1\.5e\+10 histories need .* GiB"):
        compile_game(game)


@pytest.mark.parametrize(
    "name", ["liars_dice(dice=1,faces=600)", "liars_dice(dice=10,faces=60)", "liars_dice(dice=1,faces=5000)"]
)
def test_sizes_beyond_any_float_are_refused_at_once(name: str) -> None:
    with pytest.raises(TacitError, match=r"does not fit: \d\.\de\+\d+ histories need \d\.\de\+\d+ GiB"):
        compile_game(load_game(name))


@pytest.mark.parametrize("name", ["goofspiel(cards=5)", "openspiel:goofspiel(num_cards=5,imp_info=True)"])
def test_a_walk_that_outgrows_its_memory_stops(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if name.startswith("openspiel"):
        pytest.importorskip("pyspiel")
    taken = count(0, 2**20)
    monkeypatch.setattr("tacit.tree.estimate.resident_memory", lambda: next(taken))
    monkeypatch.setattr("tacit.tree.compiler.memory_budget", lambda *_: Budget(3 * 2**20))
    with pytest.raises(
        TacitError, match=r"does not fit: the first \d\d,\d\d\d histories took 4 MiB of memory, but only 3 MiB is available"
    ):
        compile_game(load_game(name))


@pytest.mark.parametrize(
    "name",
    ["liars_dice(dice=1,faces=8)", "tplo(cards=1)", "goofspiel(cards=5)", "openspiel:liars_dice(numdice=1,dice_sides=4)"],
)
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux says how much a process took at most")
def test_estimates_cover_what_a_solve_takes(name: str) -> None:
    if name.startswith("openspiel"):
        pytest.importorskip("pyspiel")
    code = (
        "import sys, tacit\n"
        "from pathlib import Path\n"
        "from tacit.tree.compiler import has_direct_builder\n"
        "from tacit.tree.estimate import estimate\n"
        "peak = lambda: 1024 * int(Path('/proc/self/status').read_text().split('VmHWM:')[1].split()[0])\n"
        "for warm_up in ('kuhn_poker', 'modified_rps', 'liars_dice(dice=1,faces=4)'): tacit.solve(warm_up, iterations=1)\n"
        "game, before = tacit.load_game(sys.argv[1]), peak()\n"
        "tacit.solve(game, iterations=1)\n"
        "print((peak() - before) / estimate(game, has_direct_builder(game)).num_bytes)"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-c", code, name]
    share = float(subprocess.run(command, capture_output=True, text=True, env=environment, check=True).stdout)
    assert 0.1 < share < 1.0


def test_sweeps_count_the_histories() -> None:
    game = load_game("goofspiel(cards=4)")  # no closed form; each level branches uniformly, so the count is exact
    assert estimate(game).size.histories == 1_077
    tic_tac_toe = load_game("tic_tac_toe")
    size = tic_tac_toe.size()
    assert size is not None
    counted = count_tree(tic_tac_toe)
    assert counted.histories == pytest.approx(size.histories, rel=0.2)
    assert counted.least < size.histories


@dataclass(frozen=True)
class Escape(SequenceGame):
    """One action ends the game and the other two continue it: of random descents to depth 45, one in 10^8 reaches the end."""

    depth: int = 45
    visits: Counter[str] = field(default_factory=Counter, compare=False)

    name = "escape"

    def actor(self, state: Moves) -> int:
        self.visits["actor"] += 1
        return TERMINAL if len(state) == self.depth or (state and state[-1] == 0) else len(state) % 2

    def legal_actions(self, state: Moves) -> Moves:
        return (0, 1, 2)

    def public_observation(self, state: Moves) -> str:
        return str(state[-1:])

    def returns(self, state: Moves) -> tuple[float, float]:
        return 0.0, 0.0


def test_a_game_with_rare_long_histories_is_refused_before_it_is_walked() -> None:
    game = Escape()
    decisions = 2**45 - 1  # each with three legal actions
    assert 0.5 < count_tree(game).histories / (3 * decisions) < 2.0
    game.visits.clear()
    with pytest.raises(TacitError, match=r"escape.* does not fit: about \d\.\de\+1\d histories need at least .* GiB"):
        compile_game(game)
    assert game.visits["actor"] < 3 * MAX_VISITS


def test_a_walk_that_is_going_to_outgrow_its_memory_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = count(0, 2**20)  # 1 MiB per 4,096 histories makes 2.4 GiB for ten million, and at least a quarter of that
    monkeypatch.setattr("tacit.tree.estimate.resident_memory", lambda: next(taken))
    game, reported = load_game("goofspiel(cards=5)"), list[int]()
    small = MemoryWatch(game, Budget(500 * 2**20, least_histories=1_000_000), reported.append)
    for histories in range(0, 100_000, 4_096):
        small.check(histories)
    assert reported[-1] == 98_304
    large = MemoryWatch(game, Budget(500 * 2**20, least_histories=10_000_000), reported.append)
    for histories in range(0, 32_768, 4_096):
        large.check(histories)
    with pytest.raises(
        TacitError, match=r"first 32,768 histories took 8 MiB of memory and all need at least 6\d\d MiB, but only 500 MiB"
    ):
        large.check(32_768)


def test_a_walk_that_first_reports_late_goes_on() -> None:
    """Public states with many histories are written node by node, so there is nothing to extrapolate from yet."""
    reported = list[int]()
    MemoryWatch(load_game("goofspiel(cards=5)"), Budget(2**30, least_histories=10**9), reported.append).check(100_000)
    assert reported == [100_000]


@pytest.fixture(scope="module")
def pages() -> Any:
    spec = importlib.util.spec_from_file_location("make_game_pages", ROOT / "docs" / "make_game_pages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", registered_games())
def test_pages_are_those_the_code_makes(name: str, pages: Any) -> None:
    assert (ROOT / "docs" / "games" / f"{name}.md").read_text() == pages.page(name), "run `make pages`"


def test_the_list_of_games_is_that_of_the_code(pages: Any) -> None:
    assert (ROOT / "docs" / "games" / "index.md").read_text() == pages.index(), "run `make pages`"


@dataclass(frozen=True)
class Guess(Game[tuple[int, ...]]):
    """A small valid game: player 0 hides a number, player 1 guesses it. Each flaw below breaks one rule."""

    flaw: str = ""

    name = "guess"

    def initial_state(self) -> tuple[int, ...]:
        return ()

    def actor(self, state: tuple[int, ...]) -> int:
        actors = (CHANCE, 0, 1, TERMINAL)
        return 7 if self.flaw == "actor" and len(state) == 2 else actors[len(state)]

    def chance_outcomes(self, state: tuple[int, ...]) -> list[tuple[int, float]]:
        return [(0, 0.5), (1, 0.6 if self.flaw == "chance" else 0.5)]

    def legal_actions(self, state: tuple[int, ...]) -> tuple[int, ...]:
        return (0, 1, 2)[: 2 + (self.flaw == "legal actions" and len(state) == 2 and state[1])]

    def apply(self, state: tuple[int, ...], action: int) -> tuple[int, ...]:
        return (*state, action)

    def public_observation(self, state: tuple[int, ...]) -> str:
        return None if self.flaw == "observations" else ""  # type: ignore[return-value]

    def private_observation(self, state: tuple[int, ...], player: int) -> str:
        return str(state[0]) if len(state) == 1 and player == 0 else ""

    def returns(self, state: tuple[int, ...]) -> tuple[float, float]:
        payoff = 1.0 if state[1] != state[2] else -1.0
        return payoff, 0.0 if self.flaw == "zero-sum" else -payoff


def test_a_sound_game_has_no_violation() -> None:
    assert check_game(Guess()).ok


class Shouting(Guess):
    """Says at length, and not with a number, who acts."""

    def actor(self, state: tuple[int, ...]) -> int:
        return "y" * 100_000 if len(state) == 1 else super().actor(state)  # type: ignore[return-value]


def test_a_history_in_words_stays_short_whatever_the_rules_answer() -> None:
    words = history_in_words(Shouting(), (0, 1))
    assert words[1].startswith("player yyy")
    assert max(map(len, words)) < 500


class Wide(Guess):
    """Player 0 chooses among 10,000 numbers."""

    applied = 0

    def legal_actions(self, state: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(range(10_000)) if len(state) == 1 else (0, 1)

    def apply(self, state: tuple[int, ...], action: int) -> tuple[int, ...]:
        Wide.applied += 1
        return (*state, action)


def test_a_check_of_a_wide_game_ends_early() -> None:
    report = check_game(Wide(), max_histories=1_000)
    assert report.ok
    assert not report.complete
    assert 100_000 < Wide.applied < 300_000  # a sample of 1,000 histories alone would make two million children


@pytest.mark.parametrize("flaw", ["actor", "chance", "legal actions", "observations", "zero-sum"])
def test_each_violation_is_explained(flaw: str) -> None:
    report = check_game(Guess(flaw))
    assert [violation.rule for violation in report.violations] == [flaw]
    assert len(report.violations[0].message) > 20


@dataclass(frozen=True)
class Mutable(Game[list[int]]):
    """A game whose author mutates states in place."""

    name = "mutable"

    def initial_state(self) -> list[int]:
        return []

    def actor(self, state: list[int]) -> int:
        return TERMINAL if state else 0

    def legal_actions(self, state: list[int]) -> tuple[int, ...]:
        return (0, 1)

    def apply(self, state: list[int], action: int) -> list[int]:
        state.append(action)
        return state

    def returns(self, state: list[int]) -> tuple[float, float]:
        return 0.0, 0.0


@dataclass(frozen=True)
class Stubborn(Guess):
    """A game with one method replaced by another, so that anything can go wrong in it."""

    method: str = ""
    answer: Any = None

    def __getattribute__(self, name: str) -> Any:
        get = super().__getattribute__
        return get("answer") if name == get("method") else get(name)


def fail(*_: object) -> None:
    raise ZeroDivisionError("division by zero")


@pytest.mark.parametrize(
    ("method", "answer", "message"),
    [
        ("initial_state", fail, "Stubborn.initial_state() raised ZeroDivisionError: division by zero"),
        ("actor", fail, "Stubborn.actor() raised"),
        ("apply", fail, "Stubborn.apply() raised"),
        ("returns", fail, "Stubborn.returns() raised"),
        ("returns", lambda _: 1.0, "gives 1.0; it must be two finite numbers"),
        ("returns", lambda _: (math.nan, math.nan), "it must be two finite numbers"),
        ("chance_outcomes", fail, "Stubborn.chance_outcomes() raised"),
        ("chance_outcomes", lambda _: [0, 1], "(outcome, probability) pairs"),
        ("chance_outcomes", lambda _: [(0, math.nan), (1, 1.0)], "no positive probability"),
        ("legal_actions", lambda _: None, "must be integers"),
        ("legal_actions", lambda _: ("a", "b"), "must be integers"),
        ("legal_actions", lambda _: (0, 2**31), "must be integers from 0 to"),
        ("legal_actions", lambda _: (), "at least one"),
        ("private_observation", lambda *_: 3, "must be a string"),
    ],
)
def test_whatever_goes_wrong_is_explained(method: str, answer: object, message: str) -> None:
    report = check_game(Stubborn(method=method, answer=answer))
    assert message in report.violations[0].message


@dataclass(frozen=True)
class Line(Game[int]):
    """One player makes `moves` moves; only the last is a choice."""

    moves: int = 40

    name = "line"

    def initial_state(self) -> int:
        return 0

    def actor(self, state: int) -> int:
        return TERMINAL if state >= self.moves else 0

    def legal_actions(self, state: int) -> tuple[int, ...]:
        return (0, 1) if state == self.moves - 1 else (0,)

    def apply(self, state: int, action: int) -> int:
        return state + 1 + action

    def returns(self, state: int) -> tuple[float, float]:
        return 0.0, 0.0


def test_long_games_are_checked_in_linear_time() -> None:
    assert check_game(Line(moves=500)).ok


def test_games_that_never_end_are_refused() -> None:
    endless = Line(moves=10**9)
    assert [violation.rule for violation in check_game(endless).violations] == ["bounded length"]
    assert len(str(check_game(endless))) < 600
    with pytest.raises(TacitError, match="longer than 5,000 moves"):
        compile_game(endless)
    with pytest.raises(TacitError, match="longer than 5,000 moves"):
        compile_observations(endless, MemoryWatch(endless, Budget(2**30), lambda _: None))


@dataclass(frozen=True)
class EndlessChance(Line):
    """Chance moves forever."""

    def actor(self, state: int) -> int:
        return CHANCE

    def chance_outcomes(self, state: int) -> list[tuple[int, float]]:
        return [(0, 1.0)]


def test_chance_that_never_ends_is_refused() -> None:
    with pytest.raises(TacitError, match="longer than 5,000 moves"):
        compile_observations(EndlessChance(), MemoryWatch(EndlessChance(), Budget(2**30), lambda _: None))


@dataclass(frozen=True)
class SilentChance(Game[tuple[int, ...]]):
    """Chance moves once or twice, unseen; if `told`, it reveals which at the end, and only then may the actions differ."""

    told: bool = True

    name = "silent_chance"

    def initial_state(self) -> tuple[int, ...]:
        return ()

    def actor(self, state: tuple[int, ...]) -> int:
        return CHANCE if state in ((), (1,)) else 0 if state in ((0,), (1, 0)) else TERMINAL

    def chance_outcomes(self, state: tuple[int, ...]) -> list[tuple[int, float]]:
        return [(0, 0.5), (1, 0.5)] if state == () else [(0, 1.0)]

    def legal_actions(self, state: tuple[int, ...]) -> tuple[int, ...]:
        return (0, 1) if state == (0,) else (0, 1, 2)

    def apply(self, state: tuple[int, ...], action: int) -> tuple[int, ...]:
        return (*state, action)

    def public_observation(self, state: tuple[int, ...]) -> str:
        return "twice" if self.told and state == (1, 0) else ""

    def returns(self, state: tuple[int, ...]) -> tuple[float, float]:
        return 0.0, 0.0


def test_silent_chance_moves_are_not_noticed() -> None:
    assert check_game(SilentChance()).ok
    assert compile_game(SilentChance()).num_infostates == 2
    assert [violation.rule for violation in check_game(SilentChance(told=False)).violations] == ["legal actions"]
    with pytest.raises(TacitError, match="legal actions differ"):
        compile_game(SilentChance(told=False))


def test_changing_states_in_place_is_noticed() -> None:
    assert [violation.rule for violation in check_game(Mutable()).violations] == ["unchanged states"]
