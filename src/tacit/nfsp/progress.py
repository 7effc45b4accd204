"""A line of `metrics.jsonl`: where a run of NFSP stands after an epoch, and how each engine's strategies are measured."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.nfsp.strategies import AVERAGE, BEST_RESPONSE, GREEDY_AVERAGE


@dataclass(frozen=True)
class NfspProgress:
    """What every epoch has.

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


@dataclass(frozen=True)
class ExactProgress(NfspProgress):
    """An epoch of a compiled game; epochs that were not evaluated have None.

    Attributes:
      exploitability: of the average strategies: exact, NashConv / 2.
      nash_conv: the same as a sum over both players.
      value: of the average strategies for player 0.
      best_response_exploitability: of the greedy strategies of the action values.
      greedy_average_exploitability: of the average strategies' likeliest actions.
    """

    exploitability: float | None = None
    nash_conv: float | None = None
    value: float | None = None
    best_response_exploitability: float | None = None
    greedy_average_exploitability: float | None = None


@dataclass(frozen=True)
class WinRateProgress(NfspProgress):
    """An epoch of limit hold'em; epochs that were not evaluated have None.

    A field of `MATCHES` is the mean win rate of that match in thousandths of a big blind a hand, sampled, every deal in both
    seats; `*_half` is half of its 95 % interval.
    """

    always_call: float | None = None
    always_call_half: float | None = None
    random: float | None = None
    random_half: float | None = None
    always_fold: float | None = None
    always_fold_half: float | None = None
    pot_odds: float | None = None
    pot_odds_half: float | None = None
    best_response_pot_odds: float | None = None
    best_response_pot_odds_half: float | None = None
    greedy_average_pot_odds: float | None = None
    greedy_average_pot_odds_half: float | None = None

    @property
    def exploitability(self) -> None:
        """Not known: the game is too large."""
        return


MATCHES = {
    "always_call": (AVERAGE, "always-call"),
    "random": (AVERAGE, "random"),
    "always_fold": (AVERAGE, "always-fold"),
    "pot_odds": (AVERAGE, "pot-odds"),
    "best_response_pot_odds": (BEST_RESPONSE, "pot-odds"),
    "greedy_average_pot_odds": (GREEDY_AVERAGE, "pot-odds"),
}
"""The strategy and the bot of each win rate."""
