"""A line of `metrics.jsonl`: where a run of NFSP stands after an epoch, and how each engine's strategies are measured."""

from __future__ import annotations

from dataclasses import dataclass, make_dataclass

from tacit.nfsp.strategies import AVERAGE, BEST_RESPONSE, GREEDY_AVERAGE
from tacit.training.system import Metrics


@dataclass(frozen=True)
class NfspProgress(Metrics):
    """What every epoch has.

    Attributes:
      epoch: finished epochs.
      seconds: time spent on self-play and learning, over all sessions.
      steps: decisions made in self-play.
      games: games finished.
      loss: mean squared error of the action values in this epoch, both players, in units of reward.
      policy_loss: mean cross entropy of the average policies.
      steps_per_second: in this epoch.
      exploitability: of the average strategies, exact, NashConv / 2; None where it was not evaluated or is not known.
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
    """An epoch of a compiled game; None where it was not evaluated.

    Attributes:
      nash_conv: twice the exploitability, a sum over both players.
      value: of the average strategies for player 0.
      best_response_exploitability: of the greedy strategies of the action values.
      greedy_average_exploitability: of the average strategies' likeliest actions.
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
"""In limit hold'em, the strategy and the bot of each match of an evaluation."""

_RATES = [(field, "float | None", None) for match in MATCHES for field in (match, f"{match}_half")]
WinRateProgress: type[NfspProgress] = make_dataclass("WinRateProgress", _RATES, bases=(NfspProgress,), frozen=True)
"""An epoch of limit hold'em: for each match its mean win rate in thousandths of a big blind a hand, sampled, every deal in both
seats, and as `*_half` half of the 95 % interval; None where it was not evaluated."""
