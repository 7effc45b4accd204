"""The generic compiler for games that name infostates: public states as the closure of shared infostates.

Two decision histories belong to one public state when some player cannot tell them apart, or a chain of such pairs joins
them: a connected component under "the same infostate string". If the components form a tree, they are the public states.
If not (phantom games: a component mixes different depths), the player to act is not public, and the tree is made of
the two players' own infostates alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from tacit.errors import TacitError
from tacit.games.base import CHANCE, TERMINAL, InfostateGame, check_depth
from tacit.tree.assemble import NO_ACTION
from tacit.tree.draft import MemoryWatch, TreeDraft
from tacit.tree.public_tree import NO_PARENT, PublicTree

_NOTHING_SEEN = -1


@dataclass
class _Walk:
    """All decision and terminal histories, parents before children.

    Attributes:
      seen: for each player, the number of the infostate at each history (`_NOTHING_SEEN` at terminal ones).
      names: infostate numbers by (player, acting?, string): the same string can occur acting and waiting.
      legal: actions by the number of the acting infostate.
    """

    parent: list[int] = field(default_factory=list)
    action: list[int] = field(default_factory=list)
    actor: list[int] = field(default_factory=list)
    chance: list[float] = field(default_factory=list)
    payoff: list[float] = field(default_factory=list)
    seen: tuple[list[int], list[int]] = field(default_factory=lambda: ([], []))
    names: dict[tuple[int, bool, str], int] = field(default_factory=dict)
    legal: dict[int, tuple[int, ...]] = field(default_factory=dict)

    def mover(self, history: int) -> int:
        """Returns who moved last on the way to a history."""
        return CHANCE if self.parent[history] == NO_PARENT else self.actor[self.parent[history]]

    def slot(self, history: int) -> int:
        """Returns the place, among the legal actions, of the one that led to a history."""
        above = self.parent[history]
        return 0 if above == NO_PARENT else self.legal[self.seen[self.actor[above]][above]].index(self.action[history])


def compile_closure(game: InfostateGame[Any], watch: MemoryWatch) -> PublicTree:
    """Returns the tree of `game`, with public states wherever the game has them.

    Args:
      game: any game that names its infostates.
      watch: stops a walk that takes too much memory.
    """
    draft = TreeDraft(game)
    walk = _walk(game, watch)
    component = _components(walk)
    if component is not None:
        return _compile_components(draft, walk, component, watch)
    return replace(_compile_own_infostates(draft, walk, watch), nodes=None)


def _walk(game: InfostateGame[Any], watch: MemoryWatch) -> _Walk:
    walk = _Walk()
    stack: list[tuple[Any, int, int, float, int]] = [(game.initial_state(), NO_PARENT, NO_ACTION, 1.0, 0)]
    while stack:
        state, parent, action, chance, depth = stack.pop()
        check_depth(game, depth)
        actor = game.actor(state)
        if actor == CHANCE:
            outcomes = [(game.apply(state, o), parent, action, chance * p, depth + 1) for o, p in game.chance_outcomes(state)]
            stack.extend(reversed(outcomes))
            continue
        history = len(walk.parent)
        walk.parent.append(parent)
        walk.action.append(action)
        walk.actor.append(actor)
        walk.chance.append(chance)
        walk.payoff.append(float(game.returns(state)[0]) if actor == TERMINAL else 0.0)
        for player in (0, 1):
            walk.seen[player].append(_NOTHING_SEEN if actor == TERMINAL else _number(game, walk, state, player, actor))
        if actor != TERMINAL:
            actions = tuple(game.legal_actions(state))
            if walk.legal.setdefault(walk.seen[actor][history], actions) != actions:
                raise TacitError(f"{game}: legal actions differ within the infostate {game.infostate(state, actor)!r}")
            stack.extend((game.apply(state, a), history, a, chance, depth + 1) for a in reversed(actions))
        watch.check(history)
    return walk


def _number(game: InfostateGame[Any], walk: _Walk, state: Any, player: int, actor: int) -> int:
    return walk.names.setdefault((player, actor == player, game.infostate(state, player)), len(walk.names))


def _components(walk: _Walk) -> NDArray[Any] | None:
    """Returns `[histories]` the public state of each decision history, or None if these do not form a tree."""
    parent, decisions = np.array(walk.parent), np.flatnonzero(np.array(walk.actor) != TERMINAL)
    size = len(parent) + len(walk.names)
    history = np.concatenate([decisions, decisions])
    infostate = np.concatenate([np.array(walk.seen[player])[decisions] for player in (0, 1)])
    graph = coo_matrix((np.ones(len(history), np.int8), (history, len(parent) + infostate)), shape=(size, size))
    component: NDArray[Any] = connected_components(graph, directed=False)[1][: len(parent)]
    above = np.where(parent[decisions] == NO_PARENT, NO_PARENT, component[parent[decisions]])
    parent_of = np.zeros(size, np.int64)
    parent_of[component[decisions]] = above
    return component if np.array_equal(parent_of[component[decisions]], above) else None


def _compile_components(draft: TreeDraft, walk: _Walk, component: NDArray[Any], watch: MemoryWatch) -> PublicTree:
    names = [name for _, _, name in walk.names]
    acting_row: dict[int, int] = {}
    place: list[tuple[int, tuple[int, int]]] = []  # node and rows of each history
    for history, (above, action, actor) in enumerate(zip(walk.parent, walk.action, walk.actor, strict=True)):
        parent_node, parent_rows = (NO_PARENT, (NO_PARENT, NO_PARENT)) if above == NO_PARENT else place[above]
        over, mover = actor == TERMINAL, walk.mover(history)
        key = ("end", parent_node, action) if over else ("public state", component[history])
        node = draft.find_node(key, parent_node, actor, walk.slot(history))
        rows = []
        for player in (0, 1):
            seen = walk.seen[player][history]
            own = action if mover == player else NO_ACTION
            row = draft.rows[player].find(node, parent_rows[player], own, seen, "" if over else names[seen])
            if actor == player:
                if acting_row.setdefault(seen, row) != row:
                    raise _imperfect_recall(draft, player, names[seen])
                draft.set_legal(player, row, walk.legal[seen])
            rows.append(row)
        watch.check(history)
        place.append((node, (rows[0], rows[1])))
        draft.add_history(node, (rows[0], rows[1]), walk.chance[history], walk.payoff[history])
    return draft.assemble()


def _compile_own_infostates(draft: TreeDraft, walk: _Walk, watch: MemoryWatch) -> PublicTree:
    """Returns the sequence form: for each player a row an infostate or final sequence, every row a node of its own."""
    names = [name for _, _, name in walk.names]
    node_of: tuple[list[int], list[int]] = ([], [])
    roots = []
    for player in (0, 1):
        node_of[player].append(draft.find_node(("root", player), NO_PARENT, TERMINAL, NO_ACTION))
        roots.append(draft.rows[player].find(node_of[player][0], NO_PARENT, NO_ACTION, "root", ""))
    root = (roots[0], NO_ACTION)
    last: list[tuple[tuple[int, int], tuple[int, int]]] = []  # each player's last own (row, action) at each history
    acting: dict[int, tuple[int, tuple[int, int]]] = {}  # row and own past of each infostate

    def find(player: int, sequence: tuple[int, int], what: Any, acts: bool, token: str) -> int:
        parent, action = sequence
        node = draft.find_node((player, parent, action, what), node_of[player][parent], player if acts else TERMINAL, action)
        row = draft.rows[player].find(node, parent, action, what, token)
        if row == len(node_of[player]):
            node_of[player].append(node)
        return row

    for history, (above, action, actor) in enumerate(zip(walk.parent, walk.action, walk.actor, strict=True)):
        watch.check(history)
        sequences = [root, root] if above == NO_PARENT else list(last[above])
        mover = walk.mover(history)
        if mover != CHANCE:
            sequences[mover] = (acting[walk.seen[mover][above]][0], action)
        last.append((sequences[0], sequences[1]))
        if actor == TERMINAL:
            first, second = (roots[p] if s == root else find(p, s, "end", False, "") for p, s in enumerate(sequences))
            draft.add_history(node_of[0][first], (first, second), walk.chance[history], walk.payoff[history])
            continue
        seen = walk.seen[actor][history]
        if seen not in acting:
            row = find(actor, sequences[actor], seen, True, names[seen])
            draft.set_legal(actor, row, walk.legal[seen])
            acting[seen] = (row, sequences[actor])
        elif acting[seen][1] != sequences[actor]:
            raise _imperfect_recall(draft, actor, names[seen])
    return draft.assemble()


def _imperfect_recall(draft: TreeDraft, player: int, name: str) -> TacitError:
    return TacitError(
        f"{draft.game}: player {player} forgets (imperfect recall): {name!r} is reached after different own moves"
    )
