"""Converts ranges between the typed notation and the 169 cells of the grid."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.cards.grid import CELLS, SIZE, grid_of
from tacit.cards.ranges import parse_range, write_range
from tacit.errors import TacitError
from tacit.web.desk import Message

MOST_LETTERS = 14_000
"""The longest text of a range, enough to list every hand with a weight."""


def range_data(message: Message) -> dict[str, Any]:
    """Returns a typed or painted range in both forms, ready for JSON.

    Args:
      message: Has a `text` in the usual notation, or `cells`: `[169]` weights from 0 to 1.

    Returns:
      `text`; `cells`, the mean weight of each cell's hands; `mixed`, the cells whose hands differ in weight; `hands`, the total
      weight of the 1,326 hands.

    Raises:
      TacitError: the range cannot be read.
    """
    cells, text = message.get("cells"), message.get("text")
    if cells is not None:
        weights = _read_cells(cells)[CELLS]
    elif isinstance(text, str) and len(text) <= MOST_LETTERS:
        weights = parse_range(text) if text.strip() else np.zeros(len(CELLS))
    else:
        raise TacitError("a range must have a text or cells")
    grid = grid_of(weights)
    mixed = np.flatnonzero(np.bincount(CELLS, np.abs(weights - grid.ravel()[CELLS])) > 1e-9)
    return {
        "text": write_range(weights), "cells": [round(weight, 4) for weight in grid.ravel().tolist()],
        "mixed": mixed.tolist(), "hands": round(float(weights.sum()), 2),
    }  # fmt: skip


def _read_cells(cells: object) -> np.ndarray:
    if not isinstance(cells, list) or len(cells) != SIZE * SIZE:
        raise TacitError(f"a range must have {SIZE * SIZE} cells")
    if not all(isinstance(one, int | float) and not isinstance(one, bool) and 0 <= one <= 1 for one in cells):
        raise TacitError("the weights of a range must be numbers from 0 to 1")
    return np.array(cells, float)
