"""An agent's thoughts (`View`) as data for the browser. A view does not depend on the agent's own hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.agents.view import View
from tacit.cards.deck import parse_cards
from tacit.cards.grid import CELLS
from tacit.cards.hands import NUM_HANDS, hand_index
from tacit.games.betting import CALL, FOLD
from tacit.games.chips import Chips
from tacit.tree.base import Floats

MOST_ROWS = 130
"""The most private states listed one by one; hold'em hands are shown on the 13 x 13 grid instead."""
NUM_CELLS = 169


def mind_data(view: View | None, seat: int, held: str = "", chips: Chips | None = None) -> dict[str, Any] | None:
    """Returns a view, ready for JSON, from the point of view of the person in a seat.

    Args:
      view: What the agent thinks at a public state.
      seat: The person's seat.
      held: The name of the person's own private state; its row is sent separately.
      chips: The chips on the table in poker, to name actions as players do.
    """
    if view is None:
        return None
    on_grid = view.in_short is not None
    mine = view.private_states[seat].index(held) if held in view.private_states[seat] else None
    data: dict[str, Any] = {
        "public": view.public, "actor": "you" if view.actor == seat else "it", "actions": spoken(view.actions, chips),
        "grid": on_grid, "frequencies": numbers(_frequencies(view)), "value": number(_mean_value(view, seat)),
    }  # fmt: skip
    if on_grid:
        cells = _cells(view.private_states[seat])
        for key, player in (("yours", seat), ("its", 1 - seat)):
            data[key] = _on_grid(cells, view, player)
    else:
        for key, player in (("yours", seat), ("its", 1 - seat)):
            data[key] = _listed(view, player)
    if mine is not None:
        acts, worth = view.actor == seat, view.action_values
        data["mine"] = {
            "name": held, "belief": number(view.beliefs[seat][mine]), "value": number(view.values[seat][mine]),
            "strategy": numbers(view.strategy[mine]) if acts else None,
            "action_values": numbers(worth[mine]) if acts and worth is not None else None,
        }  # fmt: skip
    return data


def spoken(names: Sequence[str], chips: Chips | None) -> list[str]:
    """Returns the names of a tree's actions as players say them: by the chips put in on the street."""
    if chips is None:
        return list(names)
    return [name if (action := _action(name, chips)) is None else chips.name(action) for name in names]


def _action(name: str, chips: Chips) -> int | None:
    """Returns the action that a name means, or None if it is unknown."""
    verb = name.split(" ", maxsplit=1)[0]
    if verb in ("fold", "check", "call"):
        return FOLD if verb == "fold" else CALL
    return int(name.split(" to ")[1]) if " to " in name else chips.raise_action


def number(value: float) -> float | None:
    """Returns a number rounded to five digits, or None for NaN."""
    return None if math.isnan(value) else float(f"{value:.5g}")


def numbers(values: Sequence[float] | Floats) -> list[float | None]:
    """Returns numbers rounded to five digits each."""
    return [number(float(value)) for value in values]


def _listed(view: View, player: int) -> dict[str, Any]:
    """Returns a player's likeliest private states one by one."""
    chosen = np.argsort(-view.beliefs[player], kind="stable")[:MOST_ROWS]
    chosen.sort()
    names = [" ".join(view.private_states[player][row].split()) for row in chosen]
    return {
        "names": names, "beliefs": numbers(view.beliefs[player][chosen]), "values": numbers(view.values[player][chosen]),
        "strategy": [numbers(row) for row in view.strategy[chosen]] if view.actor == player else None,
        "more": len(view.private_states[player]) - len(chosen),
    }  # fmt: skip


def _cells(names: Sequence[str]) -> np.ndarray:
    """Returns `[H]`, the grid cell of each hand."""
    return np.asarray(CELLS).reshape(NUM_HANDS)[[hand_index(*parse_cards(name)) for name in names]]


def _on_grid(cells: np.ndarray, view: View, player: int) -> dict[str, Any]:
    """Returns a player's range summed over each of the 169 cells; strategy and values are means weighted by the range."""
    weight = np.nan_to_num(view.beliefs[player])
    value = np.nan_to_num(view.values[player])
    total = np.bincount(cells, weight, NUM_CELLS)
    possible = np.bincount(cells, None, NUM_CELLS)
    safe = np.where(total > 0, total, 1.0)
    worth: Floats = np.bincount(cells, weight * value, NUM_CELLS) / safe
    data: dict[str, Any] = {
        "weights": numbers(total.tolist()), "combos": possible.tolist(), "values": numbers(worth), "strategy": None,
    }  # fmt: skip
    if view.actor == player:
        columns = [np.bincount(cells, weight * column, NUM_CELLS) / safe for column in view.strategy.T]
        data["strategy"] = [numbers(row) for row in np.stack(columns, axis=1)]
    return data


def _frequencies(view: View) -> Floats:
    """Returns `[A]`, how often the actor's whole range takes each action."""
    frequencies: Floats = np.nan_to_num(view.beliefs[view.actor]) @ np.nan_to_num(view.strategy)
    return frequencies


def _mean_value(view: View, seat: int) -> float:
    """Returns the value of the public state to a seat, averaged over its range."""
    known = view.beliefs[seat] > 0
    return float(view.beliefs[seat][known] @ np.nan_to_num(view.values[seat][known])) if known.any() else math.nan
