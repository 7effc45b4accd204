"""The results of growing trees: strategies, values, and the values they promise at any node."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.search.growing.forest import CLOSED, NO_NODE, Forest
from tacit.search.growing.steps import NO_STEP, Steps, StepTables
from tacit.tree.public_tree import Floats
from tacit.tree.source import NO_CLASS


def likelihood(t: StepTables, forest: Forest, player: int, reach: Floats, num_states: int) -> Floats:
    """Returns `[B, H]` the likelihood of each of a player's private states at the roots, given chance and the opponent.

    Args:
      t: the steps.
      forest: the trees.
      player: the player whose private states they are.
      reach: `[B, 2, R]` the players' reaches.
      num_states: `H`.
    """
    likely = np.zeros((len(forest.num_nodes), num_states))
    for b in range(len(likely)):
        at_root = node_likelihood(t, forest, b, 0, player, reach[b, 1 - player])
        likely[b, : len(at_root)] = at_root
    return likely


def node_likelihood(t: StepTables, forest: Forest, b: int, node: int, player: int, reach: Floats) -> Floats:
    """Returns `[H]` these likelihoods at a node of tree `b`, from the opponent's reach `[R]` of all its rows."""
    state, other = int(forest.state[b, node]), 1 - player
    pairs = slice(t.pair_start[state], t.pair_start[state + 1])
    faced = reach[forest.node_row[b, other, node] + t.pair_row[other][pairs]]
    weight = forest.scale[b, node] * t.pair_chance[pairs] * faced
    return np.bincount(t.pair_row[player][pairs], weight, int(t.num_rows[player][state])).astype(np.float64)


class NextSearch(NamedTuple):
    """A public state below the root of a tree where a player searches next.

    Attributes:
      path: The number of the child taken at each node from the root on, in the order of its step.
      public_class: The class of the public state.
      own: `[H]` the player's own range there, summing to 1.
      promised: `[H]` the infostate values that the opponent was promised there; None where both private states are known, so
        that no promise is needed.
    """

    path: tuple[int, ...]
    public_class: int
    own: Floats
    promised: Floats | None


class GrowingResult:
    """The result of a batch of growing trees.

    Attributes:
      steps: The game.
      forest: The trees at the end.
      values: `[B, 2, H]` both players' infostate values at the roots, averaged over the iterations like the strategies; NaN
        where a private state is impossible.
    """

    def __init__(self, steps: Steps, forest: Forest, num_states: int) -> None:
        self.steps, self.forest = steps, forest
        self.values = np.zeros((len(forest.num_nodes), 2, num_states))
        for player in (0, 1):
            likely = likelihood(steps.tables, forest, player, forest.reach_sum, num_states)
            real = np.arange(num_states) < steps.tables.num_rows[player][forest.state[:, 0]][:, None]
            sums = forest.cfv_sum[:, player, :num_states]
            self.values[:, player] = np.where(real, sums / np.where(likely > 1e-12, likely, np.nan), 0.0)

    def actor(self, b: int, node: int) -> int:
        """Returns the player to act at an open node."""
        return int(self.steps.tables.actor[self.forest.step[b, node]])

    def is_open(self, b: int, node: int) -> bool:
        """Returns whether a node has been opened."""
        return bool(self.forest.step[b, node] != NO_STEP)

    def is_over(self, b: int, node: int) -> bool:
        """Returns whether the game is over at a node."""
        return bool(self.steps.tables.state_class[self.forest.state[b, node]] == NO_CLASS)

    def children(self, b: int, node: int) -> NDArray[np.int64]:
        """Returns the children of an open node in the order of its step, `NO_NODE` for those that are not in the tree."""
        t, k = self.steps.tables, self.forest.step[b, node]
        first, count = self.forest.node_link[b, node], t.state_start[k + 1] - t.state_start[k] - 1
        return self.forest.link[b, first : first + count].astype(np.int64)

    def strategy(self, b: int, node: int) -> list[Floats]:
        """Returns for each private state of the actor `[A]` the average strategy at an open node.

        Where the actor's own strategy never leads, it is uniform over the actions in the tree.
        """
        t, f, k = self.steps.tables, self.forest, int(self.forest.step[b, node])
        first = int(t.action_start[k])
        starts = f.node_entry[b, node] + t.first_entry[first : first + 1 + t.num_rows[t.actor[k]][f.state[b, node]]]
        strategies = []
        for start, end in pairwise(starts.tolist()):
            weights = f.average[b, start:end]
            weights = weights if weights.sum() > 0 else (f.opened[b, start:end] != CLOSED).astype(np.float64)
            strategies.append(weights / weights.sum())
        return strategies

    def to_play(self, b: int, node: int) -> list[Floats]:
        """Returns for each private state of the actor `[A]` what to play at an open node.

        That is the average strategy or, if nothing is hidden and there is no reason to mix, its likeliest action.
        """
        average = self.strategy(b, node)
        if self.steps.tables.known[self.forest.step[b, node]]:
            return [np.eye(len(shares))[int(shares.argmax())] for shares in average]
        return average

    def entries(self, b: int, node: int) -> slice:
        """Returns the entries of an open node."""
        t, k, first = self.steps.tables, self.forest.step[b, node], int(self.forest.node_entry[b, node])
        return slice(first, first + int(t.first_entry[t.action_start[k] + t.num_rows[t.actor[k]][self.forest.state[b, node]]]))

    def reach(self, b: int, player: int, root: Floats | None = None) -> Floats:
        """Returns `[R]` a player's reach of its rows in a tree when it plays the average strategies.

        `root` `[H]` is its reach at the root; None takes that of the search's last update.
        """
        f, played = self.forest, np.zeros(int(self.forest.num_entries[b]))
        for node in range(int(f.num_nodes[b])):
            if self.is_open(b, node) and self.actor(b, node) == player:
                played[self.entries(b, node)] = np.concatenate(self.strategy(b, node))
        reach = f.reach[b, player, : f.num_rows[b, player]].copy()
        if root is not None:
            reach[self.rows(b, 0, player)] = root
        for row in range(int(self.rows(b, 0, player).stop), len(reach)):
            entry = f.row_entry[b, player, row]
            reach[row] = reach[f.row_parent[b, player, row]] * (played[entry] if entry >= 0 else 1.0)
        return reach

    def rows(self, b: int, node: int, player: int) -> slice:
        """Returns a player's rows at a node."""
        first = int(self.forest.node_row[b, player, node])
        return slice(first, first + int(self.steps.tables.num_rows[player][self.forest.state[b, node]]))

    def promised(self, b: int, node: int, opponent: int) -> Floats:
        """Returns `[H]` the infostate values that the search promises the opponent at a node; 0 for impossible private states.

        Counterfactual values and the player's reach are summed over the same iterations, those since the node was added.
        """
        sums: Any = self.forest.cfv_sum[b, opponent, self.rows(b, node, opponent)]
        likely = node_likelihood(self.steps.tables, self.forest, b, node, opponent, self.forest.reach_sum[b, 1 - opponent])
        values: Floats = np.where(likely > 1e-300, sums / np.where(likely > 1e-300, likely, 1.0), 0.0)
        return values

    def next_searches(self, b: int, player: int) -> Iterator[NextSearch]:
        """Yields the next searches of a player who plays from tree `b`: at its decisions and at the leaves it can reach."""
        t, f, reach = self.steps.tables, self.forest, self.reach(b, player)
        ahead: list[tuple[int, tuple[int, ...]]] = [(0, ())]
        while ahead:
            node, path = ahead.pop()
            first = int(t.state_start[f.step[b, node]]) + 1
            for k, child in enumerate(self.children(b, node).tolist()):
                public_class, below = int(t.state_class[first + k]), (*path, k)
                if public_class == NO_CLASS:
                    continue
                if child == NO_NODE:  # nothing is hidden where single actions are opened
                    yield NextSearch(below, public_class, np.ones(1), None)
                elif self.is_open(b, child) and self.actor(b, child) != player:
                    ahead.append((child, below))
                else:
                    own, others = reach[self.rows(b, child, player)], int(t.num_rows[1 - player][first + k])
                    promised = None if len(own) == others == 1 else self.promised(b, child, 1 - player)
                    if own.sum() > 0:
                        yield NextSearch(below, public_class, own / own.sum(), promised)
