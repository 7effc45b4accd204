"""Rules of a user's own game that lie: `check_game` and the compiler must say so in one line, and soon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import numpy as np

from tacit.games.base import CHANCE, TERMINAL, Game
from tacit.games.check import check_game
from tacit.tree.compiler import compile_game
from tests.fuzz.target import Prepared, Target

METHODS = (
    "initial_state",
    "actor",
    "legal_actions",
    "apply",
    "returns",
    "chance_outcomes",
    "public_observation",
    "private_observation",
    "public_key",
    "action_name",
    "size",
)


class _Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError("no words")

    __hash__ = None  # type: ignore[assignment]


class _Endless(Sequence):  # type: ignore[type-arg]
    def __getitem__(self, index: Any) -> int:
        return int(index)

    def __len__(self) -> int:
        return 2**40


def _forever() -> Any:
    number = 0
    while True:
        number += 1
        yield number, 1e-9


LIES: tuple[Any, ...] = (
    None,
    True,
    -1,
    -2,
    0,
    1,
    2,
    7,
    2**40,
    10**400,
    0.5,
    float("nan"),
    float("inf"),
    "",
    "x",
    "a\x1fb\0\n",
    "y" * 100_000,
    b"x",
    (),
    [],
    {},
    (0,),
    [0, 0],
    [1, 0],
    [0, 1, 2],
    [-1],
    [2**31],
    [0.5],
    ["0"],
    [None],
    [True],
    {0, 1},
    range(2),
    range(10**12),
    np.array([0, 1]),
    np.array(0),
    np.int64(1),
    np.float32(np.nan),
    [(0, 0.9)],
    [(0, 0.5), (0, 0.5)],
    [(0, -0.5), (1, 1.5)],
    [(0, float("nan"))],
    [(0, 10**400)],
    [("a", 1.0)],
    [([], 1.0)],
    [(0.5, 1.0)],
    [(0, 1, 2)],
    [(-3, 1.0)],
    [(0, "1")],
    (1, -1),
    (1, 1),
    (float("nan"), 0),
    (float("inf"), -float("inf")),
    (1e308, -1e308),
    ("1", "-1"),
    (10**400, -(10**400)),
    (1,),
    (1, -1, 0),
    np.array([1.0, -1.0]),
    object(),
    _Unprintable(),
    [_Unprintable()],
    _Endless(),
    "forever",
    "raise",
    "recursion",
)
"""Answers that a method may give instead of the truth."""


@dataclass(frozen=True)
class Guess(Game[Any]):
    """Chance tosses a coin that only player 0 sees; then both players name a side, one after the other."""

    name: ClassVar[str] = "guess"
    sides: int = 2

    def initial_state(self) -> Any:
        return ()

    def actor(self, state: Any) -> int:
        return (CHANCE, 0, 1, TERMINAL)[len(state)]

    def legal_actions(self, state: Any) -> Sequence[int]:
        return [*range(self.sides)]

    def apply(self, state: Any, action: int) -> Any:
        return (*state, action)

    def returns(self, state: Any) -> tuple[float, float]:
        won = 1.0 if state[0] == state[2] else -1.0
        return -won, won

    def chance_outcomes(self, state: Any) -> Sequence[tuple[int, float]]:
        return [(side, 1 / self.sides) for side in range(self.sides)]

    def public_observation(self, state: Any) -> str:
        return f"says {state[-1]}" if len(state) > 1 else ""

    def private_observation(self, state: Any, player: int) -> str:
        return f"coin {state[0]}" if len(state) == 1 and player == 0 else ""


def liar(data: bytes) -> Any:
    """Returns a game with some methods that lie, some from the start; the input decides which."""
    draw = Random(data)
    lies: dict[str, Any] = {}
    for method in draw.sample(METHODS, draw.choice((1, 1, 1, 2, 3))):
        lies[method] = _lying(getattr(Guess, method), draw.choice(LIES), draw.choice((0, 0, 1, 2, 5)), draw.random() < 0.5)
    if draw.random() < 0.02:
        lies["actor"] = lambda self, state: 0  # nobody ever ends it
    return type("Liar", (Guess,), lies)()


def _lying(honest: Any, lie: Any, after: int, always: bool) -> Any:
    """Returns a method that tells the truth a few times and then lies, once or forever."""
    calls = 0

    def method(self: Any, *arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls <= after or (not always and calls > after + 1):
            return honest(self, *arguments)
        if isinstance(lie, str) and lie in ("raise", "recursion"):
            if lie == "recursion":
                return method(self, *arguments)
            raise KeyError("x")
        return _forever() if isinstance(lie, str) and lie == "forever" else lie

    return method


def _prepare(folder: Path) -> Prepared:
    def run(data: bytes) -> None:
        report = check_game(liar(data), max_histories=300)
        assert all("\n" not in str(violation) for violation in report.violations)
        assert len(str(report)) < 20_000
        if all("object of type 'generator'" not in str(violation) for violation in report.violations):
            compile_game(liar(data))

    return Prepared(tuple(b"%d" % number for number in range(100)), run)


RULES = (Target("rules", _prepare, seconds=5.0, examples=60),)
