"""`SearchOptions`: how an agent searches."""

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
    """How an agent searches; values that no agent supports raise a `TacitError`.

    Attributes:
      solver: The search algorithm, one of `schedules.SCHEDULES`; None for the agent's default.
      iterations: Search iterations, each of which updates both players; None for the agent's default.
      safety: One of `SAFETY`; None for the agent's default.
      device: Where to search: `cpu`, or `cuda` for agents that support it; None for the CPU.
      time_per_decision: Seconds after which the searches of a decision stop, even with iterations left; None for no limit.
      expansions: Public states that a growing tree opens in each search; None for the agent's default, which is never 0 in
        board games and means trees of fixed depth elsewhere.
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
            raise TacitError(f"the time per decision must be more than 0 seconds, not {self.time_per_decision}")

    def given(self) -> dict[str, Any]:
        """Returns the options that are set."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None}

    def only(self, names: Collection[str]) -> SearchOptions:
        """Returns these options with all but the named ones reset to their defaults."""
        return SearchOptions(**{name: value for name, value in self.given().items() if name in names})


ALL_OPTIONS = tuple(field.name for field in fields(SearchOptions))
"""The names of all options; a hold'em agent supports every one."""


def option_name(name: str) -> str:
    """Returns the name of an option on the command line."""
    return f"--{name.replace('_', '-')}"


DEFAULT_OPTIONS = SearchOptions()
