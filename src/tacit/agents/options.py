"""`SearchOptions`: how an agent that searches does so."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields
from typing import Any

from tacit.errors import TacitError
from tacit.solvers.safety import RE_SOLVING, SAFETY, SAMPLED, UNSAFE
from tacit.solvers.schedules import plain_schedule

__all__ = ["ALL_OPTIONS", "DEFAULT_OPTIONS", "RE_SOLVING", "SAFETY", "SAMPLED", "UNSAFE", "SearchOptions", "option_name"]


@dataclass(frozen=True)
class SearchOptions:
    """How an agent searches; values that no agent knows raise a `TacitError`.

    Attributes:
      solver: The search algorithm, one of `schedules.SCHEDULES`; None takes the agent's own.
      iterations: Search iterations, each of which updates both players; None takes the agent's own number.
      safety: One of `SAFETY`; None takes the agent's own.
      device: Where it searches: `cpu`, or `cuda` for agents that can; None takes the CPU.
      time_per_decision: Seconds after which the searches of a decision stop, whatever iterations are left; None for no limit.
      expansions: Public states that a growing tree opens in each search; None for the agent's own number, which on boards
        is never 0, and elsewhere stands for trees of fixed depth.
    """

    solver: str | None = None
    iterations: int | None = None
    safety: str | None = None
    device: str | None = None
    time_per_decision: float | None = None
    expansions: int | None = None

    def __post_init__(self) -> None:
        if self.solver is not None:
            plain_schedule(self.solver)
        if self.iterations is not None and self.iterations < 1:
            raise TacitError(f"a search takes at least one iteration, not {self.iterations}")
        if self.expansions is not None and self.expansions < 1:
            raise TacitError(f"a tree grows by at least one expansion, not {self.expansions}")
        if self.safety is not None and self.safety not in SAFETY:
            raise TacitError(f"unknown safety {self.safety!r}: choose one of {', '.join(SAFETY)}")
        if self.time_per_decision is not None and not self.time_per_decision > 0:
            raise TacitError(f"a decision takes some time: {self.time_per_decision} seconds are none")

    def given(self) -> dict[str, Any]:
        """Returns the options that differ from their defaults."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None}

    def only(self, names: Collection[str]) -> SearchOptions:
        """Returns the named options, and the defaults of the others."""
        return SearchOptions(**{name: value for name, value in self.given().items() if name in names})


ALL_OPTIONS = tuple(field.name for field in fields(SearchOptions))
"""What an agent of hold'em can be told."""


def option_name(name: str) -> str:
    """Returns how the command line calls an option."""
    return f"--{name.replace('_', '-')}"


DEFAULT_OPTIONS = SearchOptions()
