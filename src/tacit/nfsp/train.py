"""A run of NFSP in memory (Heinrich & Silver 2016, Algorithm 1): epochs of rounds that an engine plays.

Where we differ: games advance in step and networks change only between steps, so a player uses its own latest weights at
once; chance that no player ever sees is averaged in payoffs; learning starts as soon as a memory fills a batch. On compiled
games the evaluation is exact: the networks are queried at every infostate, and a best response is computed over the whole
tree. Limit hold'em is too large for that: there the strategies play against bots.
"""

from __future__ import annotations

import math
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from torch import Tensor

from tacit.errors import DivergedError
from tacit.nfsp.config import NfspConfig
from tacit.nfsp.progress import NfspProgress
from tacit.training.system import Trainer

CHUNK = 256
"""The number of rounds between checks of the losses and for Ctrl-C."""


class NfspTrainer(Trainer[NfspConfig, NfspProgress]):
    """Two players that learn from games against each other. An engine subclasses it: networks, memories, games and kernels.

    Attributes:
      progress: the class of an epoch's progress.
      loss: `[2, 2]` float64, the loss of each player's action values and policy, summed over steps since it was last zeroed.
      loss_steps: `[2, 2]` int64, the number of these steps.
      finished: `[1]` int64, games that ended so far.
    """

    why_alone = "spends several times as long on learning as on games, so workers that play would gain little"
    progress: type[NfspProgress]
    loss: Tensor
    loss_steps: Tensor
    finished: Tensor

    @abstractmethod
    def play(self, done: int, count: int) -> None:
        """Plays `count` rounds of self-play and learning after the first `done` ones."""

    @abstractmethod
    def judge(self, on_match: Callable[[int], None]) -> dict[str, float]:
        """Returns the quality of the strategies as fields of the engine's progress; calls `on_match` after each match."""

    @abstractmethod
    def kept(self, saved: Mapping[str, Tensor] | None = None) -> dict[str, Tensor]:
        """Returns the tensors that change, by name; of memories only the rows that are filled now, or in the `saved` state."""

    @property
    def steps(self) -> int:
        """Decisions made in self-play so far."""
        return self.epoch * self.config.epoch_rounds * self.config.games

    def run_epoch(self, clock: Callable[[], float] = time.perf_counter) -> NfspProgress:
        rounds, start = self.config.epoch_rounds, clock()
        self.loss.zero_()
        self.loss_steps.zero_()
        for first in range(0, rounds, CHUNK):
            self.play(self.epoch * rounds + first, min(CHUNK, rounds - first))
            loss, policy_loss = self._mean_losses()
            self.on_share(min(1.0, (first + CHUNK) / rounds))
        self.epoch += 1
        took = clock() - start
        self.seconds += took
        speed = rounds * self.config.games / max(took, 1e-9)
        return replace(self.at_rest(), loss=loss, policy_loss=policy_loss, steps_per_second=speed)

    def judged(self, metrics: NfspProgress, on_search: Callable[[int], None] = lambda _: None) -> NfspProgress:
        quality: dict[str, Any] = self.judge(on_search)
        return replace(metrics, **quality)

    def at_rest(self) -> NfspProgress:
        return self.progress(self.epoch, self.seconds, self.steps, int(self.finished), math.nan, math.nan, 0.0)

    def tensors(self) -> dict[str, Tensor]:
        return {name: tensor.clone() for name, tensor in self.kept().items()}

    def restore(self, tensors: dict[str, Tensor], header: dict[str, Any]) -> None:
        super().restore(tensors, header)
        for name, tensor in self.kept(tensors).items():
            tensor.copy_(tensors[name])

    def _mean_losses(self) -> tuple[float, float]:
        """Returns the mean losses of action values and policies in this epoch; NaN where nothing was learnt yet.

        Raises:
          DivergedError: a loss is not a finite number although something was learnt.
        """
        means = []
        totals = zip(self.loss.sum(0).tolist(), self.loss_steps.sum(0).tolist(), strict=True)
        for setting, (loss, steps) in zip(("learning_rate", "policy_learning_rate"), totals, strict=True):
            mean = loss / steps if steps else math.nan
            if steps and not math.isfinite(mean):
                raise DivergedError(f"the loss became {mean}: lower {setting}")
            means.append(mean)
        return means[0], means[1]


def filled_rows(
    memory: str, columns: Mapping[str, Tensor], offered: Tensor, capacity: int, saved: Mapping[str, Tensor] | None
) -> dict[str, Tensor]:
    """Returns a memory's tensors by name: `offered` `[2]` and the filled rows of its columns `[2, at least capacity, ...]`.

    `offered` says how many rows are filled or, if it is given, the `saved` state does.
    """
    count = int((offered if saved is None else saved[f"{memory}.offered"]).max())
    rows = {f"{memory}.{name}": column[:, : min(count, capacity)] for name, column in columns.items()}
    return {f"{memory}.offered": offered, **rows}
