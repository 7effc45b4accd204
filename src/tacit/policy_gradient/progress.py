"""A line of `metrics.jsonl`: where a run of regret policy gradients stands after an epoch."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.training.system import Metrics


@dataclass(frozen=True)
class PolicyGradientProgress(Metrics):
    """What every epoch has.

    Attributes:
      epoch: Finished epochs.
      seconds: The time spent on self-play and learning, over all sessions.
      games: Games played.
      loss: The mean squared error of the action values in this epoch, of the mean at each action, in units of reward.
      games_per_second: In this epoch.
      exploitability: Of the present policies, exact, NashConv / 2; None where it was not evaluated.
      nash_conv: Twice the exploitability.
      value: Of the present policies for player 0.
    """

    epoch: int
    seconds: float
    games: int
    loss: float
    games_per_second: float
    exploitability: float | None = None
    nash_conv: float | None = None
    value: float | None = None
