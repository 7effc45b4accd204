"""Exact judgement of agents that search by growing trees: their strategy in the whole game, and its value.

An agent searches at each of its decisions, and also at the leaves of its trees. It carries its own range along, and grants its
opponent what the previous search promised it; if both private states are known it needs neither. The random numbers of a search
depend only on its public state (`search_seed`), so the agent's policy is one strategy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.errors import TacitError
from tacit.games.base import TERMINAL
from tacit.search.growing.result import GrowingResult
from tacit.search.growing.search import GrowingSearch
from tacit.tree.public_tree import Floats
from tacit.tree.source import NO_CLASS, TreeSource

MAX_TREES = 256
"""The most trees that grow in one batch."""


class _Search(NamedTuple):
    """A public state where the agent searches.

    Attributes:
      node: Its node in the whole tree.
      path: The class that the game started at, and the number of the child taken at each public state since.
      reach: `[2, H]` the players' reaches; the opponent's is ignored if `promised` is given.
      promised: `[H]` the opponent's infostate values there from the previous search; None where none are needed.
    """

    node: int
    path: tuple[int, ...]
    reach: Floats
    promised: Floats | None


def growing_strategy(search: GrowingSearch, seed: int = 0, progress: Callable[[int], None] = lambda _: None) -> Floats:
    """Returns `[E]` the strategy of agents that re-solve by growing trees in a compiled game, one in each seat.

    Where an agent's own strategy never leads, it does not search, and the strategy is uniform.

    Args:
      search: their search; its source must be a `TreeSource`.
      seed: the seed of all random numbers.
      progress: called with the number of searches done.
    """
    source, done = search.steps.source, 0
    if not isinstance(source, TreeSource):
        raise TacitError(f"{source.game} was not compiled, so no exact figures can be given")
    strategy = source.tree.uniform_strategy()
    for player in (0, 1):
        wanted = list(_start(source))
        while wanted:
            below: list[_Search] = []
            for safe in (False, True):
                alike = [root for root in wanted if (root.promised is not None) == safe]
                for first in range(0, len(alike), MAX_TREES):
                    part = alike[first : first + MAX_TREES]
                    result = _run(search, source, player, part, seed)
                    for b, root in enumerate(part):
                        below += _play(source, result, b, root, player, strategy)
                    done += len(part)
                    progress(done)
            wanted = below
    return strategy


def _start(source: TreeSource) -> Iterator[_Search]:
    nodes = source.tree.require_nodes()
    for node in np.flatnonzero(nodes.actor[: nodes.num_roots] != TERMINAL).tolist():
        yield _Search(node, (int(source.classes.of_node[node]),), _uniform(source, node), None)


def _uniform(source: TreeSource, node: int) -> Floats:
    """Returns `[2, H]` uniform reaches at a node of the whole tree."""
    starts = source.tree.require_nodes().row_start
    counts = np.array([start[node + 1] - start[node] for start in starts])[:, None]
    uniform: Floats = (np.arange(counts.max()) < counts) / counts
    return uniform


def _run(search: GrowingSearch, source: TreeSource, player: int, wanted: list[_Search], seed: int) -> GrowingResult:
    states = max(root.reach.shape[1] for root in wanted)
    reaches, promised = np.zeros((len(wanted), 2, states)), np.zeros((len(wanted), states))
    for b, root in enumerate(wanted):
        reaches[b, :, : root.reach.shape[1]] = root.reach
        if root.promised is not None:
            promised[b, : len(root.promised)] = root.promised
    nodes = np.array([root.node for root in wanted])
    seeds = np.array([search_seed(seed, player, root.path) for root in wanted], np.uint64)
    safe = None if wanted[0].promised is None else (1 - player, promised)
    return search.run(source.classes.of_node[nodes].astype(np.int64), reaches, seeds, safe)


def search_seed(seed: int, player: int, path: Iterable[int]) -> int:
    """Returns the seed of a player's search at the public state that a path leads to (`_Search.path`)."""
    mixed = 2 * seed + player + 1
    for number in path:
        mixed = (mixed * 0xD1342543DE82EF95 + number + 1) % 2**64
    return mixed


def _play(source: TreeSource, result: GrowingResult, b: int, root: _Search, player: int, strategy: Floats) -> Iterator[_Search]:
    """Writes the player's actions at the root into `strategy`, and yields its next searches."""
    nodes, tree = source.tree.require_nodes(), source.tree
    if result.actor(b, 0) == player:
        row = nodes.row_start[player][root.node]
        played = np.concatenate(result.to_play(b, 0))
        first = tree.entry_start[tree.rows[player].infostate[row]]
        strategy[first : first + len(played)] = played
    for following in result.next_searches(b, player):
        whole = root.node
        for k in following.path:
            whole = int(nodes.first_child[whole]) + k
        reach = _uniform(source, whole)
        reach[player, : len(following.own)] = following.own
        yield _Search(whole, (*root.path, *following.path), reach, following.promised)


def worst_return(search: GrowingSearch, player: int, seed: int = 0) -> float:
    """Returns an agent's exact expected return against a best response.

    For games of perfect information. The game is not compiled: only states that the agent's moves leave possible are visited.
    """
    move: dict[int, int] = {}
    met = search.steps.source.roots.classes.tolist()
    level = list(dict.fromkeys(met))
    while level:
        mine = [c for c in level if c not in move]
        for first in range(0, len(mine), MAX_TREES):
            part = np.array(mine[first : first + MAX_TREES], np.int64)
            search.steps.require(part)
            t = search.steps.tables
            step = t.step_of_class[part]
            if not t.known[step].all():
                raise TacitError(f"{search.steps.source.game} has hidden information: compile it, and judge the whole strategy")
            acting = part[t.actor[step] == player]
            move.update(dict.fromkeys(part[t.actor[step] != player].tolist(), -1))
            if len(acting):
                seeds = np.array([search_seed(seed, player, [c]) for c in acting.tolist()], np.uint64)
                result = search.run(acting, np.ones((len(acting), 2, 1)), seeds)
                for b, c in enumerate(acting.tolist()):
                    move[c] = int(result.to_play(b, 0)[0].argmax())
        level = list(dict.fromkeys(c for above in mine for c in _below(search, above, move[above]) if c not in move))
    value: dict[int, float] = {}
    for c in sorted(move, reverse=True):
        _value(search, c, move, player, value)
    roots = search.steps.source.roots
    return float(sum(value[c] * chance for c, chance in zip(roots.classes.tolist(), roots.chances, strict=True)))


def _states(search: GrowingSearch, public_class: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Returns the children of a known class as states of the tables, and the action that leads to each."""
    t = search.steps.tables
    k = t.step_of_class[public_class]
    states = np.arange(t.state_start[k] + 1, t.state_start[k + 1])
    return states, t.row_entry[t.actor[k]][t.first_row[t.actor[k]][states]]


def _below(search: GrowingSearch, public_class: int, move: int) -> list[int]:
    states, entry = _states(search, public_class)
    classes = search.steps.tables.state_class[states[(entry == move) | (move < 0)]]
    return [c for c in classes.tolist() if c != NO_CLASS]


def _value(search: GrowingSearch, public_class: int, move: dict[int, int], player: int, value: dict[int, float]) -> float:
    """Returns the agent's value at a class, and remembers it."""
    if public_class not in value:
        t, (states, entry) = search.steps.tables, _states(search, public_class)
        sign, worth = 1.0 if player == 0 else -1.0, np.zeros(int(entry.max()) + 1)
        for state, e in zip(states.tolist(), entry.tolist(), strict=True):
            if move[public_class] in (e, -1):
                below = int(t.state_class[state])
                payoff = sign * t.pair_payoff[t.pair_start[state] : t.pair_start[state + 1]].sum()
                over = below == NO_CLASS
                worth[e] += payoff if over else t.state_chance[state] * _value(search, below, move, player, value)
        value[public_class] = float(worth[move[public_class]] if move[public_class] >= 0 else worth.min())
    return value[public_class]
