"""The public tree: a game as arrays, with a row for every private state of each player at every public state.

Everything the solvers need is in four tables:

- **rows** (one table for each player): the player's infostates at every public state, acting or not, each linked to the row
  above it. A player's reach flows down these links, counterfactual values flow up.
- **infostates**: the rows at which their player acts. **Entries** are their (infostate, action) pairs, flat: a strategy,
  a regret table or an average is one array `[E]`.
- **payoffs**: the pairs of rows, one of each player, that meet at the end of the game, with player 0's return times chance.
  Chance appears nowhere else, so the players' reaches stay separate vectors, and they meet only in
  `cfv_i = payoffs @ reach_{-i}`.
- **nodes**: the public states themselves, parents before children. None if the player to act is not public: tabular solvers can
  solve such a game, but it has no public belief states.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.errors import TacitError
from tacit.games.base import Game, InfostateGame
from tacit.tree import base
from tacit.tree.base import Spot, who_acts
from tacit.tree.held import NOTHING_HELD, Held, hold_rows

if TYPE_CHECKING:
    from tacit.tree.strategy import RowStrategy

NO_PARENT = -1
"""Parent of a root."""
NO_ACTION = -1
"""Action of a row that no action of its player led to."""
LEAF = -3
"""Actor of a node where a depth limit cut the game."""
NOT_ACTING = -1
"""Infostate of a row whose player does not act there."""

_SEPARATOR = "\x1f"
"""Separates the observations within a token; people see a blank instead."""

CHUNK = 1 << 20
"""Pairs of rows handled at once where temporary copies of all pairs would set the memory peak."""

Ints = NDArray[np.int32]
Floats = base.Floats


def join_observations(observations: Iterable[str]) -> str:
    """Returns the token for the observations on the way to a node or row."""
    return _SEPARATOR.join(observations)


def split_observations(token: str) -> list[str]:
    """Returns the observations of a token."""
    return token.split(_SEPARATOR) if token else []


def in_ranges(start: NDArray[Any], index: NDArray[Any]) -> NDArray[np.int64]:
    """Returns the concatenated ranges `start[i]:start[i + 1]` for each i in `index`."""
    first = start[index].astype(np.int64)
    return spread(first, start[index + 1] - first)


def spread(first: NDArray[Any], counts: NDArray[Any]) -> NDArray[np.int64]:
    """Returns the `counts[i]` numbers `first[i], first[i] + 1, ...` for each i in turn."""
    skipped: NDArray[np.int64] = np.repeat(first - np.cumsum(counts) + counts, counts)
    return skipped + np.arange(len(skipped))


def chunks_of_nodes(start: NDArray[Any]) -> Iterator[tuple[int, int]]:
    """Yields ranges of nodes with at most `CHUNK` pairs of rows (`start[n]:start[n + 1]` at node n), or single nodes."""
    low = 0
    while low < len(start) - 1:
        high = max(low + 1, int(np.searchsorted(start, start[low] + CHUNK, side="right")) - 1)
        yield low, high
        low = high


def readable(tokens: Iterable[str]) -> str:
    """Returns tokens for people, with a blank between observations."""
    return " ".join(filter(None, tokens)).replace(_SEPARATOR, " ")


def _path(parent: Ints, at: int) -> list[int]:
    path = []
    while at != NO_PARENT:
        path.append(at)
        at = int(parent[at])
    return path[::-1]


@dataclass(frozen=True)
class PlayerRows:
    """One player's rows, roots first, level by level.

    Attributes:
      parent: `[R]` the row above, `NO_PARENT` at roots.
      entry: `[R]` the entry of the player's own action that led here, or the number of entries `E` if it did not move.
      infostate: `[R]` the infostate when the player acts here, else `NOT_ACTING`.
      level_start: `[L + 1]` the rows of level l are `level_start[l]:level_start[l + 1]`.
      root_reach: `[level_start[1]]` the player's own probability of each root row: ones, or the beliefs of a subgame.
      token: what the player alone learnt on arrival at the row, joined by `join_observations`.
    """

    parent: Ints
    entry: Ints
    infostate: Ints
    level_start: Ints
    root_reach: Floats
    token: list[str]

    def __len__(self) -> int:
        return len(self.parent)


@dataclass(frozen=True)
class Nodes:
    """The public states, parents before children and siblings adjacent.

    A compiled game is in breadth-first order: a level has the nodes of one depth, in the order of their parents. In a tree that
    grew (`GrowingTree`), a level has the nodes that one opening added.

    Attributes:
      parent: `[N]` the public state above, `NO_PARENT` at roots.
      actor: `[N]` 0, 1, `TERMINAL` or `LEAF`.
      level_start: `[L + 1]` the nodes of level l are `level_start[l]:level_start[l + 1]`; their parents lie in earlier levels.
      row_start: for each player `[N + 1]` the rows of node n are `row_start[n]:row_start[n + 1]`.
      joint_start: `[N + 1]` the compatible pairs of rows at node n are `joint_rows[:, joint_start[n]:joint_start[n + 1]]`.
      joint_rows: `[2, J]` the pairs of rows that can meet.
      joint_chance: `[J]` the chance weight of each pair, divided in subgames by the beliefs' normaliser.
      token: what everyone learnt on arrival at the node, joined by `join_observations`.
    """

    parent: Ints
    actor: NDArray[np.int8]
    level_start: Ints
    row_start: tuple[Ints, Ints]
    joint_start: NDArray[np.int64]
    joint_rows: Ints
    joint_chance: Floats
    token: list[str]

    def __len__(self) -> int:
        return len(self.parent)

    @property
    def num_roots(self) -> int:
        """The number of roots: several if the game opens with a public chance event, or in a forest."""
        return int(self.level_start[1])

    @cached_property
    def num_children(self) -> NDArray[np.int64]:
        """`[N]` the number of children of each node."""
        return np.bincount(self.parent[self.num_roots :], minlength=len(self))

    @cached_property
    def first_child(self) -> NDArray[np.int64]:
        """`[N]` the first child of each node, 0 where there is none; the others follow it."""
        first = np.zeros(len(self), np.int64)
        first[self.parent[: self.num_roots - 1 : -1]] = np.arange(len(self) - 1, self.num_roots - 1, -1)  # the first one wins
        return first

    def children(self, nodes: NDArray[Any]) -> NDArray[np.int64]:
        """Returns the children of the given nodes, node by node."""
        return spread(self.first_child[nodes], self.num_children[nodes])

    @cached_property
    def of_row(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each player `[R]`, the node of each row."""
        first, second = (np.repeat(np.arange(len(self)), np.diff(start)) for start in self.row_start)
        return first, second

    def joint(self, node: int) -> Floats:
        """Returns `[H0, H1]` the chance weights of the pairs of private states at a node."""
        chosen = slice(self.joint_start[node], self.joint_start[node + 1])
        starts = [int(self.row_start[player][node]) for player in (0, 1)]
        shape = [int(self.row_start[player][node + 1]) - starts[player] for player in (0, 1)]
        weights = np.zeros(shape)
        weights[self.joint_rows[0, chosen] - starts[0], self.joint_rows[1, chosen] - starts[1]] = self.joint_chance[chosen]
        return weights


@dataclass(frozen=True)
class PublicTree:
    """A compiled game, subgame or forest of subgames.

    Attributes:
      game: the rules it was compiled from.
      rows: the two players' rows.
      infostate_player: `[S]` the player of each infostate.
      infostate_row: `[S]` the row of that player where the infostate acts.
      entry_start: `[S + 1]` the entries of infostate s are `entry_start[s]:entry_start[s + 1]`.
      entry_action: `[E]` the game's action of each entry.
      payoff_rows: `[2, Z]` the rows of player 0 and player 1 in each terminal pair, sorted by node.
      payoff: `[Z]` player 0's return times the chance of each terminal pair.
      payoff_chance: `[Z]` the chance of each terminal pair.
      nodes: the public states, or None if the player to act is not public.
      held: the fixed part of the strategy (`hold`).
    """

    layout: ClassVar[str] = "rows"

    game: Game[Any]
    rows: tuple[PlayerRows, PlayerRows]
    infostate_player: NDArray[np.int8]
    infostate_row: Ints
    entry_start: Ints
    entry_action: Ints
    payoff_rows: Ints
    payoff: Floats
    payoff_chance: Floats
    nodes: Nodes | None
    held: Held = NOTHING_HELD

    @property
    def num_infostates(self) -> int:
        """`S`: the number of infostates, both players together."""
        return len(self.infostate_player)

    @property
    def num_entries(self) -> int:
        """`E`: the length of strategies and regrets."""
        return len(self.entry_action)

    @property
    def num_nodes(self) -> int:
        """`N`: the number of public states; 1 if the player to act is not public, as all histories then share one."""
        return 1 if self.nodes is None else len(self.nodes)

    @cached_property
    def entry_infostate(self) -> Ints:
        """`[E]` the infostate of each entry."""
        return np.repeat(np.arange(self.num_infostates, dtype=np.int32), np.diff(self.entry_start))

    @cached_property
    def entry_player(self) -> NDArray[np.int8]:
        """`[E]` the player of each entry."""
        return self.infostate_player[self.entry_infostate]

    @cached_property
    def payoff_start(self) -> NDArray[np.int64]:
        """`[N + 1]` the payoffs of node n are `payoff_start[n]:payoff_start[n + 1]`."""
        return np.searchsorted(self.payoff_rows[0], self.require_nodes().row_start[0])

    @property
    def root_reach(self) -> tuple[Floats, Floats]:
        """For each player, its own reach of the root rows."""
        return self.rows[0].root_reach, self.rows[1].root_reach

    def require_nodes(self) -> Nodes:
        """Returns the nodes.

        Raises:
          TacitError: The player to act is not public.
        """
        if self.nodes is None:
            raise TacitError(
                f"{self.game}: the player to act is not public, so it has no public belief states: "
                "tabular solvers work, search does not"
            )
        return self.nodes

    def strategy(self, probabilities: Floats) -> RowStrategy:
        """Returns `[E]` probabilities as a strategy."""
        from tacit.tree.strategy import RowStrategy

        return RowStrategy(self, probabilities)

    def uniform_strategy(self) -> Floats:
        """Returns the uniform strategy `[E]`."""
        num_actions = np.diff(self.entry_start)
        return self.held.put(np.repeat(1.0 / num_actions, num_actions))

    def normalise(self, weights: Floats) -> Floats:
        """Returns `[E]` weights scaled to sum to 1 at each infostate; uniform where they are all zero."""
        totals = np.repeat(np.add.reduceat(weights, self.entry_start[:-1]), np.diff(self.entry_start))
        return self.held.put(np.where(totals > 0, weights / np.where(totals > 0, totals, 1.0), self.uniform_strategy()))

    def hold(self, held: Held) -> PublicTree:
        """Returns the tree with part of the strategy fixed."""
        return hold_rows(self, held)

    def apart(self, spot: Spot, held: Held) -> PublicTree:
        """Returns this tree: every public state has a node of its own."""
        del spot, held
        return self

    def choices(self, spot: Spot) -> list[tuple[str, dict[str, int]]]:
        """Returns each private state of the actor at a spot, with the entries of its actions, all by name.

        An action also goes by what everyone sees of it, if that is always the same.

        Raises:
          TacitError: No player acts there.
        """
        from tacit.tree.public_lines import SILENT
        from tacit.tree.strategy import action_names

        nodes, player = self.require_nodes(), who_acts(self, spot)
        seen: dict[int, set[str]] = {}
        for below in nodes.children(np.array([spot.node])).tolist():
            rows = slice(nodes.row_start[player][below], nodes.row_start[player][below + 1])
            for entry in set(self.rows[player].entry[rows].tolist()):
                seen.setdefault(entry, set()).add(self.steps[below])
        choices = []
        for row in range(nodes.row_start[player][spot.node], nodes.row_start[player][spot.node + 1]):
            infostate = int(self.rows[player].infostate[row])
            entries = range(self.entry_start[infostate], self.entry_start[infostate + 1])
            names = action_names(self.game, player, [int(self.entry_action[entry]) for entry in entries])
            public = {step: entry for entry in entries for step in seen[entry] - {SILENT} if len(seen[entry]) == 1}
            choices.append((self.private_label(player, row), public | dict(zip(names, entries, strict=True))))
        return choices

    def private_states(self, text: str) -> dict[str, float]:
        """Returns the private states that a text of comma-separated names stands for, each with weight 1."""
        return {name.strip(): 1.0 for name in text.split(",")}

    def row_path(self, player: int, row: int) -> list[int]:
        """Returns the rows from the root down to `row`."""
        return _path(self.rows[player].parent, row)

    def node_path(self, node: int) -> list[int]:
        """Returns the public states from the root down to `node`."""
        return _path(self.require_nodes().parent, node)

    @cached_property
    def begins_round(self) -> NDArray[np.bool_]:
        """`[N]` True at decisions right after a chance move, where betting rounds begin, except at the start of the game.

        Without a chance move, a pair of private states is as likely as the pair it comes from.
        """
        nodes, width = self.require_nodes(), len(self.rows[1])
        begins = np.zeros(len(nodes), bool)
        for low, high in chunks_of_nodes(nodes.joint_start):
            start = nodes.joint_start[low : high + 1]
            node = np.repeat(np.arange(low, high), np.diff(start))
            below = nodes.parent[node] != NO_PARENT
            if not below.any():
                continue
            node, pair = node[below], np.flatnonzero(below) + start[0]
            above = nodes.parent[node]
            first = slice(nodes.joint_start[above.min()], nodes.joint_start[above.max() + 1])  # where the pairs above lie
            known = nodes.joint_rows[0, first].astype(np.int64) * width + nodes.joint_rows[1, first]  # ascending
            rows = [self.rows[player].parent[nodes.joint_rows[player, pair]].astype(np.int64) for player in (0, 1)]
            at = first.start + np.searchsorted(known, rows[0] * width + rows[1])
            begins[node[nodes.joint_chance[pair] < nodes.joint_chance[at] * (1.0 - 1e-9)]] = True
        return begins

    @cached_property
    def secret_action(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """For each player `[R]`, True where the public state does not reveal the own action that led to the row."""
        flags = []
        for player, rows in enumerate(self.rows):
            secret = np.zeros(len(rows), bool)
            if self.nodes is not None:
                moved = rows.entry < self.num_entries
                action = np.append(self.entry_action, -1)[rows.entry]
                first = action[self.nodes.row_start[player][:-1].clip(max=len(rows) - 1)]
                node = self.nodes.of_row[player]
                mixed = np.zeros(len(self.nodes), bool)
                mixed[node[action != first[node]]] = True
                secret = moved & mixed[node]
            flags.append(secret)
        return flags[0], flags[1]

    def private_label(self, player: int, row: int) -> str:
        """Returns what only `player` knows at a row: private observations, and own actions where they are not public."""
        rows = self.rows[player]
        if isinstance(self.game, InfostateGame):  # its names encode the whole past
            return rows.token[row]
        words = []
        for r in self.row_path(player, row):
            if self.secret_action[player][r]:
                words.append(self.game.action_name(int(self.entry_action[rows.entry[r]])))
            words.append(rows.token[r])
        return readable(words)

    def public_label(self, node: int) -> str:
        """Returns what everyone knows at a node."""
        nodes = self.require_nodes()
        return readable(nodes.token[n] for n in self.node_path(node))

    @cached_property
    def steps(self) -> list[str]:
        """`[N]` the name of the step that leads to each public state (`tree/public_lines.py`)."""
        from tacit.tree.public_lines import name_steps

        return name_steps(self)

    def label(self, spot: Spot) -> str:
        """Returns the line that leads to a public state, as `find` reads it: what everyone saw, step by step."""
        from tacit.tree.public_lines import line_of

        return line_of(self, spot.node)

    def find(self, text: str) -> Spot:
        """Returns the public state that a line leads to, as `label` writes it.

        Raises:
          TacitError: There is none; the message says which step is unknown.
        """
        from tacit.tree.public_lines import find_line

        return find_line(self, text)

    def actor_at(self, spot: Spot) -> int:
        """Returns the player who acts at a public state; a negative number if none does."""
        return int(self.require_nodes().actor[spot.node])

    def steps_after(self, spot: Spot) -> list[str]:
        """Returns the steps that `find` accepts after a public state."""
        from tacit.tree.public_lines import steps_below

        return steps_below(self, spot.node)

    @cached_property
    def decision_spots(self) -> list[Spot]:
        """The public states where a player acts, parents before children."""
        return [Spot(node) for node in np.flatnonzero(self.require_nodes().actor >= 0).tolist()]

    def __repr__(self) -> str:
        return f"<tree of {self.game}: {self.num_nodes:,} public states, {self.num_infostates:,} infostates>"

    def _repr_html_(self) -> str:
        from tacit.tree.pictures import tree_html

        return tree_html(self)

    def node_of_row(self, player: int, row: int) -> int:
        """Returns the public state a row belongs to."""
        return int(np.searchsorted(self.require_nodes().row_start[player], row, side="right")) - 1

    def infostate_label(self, infostate: int) -> tuple[int, str, str]:
        """Returns (player, public part, private part) of an infostate, for people and exports."""
        player, row = int(self.infostate_player[infostate]), int(self.infostate_row[infostate])
        public = "" if self.nodes is None else self.public_label(self.node_of_row(player, row))
        return player, public, self.private_label(player, row)
