"""Limits of a solve in the browser: its size, and when it ends."""

from __future__ import annotations

from typing import Any, NamedTuple

from tacit.errors import TacitError
from tacit.games import AnyGame
from tacit.solvers import SCHEDULES
from tacit.solvers.schedules import find_schedule
from tacit.solvers.targets import parse_target
from tacit.tree.compiler import solving_cost
from tacit.tree.estimate import memory_limit, readable_bytes, readable_count
from tacit.web.desk import Message, text_of

MOST_BYTES = 2 * 2**30
"""The most memory that one solve may take, by its estimate."""
MOST_ITERATIONS = 1_000_000
ITERATIONS = 1_000
TARGET = "0.2%pot"
"""The default end of a solve: `TARGET` for games with a pot, `ITERATIONS` for all others."""
SOLVERS = (*SCHEDULES, "lp")


class Stop(NamedTuple):
    """When a solve ends.

    Attributes:
      text: The text in the address: `1000` or `0.5%pot`.
      options: The arguments of `tacit.solve`.
    """

    text: str
    options: dict[str, Any]


def size_data(game: AnyGame) -> dict[str, Any]:
    """Returns the cost of solving a game, ready for JSON: `text`, whether it `fits`, and the `limit`."""
    cost = solving_cost(game)
    about, limit = "" if cost.exact else "about ", min(memory_limit(), MOST_BYTES)
    text = f"{about}{readable_count(cost.size.histories)} histories, {about}{readable_bytes(max(cost.num_bytes, 2**20))}"
    return {"text": text, "fits": cost.num_bytes <= limit, "limit": readable_bytes(limit)}


def check_size(game: AnyGame) -> dict[str, Any]:
    """Returns the cost of solving a game, as in `size_data`.

    Raises:
      TacitError: it is more than a solve may take.
    """
    size = size_data(game)
    if not size["fits"]:
        raise TacitError(f"too large to solve here: {size['text']}, but a solve may take at most {size['limit']}")
    return size


def read_solver(message: Message) -> str:
    """Returns the name of the solver that a message asks for.

    Raises:
      TacitError: there is no such solver.
    """
    solver = text_of(message, "solver", "") or "dcfr"
    if solver != "lp":
        find_schedule(solver)
    return solver


def read_stop(message: Message, game: AnyGame, solver: str) -> Stop:
    """Returns when the solve that a message asks for ends: after a number of iterations, or at an exploitability.

    Raises:
      TacitError: it cannot be read.
    """
    if solver == "lp":
        return Stop("", {})
    default = TARGET if "percent_of_pot" in game.in_units(1.0) else str(ITERATIONS)
    text = text_of(message, "stop", "").replace(" ", "") or default
    if text.isdecimal():
        iterations = int(text)
        if not 0 < iterations <= MOST_ITERATIONS:
            raise TacitError(f"a solve may have 1 to {MOST_ITERATIONS:,} iterations, not {iterations:,}")
        return Stop(text, {"iterations": iterations})
    try:
        return Stop(text, {"target": parse_target(text, game), "iterations": MOST_ITERATIONS})
    except TacitError as error:
        raise TacitError(f"{error}, or iterations such as 1000") from None
