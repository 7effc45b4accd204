"""Planning by depth-limited search from class to class of public states, as ReBeL and Student of Games play.

Each search starts at a leaf of the one before, from the beliefs that the strategy played there implies. A planner that
re-solves may also search again at each of its decisions. `search/playthroughs.py` evaluates sampled and unsafe play exactly,
`search/resolving.py` re-solving.

With fictitious play, the strategy played and believed is the average up to the sampled iteration, at which leaves were valued.
That is not safe: Theorem 4 covers CFR only, and in modified rock-paper-scissors player 1 mixes its answers in the wrong
proportions, because player 0 responds to the latest answer at the leaf and not to their mean (docs/LOG.md).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from tacit.agents.base import Sight, action_weights
from tacit.agents.options import RE_SOLVING, SAMPLED
from tacit.agents.view import View, make_view
from tacit.agents.walks import SearchRoot, make_walk
from tacit.evaluation.exact import infostate_values
from tacit.kernels.numba_rows import RowPasses
from tacit.search.continual import promised_values
from tacit.search.search import BatchSearch
from tacit.threads import one_thread
from tacit.tree.base import Floats
from tacit.tree.beliefs import PublicBeliefState, descend
from tacit.tree.public_tree import Ints
from tacit.tree.subgame import extract_subgame


@dataclass(frozen=True)
class _Plan:
    """The outcome of one search.

    Attributes:
      pbs: The public belief state where the search started.
      strategy: `[E]` the strategy to play in its subgame.
      believed: `[E]` the strategy from which beliefs are updated.
      promised: `[rows]` the opponent's counterfactual values in the subgame; None unless the planner re-solves.
    """

    pbs: PublicBeliefState
    strategy: Floats
    believed: Floats
    promised: Floats | None


class ClassPlanner:
    """Plans by search with a leaf evaluator: a network or an oracle (see `Planner`)."""

    policy = None

    def __init__(
        self, search: BatchSearch, generator: np.random.Generator, safety: str = SAMPLED, at_decisions: bool = False
    ) -> None:
        """Prepares to follow games.

        Args:
          search: runs the searches.
          generator: samples iterations.
          safety: one of `options.SAFETY`.
          at_decisions: whether to re-solve at each of the player's decisions, not only at leaves (see `search/resolving.py`).
        """
        self.search, self.safety, self._generator = search, safety, generator
        self.walk = make_walk(search.space, at_decisions and safety == RE_SOLVING)
        self.start(0)

    def start(self, player: int) -> None:
        self.walk.start(player)
        self._player = player
        self._plans: list[_Plan] = []

    def observe(self, sight: Sight) -> None:
        self.walk.observe(sight)

    def weights(self) -> tuple[list[int], Floats]:
        plan = self.plan()
        return action_weights(plan.pbs.tree, plan.strategy, self._player, self.walk.row)

    def view(self) -> View | None:
        if not self.walk.roots:
            return None
        plan = self.plan()
        pbs = descend(plan.pbs, plan.believed, self.walk.node).rescaled()
        return make_view(pbs, plan.strategy, self._values(plan, pbs))

    def plan(self) -> _Plan:
        """Returns the plan for the current public state, after all searches on the path to it."""
        for root in self.walk.roots[len(self._plans) :]:
            self._plans.append(self._search(root))
        return self._plans[-1]

    def _search(self, root: SearchRoot) -> _Plan:
        """Returns the plan of a search from a root, with the beliefs that follow from the plan before."""
        above = self._plans[-1] if self._plans else None
        counts = [int(rows.level_start[1]) for rows in root.tree.rows]
        reaches = [np.full(count, 1.0 / count) for count in counts]
        arrived = None if above is None else descend(above.pbs, above.believed, root.came_from)
        if arrived is not None:
            reaches = list(arrived.rescaled().reaches)
        search, states = self.search, self.search.space.tables.num_private_states
        beliefs = torch.zeros(1, 2, states)
        for player, reach in enumerate(reaches):
            beliefs[0, player, : counts[player]] = torch.from_numpy(reach)
        sample = search.iterations_at(self._generator.random(1))
        classes, given = np.array([root.public_class]), beliefs.to(search.kernels.device)
        opponent, resolves = 1 - self._player, self.safety == RE_SOLVING
        constraint = None
        if arrived is not None and above is not None and above.promised is not None:
            values = torch.zeros(1, states)
            values[0, : counts[opponent]] = torch.from_numpy(promised_values(arrived, self._player, above.promised))
            constraint = opponent, values
        with one_thread():  # a single game's queries are far too small to split
            result = search.run(classes, given, sample, constraint, opponent if resolves else None)
        copies = len(result.batch.order)
        played, believed = (
            part.view(-1, copies)[:, 0].double().cpu().numpy() for part in result.to_play(self.safety == SAMPLED)
        )
        promised = result.row_values.view(-1, copies)[:, 0].double().cpu().numpy() if resolves else None
        pbs = PublicBeliefState(root.tree, 0, (reaches[0], reaches[1]))
        return _Plan(pbs, played, believed, promised)

    def _values(self, plan: _Plan, pbs: PublicBeliefState) -> tuple[Floats, Floats]:
        """Returns both players' infostate values `[H]` at a public state inside the plan, if both keep playing it."""
        if pbs.probability <= 0.0:  # the two beliefs exclude each other after moves the plan never makes
            return np.zeros(len(pbs.reaches[0])), np.zeros(len(pbs.reaches[1]))
        below = extract_subgame(pbs)
        node_class = self.search.space.subgames[self.walk.roots[-1].public_class].node_class
        leaves = ClassLeaves(self.search, node_class[below.node_index])
        passes, strategy = RowPasses(below.tree), plan.strategy[below.entry_index]
        return infostate_values(passes, strategy, 0, 0, leaves), infostate_values(passes, strategy, 1, 0, leaves)


class ClassLeaves:
    """Values a subgame's leaves, given as nodes, with a search's evaluator, which values classes.

    Args:
      search: the search that owns the evaluator.
      node_class: `[N]` the class of each node of the subgame.
    """

    counterfactual = False

    def __init__(self, search: BatchSearch, node_class: Ints) -> None:
        self._search, self._node_class = search, node_class

    def evaluate(self, states: np.ndarray, beliefs: Tensor) -> Tensor:
        """Returns `[2 * h, L]` (see `LeafEvaluator`); h is the largest number of private states at these leaves."""
        half, most = beliefs.shape[0] // 2, self._search.space.tables.num_private_states
        device, block = self._search.kernels.device, self._search.kernels.alignment  # leaves come in blocks of one class
        padded = torch.zeros(2, most, beliefs.shape[1])
        padded[:, :half] = beliefs.view(2, half, -1)
        classes = torch.from_numpy(self._node_class[states].astype(np.int64)).repeat_interleave(block)
        columns = padded.flatten(0, 1).repeat_interleave(block, 1)
        values = self._search.evaluator.evaluate(classes.to(device), columns.to(device))[:, ::block].cpu()
        return values.view(2, most, -1)[:, :half].flatten(0, 1)
