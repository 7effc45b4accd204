"""Public states as data for the browser: strategies, ranges, values and the steps that can follow."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import islice
from typing import Any

import numpy as np

from tacit.errors import TacitError
from tacit.evaluation import StrategyViews
from tacit.tree.base import Floats, Spot, Tree
from tacit.tree.node_view import NodeView, PlayerView
from tacit.tree.public_tree import PublicTree

MOST_ROWS = 300
"""The most private states that are listed in games other than hold'em; these are the likeliest ones."""
ENDS, DEALS, ACTS = "ends", "deals", "acts"
"""What happens at a public state: the game ends, chance deals, or a player acts."""


def node_data(views: StrategyViews, line: str) -> dict[str, Any]:
    """Returns the public state that a line leads to, ready for JSON.

    Raises:
      TacitError: the line leads nowhere.
    """
    tree = views.strategy.tree
    if isinstance(tree, PublicTree):
        if tree.nodes is None:
            return _without_public_states(views)
        if tree.nodes.num_roots > 1 and not line.strip(" /"):
            return {"kind": DEALS, "line": "", "path": [], "board": "", "next": _roots(tree)}
    spot = tree.find(line)
    kind, label = _kind(tree, spot), tree.label(spot)
    data: dict[str, Any] = {"kind": kind, "line": label, "path": _path(tree, label)}
    if kind != ACTS:
        return {**data, "board": "", "next": _next(tree, spot, label, [])}
    view = views.view(spot)
    following = _next(tree, spot, label, view.actions)
    return {
        **data, "next": following, "actions": view.actions, "labels": _labels(view.actions, following), **_view_data(view),
    }  # fmt: skip


def number(value: float) -> float | None:
    """Returns a number rounded to seven digits, or None for NaN."""
    return None if math.isnan(value) else float(f"{value:.7g}")


def numbers(values: Iterable[float] | Floats | None) -> list[float | None] | None:
    """Returns numbers rounded to seven digits each."""
    return None if values is None else [number(float(value)) for value in values]


def _view_data(view: NodeView) -> dict[str, Any]:
    on_grid = view.hands is not None
    shown = [_shown(one, on_grid) for one in view.players]
    return {
        "actor": view.actor, "board": view.board, "grid": on_grid, "probability": number(view.probability),
        "frequencies": numbers(view.frequencies), "worth": numbers(view.values),
        "strategy": [numbers(row) for row in view.strategy[shown[view.actor]]],
        "players": [_player_data(one, rows) for one, rows in zip(view.players, shown, strict=True)],
    }  # fmt: skip


def _shown(one: PlayerView, on_grid: bool) -> np.ndarray:
    """Returns the indices of the private states that are listed."""
    if on_grid or len(one) <= MOST_ROWS:
        return np.arange(len(one))
    return np.sort(np.argsort(-np.nan_to_num(one.weight), kind="stable")[:MOST_ROWS])


def _player_data(one: PlayerView, rows: np.ndarray) -> dict[str, Any]:
    columns = {"reach": one.reach, "weight": one.weight, "values": one.infostate_value, "equity": one.equity}
    return {
        "names": [" ".join(one.names[row].split()) for row in rows], "more": len(one) - len(rows),
        **{name: None if column is None else numbers(column[rows]) for name, column in columns.items()},
    }  # fmt: skip


def _kind(tree: Tree, spot: Spot) -> str:
    if tree.actor_at(spot) >= 0:
        return ACTS
    return DEALS if tree.steps_after(spot) else ENDS


def _path(tree: Tree, label: str) -> list[dict[str, Any]]:
    """Returns the steps of a line, each with its actor; chance is -1."""
    steps, path, above = [part.strip() for part in label.split("/") if part.strip()], [], ""
    for step in steps:
        try:
            actor = tree.actor_at(tree.find(above))
        except TacitError:  # before the public deal that starts the game
            actor = -1
        path.append({"step": step, "actor": max(actor, -1)})
        above = f"{above} / {step}" if above else step
    return path


def _next(tree: Tree, spot: Spot, label: str, actions: list[str]) -> list[dict[str, Any]]:
    """Returns the steps after a public state, each with the action that leads to it, or None if that is not unique."""
    following = []
    taken = _actions_of_children(tree, spot) if isinstance(tree, PublicTree) else None
    for place, step in enumerate(tree.steps_after(spot)):
        action = taken[place] if taken is not None else actions.index(step) if step in actions else None
        kind = _kind(tree, tree.find(f"{label} / {step}" if label else step))
        following.append({"step": step, "action": action, "kind": kind})
    return following


def _actions_of_children(tree: PublicTree, spot: Spot) -> list[int | None]:
    """Returns, for each child of a node, the index of the only action that leads there, or None if several do."""
    nodes, taken = tree.require_nodes(), []
    actor = int(nodes.actor[spot.node])
    if actor < 0:
        return [None] * int(nodes.num_children[spot.node])
    first, last = (int(nodes.row_start[actor][spot.node + more]) for more in (0, 1))
    infostates = tree.rows[actor].infostate[first:last].tolist()
    entries = [entry for one in infostates for entry in range(tree.entry_start[one], tree.entry_start[one + 1])]
    order = list(dict.fromkeys(int(tree.entry_action[entry]) for entry in entries))
    for child in nodes.children(np.array([spot.node])).tolist():
        rows = tree.rows[actor].entry[nodes.row_start[actor][child] : nodes.row_start[actor][child + 1]]
        actions = {int(action) for action in tree.entry_action[rows[rows < tree.num_entries]]}
        taken.append(order.index(actions.pop()) if len(actions) == 1 else None)
    return taken


def _labels(actions: list[str], following: list[dict[str, Any]]) -> list[str]:
    """Returns the actions as others see them: `check` rather than `call` if there is nothing to call."""
    labels = []
    for place, action in enumerate(actions):
        words = [step["step"].split() for step in following if step["action"] == place]
        same: list[str] = []
        for column in zip(*words, strict=False):
            if len(set(column)) > 1:
                break
            same.append(column[0])
        labels.append(" ".join(same) if same and same != ["-"] else action)
    return labels if len(set(labels)) == len(labels) else actions


def _roots(tree: PublicTree) -> list[dict[str, Any]]:
    """Returns the first steps of a game that begins with a public deal."""
    steps = tree.steps[: tree.require_nodes().num_roots]
    return [{"step": step, "action": None, "kind": _kind(tree, tree.find(step))} for step in steps]


def _without_public_states(views: StrategyViews) -> dict[str, Any]:
    """Returns the first infostates of a game without public states, where the player to act is not public."""
    listed = [
        {"player": one.player, "name": " ".join(one.private.split()), "played": numbers(one.probabilities.values()),
         "actions": list(one.probabilities), "reach": number(one.reach or 0.0)}
        for one in islice(views.decisions(), MOST_ROWS)
    ]  # fmt: skip
    return {"kind": "infostates", "line": "", "path": [], "board": "", "next": [], "infostates": listed}
