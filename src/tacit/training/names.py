"""The names of the training systems, which can be checked before torch is loaded."""

from __future__ import annotations

from tacit.errors import TacitError
from tacit.games.own import parse_own

SYSTEMS = ("rebel", "sog", "deepstack", "nfsp", "dqn", "deep-cfr", "sd-cfr", "rpg", "blueprint")


def check_system(name: str) -> None:
    """Raises a `TacitError` if no system can have this name; users' own files are not imported yet."""
    if name not in SYSTEMS and parse_own(name) is None:
        raise TacitError(f"unknown system {name!r}: choose one of {', '.join(SYSTEMS)}, or write FILE.py:SYSTEM")
