"""Warm start of regret matching from a policy (ReBeL, appendix J).

The policy's regrets against a best response to it count as if they had come up in each of the first iterations, and the policy
itself is taken to have been played in them. The search goes on from there.
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

from tacit.kernels.clock import OneStep, RegretStep
from tacit.search.decisions import DecisionTables
from tacit.search.groups import GroupPasses
from tacit.solvers.driver import Driver
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
    driver: Driver, passes: GroupPasses, schedule: RegretSchedule, decisions: DecisionTables, policy: Policy
) -> None:
    """Begins the searches of a batch as if `WARM_ITERATIONS` had passed, before any other iteration."""
    follow_policy(driver, passes, decisions, policy)
    proposed = driver.strategy.clone()
    steps = [schedule.step(t) for t in range(1, WARM_ITERATIONS + 1)]
    weight = sum(step.average_weight for step in steps)
    # The discounts of the first iterations applied to a regret that stays the same, for either sign.
    gained, lost = 0.0, 0.0
    for step in steps:
        gained = gained * step.positive_discount + 1.0
        lost = max(lost * step.negative_discount - 1.0, step.floor)
    played = OneStep(RegretStep(average_weight=weight)).clock(passes.device)
    regrets, values = torch.zeros_like(driver.regret), None
    if driver.valuation is not None:
        values = driver.valuation.evaluate(driver)
    for player in (0, 1):
        faced = driver.reaches[1 - player]
        leaves = None if driver.valuation is None or values is None else driver.valuation.weighted(player, values, faced)
        # For the average and the values at the roots.
        passes.update_regrets(player, driver.strategy, driver.regret, driver.average, driver.reaches, played, leaves)
        assert driver.root_sum is not None
        passes.add_roots(player, driver.root_sum[player], weight)
        driver.strategy.copy_(proposed)
        passes.best_response(player, faced, leaves=leaves)
        mine, worth = passes.entries_of(player), passes.edge_values
        instant = worth - passes.over_infostates(proposed * worth)
        regrets += mine * torch.where(instant > 0, gained * instant, -lost * instant)
    driver.regret.copy_(regrets)
    driver.sampled.copy_(proposed)  # the strategy of each of these iterations
    driver.believed.copy_(proposed)
    driver.strategy.copy_(passes.normalise(regrets.clamp_min(0.0)))
    if driver.valuation is not None and values is not None:
        driver.valuation.start_after(values, driver)
    driver.clock.go_to(WARM_ITERATIONS)
    for player in (0, 1):
        driver.settle(player)


def follow_policy(driver: Driver, passes: GroupPasses, decisions: DecisionTables, policy: Policy) -> None:
    """Fills the strategies from the roots down, every decision with what the policy proposes for the beliefs there."""
    batch, strategy, reaches = passes.batch, driver.strategy, driver.reaches
    deepest = max(int(d.level.max()) for d in decisions.by_class)
    for level in range(deepest + 1):
        for player in (0, 1):
            passes.reach(player, strategy, out=reaches[player])
        for group in batch:
            table = decisions.by_class[group.public_class]
            chosen = (table.level == level).nonzero()[:, 0]
            if not len(chosen):
                continue
            decision = chosen.repeat_interleave(group.size)
            games = torch.arange(group.size, device=decision.device).repeat(len(chosen))
            beliefs = table.beliefs(batch.rows(reaches, group), decision, games)
            found = policy.propose(table.public_class[decision], beliefs, table.legal[decision])
            found = found.view(len(chosen), group.size, *found.shape[1:]).permute(0, 2, 3, 1)  # [n, H, A, games]
            view = batch.view(strategy, batch.entry_offset, group)
            view[table.entries[chosen][table.legal[chosen]]] = found[table.legal[chosen]]
    for player in (0, 1):
        passes.reach(player, strategy, out=reaches[player])
        driver.mean_reaches[player].copy_(reaches[player])
    driver.follow_leaves()
