"""The additions of one opening to a growing tree: public states and rows grouped by observations, in a fixed order."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter, itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.games import answers
from tacit.games.base import TERMINAL, Game
from tacit.tree.growth import NO_ENTRY, Growth, RowGrowth
from tacit.tree.observations import Arrival
from tacit.tree.public_tree import NO_ACTION, NO_PARENT, Floats, Ints, join_observations

Actions = tuple[int, ...]


@dataclass(slots=True)
class Histories:
    """The histories of a decision's public state: all that the rules need to continue from there.

    Attributes:
      actor: the player to act.
      states: `[W]` world states.
      rows: for each player `[W]`, the index of its private state in each history.
      chance: `[W]` chance weights.
    """

    actor: int
    states: list[Any]
    rows: tuple[list[int], list[int]]
    chance: list[float]


@dataclass(frozen=True)
class PublicRoot:
    """A public state to grow a tree from.

    Attributes:
      histories: the histories of the public state.
      labels: for each player `[H]`, the private knowledge in each of its private states.
      label: the common knowledge.
    """

    histories: Histories
    labels: tuple[list[str], list[str]]
    label: str = ""


@dataclass(frozen=True, slots=True)
class Leaf:
    """The histories of an unopened node, and each player's first row there."""

    histories: Histories
    first_row: tuple[int, int]


_SLOT, _PARENT_AND_ACTION = attrgetter("slot"), itemgetter(0, 1)
RowKey = tuple[int, int, tuple[str, ...]]
"""A row's key: its parent row, counted from 0 in its node, the own action that led to it, and what its player then saw."""


@dataclass(slots=True)
class Child:
    """A public state below the opened one; rows are numbered in the order they are found.

    Attributes:
      slot: the first of the legal actions that lead here, by its place among them.
      token: what everyone learnt on arrival.
      found: for each player, the row numbers by their keys.
      histories: the histories, without world states at the end of the game.
      payoff: player 0's return in each history at the end of the game.
    """

    slot: int
    token: str
    found: tuple[dict[RowKey, int], dict[RowKey, int]]
    histories: Histories
    payoff: list[float]


def add_arrival(
    game: Game[Any],
    below: dict[Any, Child],
    arrival: Arrival,
    above: tuple[int, int],
    own: tuple[int, int],
    chance: float,
    slot: int,
    action: int,
) -> None:
    """Adds a history to the public states below an opened one.

    Args:
      game: the rules.
      below: the public states so far, by the key that tells them apart.
      arrival: the history.
      above: each player's row in the opened node, counted from 0.
      own: the action that each player took, or `NO_ACTION`.
      chance: the weight of the history above.
      slot: the place of the action among the legal ones.
      action: the action taken, by either player.
    """
    over = arrival.actor == TERMINAL
    # Terminal nodes are also split by the last action: no decision depends on it, and finer groups keep payoffs dense.
    key = (arrival.actor, arrival.public, action if over else NO_ACTION)
    child = below.get(key)
    if child is None:
        child = below[key] = Child(
            slot, join_observations(arrival.public), ({}, {}), Histories(arrival.actor, [], ([], []), []), []
        )
    elif slot < child.slot:
        child.slot = slot
    histories = child.histories
    for player in (0, 1):
        rows = child.found[player]
        histories.rows[player].append(rows.setdefault((above[player], own[player], arrival.private[player]), len(rows)))
    histories.chance.append(arrival.chance * chance)
    if over:
        child.payoff.append(answers.payoff(game, arrival.state))
    else:
        histories.states.append(arrival.state)


class _RowLists:
    def __init__(self) -> None:
        self.count: list[int] = []
        self.parent: list[int] = []
        self.entry: list[int] = []
        self.token: list[str] = []

    def growth(self) -> RowGrowth:
        return RowGrowth(_ints(self.count), _ints(self.parent), _ints(self.entry), self.token)


class Opening:
    """The growth of one `GrowingTree.open` call, in lists."""

    def __init__(self, num_nodes: int, num_rows: tuple[int, int], num_entries: int) -> None:
        self._num_nodes, self._num_rows, self._num_entries = num_nodes, num_rows, num_entries
        self.leaves: dict[int, Leaf] = {}
        self.parent: list[int] = []
        self.rows = (_RowLists(), _RowLists())
        self.entry_action: list[int] = []
        self._actor: list[int] = []
        self._token: list[str] = []
        self._infostate_player: list[int] = []
        self._infostate_row: list[int] = []
        self._num_actions: list[int] = []
        self._joint: tuple[list[int], list[int], list[float]] = ([], [], [])
        self._ends: tuple[list[int], list[int], list[float]] = ([], [], [])
        self._payoffs: list[float] = []

    def add_infostates(self, player: int, first_row: int, legal: list[Actions]) -> dict[tuple[int, int], int]:
        """Adds the infostates of an opened node and returns the entry of each (row counted from 0, action)."""
        entry = {}
        for row, actions in enumerate(legal):
            for action in actions:
                entry[row, action] = self._num_entries + len(self.entry_action)
                self.entry_action.append(action)
            self._infostate_player.append(player)
            self._infostate_row.append(first_row + row)
            self._num_actions.append(len(actions))
        return entry

    def add_root(self, root: PublicRoot) -> None:
        """Adds a given public state."""
        for rows, labels in zip(self.rows, root.labels, strict=True):
            rows.count.append(len(labels))
            rows.parent += [NO_PARENT] * len(labels)
            rows.entry += [NO_ENTRY] * len(labels)
            rows.token += labels
        self._add_node(NO_PARENT, root.label, root.histories, (0, 0), [])

    def add_children(
        self, node: int, below: dict[Any, Child], above: tuple[int, int], entry: dict[tuple[int, int], int]
    ) -> None:
        """Adds the public states below a node, in the order of the actions that lead there.

        Args:
          node: the opened node.
          below: the public states below it.
          above: each player's first row at the opened node.
          entry: the entries by (the actor's row counted from 0, action).
        """
        for child in sorted(below.values(), key=_SLOT):
            first = (self._next_row(0), self._next_row(1))
            for player in (0, 1):
                self._add_rows(player, child, above[player], entry)
            self._add_node(node, child.token, child.histories, first, child.payoff)

    def _next_row(self, player: int) -> int:
        return self._num_rows[player] + len(self.rows[player].parent)

    def _add_rows(self, player: int, child: Child, first_above: int, entry: dict[tuple[int, int], int]) -> None:
        """Adds a player's rows by parent and own action, which keeps private states in order; renumbers the histories."""
        found = child.found[player]
        keys = list(found)
        if len(keys) > 1:
            keys.sort(key=_PARENT_AND_ACTION)
            rank = {found[key]: place for place, key in enumerate(keys)}
            child.histories.rows[player][:] = [rank[row] for row in child.histories.rows[player]]
        rows = self.rows[player]
        rows.count.append(len(keys))
        for above, action, seen in keys:
            rows.parent.append(above + first_above if above != NO_PARENT else NO_PARENT)
            rows.entry.append(entry[above, action] if action != NO_ACTION else NO_ENTRY)
            rows.token.append(join_observations(seen))

    def _add_node(
        self, parent: int, token: str, histories: Histories, first_row: tuple[int, int], payoffs: list[float]
    ) -> None:
        pairs = self._joint
        if histories.actor == TERMINAL:
            pairs = self._ends
            self._payoffs += payoffs
        else:
            self.leaves[self._num_nodes + len(self.parent)] = Leaf(histories, first_row)
        for player in (0, 1):
            first = first_row[player]
            pairs[player].extend([first + row for row in histories.rows[player]])
        pairs[2].extend(histories.chance)
        self.parent.append(parent)
        self._actor.append(histories.actor)
        self._token.append(token)

    def growth(self) -> Growth:
        """Returns the lists as arrays, with histories that share both rows summed."""
        joint_first, joint_second, joint_weight = map(np.array, self._joint)
        joint_rows, (joint_chance,) = sum_pairs(joint_first, joint_second, [joint_weight])
        first, second, chance = map(np.array, self._ends)
        payoff_rows, (payoff_chance, payoff) = sum_pairs(first, second, [chance, chance * np.array(self._payoffs)])
        node_of_row = np.repeat(np.arange(len(self.parent)), self.rows[0].count)
        return Growth(
            level_size=_ints([len(self.parent)]),
            parent=_ints(self.parent),
            actor=np.array(self._actor, np.int8),
            token=self._token,
            rows=(self.rows[0].growth(), self.rows[1].growth()),
            infostate_player=np.array(self._infostate_player, np.int8),
            infostate_row=_ints(self._infostate_row),
            num_actions=_ints(self._num_actions),
            entry_action=_ints(self.entry_action),
            joint_count=np.bincount(node_of_row[joint_rows[0] - self._num_rows[0]], minlength=len(self.parent)).astype(
                np.int32
            ),
            joint_rows=joint_rows,
            joint_chance=joint_chance,
            payoff_rows=payoff_rows,
            payoff=payoff,
            payoff_chance=payoff_chance,
        )


def sum_pairs(first: NDArray[Any], second: NDArray[Any], weights: list[Floats]) -> tuple[Ints, list[Floats]]:
    """Returns `[2, J]` the distinct pairs of rows, sorted, and the sum of each weight over equal pairs."""
    width = second.max(initial=0) + 1
    pairs, index = np.unique(first * width + second, return_inverse=True)
    totals = [np.bincount(index, weight, len(pairs)).astype(np.float64) for weight in weights]
    return np.stack([pairs // width, pairs % width]).astype(np.int32), totals


def _ints(values: list[int]) -> Ints:
    return np.array(values, np.int32)
