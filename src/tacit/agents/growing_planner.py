"""Planning with growing trees in games with hidden information, as Student of Games plays: SoG(s, c).

The planner searches at each of its decisions, and wherever the game leaves its tree. It carries its own range along and leaves
its opponent the values that the search before promised (`GrowingResult.next_searches`). `search/growing/judge.py` evaluates the
same play exactly: a search at the same public state with the same seed is the same search.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.agents.base import Sight, action_weights
from tacit.agents.options import RE_SOLVING
from tacit.agents.view import View, make_view
from tacit.agents.walks import SearchRoot, make_walk
from tacit.search.growing.forest import NO_NODE
from tacit.search.growing.judge import search_seed
from tacit.search.growing.result import GrowingResult
from tacit.search.growing.search import GrowingSearch
from tacit.threads import one_thread
from tacit.tree.beliefs import PublicBeliefState
from tacit.tree.public_tree import Floats
from tacit.tree.search_space import SearchSpace

Reaches = tuple[Floats, Floats]


@dataclass(frozen=True)
class _Place:
    """A public state of the game, in the tree that the last search grew.

    Attributes:
      result: The result of that search.
      node: The state's node in its tree.
      roots: For both players `[H]` the beliefs at the root of the search.
      path: The path of the game to this state (`search_seed`).
    """

    result: GrowingResult
    node: int
    roots: Reaches
    path: tuple[int, ...]

    def reaches(self) -> Reaches:
        """Returns for both players `[H]` their reach here under the average strategies, normalised to sum to 1."""
        first, second = (self._reach(player) for player in (0, 1))
        return first, second

    def _reach(self, player: int) -> Floats:
        reach = self.result.reach(0, player, self.roots[player])[self.result.rows(0, self.node, player)]
        return reach / reach.sum() if reach.sum() > 0 else np.full(len(reach), 1.0 / len(reach))


class GrowingPlanner:
    """Follows a game and grows a tree from its current state (see `Planner`)."""

    policy = None
    safety = RE_SOLVING

    def __init__(self, space: SearchSpace, search: GrowingSearch, seed: int) -> None:
        """Prepares to follow games.

        Args:
          space: the game, prepared for searches of depth 1.
          search: runs the searches; its source is that of the space.
          seed: seeds the searches. They are the same in every game, so the planner plays one fixed strategy.
        """
        self.search, self._seed = search, seed
        self.walk = make_walk(space, at_decisions=True)
        self.start(0)

    def start(self, player: int) -> None:
        self.walk.start(player)
        self._player = player
        self._places: list[_Place] = []

    def observe(self, sight: Sight) -> None:
        self.walk.observe(sight)

    def weights(self) -> tuple[list[int], Floats]:
        return action_weights(self.walk.roots[-1].tree, self._strategy(self.place()), self._player, self.walk.row)

    def view(self) -> View | None:
        if not self.walk.roots:
            return None
        place = self.place()
        pbs = PublicBeliefState(self.walk.roots[-1].tree, 0, place.reaches())
        return make_view(pbs, self._strategy(place), (self._values(place, 0), self._values(place, 1)))

    def place(self) -> _Place:
        """Returns the game's current place, after all searches on the path to it."""
        for root in self.walk.roots[len(self._places) :]:
            self._places.append(self._step(root))
        return self._places[-1]

    def _step(self, root: SearchRoot) -> _Place:
        """Returns the place after the next public state."""
        if not self._places:
            first, second = (np.full(count, 1.0 / count) for count in (int(rows.level_start[1]) for rows in root.tree.rows))
            return self._search(root, (root.public_class,), (first, second), None)
        above = self._places[-1]
        result, number = above.result, root.came_from - 1  # of the child, in the tree of one action
        path, child = (*above.path, number), int(above.result.children(0, above.node)[number])
        if child == NO_NODE:  # happens only in games without hidden information
            return self._search(root, path, (np.ones(1), np.ones(1)), None)
        here = _Place(result, child, above.roots, path)
        if result.is_open(0, child) and result.actor(0, child) != self._player:
            return here
        known = all(len(reach) == 1 for reach in here.reaches())
        return self._search(root, path, here.reaches(), None if known else result.promised(0, child, 1 - self._player))

    def _search(self, root: SearchRoot, path: tuple[int, ...], reaches: Reaches, promised: Floats | None) -> _Place:
        """Returns the root of a new search from both players' reaches, constrained by the opponent's promised values if any."""
        most = max(len(reach) for reach in reaches)
        given, values = np.zeros((1, 2, most)), np.zeros((1, most))
        for player, reach in enumerate(reaches):
            given[0, player, : len(reach)] = reach
        if promised is not None:
            values[0, : len(promised)] = promised
        seeds = np.array([search_seed(self._seed, self._player, path)], np.uint64)
        constraint = None if promised is None else (1 - self._player, values)
        with one_thread():  # a single game's queries are far too small to split
            result = self.search.run(np.array([root.public_class]), given, seeds, constraint)
        return _Place(result, 0, reaches, path)

    def _strategy(self, place: _Place) -> Floats:
        """Returns `[E]` the strategy to play at a place, as entries of the one-action tree."""
        return np.concatenate(place.result.to_play(0, place.node))

    def _values(self, place: _Place, player: int) -> Floats:
        """Returns `[H]` a player's infostate values at a place, averaged over all updates since the place joined the tree."""
        return place.result.promised(0, place.node, player)
