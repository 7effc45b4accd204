"""A run of NFSP in memory (Heinrich & Silver 2016, Algorithm 1): epochs of rounds that an engine plays.

Where we differ: games advance in step and networks change between steps only, so a player sees its own latest weights at
once; chance that nobody ever sees is averaged in payoffs; a memory is learnt from as soon as it fills a batch. On compiled
games the judged strategies are exact: the networks are asked at every infostate, and a best response is computed over the
whole tree. Limit hold'em is too large for that: there the strategies play against bots.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from torch import Tensor

from tacit.errors import DivergedError, TacitError
from tacit.games import AnyGame
from tacit.nfsp.config import LimitConfig, NfspConfig
from tacit.nfsp.engine import Engine
from tacit.nfsp.limit.engine import LimitEngine
from tacit.nfsp.progress import NfspProgress
from tacit.nfsp.tabular.engine import TabularEngine

CHUNK = 256
"""Rounds after which losses are looked at, and Ctrl-C is heard."""


class NfspTrainer:
    """Two players that learn from games against each other; the configuration says which engine plays."""

    def __init__(self, game: AnyGame, config: NfspConfig, device: str = "cpu") -> None:
        self.game, self.config = game, config
        engine: type[Any] = LimitEngine if isinstance(config, LimitConfig) else TabularEngine
        self.engine: Engine = engine(game, config, device)
        self.epoch, self.seconds = 0, 0.0
        self.finish_by: float | None = None  # a time limit changes nothing that is computed

    @property
    def steps(self) -> int:
        """Decisions made in self-play so far."""
        return self.epoch * self.config.epoch_rounds * self.config.games

    def run_epoch(self, clock: Callable[[], float] = time.perf_counter) -> NfspProgress:
        """Returns the progress after `epoch_rounds` more rounds.

        Raises:
          DivergedError: a loss is no longer a number.
        """
        rounds, start = self.config.epoch_rounds, clock()
        self.engine.loss.zero_()
        self.engine.steps.zero_()
        for first in range(0, rounds, CHUNK):
            self.engine.play(self.epoch * rounds + first, min(CHUNK, rounds - first))
            loss, policy_loss = self._mean_losses()
        self.epoch += 1
        took = clock() - start
        self.seconds += took
        speed = rounds * self.config.games / max(took, 1e-9)
        return replace(self.at_rest(), loss=loss, policy_loss=policy_loss, steps_per_second=speed)

    def judged(self, metrics: NfspProgress, on_search: Callable[[int], None] = lambda _: None) -> NfspProgress:
        """Returns an epoch's progress with how good the strategies are; `on_search` hears of finished matches."""
        found: dict[str, Any] = self.engine.judged(on_search)
        return replace(metrics, **found)

    def at_rest(self) -> NfspProgress:
        """Returns the progress of a run that makes no more epoch."""
        return self.engine.progress(self.epoch, self.seconds, self.steps, int(self.engine.finished), math.nan, math.nan, 0.0)

    def header(self) -> dict[str, Any]:
        """Returns what a file of this run's weights says about itself."""
        return {
            "system": self.config.system, "game": str(self.game), "config": self.config.as_dict(), "epoch": self.epoch,
            "seconds": self.seconds,
        }  # fmt: skip

    def weights(self) -> dict[str, Tensor]:
        """Returns both players' networks."""
        return self.engine.weights()

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Returns the tensors and the header that `restore` needs: networks, optimizers, memories, games, random numbers."""
        return self.engine.state(), self.header()

    def restore(self, tensors: dict[str, Tensor], header: dict[str, Any]) -> None:
        """Goes on from a `state`.

        Raises:
          TacitError: it is of another game.
        """
        if header["game"] != str(self.game):
            raise TacitError(f"the checkpoint is of {header['game']}, not of {self.game}")
        self.engine.restore(tensors)
        self.epoch, self.seconds = int(header["epoch"]), float(header["seconds"])

    def _mean_losses(self) -> tuple[float, float]:
        """Returns the mean losses of this epoch, of action values and policies; NaN where nothing was learnt yet.

        Raises:
          DivergedError: one is no number although something was learnt.
        """
        means = []
        totals = zip(self.engine.loss.sum(0).tolist(), self.engine.steps.sum(0).tolist(), strict=True)
        for setting, (loss, steps) in zip(("learning_rate", "policy_learning_rate"), totals, strict=True):
            mean = loss / steps if steps else math.nan
            if steps and not math.isfinite(mean):
                raise DivergedError(f"the loss became {mean}: lower {setting}")
            means.append(mean)
        return means[0], means[1]
