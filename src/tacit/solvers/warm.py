"""Warm start of regret matching from a strategy (ReBeL, appendix J).

The strategy's regrets against a best response to it count as if each of the first iterations had had them, and the strategy
itself counts as played in these iterations. The driver continues from there.

That alone forgets the strategy: against a best response, no action of an equilibrium gains anything, so regret matching would
begin with an arbitrary mixture of them and spend its first iterations on finding the right one again. So regrets get a part
proportional to the strategy, as in Brown & Sandholm (2016), whose warm start the paper simplifies: where nothing is gained,
regret matching then plays the strategy itself. The size of this part sets how much must be gained before the strategy moves.
"""

from __future__ import annotations

from typing import Any

from tacit.kernels.clock import OneStep, RegretStep
from tacit.solvers.driver import Driver
from tacit.solvers.schedules import AnySchedule

WARM_ITERATIONS = 15
"""The number of iterations that a policy counts as."""
STEADINESS = 15.0
"""`steadiness` of starts from a policy in hold'em, measured on rivers and turns (`docs/LOG.md`)."""


def start_warm(driver: Driver, proposed: Any, iterations: int = WARM_ITERATIONS, steadiness: float = 0.0) -> None:
    """Starts a new driver as if a strategy had been played in its first iterations.

    Args:
      driver: a regret-matching driver that is not lean and has not run yet.
      proposed: both players' strategies, as entries.
      iterations: the number of iterations that the strategy counts as.
      steadiness: the size of the regrets proportional to the strategy, in mean gains and losses of a decision; 0 for the
        paper's start.
    """
    passes, valuation = driver.passes, driver.valuation
    driver.strategy[...] = proposed
    for player in (0, 1):
        passes.reach(player, driver.strategy, out=driver.reaches[player])
        driver.mean_reaches[player][...] = driver.reaches[player]
    driver.follow_leaves()
    steps = [driver.schedule.step(t) for t in range(1, iterations + 1)]
    weight = sum(step.average_weight for step in steps)
    place = passes.device if passes.capturable else "cpu"
    played, once = (OneStep(RegretStep(average_weight=part)).clock(place) for part in (weight, 0.0))
    regrets, aside = passes.zeros(), passes.zeros()
    values = None if valuation is None else valuation.evaluate(driver)
    for player in (0, 1):
        faced = driver.reaches[1 - player]
        leaves = None if valuation is None or values is None else valuation.weighted(player, values, faced)
        # Updates the average, and computes the values at the roots.
        passes.update_regrets(player, driver.strategy, aside, driver.average, driver.reaches, played, leaves)
        driver.strategy[...] = proposed
        if driver.root_sum is not None:
            passes.add_roots(player, driver.root_sum[player], weight)
        # The regrets of deviating once from a best response.
        response = passes.best_response(player, faced, leaves=leaves)[1]
        passes.update_regrets(player, response, regrets, aside, driver.reaches, once, leaves)
    instant = regrets - passes.over_infostates(proposed * regrets)
    gained, lost = _factors(driver.schedule, iterations)
    gains = instant > 0
    regret = instant * (gained * gains + lost * (~gains))
    if steadiness:
        spread = passes.mean_over_private_states(passes.over_infostates(abs(instant)))
        regret = regret + steadiness * spread * proposed
    driver.regret[...] = regret
    for kept in (driver.sampled, driver.believed):
        if kept is not None:
            kept[...] = proposed  # each of these iterations has this strategy
    driver.strategy[...] = passes.normalise(driver.regret * (driver.regret > 0))
    if valuation is not None and values is not None:
        valuation.start_after(values, driver)
    driver.clock.reserve(iterations)
    driver.clock.go_to(iterations)
    for player in (0, 1):
        driver.settle(player)


def _factors(schedule: AnySchedule, iterations: int) -> tuple[float, float]:
    """Returns the discounted sums of a constant regret over the first iterations, for gains and for losses."""
    gained, lost = 0.0, 0.0
    for step in (schedule.step(t) for t in range(1, iterations + 1)):
        gained = gained * step.positive_discount + 1.0
        lost = max(lost * step.negative_discount - 1.0, step.floor)
    return gained, -lost
