"""A line of `metrics.jsonl`: the progress of a run of Deep CFR after an epoch."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.training.system import Metrics


@dataclass(frozen=True)
class DeepCfrProgress(Metrics):
    """The progress of a run after an epoch.

    Attributes:
      epoch: Finished epochs.
      seconds: The time spent on sampling and learning, over all sessions.
      iterations: Iterations of CFR.
      samples: Samples offered to all memories.
      loss: The mean squared error of the advantages in this epoch, over both players, in units of reward.
      policy_loss: The mean cross entropy of the average policies; None if no policy is learnt.
      samples_per_second: Samples per second in this epoch.
      exploitability: The exact exploitability of the average strategy, NashConv / 2; None without an evaluation.
      nash_conv: Twice the exploitability.
      value: The value of the average strategy for player 0.
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
