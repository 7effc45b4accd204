"""Warm start of regret matching from a policy (ReBeL, appendix J).

The policy's regrets against a best response to it count as if they had come up in each of the first iterations, and the policy
itself is taken to have been played in them. The search goes on from there.
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

from tacit.search.decisions import DecisionTables
from tacit.search.leaves import LeafEvaluator
from tacit.search.numbers import Clock
from tacit.search.state import SearchState, over_infostates
from tacit.solvers.schedules import RegretSchedule

WARM_ITERATIONS = 15
"""Iterations that a policy stands for."""


class Policy(Protocol):
    """Anything that proposes strategies at public belief states, many at once."""

    def propose(self, public_class: Tensor, beliefs: Tensor, legal: Tensor) -> Tensor:
        """Returns `[n, H, A]` probabilities of the acting player's actions, zero where not `legal` `[n, H, A]`.

        Args:
          public_class: `[n]`.
          beliefs: `[n, 2 * H]`.
          legal: which private states and actions exist.
        """
        ...


def warm_start(
    state: SearchState, schedule: RegretSchedule, decisions: DecisionTables, policy: Policy, evaluator: LeafEvaluator
) -> None:
    """Begins the searches of a batch as if `WARM_ITERATIONS` had passed, before any other iteration."""
    follow_policy(state, decisions, policy)
    s, clock = state.numbers, state.clock
    proposed = s.strategy.clone()
    steps = [schedule.step(t) for t in range(1, WARM_ITERATIONS + 1)]
    weight = sum(step.average_weight for step in steps)
    # The discounts of the first iterations applied to a regret that stays the same, for either sign.
    gained, lost = 0.0, 0.0
    for step in steps:
        gained = gained * step.positive_discount + 1.0
        lost = max(lost * step.negative_discount - 1.0, step.floor)
    once = torch.ones_like(clock.counter)
    played = Clock(1, torch.tensor([[1.0, 1.0, -float("inf"), 0.0, weight]]).to(clock.steps), once)
    looked = Clock(1, torch.zeros_like(played.steps), once)
    regrets = torch.zeros_like(s.regret)
    values = state.value_leaves(evaluator)
    for player in (0, 1):
        state.kernels.update_regrets(s, player, values, played)  # for the average and the values at the roots
        s.strategy.copy_(proposed)
        state.kernels.best_response(s, player, s.reach[1 - player], values, looked)
        s.strategy.copy_(proposed)
        mine = state.entries_of(player)
        instant = s.edge_value - over_infostates(state, proposed * s.edge_value)
        regrets += mine * torch.where(instant > 0, gained * instant, -lost * instant)
    s.regret.copy_(regrets)
    state.sampled.copy_(proposed)  # the strategy of each of these iterations
    state.believed.copy_(proposed)
    s.strategy.copy_(state.normalised(regrets.clamp_min(0.0)))
    state.start_after(WARM_ITERATIONS, values)


def follow_policy(state: SearchState, decisions: DecisionTables, policy: Policy) -> None:
    """Fills the strategies from the roots down, every decision with what the policy proposes for the beliefs there."""
    s, batch = state.numbers, state.batch
    deepest = max(int(d.level.max()) for d in decisions.by_class)
    for level in range(deepest + 1):
        for player in (0, 1):
            state.kernels.reach_down(batch, player, s.strategy, s.reach[player])
        for group in batch:
            table = decisions.by_class[group.public_class]
            chosen = (table.level == level).nonzero()[:, 0]
            if not len(chosen):
                continue
            decision = chosen.repeat_interleave(group.size)
            games = torch.arange(group.size, device=decision.device).repeat(len(chosen))
            beliefs = table.beliefs(batch.rows(s.reach, group), decision, games)
            found = policy.propose(table.public_class[decision], beliefs, table.legal[decision])
            found = found.view(len(chosen), group.size, *found.shape[1:]).permute(0, 2, 3, 1)  # [n, H, A, games]
            view = batch.view(s.strategy, batch.entry_offset, group)
            view[table.entries[chosen][table.legal[chosen]]] = found[table.legal[chosen]]
    for player in (0, 1):
        state.follow_reach(player)
