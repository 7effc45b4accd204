"""Lines: names for the public states of a public tree, step by step, like `check / bet`.

A step is what everyone saw on arrival at a public state. If they saw nothing, it is the action if that is public, else `-`.
Siblings of the same name are numbered: `call`, `call (2)`. A step `-` may be left out if the next step is clear without it, and
so may the first step if there is only one.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tacit.errors import TacitError
from tacit.tree.base import Spot
from tacit.tree.public_tree import NO_PARENT, PublicTree, readable
from tacit.tree.strategy import action_names

SILENT = "-"
"""The step to a public state on whose arrival nothing was seen."""


def line_of(tree: PublicTree, node: int) -> str:
    """Returns the line that leads to a node."""
    steps = [tree.steps[above] for above in tree.node_path(node)]
    return " / ".join(steps[1:] if steps[0] == SILENT and tree.require_nodes().num_roots == 1 else steps)


def find_line(tree: PublicTree, line: str) -> Spot:
    """Returns the public state that a line leads to.

    Raises:
      TacitError: There is none; the message says which step is unknown.
    """
    reached, roots = NO_PARENT, tree.require_nodes().num_roots
    if roots == 1 and tree.steps[0] == SILENT:
        reached = 0
    for word in filter(None, (part.strip() for part in line.split("/"))):
        named = _named_below(tree, reached)
        if word not in named:
            before = "" if reached == NO_PARENT else line_of(tree, reached)
            choices = f"choose one of {', '.join(named)}" if named else "the game is over there"
            raise TacitError(f"no {word!r} after {before or 'the start'}: {choices}")
        reached = named[word]
    if reached == NO_PARENT and roots > 1:
        raise TacitError(f"the game starts in one of {roots} ways: choose one of {', '.join(tree.steps[:roots])}")
    return Spot(max(reached, 0))


def steps_below(tree: PublicTree, node: int) -> list[str]:
    """Returns the names of the steps that follow a node."""
    return [tree.steps[below] for below in _below(tree, node)]


def name_steps(tree: PublicTree) -> list[str]:
    """Returns `[N]` the name of the step that leads to each node; siblings have different names."""
    nodes = tree.require_nodes()
    steps = [readable([token]) for token in nodes.token]
    for node in (node for node, step in enumerate(steps) if not step):
        steps[node] = _public_action(tree, node) or SILENT
    counts: dict[tuple[int, str], int] = {}
    parents = nodes.parent.tolist()
    for node in np.argsort(nodes.actor < 0, kind="stable").tolist():  # ends of the game get the numbers
        key = parents[node], steps[node]
        counts[key] = counts.get(key, 0) + 1
        if counts[key] > 1:
            steps[node] = f"{steps[node]} ({counts[key]})"
    return steps


def _public_action(tree: PublicTree, node: int) -> str:
    """Returns the name of the action that led to a node; empty if the actor's private states took different actions."""
    nodes = tree.require_nodes()
    above = int(nodes.parent[node])
    if above == NO_PARENT or nodes.actor[above] < 0:
        return ""
    player = int(nodes.actor[above])
    entries = tree.rows[player].entry[nodes.row_start[player][node] : nodes.row_start[player][node + 1]]
    actions = {int(action) for action in tree.entry_action[entries[entries < tree.num_entries]]}
    return action_names(tree.game, player, [*actions])[0] if len(actions) == 1 else ""


def _below(tree: PublicTree, node: int) -> Iterable[int]:
    nodes = tree.require_nodes()
    return range(nodes.num_roots) if node == NO_PARENT else nodes.children(np.array([node])).tolist()


def _named_below(tree: PublicTree, node: int) -> dict[str, int]:
    """Returns the next public states by name, including those after silent steps, which a line may leave out."""
    named: dict[str, int] = {}
    for below in _below(tree, node):
        if tree.steps[below] == SILENT:
            named = {**_named_below(tree, below), **named}
    return {**named, **{tree.steps[below]: below for below in _below(tree, node)}}
