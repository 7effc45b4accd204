"""A tree being discovered history by history: what the generic compilers write into."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from tacit.errors import TacitError
from tacit.games.base import Game, actions_problem
from tacit.tree.assemble import ActionTable, HistoryTable, NodeTable, RowTable, assemble
from tacit.tree.estimate import readable_bytes, resident_memory
from tacit.tree.public_tree import PublicTree

Progress = Callable[[int], None]
_CHECK_EVERY = 4_096


class MemoryWatch:
    """Follows a walk over histories: every few thousand it reports progress and checks the memory taken so far."""

    def __init__(self, game: Game[Any], budget: int, progress: Progress) -> None:
        """Starts counting memory from here.

        Args:
          game: the game that is walked over.
          budget: bytes of memory after which to give up.
          progress: called now and then with the number of histories walked.
        """
        self._game = game
        self._budget = budget
        self._progress = progress
        self._memory_before = resident_memory()
        self._checked_at = 0

    def check(self, num_histories: int) -> None:
        """Reports progress, and refuses a game that outgrows its budget.

        Raises:
          TacitError: with the memory taken and the budget.
        """
        if abs(num_histories - self._checked_at) < _CHECK_EVERY:
            return
        self._checked_at = num_histories
        taken = resident_memory() - self._memory_before
        if taken > self._budget:
            raise TacitError(
                f"{self._game} does not fit: {num_histories:,} histories, and not all, took {readable_bytes(taken)} of memory, "
                f"{readable_bytes(self._budget)} are free to use; choose smaller parameters"
            )
        self._progress(num_histories)


class TreeDraft:
    """Nodes, rows and histories in order of discovery. Things with equal keys are the same thing."""

    def __init__(self, game: Game[Any]) -> None:
        self.game = game
        self.rows = (_Rows(), _Rows())
        self._node_index: dict[Hashable, int] = {}
        self._node_parent: list[int] = []
        self._node_actor: list[int] = []
        self._node_slot: list[int] = []
        self._history_node: list[int] = []
        self._history_rows: tuple[list[int], list[int]] = ([], [])
        self._history_chance: list[float] = []
        self._history_payoff: list[float] = []

    def find_node(self, key: Hashable, parent: int, actor: int, slot: int) -> int:
        """Returns the node with this key, new or known; of the slots of the actions that lead to it the first orders it."""
        node = self._node_index.get(key)
        if node is None:
            node = self._node_index[key] = len(self._node_parent)
            self._node_parent.append(parent)
            self._node_actor.append(actor)
            self._node_slot.append(slot)
        elif slot < self._node_slot[node]:
            self._node_slot[node] = slot
        return node

    def set_legal(self, player: int, row: int, actions: tuple[int, ...]) -> None:
        """Notes a row's legal actions; refuses what has no place in the arrays, or differs from another history's.

        Raises:
          TacitError: the actions are none, not all different, not integers of 31 bits, or not those noted before.
        """
        known = self.rows[player].legal[row]
        if known and known != actions:
            raise TacitError(
                f"{self.game}: legal actions differ within one infostate ({known} and {actions}); check_game() says where"
            )
        problem = actions_problem(actions)
        if problem is not None:
            raise TacitError(f"{self.game}: {problem}")
        self.rows[player].legal[row] = actions

    def add_history(self, node: int, rows: tuple[int, int], chance: float, payoff: float) -> None:
        """Notes that these rows meet at this node; histories that share rows are summed."""
        self._history_node.append(node)
        for player in (0, 1):
            self._history_rows[player].append(rows[player])
        self._history_chance.append(chance)
        self._history_payoff.append(payoff)

    def assemble(self) -> PublicTree:
        """Returns the finished tree.

        Raises:
          TacitError: nobody ever decides anything.
        """
        if not any(rows.legal.count(()) < len(rows.legal) for rows in self.rows):
            raise TacitError(f"{self.game} has no decisions: there is nothing to solve")
        parent, actor, slot = (np.array(x) for x in (self._node_parent, self._node_actor, self._node_slot))
        nodes = NodeTable(parent, actor, slot, [""] * len(parent))
        first, second = self.rows
        histories = HistoryTable(
            np.array(self._history_node),
            (np.array(self._history_rows[0]), np.array(self._history_rows[1])),
            np.array(self._history_chance),
            np.array(self._history_payoff),
        )
        return assemble(self.game, nodes, (first.table(), second.table()), (first.actions(), second.actions()), histories)


class _Rows:
    """One player's rows."""

    def __init__(self) -> None:
        self.node: list[int] = []
        self.parent: list[int] = []
        self.action: list[int] = []
        self.token: list[str] = []
        self.legal: list[tuple[int, ...]] = []
        self._index: dict[Hashable, int] = {}

    def find(self, node: int, parent: int, action: int, seen: Hashable, token: str) -> int:
        """Returns the row of this node, own past and latest observation, new or known."""
        key = (node, parent, action, seen)
        row = self._index.get(key)
        if row is None:
            row = self._index[key] = len(self.node)
            self.node.append(node)
            self.parent.append(parent)
            self.action.append(action)
            self.token.append(token)
            self.legal.append(())
        return row

    def table(self) -> RowTable:
        return RowTable(np.array(self.node), np.array(self.parent), np.array(self.action), self.token)

    def actions(self) -> ActionTable:
        start = np.concatenate([[0], np.cumsum([len(actions) for actions in self.legal])]).astype(np.int64)
        return ActionTable(start, np.array([action for actions in self.legal for action in actions], np.int64))
