"""Checks the answers of a game's rules. Every walk over a game that a user wrote reads its moves and payoffs through here.

A wrong answer raises where it is given. Further down it would cause a subtly wrong strategy or an endless loop.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral
from reprlib import Repr
from typing import Any

from tacit.errors import TacitError
from tacit.games.base import MAX_ACTION, Game, Moves

MAX_MOVES = 1_000_000
"""The most actions or chance outcomes that one state may have."""
_TOLERANCE = 1e-9
"""How far a sum of probabilities may be from 1, or a sum of payoffs from 0."""

_SHORT = Repr()
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxset = _SHORT.maxdict = 40
_SHORT.maxstring = _SHORT.maxother = 200


def shown(answer: Any) -> str:
    """Returns any answer as one short line."""
    try:
        return " ".join(_SHORT.repr(answer).split())
    except Exception:  # a user's object may fail to print
        return f"a {type(answer).__name__}"


def actions_problem(actions: Sequence[Any]) -> str | None:
    """Returns what is wrong with a list of legal actions, or None."""
    if isinstance(actions, Sequence) and len(actions) > MAX_MOVES:
        return f"{len(actions):,} actions are legal; at most {MAX_MOVES:,} are allowed"
    if not isinstance(actions, Sequence) or any(not isinstance(a, int) or not 0 <= a <= MAX_ACTION for a in actions):
        return f"the legal actions {shown(actions)} must be integers from 0 to {MAX_ACTION}"
    if not actions or len(set(actions)) != len(actions):
        return f"the legal actions are {shown(actions)}; there must be at least one, all different"
    return None


def chance_problem(outcomes: Sequence[Any]) -> str | None:
    """Returns what is wrong with a list of chance outcomes, or None."""
    try:
        if len(outcomes) > MAX_MOVES:
            return f"chance_outcomes() gives {len(outcomes):,} outcomes; at most {MAX_MOVES:,} are allowed"
        chances = {outcome: float(chance) for outcome, chance in outcomes}
    except (TypeError, ValueError, OverflowError):
        return f"chance_outcomes() gives {shown(outcomes)}; it must list (outcome, probability) pairs"
    if not all(isinstance(outcome, Integral) for outcome in chances):
        return f"chance_outcomes() gives {shown(outcomes)}; outcomes must be whole numbers"
    if len(chances) != len(outcomes):
        return "a chance outcome is listed twice"
    if not all(chance > 0 for chance in chances.values()):
        return "a chance outcome has no positive probability; leave it out"
    total = sum(chances.values())
    if not abs(total - 1.0) <= _TOLERANCE:
        return f"the probabilities of the chance outcomes sum to {total:g}, not to 1"
    return None


def returns_problem(returns: Sequence[Any]) -> tuple[str, str] | None:
    """Returns the rule that a terminal state's payoffs break and how they break it, or None."""
    try:
        first, second = (float(value) for value in returns)
    except (TypeError, ValueError, OverflowError):
        first = second = math.nan
    if not math.isfinite(first) or not math.isfinite(second):
        return "returns", f"returns() gives {shown(returns)}; it must be two finite numbers"
    if abs(first + second) > _TOLERANCE:
        return "zero-sum", f"the returns {shown(returns)} sum to {first + second:g}, not to 0"
    return None


def legal_actions(game: Game[Any], state: Any) -> Moves:
    """Returns the legal actions of a state.

    Raises:
      TacitError: the game's list is invalid.
    """
    actions = game.legal_actions(state)
    _require(game, actions_problem(actions))
    return tuple(actions)


def chance_outcomes(game: Game[Any], state: Any) -> Sequence[tuple[int, float]]:
    """Returns the chance outcomes of a state with their probabilities.

    Raises:
      TacitError: the game's list is invalid.
    """
    outcomes = game.chance_outcomes(state)
    _require(game, chance_problem(outcomes))
    return outcomes


def payoff(game: Game[Any], state: Any) -> float:
    """Returns what player 0 wins at a terminal state.

    Raises:
      TacitError: the payoffs are not two finite numbers, or do not sum to zero.
    """
    returns = game.returns(state)
    problem = returns_problem(returns)
    _require(game, None if problem is None else problem[1])
    return float(returns[0])


def _require(game: Game[Any], problem: str | None) -> None:
    if problem is not None:
        raise TacitError(f"{game}: {problem}; check_game() says where")
