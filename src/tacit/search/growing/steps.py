"""Steps: what one action leads to from each class of public states, as flat tables that compiled kernels read.

A tree grows by copying steps. The step of a class is made when the first tree opens such a state, so no game is compiled as a
whole, and is then kept for all trees.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.errors import TacitError
from tacit.games.base import TERMINAL
from tacit.tree.public_tree import Floats, Ints, PublicTree
from tacit.tree.source import NO_CLASS, SubgameSource

NO_STEP = -1
"""Step of a class whose step was not needed yet, and of a node that is not open."""
NO_OWN_ACTION = -1
"""Entry of a row whose player did not move to get there."""


class StepTables(NamedTuple):
    """The steps of the classes met so far. Arrays have spare room at their end.

    A *state* is a public state as a step describes it. The first state of a step is its root, the others are what one
    action leads to. Rows of a root are counted from 0, and so are the rows of each child and the entries of a step.

    Attributes:
      step_of_class: `[C]` the step of each class, `NO_STEP` where it was not needed yet.
      actor: `[K]` the player to act at the root of each step.
      known: `[K]` 1 where nobody has more than one private state, at the root or one action later.
      state_start: `[K + 1]` the states of step k are `state_start[k]:state_start[k + 1]`.
      action_start: `[K]` where the step's part of `first_entry` begins.
      first_entry: `[F]` the entries of the actor's row h are `first_entry[i + h]:first_entry[i + h + 1]` with the step's
        `action_start` i.
      state_class: `[S]` the class of each state, `NO_CLASS` where the game is over.
      state_chance: `[S]` the sum of the state's chance weights, those of its step's root summing to 1.
      num_rows: For each player `[S]`, how many private states it has.
      first_row: For each player `[S]`, where the state's part of `row_parent` and `row_entry` begins; roots have no such part.
      row_parent: For each player `[R]`, the root's row above each row of a child.
      row_entry: For each player `[R]`, the entry of its own action that led to the row, or `NO_OWN_ACTION`.
      pair_start: `[S + 1]` the pairs of state s are `pair_start[s]:pair_start[s + 1]`.
      pair_row: For each player `[J]`, its row in each pair of private states that can meet at the state.
      pair_chance: `[J]` the chance weight of each pair.
      pair_payoff: `[J]` that weight times player 0's return where the game is over, else 0.
    """

    step_of_class: Ints
    actor: Ints
    known: Ints
    state_start: Ints
    action_start: Ints
    first_entry: Ints
    state_class: Ints
    state_chance: Floats
    num_rows: tuple[Ints, Ints]
    first_row: tuple[Ints, Ints]
    row_parent: tuple[Ints, Ints]
    row_entry: tuple[Ints, Ints]
    pair_start: Ints
    pair_row: tuple[Ints, Ints]
    pair_chance: Floats
    pair_payoff: Floats


class _Column:
    """A one-dimensional array that numbers are appended to."""

    def __init__(self, dtype: type, first: tuple[int, ...] = ()) -> None:
        self.size = len(first)
        self.room: NDArray[Any] = np.zeros(64, dtype)
        self.room[: self.size] = first

    def append(self, numbers: Any) -> None:
        end = self.size + len(numbers)
        if end > len(self.room):
            self.room = np.concatenate([self.room, np.zeros(max(len(self.room), end), self.room.dtype)])
        self.room[self.size : end] = numbers
        self.size = end


class Steps:
    """The steps of a game's classes, added when they are needed.

    Attributes:
      source: Where the steps come from. Its subgames look one action ahead.
      tables: All steps so far, flat.
      num_states: The most private states of a player at any state so far.
      most: `[4]` the most children, entries, and rows of either player that opening a node adds, over the steps so far.
    """

    def __init__(self, source: SubgameSource) -> None:
        if source.depth != 1:
            raise TacitError(f"a tree grows by steps of one action: its source must have depth 1, not {source.depth!r}")
        self.source, self.num_states, self.most = source, 1, np.zeros(4, np.int64)
        ints = ("actor", "known", "action_start", "first_entry", "state_class")
        self._columns = {name: _Column(np.int32) for name in ints}
        for name in ("state_start", "pair_start"):
            self._columns[name] = _Column(np.int32, (0,))
        for name in ("num_rows", "first_row", "row_parent", "row_entry", "pair_row"):
            for player in (0, 1):
                self._columns[f"{name}{player}"] = _Column(np.int32)
        for name in ("state_chance", "pair_chance", "pair_payoff"):
            self._columns[name] = _Column(np.float64)
        self._step_of_class = np.full(64, NO_STEP, np.int32)
        self.tables = self._flat()

    def require(self, classes: NDArray[Any]) -> None:
        """Adds the steps of the given classes, unless they are there already."""
        if len(classes) and classes.max() >= len(self._step_of_class):
            more = np.full(max(len(self._step_of_class), int(classes.max()) + 1), NO_STEP, np.int32)
            self._step_of_class = np.concatenate([self._step_of_class, more])
        missing = np.unique(classes[self._step_of_class[classes] == NO_STEP])
        for public_class in missing.tolist():
            self._add(public_class)
        if len(missing):
            self.tables = self._flat()

    def _add(self, public_class: int) -> None:
        subgame = self.source.subgame(public_class)
        tree, nodes, columns = subgame.tree, subgame.tree.require_nodes(), self._columns
        actor, counts = int(nodes.actor[0]), [np.diff(nodes.row_start[player]) for player in (0, 1)]
        assert (tree.infostate_row == np.arange(counts[actor][0])).all(), "infostates lie in the order of the root's rows"
        self._step_of_class[public_class] = columns["actor"].size
        columns["actor"].append([actor])
        columns["known"].append([all((count == 1).all() for count in counts)])
        columns["action_start"].append([columns["first_entry"].size])
        columns["first_entry"].append(tree.entry_start)
        columns["state_class"].append(np.where(nodes.actor == TERMINAL, NO_CLASS, subgame.node_class))
        columns["state_start"].append([columns["state_start"].room[columns["state_start"].size - 1] + len(nodes)])
        for player, rows in enumerate(tree.rows):
            roots = int(counts[player][0])
            first = columns[f"row_parent{player}"].size + nodes.row_start[player][:-1] - roots
            columns[f"num_rows{player}"].append(counts[player])
            columns[f"first_row{player}"].append(first)
            columns[f"row_parent{player}"].append(rows.parent[roots:])
            columns[f"row_entry{player}"].append(
                np.where(rows.entry[roots:] == tree.num_entries, NO_OWN_ACTION, rows.entry[roots:])
            )
        self._add_pairs(subgame.tree)
        added = [len(nodes) - 1, tree.num_entries, *(len(rows) for rows in tree.rows)]
        self.most = np.maximum(self.most, added)
        self.num_states = max(self.num_states, *(int(count.max()) for count in counts))

    def _add_pairs(self, tree: PublicTree) -> None:
        """Adds the pairs of all states of a step: those at decisions, and those where the game is over."""
        nodes, columns = tree.require_nodes(), self._columns
        rows = np.concatenate([nodes.joint_rows, tree.payoff_rows], axis=1)
        node = nodes.of_row[0][rows[0]]
        order = np.argsort(node, kind="stable")
        node, rows = node[order], rows[:, order]
        for player in (0, 1):
            columns[f"pair_row{player}"].append(rows[player] - nodes.row_start[player][node])
        chance = np.concatenate([nodes.joint_chance, tree.payoff_chance])[order]
        columns["pair_chance"].append(chance)
        columns["pair_payoff"].append(np.concatenate([np.zeros(len(nodes.joint_chance)), tree.payoff])[order])
        columns["state_chance"].append(np.bincount(node, chance, len(nodes)))
        last = columns["pair_start"].room[columns["pair_start"].size - 1]
        columns["pair_start"].append(last + np.cumsum(np.bincount(node, minlength=len(nodes))))

    def _flat(self) -> StepTables:
        arrays: dict[str, Any] = {"step_of_class": self._step_of_class}
        for name in StepTables._fields[1:]:
            if name in self._columns:
                arrays[name] = self._columns[name].room
            else:
                arrays[name] = self._columns[f"{name}0"].room, self._columns[f"{name}1"].room
        return StepTables(**arrays)
