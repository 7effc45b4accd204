"""Growing-tree CFR: regret phases and expansion phases alternate (Student of Games, Schmid et al. 2023).

SoG(s, c) makes `s` expansions, `c` for each regret update, and so `ceil(s / c)` updates. The first expansion opens all actions
at the root. Where we differ from the paper as its readers describe it:

- More updates may follow the last expansion (`settling`): averages and regrets remember what leaves were worth before they
  were opened, and the strategies of newly opened states are poor at first.
- PUCT compares values in units of the largest return seen so far in the tree.
- PUCT gives an action without a value the current value of its infostate.
- PUCT skips parts of the tree where nothing is left to open.
- Updates may alternate, and leaves may be valued at average strategies (`decomposition`), as in searches of fixed depth.
- Public states that the evaluator does not know are opened as soon as they are added (`known`).

A node's averages count the iterations since it was added. Once the whole tree is open this is CFR; before that, the result is
as good as the leaf values are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from tacit.errors import TacitError
from tacit.kernels.base import LeafEvaluator
from tacit.kernels.clock import RegretStep
from tacit.search.config import CFR_D, MODIFIED_CFR_AVE
from tacit.search.growing import expansion, kernels
from tacit.search.growing.forest import Forest, plant, with_room
from tacit.search.growing.result import GrowingResult, likelihood
from tacit.search.growing.steps import NO_STEP, Steps
from tacit.search.warm import Policy
from tacit.solvers.gadget import Gadget
from tacit.solvers.schedules import RegretSchedule, plain_schedule, without_warm_up
from tacit.tree.public_tree import Floats
from tacit.tree.source import NO_CLASS, SubgameSource


@dataclass(frozen=True)
class GrowingConfig:
    """How trees grow: SoG(s, c).

    Attributes:
      expansions: Expansions in all, `s`. One whose walk reaches the end of the game opens nothing, but counts.
      per_update: Expansions for each regret update, `c`; below 1 there are several updates for each expansion.
      solver: The schedule of regrets and averages, one of the CFR family.
      alternating: Whether player 1 answers player 0's new strategy within an update. The paper's updates are simultaneous.
      decomposition: The beliefs at which leaves are valued: those of the current strategies (`cfr-d`), or of their averages
        since the leaf was added (`modified-cfr-ave`).
      warm_up: Initial updates whose strategies and values are left out of averages, because the tree was still small.
      exploration: The constant of PUCT.
      all_actions: Whether an expansion opens all actions even if nothing is hidden. It asks for more leaf values at a time,
        but no infostate looks worse than it is because its good action is not in the tree yet.
      puct_share: How often a walk takes the action of PUCT rather than one of the current strategy.
      settling: Further updates after those of the growth.
    """

    expansions: int = 10
    per_update: float = 0.1
    solver: str = "cfr+"
    alternating: bool = False
    decomposition: str = CFR_D
    warm_up: int = 0
    exploration: float = 1.5
    all_actions: bool = False
    puct_share: float = 0.5
    settling: int = 0

    def __post_init__(self) -> None:
        if self.expansions < 1:
            raise TacitError(f"a tree grows by at least 1 expansion, not {self.expansions}")
        if self.settling < 0:
            raise TacitError(f"settling must be at least 0, not {self.settling}")
        if not self.per_update > 0:
            raise TacitError(f"expansions for each update must be more than 0, not {self.per_update}")
        if not 0 < self.exploration < math.inf:
            raise TacitError(f"exploration must be positive, not {self.exploration}")
        if not 0 <= self.puct_share <= 1:
            raise TacitError(f"the share of PUCT must be between 0 and 1, not {self.puct_share}")
        if self.decomposition not in (CFR_D, MODIFIED_CFR_AVE):
            raise TacitError(f"growing trees value leaves by {CFR_D} or {MODIFIED_CFR_AVE}, not {self.decomposition!r}")
        if self.warm_up and self.decomposition != CFR_D:
            raise TacitError(f"{self.decomposition} values leaves at averages, which a warm-up leaves empty: set warm_up to 0")
        if not 0 <= self.warm_up < self.updates:
            raise TacitError(f"a warm-up must be shorter than the search's {self.updates} updates, not {self.warm_up}")

    @property
    def updates(self) -> int:
        """Regret updates in all."""
        return math.ceil(self.expansions / self.per_update - 1e-9) + self.settling

    def expansions_before(self, update: int) -> int:
        """Returns how many expansions come before an update, counted from 1."""
        return min(self.expansions, math.ceil(update * self.per_update - 1e-9))


class GrowingSearch:
    """Grows batches of trees in one game.

    Args:
      source: the game, as subgames of depth 1: from the rules, or cut out of a compiled tree.
      evaluator: returns the infostate values of leaves; it must know the classes of the source.
      config: how to search.
      policy: gives the priors of PUCT; None for uniform ones.
      num_states: `H`, the private states in the evaluator's input; None for the most seen so far.
      num_actions: `A`, the actions in the policy's output, if there is one.
      known: `[C]` the classes that the evaluator can value; None for all. Others are opened until only known ones are leaves.

    Attributes:
      num_queries: leaves valued so far in all searches: the queries to a network.
    """

    def __init__(
        self,
        source: SubgameSource,
        evaluator: LeafEvaluator,
        config: GrowingConfig,
        policy: Policy | None = None,
        num_states: int | None = None,
        num_actions: int = 0,
        known: NDArray[np.bool_] | None = None,
    ) -> None:
        if evaluator.counterfactual:
            raise TacitError("growing trees need infostate values at leaves, not counterfactual ones")
        schedule = plain_schedule(config.solver)
        if not isinstance(schedule, RegretSchedule):
            raise TacitError(
                f"growing trees need regret matching: choose a solver of the CFR family, such as cfr+, not {config.solver}"
            )
        if config.warm_up:
            schedule = without_warm_up(schedule, config.warm_up)
        self.steps, self.evaluator, self.config, self.policy = Steps(source), evaluator, config, policy
        self._schedule, self._num_states, self._num_actions, self._known = schedule, num_states, num_actions, known
        self._averages = config.decomposition == MODIFIED_CFR_AVE
        self.num_queries = 0

    def run(
        self,
        game_class: NDArray[Any],
        reaches: Floats,
        seeds: NDArray[Any],
        promised: tuple[int, Floats] | None = None,
    ) -> GrowingResult:
        """Returns the trees grown from every given public belief state.

        Args:
          game_class: `[B]` the class of each game's public state.
          reaches: `[B, 2, H]` the players' reaches there.
          seeds: `[B]` the seeds of the trees' random numbers; equal inputs with equal seeds get equal results.
          promised: for safe re-solving, the opponent and `[B, H]` the infostate values that it was promised here: it may opt
            out of the subgame for them (`solvers/gadget.py`), and its own reaches are ignored.
        """
        forest, gadget = plant(self.steps, game_class, np.asarray(reaches, np.float64), seeds), None
        if promised is not None:
            player, values = promised
            roots = forest.reach[:, player, : reaches.shape[2]]
            roots[:] = np.arange(reaches.shape[2]) < forest.num_rows[:, player, None]
            gadget = Gadget(player, values * likelihood(self.steps.tables, forest, player, forest.reach, reaches.shape[2]))
        grown = 0
        for update in range(1, self.config.updates + 1):
            while grown < self.config.expansions_before(update):
                forest = self._expand(forest, first=grown == 0)
                grown += 1
            self._update(forest, self._schedule.step(update), gadget)
        return GrowingResult(self.steps, forest, reaches.shape[2])

    def _expand(self, forest: Forest, first: bool) -> Forest:
        """Returns the forest with one more node of each tree opened: the root at first, then where its walk ends."""
        target, action = (np.full(len(forest.num_nodes), number, np.int64) for number in (0, expansion.BEST_PRIOR))
        if not first:
            expansion.walk(self.steps.tables, forest, self.config.exploration, self.config.puct_share, target, action)
        forest = self._open(forest, target, action, first or self.config.all_actions)
        while self._known is not None and ((target := self._unknown(forest, self._known)) != expansion.NOTHING).any():
            forest = self._open(forest, target, np.full_like(target, expansion.BEST_PRIOR), True)
        return forest

    def _unknown(self, forest: Forest, known: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Returns `[B]` a leaf of each tree that the evaluator does not know, `NOTHING` where there is none."""
        classes = self.steps.tables.state_class[forest.state]
        there = np.arange(forest.state.shape[1]) < forest.num_nodes[:, None]
        leaf = there & (forest.step == NO_STEP) & (classes != NO_CLASS) & ~known[classes]
        return np.where(leaf.any(axis=1), leaf.argmax(axis=1), expansion.NOTHING)

    def _open(self, forest: Forest, target: NDArray[Any], action: NDArray[Any], whole: bool) -> Forest:
        """Returns the forest with nodes `[B]` of the trees opened, all of their actions or one."""
        tree = np.flatnonzero(target != expansion.NOTHING)
        node = target[tree]
        new = forest.step[tree, node] == NO_STEP
        self.steps.require(self.steps.tables.state_class[forest.state[tree[new], node[new]]])
        children, entries, *rows = self.steps.most.tolist()
        forest = with_room(forest, (children, entries, max(rows), children))
        expansion.begin(self.steps.tables, forest, target)
        if self.policy is not None:
            self._set_priors(forest, tree[new], node[new])
        expansion.extend(self.steps.tables, forest, target, action, whole)
        return forest

    def _update(self, forest: Forest, step: RegretStep, gadget: Gadget | None) -> None:
        """Runs one regret update of both players in all trees."""
        tables, weights = self.steps.tables, tuple(float(weight) for weight in step)
        for players in ((0,), (1,)) if self.config.alternating else ((0, 1),):
            present = (1.0, 1.0)
            if self._averages:  # the reaches answered in this update are not in the sums yet
                present = (step.average_weight * (1 in players), step.average_weight * (0 in players))
            self._value_leaves(forest, present)
            for player in players:
                kernels.answer(tables, forest, player, weights, self._averages)
            for player in players:
                if gadget is not None and gadget.player == player:
                    roots = slice(gadget.entering.shape[1])
                    entering = gadget.answer(forest.cfv[:, player, roots].copy(), step)
                    real = np.arange(roots.stop) < tables.num_rows[player][forest.state[:, 0]][:, None]
                    forest.reach[:, player, roots] = np.where(real, entering, forest.reach[:, player, roots])
                kernels.reach_down(forest, player)

    def _value_leaves(self, forest: Forest, present: tuple[float, float]) -> None:
        """Asks for the values of all leaves; `present` is the weight of both players' current reaches in averages."""
        tables, none = self.steps.tables, np.zeros(0, np.int64)
        count = kernels.find_leaves(tables, forest, none, none)
        if count:
            tree, leaf = np.zeros(count, np.int64), np.zeros(count, np.int64)
            kernels.find_leaves(tables, forest, tree, leaf)
            public_class = torch.from_numpy(tables.state_class[forest.state[tree, leaf]].astype(np.int64))
            values = self.evaluator.evaluate(public_class, torch.from_numpy(self._beliefs(forest, tree, leaf, present)))
            kernels.set_leaf_values(tables, forest, tree, leaf, values.numpy())
            self.num_queries += count

    def _beliefs(
        self, forest: Forest, tree: NDArray[Any], node: NDArray[Any], present: tuple[float, float] = (1.0, 1.0)
    ) -> NDArray[np.float32]:
        """Returns `[2 * H, L]` both players' beliefs at nodes `[L]` of trees `[L]`."""
        beliefs = np.zeros((2 * (self._num_states or self.steps.num_states), len(tree)), np.float32)
        kernels.beliefs_at(self.steps.tables, forest, tree, node, float(self._averages), present, beliefs)
        return beliefs

    def _set_priors(self, forest: Forest, tree: NDArray[Any], node: NDArray[Any]) -> None:
        """Asks the policy for the priors of newly opened nodes `[L]` of trees `[L]`."""
        assert self.policy is not None
        if not len(tree):
            return
        tables, beliefs = self.steps.tables, self._beliefs(forest, tree, node)
        step, slots = forest.step[tree, node], np.arange(self._num_actions)
        legal = np.zeros((len(tree), beliefs.shape[0] // 2, self._num_actions), bool)
        entries = np.zeros(legal.shape, np.int64)
        for i, k in enumerate(step.tolist()):
            count = int(tables.num_rows[tables.actor[k]][forest.state[tree[i], node[i]]])
            starts = tables.first_entry[tables.action_start[k] :][: count + 1]
            legal[i, :count] = slots < np.diff(starts)[:, None]
            entries[i, :count] = forest.node_entry[tree[i], node[i]] + starts[:-1, None] + slots
        public_class = torch.from_numpy(tables.state_class[forest.state[tree, node]].astype(np.int64))
        prior = self.policy.propose(public_class, torch.from_numpy(beliefs.T.copy()), torch.from_numpy(legal)).detach().numpy()
        which = np.broadcast_to(tree[:, None, None], legal.shape)
        forest.prior[which[legal], entries[legal]] = prior[legal]
