"""What a game's rules return is checked where it is read: by `check_game`, and by the compiler for unchecked games."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

import tacit
from tacit.errors import TacitError
from tacit.games.answers import MAX_MOVES, actions_problem, chance_problem, returns_problem, shown
from tests.fuzz.lies import Guess


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("actions", "problem"),
    [
        ([0, 1], None),
        (range(10**12), f"at most {MAX_MOVES:,}"),
        ([1, 1], "all different"),
        ([], "at least one"),
        ([0.5], "must be integers"),
        (None, "must be integers"),
        ([Unprintable()], "must be integers"),
        ([2**31], "must be integers"),
    ],
)
def test_actions_are_some_different_whole_numbers(actions: Any, problem: str | None) -> None:
    found = actions_problem(actions)
    assert (found is None) if problem is None else problem in str(found)


@pytest.mark.parametrize(
    ("outcomes", "problem"),
    [
        ([(0, 0.5), (1, 0.5)], None),
        ([(0, 0.9)], "sum to 0.9"),
        ([(0, float("nan"))], "no positive probability"),
        ([(0, 0.5), (0, 0.5)], "listed twice"),
        ([("a", 1.0)], "whole numbers"),
        ([([], 1.0)], "pairs"),
        ([(0, 10**400)], "pairs"),
        (((number, 0.1) for number in range(10)), "pairs"),
        (range(10**12), f"at most {MAX_MOVES:,}"),
        (None, "pairs"),
    ],
)
def test_chances_are_pairs_that_sum_to_one(outcomes: Any, problem: str | None) -> None:
    found = chance_problem(outcomes)
    assert (found is None) if problem is None else problem in str(found)


@pytest.mark.parametrize(
    ("returns", "rule"),
    [
        ((1, -1), None),
        ((1, 1), "zero-sum"),
        ((float("nan"), 0), "returns"),
        ((10**400, 0), "returns"),
        ((1,), "returns"),
        (None, "returns"),
        ("11", "zero-sum"),
    ],
)
def test_returns_are_two_numbers_that_sum_to_zero(returns: Any, rule: str | None) -> None:
    found = returns_problem(returns)
    assert (found is None) if rule is None else found is not None and found[0] == rule


def test_whatever_is_shown_is_short_and_on_one_line() -> None:
    for answer in ("y" * 10**6, [0] * 10**6, Unprintable(), "a\nb", {1: "\n"}):
        assert len(shown(answer)) < 1_000
        assert "\n" not in shown(answer)


@dataclass(frozen=True)
class HalfChance(Guess):
    """Chance whose probabilities add up to 0.9."""

    name = "half_chance"

    def chance_outcomes(self, state: Any) -> Any:
        return [(0, 0.5), (1, 0.4)]


@dataclass(frozen=True)
class NoPayoff(Guess):
    """Payoffs that are not numbers."""

    name = "no_payoff"

    def returns(self, state: Any) -> Any:
        return float("nan"), float("nan")


@dataclass(frozen=True)
class TooMany(Guess):
    """More actions than can be listed."""

    name = "too_many"

    def legal_actions(self, state: Any) -> Any:
        return range(10**12)


@pytest.mark.parametrize(
    ("game", "problem"), [(HalfChance(), "sum to 0.9"), (NoPayoff(), "two finite numbers"), (TooMany(), "actions are legal")]
)
def test_a_game_that_nobody_checked_is_refused_when_it_is_compiled(game: Any, problem: str) -> None:
    with pytest.raises(TacitError, match=problem):
        tacit.solve(game, iterations=1)
    report = tacit.check_game(game)
    assert problem in str(report)
