"""The definition of a training system: settings with presets, a trainer, and the metrics of an epoch."""

from __future__ import annotations

import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar, cast

import numpy as np
from torch import Tensor

from tacit.errors import TacitError
from tacit.games import AnyGame, game_source
from tacit.games.own import OwnName, source_of
from tacit.training.settings import Settings


class Metrics:
    """A run's progress after an epoch: a line of `metrics.jsonl`. Subclass it as a frozen dataclass.

    Attributes:
      epoch: The number of finished epochs.
      seconds: The training time over all sessions.
      exploitability: The exploitability, if it was evaluated after this epoch.
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]
    epoch: int
    seconds: float
    exploitability: float | None


@dataclass(frozen=True)
class SearchMetrics(Metrics):
    """The progress of a run whose search is evaluated by a bound (`SearchTrainer`).

    Attributes:
      epoch: The number of finished epochs.
      seconds: The training time over all sessions.
      loss: The mean loss of the epoch.
      exploitability: A bound on the exploitability, if it was evaluated after this epoch.
      kind: `upper bound`, or `lower bound` if the game is too large for an exact evaluation.
      playthroughs: The number of playthroughs whose average policy was evaluated; for a lower bound, the games in each seat.
      margin: Half the width of a sampled bound's 95 % interval.
    """

    epoch: int
    seconds: float
    loss: float
    exploitability: float | None = None
    kind: str | None = None
    playthroughs: int = 0
    margin: float | None = None


C = TypeVar("C", bound=Settings)
M = TypeVar("M", bound=Metrics)


class ExampleSource(Protocol):
    """The source of a run's examples: self-play in this process, or in workers (`tacit.scale`)."""

    def next(self) -> dict[str, Tensor]:
        """Returns the examples of one step of self-play, by name, as `Trainer.generate` makes them."""
        ...

    def publish(self) -> None:
        """Called when the weights have changed; examples generated from now on should use the new ones."""
        ...


class Spilling(Protocol):
    """A buffer that may keep examples in files beside a checkpoint (`learning.replay.ReplayBuffer`).

    Attributes:
      spills_beside: The checkpoint; None keeps all examples in memory.
      spilled: The names of the files.
    """

    spills_beside: Path | None
    spilled: list[str]


class _OwnExamples:
    """Self-play in this process, alternating with learning."""

    def __init__(self, trainer: Trainer[Any, Any]) -> None:
        self._trainer = trainer

    def next(self) -> dict[str, Tensor]:
        return self._trainer.generate()

    def publish(self) -> None:
        """Does nothing: self-play and learning share one network."""


class Trainer(ABC, Generic[C, M]):
    """A run in memory; `state` and `restore` let it survive a kill.

    Attributes:
      example_source: The source of the run's examples, for systems that can `generate`.
      epoch: The number of finished epochs.
      seconds: The training time over all sessions.
      finish_by: The training time in seconds after which the run ends, if that comes before the last epoch.
      on_share: A function called now and then during an epoch with the share of it that is done.
      why_alone: The reason given to users who want workers for a system that cannot `generate`.
      lots_at_once: The most lots that a worker may be asked for in one order. More lots per order cost less to send, but are
        learnt from later.
    """

    why_alone: ClassVar[str] = "generates its examples itself"
    lots_at_once: ClassVar[int] = 8

    def __init__(self, game: AnyGame, config: C) -> None:
        self.game, self.config = game, config
        self.epoch, self.seconds = 0, 0.0
        self.finish_by: float | None = None
        self.on_share: Callable[[float], None] = lambda _: None
        self.example_source: ExampleSource = _OwnExamples(self)

    def generate(self) -> dict[str, Tensor]:
        """Returns the examples of one step of self-play with the current weights, by name; rows are examples.

        A system that implements this, `reseed` and `load_weights`, and learns from the examples of `example_source`, can be
        trained by workers: each worker is a trainer that only generates.

        Raises:
          TacitError: it is not implemented.
        """
        raise TacitError(f"{self.config.system} {self.why_alone}: train it without --engine")

    def reseed(self, *numbers: int) -> None:
        """Makes self-play continue with random numbers from a seed made of several numbers.

        Raises:
          TacitError: it is not implemented.
        """
        raise TacitError(f"{self.config.system} {self.why_alone}: train it without --engine")

    def follow(self, weights: dict[str, Tensor], epoch: int) -> None:
        """Makes this trainer generate examples like the run that has these weights after `epoch` epochs."""
        self.epoch = epoch
        self.load_weights(weights)

    def worker_settings(self, workers: int) -> C:
        """Returns the settings for each of `workers` workers that generate for this run."""
        del workers
        return self.config

    def progress_share(self) -> float:
        """Returns the share of the run that is done, by epochs or by time, whichever is larger."""
        done = self.epoch / self.config.epochs
        if self.finish_by is not None:
            done = max(done, self.seconds / max(self.finish_by, 1e-9))
        return min(1.0, done)

    @abstractmethod
    def run_epoch(self, clock: Callable[[], float]) -> M:
        """Returns the metrics of one more epoch.

        Raises:
          DivergedError: the loss is no longer finite.
        """

    def judged(self, metrics: M, on_search: Callable[[int], None]) -> M:
        """Returns the metrics with an evaluation added; `on_search` is called with the number of searches done, if any.

        By default nothing is evaluated.
        """
        del on_search
        return metrics

    @abstractmethod
    def at_rest(self) -> M:
        """Returns the metrics of the run as it is, without running an epoch."""

    @abstractmethod
    def weights(self) -> dict[str, Tensor]:
        """Returns all tensors needed to play."""

    @abstractmethod
    def tensors(self) -> dict[str, Tensor]:
        """Returns all tensors that `restore` needs: networks, optimizers, memories, games in play, generators."""

    def replays(self) -> Mapping[str, Spilling]:
        """Returns the replay buffers that may spill, by name; none if all examples stay in memory."""
        return {}

    def spill_beside(self, checkpoint: Path) -> None:
        """Makes replay buffers that outgrow their memory keep older examples in files beside a checkpoint."""
        for replay in self.replays().values():
            replay.spills_beside = checkpoint

    def load_weights(self, weights: dict[str, Tensor]) -> None:
        """Loads the tensors that `weights` returned, so that a run can be opened by name.

        Raises:
          TacitError: it is not implemented.
        """
        raise TacitError(f"{type(self).__name__} has no load_weights(weights): what it trained cannot be opened")

    def header(self) -> dict[str, Any]:
        """Returns the header for files of this run's weights."""
        return {
            "system": self.config.system, "game": str(self.game), "source": game_source(self.game),
            "config": self.config.as_dict(), "epoch": self.epoch, "seconds": self.seconds,
        }  # fmt: skip

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Returns the tensors and the header that `restore` needs."""
        spilled = {name: names for name, replay in self.replays().items() if (names := replay.spilled)}
        return self.tensors(), {**self.header(), **({"spilled": spilled} if spilled else {})}

    def restore(self, tensors: dict[str, Tensor], header: dict[str, Any]) -> None:
        """Restores a `state`.

        Raises:
          TacitError: the state is of another game.
        """
        if header["game"] != str(self.game):
            raise TacitError(f"the checkpoint is of {header['game']}, not of {self.game}")
        self.epoch, self.seconds = int(header["epoch"]), float(header["seconds"])
        for name, replay in self.replays().items():
            replay.spilled = header.get("spilled", {}).get(name, [])


def generator_state(generator: np.random.Generator) -> dict[str, Any]:
    """Returns a generator's state, ready for JSON; assign it to `generator.bit_generator.state` to restore it."""
    state: dict[str, Any] = json.loads(json.dumps(generator.bit_generator.state, default=int))
    return state


@dataclass(frozen=True)
class System(Generic[C, M]):
    """A training system.

    Attributes:
      config: The class of the system's settings, which has the system's name.
      trainer: A function that makes a new run from a game, settings and a device. The run's settings have the chosen values in
        place of settings left open.
      presets: Settings by name; `cpu` is the default. If there are none, `cpu` has the defaults of the settings.
      metrics: The class of an epoch's metrics.
      source: The name `FILE.py:NAME` by which a user's own system was opened.
    """

    config: type[C]
    trainer: Callable[[AnyGame, C, str], Any]
    presets: Mapping[str, C] = field(default_factory=dict)
    metrics: type[M] = SearchMetrics  # type: ignore[assignment]
    source: str | None = None

    def __post_init__(self) -> None:
        if not self.presets:
            object.__setattr__(self, "presets", {"cpu": self.config()})

    @property
    def name(self) -> str:
        """The system's name in run folders and network files."""
        return self.config.system

    def found_at(self) -> str | None:
        """Returns the name by which a user's own system can be opened again; None for built-in ones and those not in a file."""
        home = None if self.source else source_of(cast("Any", self.trainer))
        if home is None:
            return self.source
        defined = vars(sys.modules[self.trainer.__module__])
        names = (name for name, value in defined.items() if value is self)
        return next((str(OwnName(home.path, name)) for name in names), None)
