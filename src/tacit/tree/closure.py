"""The generic compiler for games that name their infostates: public states as the closure of shared infostates.

Two decision histories belong to one public state when some player cannot tell them apart, or when a chain of such pairs
joins them: a connected component under "the same infostate string". If the components form a tree, they are the public states,
and the game is compiled like any other: everyone observes the component, and each player the name of its infostate. If they do
not (phantom games, where a component mixes depths), the player to act is not public, and the tree consists of the two players'
own infostates alone.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix

from tacit.errors import TacitError
from tacit.games import answers
from tacit.games.base import CHANCE, TERMINAL, Game, InfostateGame, check_depth
from tacit.tree.estimate import MemoryWatch
from tacit.tree.growing import compile_observations
from tacit.tree.growth import starts
from tacit.tree.observations import Arrival
from tacit.tree.opening import sum_pairs
from tacit.tree.public_tree import NO_ACTION, NO_PARENT, NOT_ACTING, PlayerRows, PublicTree

_NOTHING_SEEN = -1
Move = tuple[int, int]
"""A history and the action taken there, or a player's row and the place of the action among the legal ones."""
_START = (NO_PARENT, NO_ACTION)
"""The move that leads to the first histories."""
OwnRow = tuple[int, int, int]
_OWN_ROOT = (0, NO_ACTION, _NOTHING_SEEN)


@dataclass
class _Walk:
    """All decision and terminal histories, parents before children.

    Attributes:
      game: the rules.
      actor: the player who acts at each history, or `TERMINAL`.
      last_move: the history above each history, and the action taken there.
      chance: the probability that chance leads to each history after the last move.
      payoff: player 0's return at each history, 0 where the game goes on.
      seen: for each player, the number of the infostate at each history (`_NOTHING_SEEN` at terminal ones).
      names: infostate numbers by (player, whether it acts, string): one string can occur both acting and waiting.
      legal: the legal actions by the number of the acting infostate.
      outcomes: the histories that follow each move.
    """

    game: InfostateGame[Any]
    actor: list[int] = field(default_factory=list)
    last_move: list[Move] = field(default_factory=list)
    chance: list[float] = field(default_factory=list)
    payoff: list[float] = field(default_factory=list)
    seen: tuple[list[int], list[int]] = field(default_factory=lambda: ([], []))
    names: dict[tuple[int, bool, str], int] = field(default_factory=dict)
    legal: dict[int, tuple[int, ...]] = field(default_factory=dict)
    outcomes: defaultdict[Move, list[int]] = field(default_factory=lambda: defaultdict(list))

    def add(self, state: Any, actor: int, move: Move, chance: float) -> int:
        """Adds a decision or terminal history and returns its number."""
        history, game = len(self.actor), self.game
        self.actor.append(actor)
        self.last_move.append(move)
        self.chance.append(chance)
        self.payoff.append(answers.payoff(game, state) if actor == TERMINAL else 0.0)
        self.outcomes[move].append(history)
        for player in (0, 1):
            number = _NOTHING_SEEN
            if actor != TERMINAL:
                number = self.names.setdefault((player, actor == player, game.infostate(state, player)), len(self.names))
            self.seen[player].append(number)
        return history

    def add_actions(self, state: Any, history: int) -> tuple[int, ...]:
        """Returns the legal actions of a history after checking that they agree with those of its infostate."""
        actor = self.actor[history]
        infostate = self.seen[actor][history]
        if infostate not in self.legal:
            self.legal[infostate] = answers.legal_actions(self.game, state)
        actions = tuple(self.game.legal_actions(state))
        if self.legal[infostate] != actions:
            raise TacitError(f"{self.game}: legal actions differ within the infostate {self.game.infostate(state, actor)!r}")
        return actions


def compile_closure(game: InfostateGame[Any], watch: MemoryWatch) -> PublicTree:
    """Returns the tree of `game`, with public states if the game has them.

    Args:
      game: any game that names its infostates.
      watch: stops the walk if it takes too much memory.
    """
    walk = _walk(game, watch)
    component = _components(walk)
    return _compile_own_infostates(walk, watch) if component is None else _compile_components(walk, component, watch)


def _walk(game: InfostateGame[Any], watch: MemoryWatch) -> _Walk:
    walk = _Walk(game)
    stack: list[tuple[Any, Move, float, int]] = [(game.initial_state(), _START, 1.0, 0)]
    while stack:
        state, move, chance, depth = stack.pop()
        check_depth(game, depth)
        actor = game.actor(state)
        if actor == CHANCE:
            outcomes = [(game.apply(state, o), move, chance * p, depth + 1) for o, p in answers.chance_outcomes(game, state)]
            stack.extend(reversed(outcomes))
            continue
        history = walk.add(state, actor, move, chance)
        if actor != TERMINAL:
            actions = walk.add_actions(state, history)
            stack.extend((game.apply(state, a), (history, a), 1.0, depth + 1) for a in reversed(actions))
        watch.check(history)
    return walk


def _components(walk: _Walk) -> NDArray[Any] | None:
    """Returns `[histories]` the public state of each decision history, or None if the states do not form a tree."""
    from scipy.sparse.csgraph import connected_components  # slow to load, and few games need it

    parent, decisions = np.array(walk.last_move)[:, 0], np.flatnonzero(np.array(walk.actor) != TERMINAL)
    size = len(parent) + len(walk.names)
    history = np.concatenate([decisions, decisions])
    infostate = np.concatenate([np.array(walk.seen[player])[decisions] for player in (0, 1)])
    graph = coo_matrix((np.ones(len(history), np.int8), (history, len(parent) + infostate)), shape=(size, size))
    component: NDArray[Any] = connected_components(graph, directed=False)[1][: len(parent)]
    above = np.where(parent[decisions] == NO_PARENT, NO_PARENT, component[parent[decisions]])
    parent_of = np.zeros(size, np.int64)
    parent_of[component[decisions]] = above
    return component if np.array_equal(parent_of[component[decisions]], above) else None


class _ObservedGame(Game[Any]):
    """A walked game: its states are history numbers, or moves where chance is not resolved yet."""

    def __init__(self, walk: _Walk, component: NDArray[Any]) -> None:
        self._walk = walk
        self._public = [(str(number),) for number in component.tolist()]
        self._private = [*((name,) for _, _, name in walk.names), ()]  # the last one: the game is over

    def initial_state(self) -> Move:
        return _START

    def actor(self, state: Any) -> int:
        return self._walk.actor[state] if isinstance(state, int) else CHANCE

    def legal_actions(self, state: int) -> tuple[int, ...]:
        return self._walk.legal[self._walk.seen[self._walk.actor[state]][state]]

    def apply(self, state: int, action: int) -> Move:
        return state, action

    def returns(self, state: int) -> tuple[float, float]:
        return self._walk.payoff[state], -self._walk.payoff[state]

    def arrivals(self, move: Move) -> Iterator[Arrival]:
        """Yields the histories after a move; everyone observes the component, and each player the name of its infostate."""
        first, second = self._walk.seen
        for history in self._walk.outcomes[move]:
            actor, chance = self._walk.actor[history], self._walk.chance[history]
            private = (self._private[first[history]], self._private[second[history]])
            yield Arrival(history, actor, chance, () if actor == TERMINAL else self._public[history], private)

    def __str__(self) -> str:
        return str(self._walk.game)


def _compile_components(walk: _Walk, component: NDArray[Any], watch: MemoryWatch) -> PublicTree:
    game = _ObservedGame(walk, component)
    tree = compile_observations(game, watch, game.arrivals)
    acting = zip(tree.infostate_player.tolist(), tree.infostate_row.tolist(), strict=True)
    (player, name), count = Counter((player, tree.rows[player].token[row]) for player, row in acting).most_common(1)[0]
    if count > 1:
        raise _imperfect_recall(walk.game, player, name)
    nodes = tree.require_nodes()
    return replace(tree, game=walk.game, nodes=replace(nodes, token=[""] * len(nodes)))  # component numbers are meaningless


def _compile_own_infostates(walk: _Walk, watch: MemoryWatch) -> PublicTree:
    """Returns the sequence form without nodes: each player has one row for each infostate and each final sequence."""
    # Each player's rows by its last own move (row and action slot) and the infostate; the root is its own parent.
    rows_of: tuple[dict[OwnRow, int], dict[OwnRow, int]] = ({_OWN_ROOT: 0}, {_OWN_ROOT: 0})
    last: list[tuple[Move, Move]] = []  # each player's last own move at each history
    chance: list[float] = []  # of each history
    acting: dict[int, tuple[int, Move]] = {}  # row and last own move of each infostate
    ends: list[tuple[int, int, float, float]] = []  # both rows, chance and payoff of each terminal history
    names = [name for _, _, name in walk.names]
    for history, ((above, action), actor) in enumerate(zip(walk.last_move, walk.actor, strict=True)):
        watch.check(history)
        moves = [_OWN_ROOT[:2], _OWN_ROOT[:2]] if above == NO_PARENT else list(last[above])
        chance.append(walk.chance[history])
        if above != NO_PARENT:
            chance[history] *= chance[above]
            mover = walk.actor[above]
            infostate = walk.seen[mover][above]
            moves[mover] = (acting[infostate][0], walk.legal[infostate].index(action))
        last.append((moves[0], moves[1]))
        if actor == TERMINAL:
            first, second = (rows_of[p].setdefault((*moves[p], _NOTHING_SEEN), len(rows_of[p])) for p in (0, 1))
            ends.append((first, second, chance[history], walk.payoff[history]))
            continue
        infostate = walk.seen[actor][history]
        if infostate not in acting:
            row = rows_of[actor].setdefault((*moves[actor], infostate), len(rows_of[actor]))
            acting[infostate] = row, moves[actor]
        elif acting[infostate][1] != moves[actor]:
            raise _imperfect_recall(walk.game, actor, names[infostate])
    return _own_tree(walk, [list(rows) for rows in rows_of], ends)


def _own_tree(walk: _Walk, found: list[list[OwnRow]], ends: list[tuple[int, int, float, float]]) -> PublicTree:
    """Returns the tree of both players' rows in breadth-first order; on each level player 0's infostates come first."""
    levels = [_breadth_first(rows) for rows in found]
    orders = [np.concatenate(levels[player]) for player in (0, 1)]
    tables = [np.array(found[player])[orders[player]].T for player in (0, 1)]
    depth = np.concatenate([np.repeat(np.arange(len(level)), list(map(len, level))) for level in levels])
    player = np.repeat([0, 1], list(map(len, found)))
    row, seen = np.concatenate([np.arange(len(rows)) for rows in found]), np.concatenate([table[2] for table in tables])
    acting = np.flatnonzero(seen != _NOTHING_SEEN)
    acting = acting[np.lexsort((row[acting], player[acting], depth[acting]))]

    number = np.full(len(walk.names) + 1, NOT_ACTING, np.int32)  # the last one is for ends of the game
    number[seen[acting]] = np.arange(len(acting))
    legal = [walk.legal[infostate] for infostate in seen[acting].tolist()]
    entry_start = starts(list(map(len, legal)))
    names = [*(name for _, _, name in walk.names), ""]
    rows, ranks = [], [np.argsort(order) for order in orders]
    for (parent, slot, infostate), rank, level in zip(tables, ranks, levels, strict=True):
        parent_row = rank[parent].astype(np.int32)
        entry = np.where(slot == NO_ACTION, entry_start[-1], entry_start[number[infostate[parent_row]]] + slot)
        parent_row[0] = NO_PARENT
        level_start, token = starts(list(map(len, level))), [names[i] for i in infostate.tolist()]
        rows.append(PlayerRows(parent_row, entry.astype(np.int32), number[infostate], level_start, np.ones(1), token))

    first, second, chance, payoff = map(np.array, zip(*ends, strict=True))
    pairs, (payoff_chance, payoff) = sum_pairs(ranks[0][first], ranks[1][second], [chance, chance * payoff])
    return PublicTree(
        game=walk.game,
        rows=(rows[0], rows[1]),
        infostate_player=player[acting].astype(np.int8),
        infostate_row=row[acting].astype(np.int32),
        entry_start=entry_start,
        entry_action=np.array([action for actions in legal for action in actions], np.int32),
        payoff_rows=pairs,
        payoff=payoff,
        payoff_chance=payoff_chance,
        nodes=None,
    )


def _breadth_first(rows: list[OwnRow]) -> list[list[int]]:
    """Returns the rows level by level from the first one down, siblings ordered by action slot."""
    below: list[list[int]] = [[] for _ in rows]
    for row, (parent, _, _) in enumerate(rows[1:], start=1):
        below[parent].append(row)
    levels = [[0]]
    while levels[-1]:
        levels.append([row for above in levels[-1] for row in sorted(below[above], key=lambda row: rows[row][1])])
    return levels[:-1]


def _imperfect_recall(game: InfostateGame[Any], player: int, name: str) -> TacitError:
    return TacitError(f"{game}: player {player} forgets (imperfect recall): {name!r} is reached after different own moves")
