"""A line of `metrics.jsonl`: the progress of an NFSP run after an epoch, and how good each engine's strategies are."""

from __future__ import annotations

from dataclasses import dataclass, make_dataclass

from tacit.nfsp.strategies import AVERAGE, BEST_RESPONSE, GREEDY_AVERAGE
from tacit.training.system import Metrics


@dataclass(frozen=True)
class NfspProgress(Metrics):
    """The progress that every engine reports.

    Attributes:
      epoch: finished epochs.
      seconds: time spent on self-play and learning, over all sessions.
      steps: decisions made in self-play.
      games: games finished.
      loss: mean squared error of the action values in this epoch, over both players, in units of reward.
      policy_loss: mean cross entropy of the average policies.
      steps_per_second: decisions per second in this epoch.
      exploitability: exact exploitability of the average strategies, NashConv / 2; None without an evaluation or if unknown.
    """

    epoch: int
    seconds: float
    steps: int
    games: int
    loss: float
    policy_loss: float
    steps_per_second: float
    exploitability: float | None = None


@dataclass(frozen=True)
class ExactProgress(NfspProgress):
    """An epoch on a compiled game; its own fields are None without an evaluation.

    Attributes:
      nash_conv: twice the exploitability, a sum over both players.
      value: value of the average strategies for player 0.
      best_response_exploitability: exploitability of the greedy strategies of the action values.
      greedy_average_exploitability: exploitability of the average strategies' most probable actions.
    """

    nash_conv: float | None = None
    value: float | None = None
    best_response_exploitability: float | None = None
    greedy_average_exploitability: float | None = None


MATCHES = {
    "always_call": (AVERAGE, "always-call"),
    "random": (AVERAGE, "random"),
    "always_fold": (AVERAGE, "always-fold"),
    "pot_odds": (AVERAGE, "pot-odds"),
    "best_response_pot_odds": (BEST_RESPONSE, "pot-odds"),
    "greedy_average_pot_odds": (GREEDY_AVERAGE, "pot-odds"),
}
"""The strategy and the bot of each match in an evaluation of limit hold'em."""

_RATES = [(field, "float | None", None) for match in MATCHES for field in (match, f"{match}_half")]
WinRateProgress: type[NfspProgress] = make_dataclass("WinRateProgress", _RATES, bases=(NfspProgress,), frozen=True)
"""An epoch on limit hold'em: for each match the mean win rate in thousandths of a big blind per hand, sampled with every deal
in both seats, and as `*_half` half the width of its 95 % interval; None without an evaluation."""
