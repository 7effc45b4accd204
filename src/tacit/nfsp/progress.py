"""Where a run of NFSP stands, whatever trains it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SelfPlayProgress:
    """What every line of `metrics.jsonl` has.

    Attributes:
      epoch: finished epochs.
      seconds: time spent on self-play and learning, over all sessions.
      steps: decisions made in self-play.
      games: games finished.
      loss: mean squared error of the action values in this epoch, both players, in units of reward.
      policy_loss: mean cross entropy of the average policies.
      steps_per_second: in this epoch.
    """

    epoch: int
    seconds: float
    steps: int
    games: int
    loss: float
    policy_loss: float
    steps_per_second: float
