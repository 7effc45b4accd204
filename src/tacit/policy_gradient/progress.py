"""A line of `metrics.jsonl`: the progress of a run of regret policy gradients after an epoch."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.training.system import Metrics


@dataclass(frozen=True)
class PolicyGradientProgress(Metrics):
    """The progress of a run after an epoch.

    Attributes:
      epoch: Finished epochs.
      seconds: The time spent on self-play and learning, over all sessions.
      games: Games played.
      loss: The mean squared error of the action values in this epoch against each action's mean winnings, in units of reward.
      games_per_second: Games per second in this epoch.
      exploitability: The exact exploitability of the current policies, NashConv / 2; None without an evaluation.
      nash_conv: Twice the exploitability.
      value: The value of the current policies for player 0.
    """

    epoch: int
    seconds: float
    games: int
    loss: float
    games_per_second: float
    exploitability: float | None = None
    nash_conv: float | None = None
    value: float | None = None
