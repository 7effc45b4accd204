"""What a system that trains is: settings with presets, a trainer, and the metrics of an epoch."""

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
    """Where a run stands after an epoch: a line of `metrics.jsonl`. Subclass as a frozen dataclass.

    Attributes:
      epoch: finished epochs.
      seconds: time spent on training, over all sessions.
      exploitability: where it was evaluated.
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]
    epoch: int
    seconds: float
    exploitability: float | None


@dataclass(frozen=True)
class SearchMetrics(Metrics):
    """Where a run stands whose search is judged by a bound (`SearchTrainer`).

    Attributes:
      epoch: finished epochs.
      seconds: time spent on training, over all sessions.
      loss: the mean loss of the epoch.
      exploitability: a bound on it, where it was evaluated.
      kind: `upper bound`, or `lower bound` where the game is too large to be judged exactly.
      playthroughs: the playthroughs whose average policy was judged; for a lower bound, the games in each seat.
      margin: half of the 95 % interval of a sampled bound.
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
    """Where the examples come from that a run learns from: self-play here, or in workers (`tacit.scale`)."""

    def next(self) -> dict[str, Tensor]:
        """Returns the examples of one step of self-play, by name, as `Trainer.generate` makes them."""
        ...

    def publish(self) -> None:
        """Hears that the weights have changed: what is generated from now on should use them."""
        ...


class Spilling(Protocol):
    """What may keep examples in files beside a checkpoint (`learning.replay.ReplayBuffer`).

    Attributes:
      spills_beside: The checkpoint; None keeps all in memory.
      spilled: The names of the files.
    """

    spills_beside: Path | None
    spilled: list[str]


class _Here:
    """Self-play in this process, in turn with learning."""

    def __init__(self, trainer: Trainer[Any, Any]) -> None:
        self._trainer = trainer

    def next(self) -> dict[str, Tensor]:
        return self._trainer.generate()

    def publish(self) -> None:
        """Does nothing: self-play and learning share one network."""


class Trainer(ABC, Generic[C, M]):
    """A run in memory; `state` and `restore` make it survive a kill.

    Attributes:
      example_source: where its examples come from, for systems that can `generate`.
      epoch: finished epochs.
      seconds: time spent on training, over all sessions.
      finish_by: seconds of training after which the run ends, if that comes before the last epoch.
      on_share: called now and then during an epoch with the share of it that is done.
      why_alone: what users are told who want workers for a system that cannot `generate`.
      lots_at_once: The most lots that a worker may be asked for in one order. More of them cost less to send, and are learnt
        from later.
    """

    why_alone: ClassVar[str] = "generates its examples itself"
    lots_at_once: ClassVar[int] = 8

    def __init__(self, game: AnyGame, config: C) -> None:
        self.game, self.config = game, config
        self.epoch, self.seconds = 0, 0.0
        self.finish_by: float | None = None
        self.on_share: Callable[[float], None] = lambda _: None
        self.example_source: ExampleSource = _Here(self)

    def generate(self) -> dict[str, Tensor]:
        """Returns the examples of one step of self-play with the present weights, by name; rows are examples.

        A system that implements this, `reseed` and `load_weights`, and learns from what `example_source` gives it, can be
        trained by workers: each of them is a trainer that only generates.

        Raises:
          TacitError: it is not implemented.
        """
        raise TacitError(f"{self.config.system} {self.why_alone}: train it without --engine")

    def reseed(self, *numbers: int) -> None:
        """Has self-play go on with the random numbers of a seed that is made from several numbers.

        Raises:
          TacitError: it is not implemented.
        """
        raise TacitError(f"{self.config.system} {self.why_alone}: train it without --engine")

    def follow(self, weights: dict[str, Tensor], epoch: int) -> None:
        """Generates as the run does whose weights these are after so many epochs."""
        self.epoch = epoch
        self.load_weights(weights)

    def worker_settings(self, workers: int) -> C:
        """Returns the settings of each of so many workers that generate for this run."""
        del workers
        return self.config

    def progress_share(self) -> float:
        """Returns the share of the run that is done, by epochs or by time, whichever is further."""
        done = self.epoch / self.config.epochs
        if self.finish_by is not None:
            done = max(done, self.seconds / max(self.finish_by, 1e-9))
        return min(1.0, done)

    @abstractmethod
    def run_epoch(self, clock: Callable[[], float]) -> M:
        """Returns the metrics of one more epoch.

        Raises:
          DivergedError: the loss is no longer a number.
        """

    def judged(self, metrics: M, on_search: Callable[[int], None]) -> M:
        """Returns the metrics with an evaluation of what was trained; `on_search` hears of the searches done, if any.

        Without an implementation nothing is evaluated on the way.
        """
        del on_search
        return metrics

    @abstractmethod
    def at_rest(self) -> M:
        """Returns the metrics of a run that makes no more epoch."""

    @abstractmethod
    def weights(self) -> dict[str, Tensor]:
        """Returns all that playing needs."""

    @abstractmethod
    def tensors(self) -> dict[str, Tensor]:
        """Returns all tensors that `restore` needs: networks, optimizers, memories, games in play, generators."""

    def replays(self) -> Mapping[str, Spilling]:
        """Returns the replay buffers that may spill, by name; none where all examples stay in memory."""
        return {}

    def spill_beside(self, checkpoint: Path) -> None:
        """Has replay buffers that outgrow their memory keep older examples in files beside a checkpoint."""
        for replay in self.replays().values():
            replay.spills_beside = checkpoint

    def load_weights(self, weights: dict[str, Tensor]) -> None:
        """Takes over what `weights` returned, so that a run can be opened by name.

        Raises:
          TacitError: it is not implemented.
        """
        raise TacitError(f"{type(self).__name__} has no load_weights(weights): what it trained cannot be opened")

    def header(self) -> dict[str, Any]:
        """Returns what a file of this run's weights says about itself."""
        return {
            "system": self.config.system, "game": str(self.game), "source": game_source(self.game),
            "config": self.config.as_dict(), "epoch": self.epoch, "seconds": self.seconds,
        }  # fmt: skip

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Returns the tensors and the header that `restore` needs."""
        spilled = {name: names for name, replay in self.replays().items() if (names := replay.spilled)}
        return self.tensors(), {**self.header(), **({"spilled": spilled} if spilled else {})}

    def restore(self, tensors: dict[str, Tensor], header: dict[str, Any]) -> None:
        """Goes on from a `state`.

        Raises:
          TacitError: it is of another game.
        """
        if header["game"] != str(self.game):
            raise TacitError(f"the checkpoint is of {header['game']}, not of {self.game}")
        self.epoch, self.seconds = int(header["epoch"]), float(header["seconds"])
        for name, replay in self.replays().items():
            replay.spilled = header.get("spilled", {}).get(name, [])


def generator_state(generator: np.random.Generator) -> dict[str, Any]:
    """Returns where a generator stands, ready for JSON; `generator.bit_generator.state` takes it back."""
    state: dict[str, Any] = json.loads(json.dumps(generator.bit_generator.state, default=int))
    return state


@dataclass(frozen=True)
class System(Generic[C, M]):
    """A system that trains.

    Attributes:
      config: The class of its settings, which has its name.
      trainer: Makes a new run from a game, settings and a device. Its settings have numbers in place of zeros that stand for
        what suits the game.
      presets: Settings by name; `cpu` is the default. Without any, `cpu` has the defaults of the settings.
      metrics: The class of an epoch's metrics.
      source: `FILE.py:NAME` of a system of one's own that was opened by this name.
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
        """What run folders and network files call it."""
        return self.config.system

    def found_at(self) -> str | None:
        """Returns the name by which a system of one's own is opened again, None for ours and for what no file defines."""
        home = None if self.source else source_of(cast("Any", self.trainer))
        if home is None:
            return self.source
        defined = vars(sys.modules[self.trainer.__module__])
        names = (name for name, value in defined.items() if value is self)
        return next((str(OwnName(home.path, name)) for name in names), None)
