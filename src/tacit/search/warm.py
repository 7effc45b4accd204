"""Warm starts of a batch of searches, from a policy's proposals at every decision (see `solvers/warm.py`)."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

from tacit.search.decisions import DecisionTables
from tacit.search.groups import GroupPasses
from tacit.solvers.driver import Driver
from tacit.solvers.warm import WARM_ITERATIONS, start_warm


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


def warm_start(driver: Driver, passes: GroupPasses, decisions: DecisionTables, policy: Policy) -> None:
    """Starts the searches of a batch as if `WARM_ITERATIONS` had already run; call it before the first iteration."""
    follow_policy(driver, passes, decisions, policy)
    start_warm(driver, driver.strategy.clone(), WARM_ITERATIONS)


def follow_policy(driver: Driver, passes: GroupPasses, decisions: DecisionTables, policy: Policy) -> None:
    """Fills the strategies from the roots down: each decision gets the policy's proposal for the beliefs there."""
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
            odds = policy.propose(table.public_class[decision], beliefs, table.legal[decision])
            odds = odds.view(len(chosen), group.size, *odds.shape[1:]).permute(0, 2, 3, 1)  # [n, H, A, games]
            view = batch.view(strategy, batch.entry_offset, group)
            view[table.entries[chosen][table.legal[chosen]]] = odds[table.legal[chosen]]
