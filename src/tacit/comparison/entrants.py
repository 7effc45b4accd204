"""The systems that can enter a comparison, by family."""

from __future__ import annotations

from collections.abc import Iterable

from tacit.errors import TacitError
from tacit.games.own import parse_own

FAMILIES = {
    "tabular": ("cfr", "cfr+", "linear-cfr", "dcfr", "pcfr+", "fp", "linear-fp", "flop", "xfp", "lp"),
    "sampling": ("external-mccfr", "chance-mccfr", "outcome-mccfr", "vr-mccfr"),
    "learning": ("nfsp", "dqn", "deep-cfr", "sd-cfr", "rpg"),
    "search": ("rebel", "sog", "deepstack", "continuations"),
}
"""Systems by family: they sweep the whole game, sample games, learn networks that play, or search with values at leaves."""
SYSTEMS = tuple(name for names in FAMILIES.values() for name in names)
SOLVERS = (*FAMILIES["tabular"], *FAMILIES["sampling"])
DETERMINISTIC = (*FAMILIES["tabular"], "continuations")
"""Systems for which every seed gives the same result, so one seed is enough."""
YOURS = "yours"
"""The family of systems that a user wrote."""
LEFT_OUT = {
    "blueprint": "buckets the cards of hold'em, so its exploitability in the real game is unknown: measure it with tacit match",
}
"""Systems that never enter, and why."""


def choose_entrants(names: Iterable[str] = ()) -> tuple[str, ...]:
    """Returns the named systems, each once, or all built-in systems if none is named.

    Args:
      names: systems, families of systems, or `FILE.py:SYSTEM`.

    Raises:
      TacitError: there is no such system.
    """
    chosen: dict[str, None] = {}
    for name in names:
        if name in LEFT_OUT:
            raise TacitError(f"{name} {LEFT_OUT[name]}")
        if name not in FAMILIES and name not in SYSTEMS and parse_own(name) is None:
            known = ", ".join((*FAMILIES, *SYSTEMS))
            raise TacitError(f"unknown system {name!r}: choose from {known}, or write FILE.py:SYSTEM")
        chosen |= dict.fromkeys(FAMILIES.get(name, (name,)))
    return tuple(chosen) or SYSTEMS


def family_of(name: str) -> str:
    """Returns the family of a system."""
    return next((family for family, names in FAMILIES.items() if name in names), YOURS)
