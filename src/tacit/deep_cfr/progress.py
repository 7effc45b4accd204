"""A line of `metrics.jsonl`: where a run of Deep CFR stands after an epoch."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.training.system import Metrics


@dataclass(frozen=True)
class DeepCfrProgress(Metrics):
    """What every epoch has.

    Attributes:
      epoch: Finished epochs.
      seconds: The time spent on sampling and learning, over all sessions.
      iterations: Iterations of CFR.
      samples: Samples offered to all memories.
      loss: The mean squared error of the advantages in this epoch, both players, in units of reward.
      policy_loss: The mean cross entropy of the average policies; None where none is learnt.
      samples_per_second: In this epoch.
      exploitability: Of the average strategy, exact, NashConv / 2; None where it was not evaluated.
      nash_conv: Twice the exploitability.
      value: Of the average strategy for player 0.
    """

    epoch: int
    seconds: float
    iterations: int
    samples: int
    loss: float
    policy_loss: float | None
    samples_per_second: float
    exploitability: float | None = None
    nash_conv: float | None = None
    value: float | None = None
