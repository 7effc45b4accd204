"""Reads target exploitabilities: `0.01`, or `0.5%pot` and `20mbb` in games that have these units."""

from __future__ import annotations

import math
from typing import Any

from tacit.errors import TacitError

UNITS = {"%pot": "percent_of_pot", "mbb": "mbb"}
"""The `Game.in_units` key of each ending."""


def parse_target(text: str, rules: Any) -> float:
    """Returns the exploitability that a text gives, in the game's own units.

    Raises:
      TacitError: The text cannot be read, is not positive and finite, or has a unit that the game does not have.
    """
    known = rules.in_units(1.0)
    ending = next((ending for ending in UNITS if text.endswith(ending)), "")
    if ending and UNITS[ending] not in known:
        raise TacitError(f"{rules} has no {ending}: write the target {text!r} as a number")
    try:
        number = float(text.removesuffix(ending))
    except ValueError:
        examples = " or ".join(["0.001", *(f"0.5{sign}" for sign, unit in UNITS.items() if unit in known)])
        raise TacitError(f"cannot read the target {text!r}: write an exploitability such as {examples}") from None
    if not 0.0 < number < math.inf:
        raise TacitError(f"the target must be positive and finite, not {text}")
    return float(number / (known[UNITS[ending]] if ending else 1.0))
