"""An agent that searches as it plays, safely (ReBeL, section 6), or unsafely to show why safety matters.

Safe search runs the algorithm of the training: at the root of each subgame it searches, picks one random iteration, weighted
like the average strategy, and plays that iteration's strategy until a leaf of the subgame is reached, whoever acts there.
The beliefs at the leaf are those of the same iteration, and the next search starts from them. No single choice is an
equilibrium strategy; their mixture is, because nobody else knows the iteration. `search/playthroughs.py` judges exactly this.

Unsafe search goes through the same subgames, but plays the average strategy and believes that everyone does. With depth 1
that is a search at every decision. What it plays is a best answer to its beliefs and nothing more: an opponent who knows
them does something else.

With fictitious play it is the average up to the picked iteration that is played and believed, at which leaves were valued. That
is not safe: Theorem 4 speaks of CFR only, and in modified rock-paper-scissors player 1 mixes its answers in the wrong
shares, because player 0 responds to the latest answer at the leaf and not to their mean (see docs/LOG.md).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from tacit.agents.base import Sight, draw_action, follow
from tacit.agents.view import View, make_view
from tacit.games.base import TERMINAL
from tacit.search.search import BatchSearch
from tacit.search.values import values_in_subgame
from tacit.threads import one_thread
from tacit.tree.beliefs import PublicBeliefState, descend, initial_belief_state
from tacit.tree.navigate import START, player_navigator
from tacit.tree.public_tree import LEAF, NO_PARENT, Floats
from tacit.tree.subgame import Subgame


@dataclass(frozen=True)
class _Plan:
    """What one search decided.

    Attributes:
      root: where it started.
      leaves: public states where the next search starts.
      strategy: `[E]` of the whole tree, set within the subgame: what is played there, and what everyone is believed to play.
    """

    root: PublicBeliefState
    leaves: frozenset[int]
    strategy: Floats


class SearchAgent:
    """Plays by depth-limited search with a leaf evaluator, a network or an oracle."""

    def __init__(self, search: BatchSearch, generator: np.random.Generator, *, safe: bool = True, name: str = "search") -> None:
        self.name = name
        self._search, self._generator, self._safe = search, generator, safe
        self._tree = search.space.tree
        self._navigator = player_navigator(self._tree)
        self.start(0)

    def start(self, player: int) -> None:
        self._player, self._spot = player, START
        self._reached = NO_PARENT  # the last public state that the plan was followed to
        self._plan: _Plan | None = None

    def observe(self, sight: Sight) -> None:
        if sight.actor != TERMINAL:
            self._spot = follow(self._navigator, self._player, self._spot, sight)

    def act(self) -> int:
        return draw_action(self._tree, self._follow_plan().strategy, self._player, self._spot.row, self._generator)

    def view(self) -> View | None:
        node = self._spot.node
        if node == NO_PARENT:
            return None
        plan = self._follow_plan()
        pbs = descend(plan.root, plan.strategy, node).rescaled()
        return make_view(pbs, plan.strategy, values_in_subgame(self._search, plan.root.node, pbs, plan.strategy))

    def _follow_plan(self) -> _Plan:
        """Returns the plan for the present public state, after searching at every leaf on the way there."""
        path = self._tree.node_path(self._spot.node)
        plan = self._plan
        for node in path[0 if plan is None else path.index(self._reached) + 1 :]:
            if plan is None:
                plan = self._make_plan(initial_belief_state(self._tree, node))
            elif node in plan.leaves:
                plan = self._make_plan(descend(plan.root, plan.strategy, node))
        assert plan is not None
        self._plan, self._reached = plan, self._spot.node
        return plan

    def _make_plan(self, pbs: PublicBeliefState) -> _Plan:
        """Searches from a public belief state."""
        search, space, root = self._search, self._search.space, pbs.rescaled()
        beliefs = torch.zeros(1, 2, space.tables.num_private_states)
        for player, reach in enumerate(root.reaches):
            beliefs[0, player, : len(reach)] = torch.from_numpy(reach)
        sample = search.iterations_at(self._generator.random(1))
        with one_thread():  # a single game's queries are far too small to share
            result = search.run(space.classes.of_node[[root.node]].astype(np.int64), beliefs.to(search.kernels.device), sample)
        subgame = space.subgame_at(root.node)
        strategy = self._spread(subgame, result.to_play(self._safe).view(-1, len(result.batch.order))[:, 0])
        leaves = frozenset(subgame.node_index[subgame.tree.require_nodes().actor == LEAF].tolist())
        return _Plan(root, leaves, strategy)

    def _spread(self, subgame: Subgame, strategy: Tensor) -> Floats:
        """Returns `[E]` of the whole tree with a subgame's strategy in its place, zero elsewhere."""
        whole = np.zeros(self._tree.num_entries)
        whole[subgame.entry_index] = strategy.double().cpu().numpy()
        return whole
