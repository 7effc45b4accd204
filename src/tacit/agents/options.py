"""`SearchOptions`: how an agent that searches does so."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class SearchOptions:
    """How an agent searches.

    Attributes:
      solver: The search algorithm; None takes the agent's own.
      iterations: Search iterations, each of which updates both players; None takes the agent's own number.
      safe: Whether it plays random iterations (an equilibrium in expectation) or averages (see `agents/search.py`).
    """

    solver: str | None = None
    iterations: int | None = None
    safe: bool = True

    def given(self) -> dict[str, Any]:
        """Returns the options that differ from their defaults."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {field.name: values[field.name] for field in fields(self) if values[field.name] != field.default}

    def only(self, names: Collection[str]) -> SearchOptions:
        """Returns the named options, and the defaults of the others."""
        return SearchOptions(**{name: value for name, value in self.given().items() if name in names})


DEFAULT_OPTIONS = SearchOptions()
