"""What all trainers of NFSP do alike: epochs of rounds, their mean losses, and a stop where a loss is no number."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from tacit.errors import DivergedError, TacitError
from tacit.games import AnyGame
from tacit.nfsp.progress import SelfPlayProgress

CHUNK = 256
"""Rounds after which losses are looked at, and Ctrl-C is heard."""


class SelfPlayConfig(Protocol):
    """What an epoch needs of a configuration."""

    @property
    def games(self) -> int:
        """Games that advance one decision in a round."""

    @property
    def epoch_rounds(self) -> int:
        """Rounds an epoch."""

    def as_dict(self) -> dict[str, Any]:
        """Returns the settings, ready for JSON."""
        ...


C = TypeVar("C", bound=SelfPlayConfig)
P = TypeVar("P", bound=SelfPlayProgress)


class SelfPlayTrainer(ABC, Generic[C, P]):
    """A run in memory of two players that learn from games against each other.

    Args:
      system: what run folders and network files call it.
      game: the game.
      config: the settings.
      progress: the class of an epoch's progress.
    """

    def __init__(self, system: str, game: AnyGame, config: C, progress: type[P]) -> None:
        self.game, self.config = game, config
        self.epoch, self.seconds = 0, 0.0
        self.finish_by: float | None = None  # a time limit changes nothing that is computed
        self._system, self._progress = system, progress

    @property
    def steps(self) -> int:
        """Decisions made in self-play so far."""
        return self.epoch * self.config.epoch_rounds * self.config.games

    def run_epoch(self, clock: Callable[[], float] = time.perf_counter) -> P:
        """Returns the progress after `epoch_rounds` more rounds.

        Raises:
          DivergedError: a loss is no longer a number.
        """
        rounds, start = self.config.epoch_rounds, clock()
        self._forget_losses()
        for first in range(0, rounds, CHUNK):
            self._play(first, min(CHUNK, rounds - first))
            loss, policy_loss = self._mean_losses()
        self.epoch += 1
        took = clock() - start
        self.seconds += took
        speed = rounds * self.config.games / max(took, 1e-9)
        return replace(self.at_rest(), loss=loss, policy_loss=policy_loss, steps_per_second=speed)

    def at_rest(self) -> P:
        """Returns the progress of a run that makes no more epoch."""
        return self._progress(self.epoch, self.seconds, self.steps, self._games_finished(), math.nan, math.nan, 0.0)

    def header(self) -> dict[str, Any]:
        """Returns what a file of this run's weights says about itself."""
        return {
            "system": self._system, "game": str(self.game), "config": self.config.as_dict(), "epoch": self.epoch,
            "seconds": self.seconds,
        }  # fmt: skip

    def restore(self, tensors: dict[str, Tensor], header: dict[str, Any]) -> None:
        """Goes on from a `state`.

        Raises:
          TacitError: it is of another game.
        """
        if header["game"] != str(self.game):
            raise TacitError(f"the checkpoint is of {header['game']}, not of {self.game}")
        self._take(tensors)
        self.epoch, self.seconds = int(header["epoch"]), float(header["seconds"])

    def _mean_losses(self) -> tuple[float, float]:
        """Returns the mean losses of this epoch, of action values and policies; NaN where nothing was learnt yet.

        Raises:
          DivergedError: one is no number although something was learnt.
        """
        values, policies = (float(loss) / int(steps) if steps else None for loss, steps in zip(*self._losses(), strict=True))
        for key, mean in (("learning_rate", values), ("policy_learning_rate", policies)):
            if mean is not None and not math.isfinite(mean):
                raise DivergedError(f"the loss became {mean}: lower {key}")
        return math.nan if values is None else values, math.nan if policies is None else policies

    @abstractmethod
    def _forget_losses(self) -> None:
        """Begins to sum losses anew."""

    @abstractmethod
    def _play(self, first: int, count: int) -> None:
        """Plays `count` rounds of an epoch, after the `first` ones."""

    @abstractmethod
    def _losses(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Returns the losses `[2]` of action values and policies, summed over steps and players, and the number of steps."""

    @abstractmethod
    def _games_finished(self) -> int:
        """Returns how many games ended so far."""

    @abstractmethod
    def _take(self, tensors: dict[str, Tensor]) -> None:
        """Takes over the tensors of a `state`."""
