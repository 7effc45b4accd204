"""The hidden layers of a network as a setting: `128-64` is two layers."""

from __future__ import annotations

from typing import Annotated

from tacit.training.ranges import Text


def units_of(hidden: str) -> list[int]:
    """Returns the units of each hidden layer, given a text like `256-128`.

    Raises:
      ValueError: The text does not have that form.
    """
    units = hidden.split("-")
    if not all(part.isdecimal() and int(part) for part in units):
        raise ValueError(hidden)
    return [int(part) for part in units]


Layers = Annotated[str, Text("units with dashes between them, like 256-128", units_of)]
