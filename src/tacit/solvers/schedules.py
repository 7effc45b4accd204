"""The tabular algorithms as schedules: what differs between them is a handful of weights per iteration.

| name | regrets / responses | average |
|---|---|---|
| `cfr` | sums (Zinkevich et al. 2007) | uniform |
| `cfr+` | floored at zero (Tammelin 2014) | linear |
| `linear-cfr` | discounted by (t-1)/t (Brown & Sandholm 2019) | linear |
| `dcfr` | positive ones discounted by s^1.5/(s^1.5+1), negative ones by 1/2, s = t-1 (same paper) | quadratic |
| `pcfr+` | floored, last regret predicted to recur (Farina et al. 2021) | quadratic |
| `fp` | best response to the average (Brown 1951) | uniform |
| `linear-fp` | best response to the average | linear |
| `flop` | best response to an average that leans to the last response (ReBeL, appendix D) | linear |
| `xfp` | best response to the average, both players at once (Heinrich et al. 2015) | uniform |

One iteration updates both players: an iteration here is two of the ReBeL paper's alternating iterations. All
start from the uniform strategy, which counts in the average like any other: for CFR as the strategy of iteration 1, for
fictitious play as the "response" of iteration 0. There the formula of ReBeL's appendix D drops it, while the code its authors
released counts it; counting keeps every infostate reachable by the average, and is far better (see docs/LOG.md).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tacit.errors import TacitError
from tacit.kernels.base import RegretStep


@dataclass(frozen=True)
class RegretSchedule:
    """An algorithm of the CFR family.

    Attributes:
      step: how iteration t = 1, 2, ... updates regrets, and the weight in the average of the strategy it replaces.
      alternating: whether player 1 answers player 0's new strategy within an iteration.
    """

    step: Callable[[int], RegretStep]
    alternating: bool = True


@dataclass(frozen=True)
class ResponseSchedule:
    """An algorithm of the fictitious-play family.

    Attributes:
      average_weight: the weight in the average of the response of iteration t = 1, 2, ... and of the uniform strategy, t = 0.
      optimism: how much of what is answered on iteration t is the opponent's latest response, beyond its share in the
        average.
      alternating: whether player 1 answers player 0's new average within an iteration.
    """

    average_weight: Callable[[int], float]
    optimism: Callable[[int], float] = lambda _t: 0.0
    alternating: bool = True


Schedule = RegretSchedule | ResponseSchedule


def _discounted(alpha: float, beta: float, gamma: float) -> Callable[[int], RegretStep]:
    """Returns DCFR's weights: past regrets shrink by s^alpha / (s^alpha + 1) or with beta, strategies weigh t^gamma."""

    def step(t: int) -> RegretStep:
        past = float(t - 1)
        positive, negative = (past**power / (past**power + 1.0) for power in (alpha, beta))
        return RegretStep(positive, negative, average_weight=float(t) ** gamma)

    return step


def _plus(prediction: float, gamma: float) -> Callable[[int], RegretStep]:
    return lambda t: RegretStep(floor=0.0, prediction=prediction, average_weight=float(t) ** gamma)


SCHEDULES: dict[str, Schedule] = {
    "cfr": RegretSchedule(lambda _t: RegretStep()),
    "cfr+": RegretSchedule(_plus(prediction=0.0, gamma=1.0)),
    "linear-cfr": RegretSchedule(_discounted(1.0, 1.0, 1.0)),
    "dcfr": RegretSchedule(_discounted(1.5, 0.0, 2.0)),
    "pcfr+": RegretSchedule(_plus(prediction=1.0, gamma=2.0)),
    "fp": ResponseSchedule(lambda _t: 1.0),
    "linear-fp": ResponseSchedule(lambda t: t + 1.0),
    "flop": ResponseSchedule(lambda t: t + 1.0, optimism=lambda t: 2.0 / (t + 2.0)),
    "xfp": ResponseSchedule(lambda _t: 1.0, alternating=False),
}


def find_schedule(name: str) -> Schedule:
    """Returns the algorithm called `name`."""
    if name not in SCHEDULES:
        raise TacitError(f"unknown solver {name!r}: choose one of {', '.join(SCHEDULES)}, lp")
    return SCHEDULES[name]
