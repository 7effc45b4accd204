"""Warm start of regret matching from a strategy (ReBeL, appendix J).

The strategy's regrets against a best response to it count as if they had come up in each of the first iterations, and the
strategy itself is taken to have been played in them. The driver goes on from there.

That alone forgets the strategy: against a best response no action of an equilibrium gains anything, so regret matching would
begin with any mixture of them, and spend its first iterations on finding the right one again. So regrets get a part that is
proportional to the strategy, as in Brown & Sandholm (2016), whose warm start the paper simplifies: where nothing is gained,
regret matching then plays the strategy itself. How large it is says how much must be gained before play moves.
"""

from __future__ import annotations

from typing import Any

from tacit.kernels.clock import OneStep, RegretStep
from tacit.solvers.driver import Driver
from tacit.solvers.schedules import AnySchedule

WARM_ITERATIONS = 15
"""Iterations that a policy stands for."""
STEADINESS = 15.0
"""Of a start from a policy at hold'em, in mean gains and losses of a decision: measured on rivers and turns (`docs/LOG.md`)."""


def start_warm(driver: Driver, proposed: Any, iterations: int = WARM_ITERATIONS, steadiness: float = 0.0) -> None:
    """Begins as if a strategy had been played in the first iterations, before any other iteration.

    Args:
      driver: matches regrets, and is not lean.
      proposed: entries of both players.
      iterations: that it stands for.
      steadiness: regrets that are shared out by the strategy, in mean gains and losses of a decision; 0 for the paper's start.
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
        # The average, and the values at the roots.
        passes.update_regrets(player, driver.strategy, aside, driver.average, driver.reaches, played, leaves)
        driver.strategy[...] = proposed
        if driver.root_sum is not None:
            passes.add_roots(player, driver.root_sum[player], weight)
        # What is lost to a best response by leaving it once.
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
            kept[...] = proposed  # the strategy of each of these iterations
    driver.strategy[...] = passes.normalise(driver.regret * (driver.regret > 0))
    if valuation is not None and values is not None:
        valuation.start_after(values, driver)
    driver.clock.reserve(iterations)
    driver.clock.go_to(iterations)
    for player in (0, 1):
        driver.settle(player)


def _factors(schedule: AnySchedule, iterations: int) -> tuple[float, float]:
    """Returns what regrets that stay the same add up to under the discounts of the first iterations: gains, and losses."""
    gained, lost = 0.0, 0.0
    for step in (schedule.step(t) for t in range(1, iterations + 1)):
        gained = gained * step.positive_discount + 1.0
        lost = max(lost * step.negative_discount - 1.0, step.floor)
    return gained, -lost
