"""The search trees of all public-state classes of a game, as flat tables for compiled kernels.

A class's search tree is the same for every game at that class, so a batch holds it once: each of its rows and entries is a
vector over a group of games, and kernels are plain loops over rows in which every step handles the whole group.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import TacitError
from tacit.games.base import TERMINAL, Game
from tacit.tree.classes import PublicClasses
from tacit.tree.compiler import compile_game, has_direct_builder
from tacit.tree.estimate import Budget, MemoryWatch, can_expand, fits_memory, memory_limit
from tacit.tree.growth import starts
from tacit.tree.opening import sum_pairs
from tacit.tree.public_tree import LEAF, NO_PARENT, NOT_ACTING, Floats, PublicTree
from tacit.tree.source import ClassSubgame, RuleSource, SubgameSource, TreeSource
from tacit.tree.subgame import Depth, Subgame, subgame_places

Table = NDArray[np.int32]
Weights = NDArray[np.float32]

TILES = ((32, 8), (128, 32))
"""Pairs (most private states, rows of a tile); beyond the last pair a tile has `WIDE_TILE` rows."""
WIDE_TILE = 64
PASSES, ENDS, ACTS = 0, 1, 2
"""Kinds of rows: the value is the sum of those below, it comes from meetings, or the row's player decides."""
MAX_CLASSES = 10_000
"""Largest number of classes for a game expanded from its rules."""


@dataclass(frozen=True)
class PlayerTables:
    """One player's rows in the search trees of classes `0 .. C - 1`, one class after the other; indices count within a class.

    Attributes:
      row_start: `[C + 1]` the rows of class c are `row_start[c]:row_start[c + 1]`.
      num_roots: `[C]` the number of root rows: the player's private states at the public state.
      parent: `[R]` the row above, -1 at roots.
      entry: `[R]` the entry of the player's own action that led here, -1 if it did not move.
      first_entry: `[R]` the first entry of a row whose player acts; -1 elsewhere.
      num_actions: `[R]` the number of actions of a row whose player acts; 0 elsewhere.
      opens: `[R]` 1 if a row is the first, counting backwards, to add its value to its parent or entry.
      leaf: `[R]` the leaf a row belongs to, -1 elsewhere.
      state: `[R]` a leaf row's private state, 0 elsewhere.
      meeting_start: `[R + 1]` the meetings of row r are `meeting_start[r]:meeting_start[r + 1]`. Only terminal and leaf rows
        have any (see `_merged_payoffs`).
      meeting_row: `[J]` the opponent's row in each meeting.
      meeting_weight: `[J]` chance times this player's return at terminal rows, chance alone at leaves.
      tile_start: `[C + 1]` the tiles of class c are `tile_start[c]:tile_start[c + 1]`. A tile is up to `SearchTables.tile`
        adjacent rows of one kind that pass their values to different places, so they can be handled at once.
      tile_row: `[tiles]` the first row of each tile.
      tile_size: `[tiles]` the number of rows of each tile.
      tile_kind: `[tiles]` the kind of its rows: `PASSES`, `ENDS` or `ACTS`.
    """

    row_start: Table
    num_roots: Table
    parent: Table
    entry: Table
    first_entry: Table
    num_actions: Table
    opens: Table
    leaf: Table
    state: Table
    meeting_start: Table
    meeting_row: Table
    meeting_weight: Weights
    tile_start: Table
    tile_row: Table
    tile_size: Table
    tile_kind: Table


@dataclass(frozen=True)
class SearchTables:
    """The search trees of all classes.

    Attributes:
      players: both players' rows.
      entry_start: `[C + 1]` the start of each class's entries if all classes' entries are concatenated.
      entry_player: `[entries]` the player of each entry.
      num_entry_actions: `[entries]` the number of actions at each entry's infostate.
      leaf_start: `[C + 1]` the leaves of class c are `leaf_start[c]:leaf_start[c + 1]`.
      leaf_class: `[leaves]` the class of the public state at each leaf.
      leaf_row: for both players `[leaves]`, the first row of each leaf.
      leaf_deals: `[leaves, H, H]` the chance weights of the pairs of private states at each leaf.
      deals: `[C, H, H]` the chance weights of the pairs of private states at each class's root.
    """

    players: tuple[PlayerTables, PlayerTables]
    entry_start: Table
    entry_player: Table
    num_entry_actions: Table
    leaf_start: Table
    leaf_class: Table
    leaf_row: tuple[Table, Table]
    leaf_deals: Weights
    deals: Weights

    @property
    def num_private_states(self) -> int:
        """`H`: the largest number of private states that a player has at any public state."""
        return int(self.deals.shape[1])

    @property
    def tile(self) -> int:
        """The largest number of rows of a tile."""
        return _tile(self.num_private_states)


class SearchSpace:
    """A game prepared for search: its classes of public states, and each class's depth-limited subgame.

    Attributes:
      source: the source of the subgames, which knows all classes.
      subgames: `[C]` the subgame of each class.
      tables: all subgames as flat tables.
      root_class: `[K]` the classes of the decisions that open the game.
      root_chance: `[K]` the probability of each opening.
      root_reaches: `[K, 2, H]` the players' reaches at each opening, scaled to sum to 1.
    """

    def __init__(self, source: SubgameSource, watch: Callable[[int], None] = lambda _: None) -> None:
        """Builds the subgame of every class.

        Args:
          source: the source of the subgames.
          watch: called after each subgame with the number of pairs of private states so far.
        """
        self.source = source
        self.subgames: list[ClassSubgame] = []
        num_pairs = 0
        for c in range(len(source)):
            self.subgames.append(source.subgame(c))
            num_pairs += len(self.subgames[-1].tree.require_nodes().joint_chance)
            watch(num_pairs)
        self.tables = _make_tables(self.subgames)
        self.root_class: NDArray[np.int64] = source.roots.classes.astype(np.int64)
        self.root_chance = source.roots.chances
        counts = np.stack([table.num_roots[self.root_class] for table in self.tables.players], axis=1)[:, :, None]
        self.root_reaches = ((np.arange(self.tables.num_private_states) < counts) / counts).astype(np.float32)

    @property
    def game(self) -> Game[Any]:
        """The rules."""
        return self.source.game

    @property
    def depth(self) -> Depth:
        """The number of actions a search looks ahead, or `round`; None to the end of the game."""
        return self.source.depth

    @property
    def num_classes(self) -> int:
        """`C`: the number of classes."""
        return len(self.subgames)

    @property
    def compiled(self) -> bool:
        """Whether the game was compiled as a whole, which exact figures need."""
        return isinstance(self.source, TreeSource)

    @property
    def tree(self) -> PublicTree:
        """The whole game, if it was compiled."""
        return self._compiled().tree

    @property
    def classes(self) -> PublicClasses:
        """The classes of the whole game's public states, if it was compiled."""
        return self._compiled().classes

    @property
    def perfect_information(self) -> bool:
        """Whether neither player ever has more than one private state."""
        return self.tables.num_private_states == 1

    def subgame_at(self, node: int) -> Subgame:
        """Returns the subgame at any decision of the whole game, from unit reaches, laid out like its class's subgame."""
        if node not in self._at_node:
            self._at_node[node] = self._compiled().cut(node)
        return self._at_node[node]

    def places_at(self, node: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Returns the nodes and entries of the whole game that make up the subgame at a decision, without cutting it out."""
        return subgame_places(self.tree, node, self.depth)

    def start_classes(self) -> NDArray[np.int64]:
        """Returns, in order, the classes at which searches can start if each one starts at a leaf of the one before."""
        reached = set(self.root_class.tolist())
        starts, pending = self.tables.leaf_start, sorted(reached)
        while pending:
            c = pending.pop()
            below = set(self.tables.leaf_class[starts[c] : starts[c + 1]].tolist()) - reached
            reached |= below
            pending += sorted(below)
        return np.array(sorted(reached))

    def at_depth(self, depth: Depth) -> SearchSpace:
        """Returns the same game prepared for searches of another depth, with the same class numbers."""
        return SearchSpace(self.source.at_depth(depth))

    @cached_property
    def _at_node(self) -> dict[int, Subgame]:
        return {}

    def _compiled(self) -> TreeSource:
        if not isinstance(self.source, TreeSource):
            raise TacitError(f"{self.game} is too large to be compiled as a whole, so no exact figures can be given")
        return self.source


def search_space(tree: PublicTree, depth: Depth) -> SearchSpace:
    """Returns a compiled game prepared for searches of `depth` (see `extract_subgame`)."""
    return SearchSpace(TreeSource(tree, depth))


def game_space(game: Game[Any], depth: Depth) -> SearchSpace:
    """Returns a game prepared for searches of `depth`: compiled if it fits into memory, else expanded from its rules.

    Raises:
      TacitError: The game fits neither way, or breaks the rules that `check_game` explains.
    """
    if fits_memory(game, has_direct_builder(game)) or not can_expand(game):
        return search_space(compile_game(game), depth)  # raises if it does not fit
    watch = MemoryWatch(game, Budget(memory_limit()), lambda _: None)
    source = RuleSource(game, depth)
    source.explore_all(MAX_CLASSES)
    return SearchSpace(source, watch.check)


def _make_tables(subgames: list[ClassSubgame]) -> SearchTables:
    trees = [subgame.tree for subgame in subgames]
    leaves = [np.flatnonzero(tree.require_nodes().actor == LEAF) for tree in trees]
    most = max(int(rows.level_start[1]) for tree in trees for rows in tree.rows)
    players = [_class_tables(tree, _tile(most)) for tree in trees]
    leaf_joints = [tree.require_nodes().joint(int(leaf)) for tree, at in zip(trees, leaves, strict=True) for leaf in at]
    first_row = [
        np.concatenate([t.require_nodes().row_start[p][at] for t, at in zip(trees, leaves, strict=True)]) for p in (0, 1)
    ]
    return SearchTables(
        players=(_join([tables[0] for tables in players]), _join([tables[1] for tables in players])),
        entry_start=starts([tree.num_entries for tree in trees]),
        entry_player=np.concatenate([tree.entry_player for tree in trees]).astype(np.int32),
        num_entry_actions=np.concatenate([np.diff(t.entry_start)[t.entry_infostate] for t in trees]).astype(np.int32),
        leaf_start=starts([len(at) for at in leaves]),
        leaf_class=np.concatenate([subgame.node_class[at] for subgame, at in zip(subgames, leaves, strict=True)]),
        leaf_row=(first_row[0].astype(np.int32), first_row[1].astype(np.int32)),
        leaf_deals=_padded(leaf_joints, most),
        deals=_padded([tree.require_nodes().joint(0) for tree in trees], most),
    )


def _padded(joints: list[Floats], most: int) -> Weights:
    """Returns `[n, H, H]` matrices of chance weights, padded with zeros."""
    padded = np.zeros((len(joints), most, most), np.float32)
    for number, joint in enumerate(joints):
        padded[number, : joint.shape[0], : joint.shape[1]] = joint
    return padded


def _tile(num_private_states: int) -> int:
    return next((size for most, size in TILES if num_private_states <= most), WIDE_TILE)


def _class_tables(tree: PublicTree, tile: int) -> tuple[PlayerTables, PlayerTables]:
    """Returns both players' tables of a single class."""
    targets = _targets(tree, 0), _targets(tree, 1)
    payoff_rows, payoff = _merged_payoffs(tree, targets)
    first, second = (_player_tables(tree, p, targets[p], payoff_rows, payoff, tile) for p in (0, 1))
    return first, second


def _targets(tree: PublicTree, player: int) -> NDArray[np.int64]:
    """Returns `[R]` the target of each row's value: `R` plus the own entry that led to the row, or the row above."""
    rows = tree.rows[player]
    return np.where(rows.entry == tree.num_entries, rows.parent, len(rows) + rows.entry.astype(np.int64))


def edge_above(tree: PublicTree) -> NDArray[np.int64]:
    """Returns `[N]` the first node after the same action (by the mover's first private state there); 0 at the root."""
    nodes, action = tree.require_nodes(), np.zeros(len(tree.require_nodes()), np.int64)
    mover = nodes.actor[nodes.parent]
    for player in (0, 1):
        moved = np.flatnonzero((mover == player) & (nodes.parent != NO_PARENT))
        action[moved] = tree.entry_action[tree.rows[player].entry[nodes.row_start[player][moved]]]
    _, first, which = np.unique(np.stack([nodes.parent, action]), axis=1, return_index=True, return_inverse=True)
    edges: NDArray[np.int64] = first[which.ravel()]
    return edges


def _merged_payoffs(tree: PublicTree, targets: tuple[NDArray[np.int64], NDArray[np.int64]]) -> tuple[NDArray[np.int32], Floats]:
    """Returns `[2, Z]` pairs of terminal rows and `[Z]` their payoffs, as few as possible.

    Terminal rows that pass their values to the same place have the same reach. So if one action ends the game in several ways,
    such as the boards that can follow when both players are all in, one row stands for all of them.
    """
    nodes, edge, merged = tree.require_nodes(), edge_above(tree), []
    for player in (0, 1):
        ends = np.flatnonzero(nodes.actor[nodes.of_row[player]] == TERMINAL)
        place = targets[player][ends] * len(nodes) + edge[nodes.of_row[player][ends]]
        _, first, which = np.unique(place, return_index=True, return_inverse=True)
        stands_for = np.zeros(len(tree.rows[player]), np.int64)
        stands_for[ends] = ends[first[which]]
        merged.append(stands_for[tree.payoff_rows[player]])
    pairs, (payoff,) = sum_pairs(merged[0], merged[1], [tree.payoff])
    return pairs, payoff


def _player_tables(
    tree: PublicTree, player: int, target: NDArray[np.int64], payoff_rows: NDArray[np.int32], payoff: Floats, tile: int
) -> PlayerTables:
    """Returns one player's tables of a single class."""
    nodes, rows = tree.require_nodes(), tree.rows[player]
    acting = rows.infostate != NOT_ACTING
    infostate = np.where(acting, rows.infostate, 0)
    entry = np.where(rows.entry == tree.num_entries, -1, rows.entry)
    # Going backwards, the last row of each target comes first.
    opens = np.zeros(len(rows), np.int32)
    opens[len(rows) - 1 - np.unique(target[::-1], return_index=True)[1]] = 1
    node = nodes.of_row[player]
    leaf_number = np.cumsum(nodes.actor == LEAF) - 1
    at_leaf = nodes.actor[node] == LEAF

    sign = 1.0 if player == 0 else -1.0
    meets = at_leaf[nodes.joint_rows[player]]
    own = np.concatenate([payoff_rows[player], nodes.joint_rows[player][meets]])
    other = np.concatenate([payoff_rows[1 - player], nodes.joint_rows[1 - player][meets]])
    weight = np.concatenate([sign * payoff, nodes.joint_chance[meets]])
    order = np.lexsort((other, own))
    meeting_start = np.searchsorted(own[order], np.arange(len(rows) + 1))
    kind = np.where(np.diff(meeting_start) > 0, ENDS, np.where(acting, ACTS, PASSES))
    tile_row = _tiles(node, kind, target, tile)
    tables = {
        "row_start": [0, len(rows)],
        "num_roots": [rows.level_start[1]],
        "parent": rows.parent,
        "entry": entry,
        "first_entry": np.where(acting, tree.entry_start[infostate], -1),
        "num_actions": np.where(acting, np.diff(tree.entry_start)[infostate], 0),
        "opens": opens,
        "leaf": np.where(at_leaf, leaf_number[node], -1),
        "state": np.where(at_leaf, np.arange(len(rows)) - nodes.row_start[player][node], 0),
        "meeting_start": meeting_start,
        "meeting_row": other[order],
        "tile_start": [0, len(tile_row)],
        "tile_row": tile_row,
        "tile_size": np.diff([*tile_row, len(rows)]),
        "tile_kind": kind[tile_row],
    }
    ints = {name: np.asarray(values, np.int32) for name, values in tables.items()}
    return PlayerTables(**ints, meeting_weight=weight[order].astype(np.float32))


def _tiles(node: NDArray[np.int64], kind: NDArray[np.int64], target: NDArray[np.int64], most: int) -> list[int]:
    """Returns the first row of each tile. A tile ends with its node, its kind, `most` rows, or a repeated target."""
    first: list[int] = []
    targets: set[int] = set()
    for row in range(len(node)):
        continues = bool(first) and node[row] == node[row - 1] and kind[row] == kind[row - 1] and len(targets) < most
        if not continues or (int(target[row]) in targets and target[row] >= 0):
            first.append(row)
            targets = set()
        targets.add(int(target[row]) if target[row] >= 0 else -1 - row)  # roots pass nothing on
    return first


def _join(parts: list[PlayerTables]) -> PlayerTables:
    """Returns the tables of many classes as one: starts are shifted, all other indices count within a class."""
    joined: dict[str, Any] = {}
    for field in fields(PlayerTables):
        values = [getattr(part, field.name) for part in parts]
        if field.name.endswith("_start"):
            shift = np.cumsum([0, *(value[-1] for value in values[:-1])])
            joined[field.name] = np.concatenate([[0], *(v[1:] + s for v, s in zip(values, shift, strict=True))]).astype(
                np.int32
            )
        else:
            joined[field.name] = np.concatenate(values)
    return PlayerTables(**joined)
