"""The tabular algorithms as schedules: they differ in a handful of weights per iteration.

| name | regrets / responses | average |
|---|---|---|
| `cfr` | sums (Zinkevich et al. 2007) | uniform |
| `cfr+` | floored at zero (Tammelin 2014) | linear |
| `linear-cfr` | discounted by (t-1)/t (Brown & Sandholm 2019) | linear |
| `dcfr` | positive ones discounted by s^1.5/(s^1.5+1), negative ones by 1/2, s = t-1 (same paper) | quadratic |
| `pcfr+` | floored, last regret predicted to recur (Farina et al. 2021) | quadratic |
| `fp` | best response to the average (Brown 1951) | uniform: step size 1/(t+1) |
| `linear-fp` | best response to the average | linear: step size 2/(t+2) |
| `flop` | best response to an average that leans to the last response (ReBeL, appendix D) | linear |
| `xfp` | best response to the average, both players at once (Heinrich et al. 2015) | uniform |

Fictitious play takes parameters (NFSP, appendix A): `xfp(step=0.1)` has a constant step size, so its average forgets and does
not converge, and `xfp(noise=0.05)` answers with noisy best responses: at each infostate, with that probability, the backward
induction takes a uniformly random action and passes its value back.

One iteration updates both players, so it is two of the ReBeL paper's alternating iterations. All algorithms start from the
uniform strategy, which counts in the average like any other: in CFR as the strategy of iteration 1, in fictitious play as the
"response" of iteration 0. The formula of ReBeL's appendix D drops the latter, while its authors' released code counts it.
Counting it keeps every infostate reachable by the average, and is far better (see docs/LOG.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from tacit.errors import TacitError
from tacit.kernels.clock import RegretStep


@dataclass(frozen=True)
class RegretSchedule:
    """An algorithm of the CFR family.

    Attributes:
      step: the regret update of iteration t = 1, 2, ..., and the weight in the average of the strategy that it replaces; t may
        be an array of iterations, as floats.
      alternating: whether player 1 answers player 0's new strategy within an iteration.
    """

    step: Callable[[Any], RegretStep]
    alternating: bool = True

    def share(self, t: int) -> float:
        """Returns the last strategy's weight in the mean of the strategies after 0 to t updates; 1 while none counts."""
        while len(self._totals) <= t:
            before = self._totals[-1] if self._totals else 0.0
            self._totals.append(before + self.step(len(self._totals) + 1).average_weight)
        return self.step(t + 1).average_weight / self._totals[t] if self._totals[t] else 1.0

    def optimism(self, _t: int) -> float:
        """Returns 0: regret matching has no optimism of this kind."""
        return 0.0

    @cached_property
    def _totals(self) -> list[float]:
        """Cumulative weights up to each strategy, as far as needed so far."""
        return []


@dataclass(frozen=True)
class ResponseSchedule:
    """An algorithm of the fictitious-play family.

    Attributes:
      share: how far the average moves to the response of iteration t = 1, 2, ...; it starts at the uniform strategy.
      optimism: the extra weight, beyond its share in the average, of the opponent's latest response in the strategy that is
        answered on iteration t.
      alternating: whether player 1 answers player 0's new average within an iteration.
      noise: the probability that a response takes a random action, at each infostate.
    """

    share: Callable[[int], float]
    optimism: Callable[[int], float] = lambda _t: 0.0
    alternating: bool = True
    noise: float = 0.0

    def step(self, _t: Any) -> RegretStep:
        """Returns default weights, which go unused: responses keep no regrets."""
        return RegretStep()


AnySchedule = RegretSchedule | ResponseSchedule


def regret_steps(schedule: AnySchedule, first: int, count: int) -> np.ndarray:
    """Returns `[T, 5]` the `RegretStep` of iterations `first`, `first + 1`, ..., `count` of them."""
    weights = schedule.step(np.arange(first, first + count, dtype=np.float64))
    return np.stack([np.broadcast_to(weight, count) for weight in weights], axis=1)


def average_weights(schedule: AnySchedule, iterations: int) -> np.ndarray:
    """Returns `[T + 1]` the weights in the average of a player's strategies after 0, 1, ..., T updates."""
    if isinstance(schedule, RegretSchedule):
        return np.array([schedule.step(t + 1).average_weight for t in range(iterations + 1)])
    shares = np.array([1.0, *(schedule.share(t) for t in range(1, iterations + 1))])
    kept = np.append(np.cumprod((1.0 - shares)[:0:-1])[::-1], 1.0)  # the share left by all later steps
    weights: np.ndarray = shares * kept / kept[0]
    return weights


def iteration_weights(schedule: AnySchedule, iterations: int) -> np.ndarray:
    """Returns `[T]` the weight of each iteration's strategies in the final average.

    In regret matching these are the strategies that an iteration starts with, in fictitious play the responses it ends with.
    """
    weights = average_weights(schedule, iterations)
    return weights[:-1] if isinstance(schedule, RegretSchedule) else weights[1:]


def draw_iterations(schedule: AnySchedule, iterations: int, quantiles: np.ndarray) -> np.ndarray:
    """Returns the iterations, from 1, at quantiles of their weights in the average; uniform numbers draw random iterations."""
    shares = np.cumsum(iteration_weights(schedule, iterations))
    return np.searchsorted(shares[:-1] / shares[-1], quantiles, side="right") + 1


def _discounted(alpha: float, beta: float, gamma: float) -> Callable[[Any], RegretStep]:
    """Returns DCFR's weights: regrets shrink by s^alpha / (s^alpha + 1), negative ones with beta; strategies weigh t^gamma."""

    def step(t: Any) -> RegretStep:
        past = t - 1.0
        positive, negative = (past**power / (past**power + 1.0) for power in (alpha, beta))
        return RegretStep(positive, negative, average_weight=t**gamma)

    return step


def _plus(prediction: float, gamma: float) -> Callable[[Any], RegretStep]:
    return lambda t: RegretStep(floor=0.0, prediction=prediction, average_weight=t**gamma)


def _uniform_step(t: int) -> float:
    return 1.0 / (t + 1.0)


def _linear_step(t: int) -> float:
    return 2.0 / (t + 2.0)


SCHEDULES: dict[str, AnySchedule] = {
    "cfr": RegretSchedule(lambda _t: RegretStep()),
    "cfr+": RegretSchedule(_plus(prediction=0.0, gamma=1.0)),
    "linear-cfr": RegretSchedule(_discounted(1.0, 1.0, 1.0)),
    "dcfr": RegretSchedule(_discounted(1.5, 0.0, 2.0)),
    "pcfr+": RegretSchedule(_plus(prediction=1.0, gamma=2.0)),
    "fp": ResponseSchedule(_uniform_step),
    "linear-fp": ResponseSchedule(_linear_step),
    "flop": ResponseSchedule(_linear_step, optimism=_linear_step),
    "xfp": ResponseSchedule(_uniform_step, alternating=False),
}


def find_schedule(text: str, offered: Iterable[str] = (*SCHEDULES, "lp")) -> AnySchedule:
    """Returns the algorithm that `text` names: `name`, or `name(step=...,noise=...)` for fictitious play.

    Args:
      text: the name.
      offered: all names that the caller accepts, for the error message.

    Raises:
      TacitError: the name, a parameter or a value is unknown.
    """
    name, opened, rest = text.partition("(")
    schedule = plain_schedule(name, offered)
    if not opened:
        return schedule
    if not isinstance(schedule, ResponseSchedule) or not rest.endswith(")"):
        raise TacitError(f"cannot read the solver {text!r}: write cfr+, or for fictitious play xfp(step=0.1,noise=0.05)")
    given = dict(_parse_share(text, part) for part in rest[:-1].split(","))
    step = given.get("step")
    if step == 0.0:
        raise TacitError(f"{text}: with a step of 0 nothing is learnt")
    share = schedule.share if step is None else lambda _t: step
    return replace(schedule, share=share, noise=given.get("noise", 0.0))


def plain_schedule(name: str, offered: Iterable[str] = SCHEDULES) -> AnySchedule:
    """Returns the algorithm called `name`, without parameters.

    Raises:
      TacitError: There is none; the message lists `offered`.
    """
    if name not in SCHEDULES:
        raise TacitError(f"unknown solver {name!r}: choose one of {', '.join(offered)}")
    return SCHEDULES[name]


def without_warm_up(schedule: AnySchedule, warm_up: int) -> RegretSchedule:
    """Returns the algorithm with averages that skip the first `warm_up` strategies and weigh the rest as if it began then.

    Raises:
      TacitError: It is fictitious play, which answers its average from the start.
    """
    if not isinstance(schedule, RegretSchedule):
        raise TacitError("fictitious play has no warm-up: choose a solver of the CFR family, such as cfr+")
    usual = schedule.step

    def step(t: Any) -> RegretStep:
        weight = usual(np.maximum(t - warm_up, 1.0)).average_weight
        return usual(t)._replace(average_weight=weight * (t > warm_up))

    return replace(schedule, step=step)


def _parse_share(text: str, part: str) -> tuple[str, float]:
    """Returns the name and value of a parameter of fictitious play."""
    key, _, value = (piece.strip() for piece in part.partition("="))
    try:
        share = float(value)
    except ValueError:
        share = -1.0
    if key not in ("step", "noise") or not 0.0 <= share <= 1.0:
        raise TacitError(f"cannot read {part.strip()!r} in {text}: it takes step=... and noise=..., each between 0 and 1")
    return key, share
