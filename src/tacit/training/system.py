"""What a system that trains is: a configuration with presets, a trainer, and the metrics of an epoch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

from torch import Tensor

from tacit.games import AnyGame


class Config(Protocol):
    """Settings of a run, a frozen dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def epochs(self) -> int:
        """Length of the run."""

    @property
    def evaluate_every(self) -> int:
        """Epochs between evaluations; 0 evaluates at the end only."""

    @property
    def seed(self) -> int:
        """Of everything random."""

    def with_settings(self, settings: dict[str, str]) -> Self:
        """Returns the configuration with `key=value` settings applied."""
        ...

    def as_dict(self) -> dict[str, Any]:
        """Returns the settings, ready for JSON."""
        ...


class Metrics(Protocol):
    """Where a run stands after an epoch: a line of `metrics.jsonl`, a frozen dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def epoch(self) -> int:
        """Finished epochs."""

    @property
    def seconds(self) -> float:
        """Time spent on training, over all sessions."""

    @property
    def exploitability(self) -> float | None:
        """Where it was evaluated."""


C = TypeVar("C", bound=Config)
M = TypeVar("M", bound=Metrics)


class Trainer(Protocol[C, M]):
    """A run in memory; `state` and `restore` make it survive a kill."""

    game: AnyGame
    config: C
    epoch: int
    seconds: float
    finish_by: float | None
    """Seconds of training after which the run ends, if that comes before the last epoch."""

    def run_epoch(self, clock: Callable[[], float]) -> M:
        """Returns the metrics of one more epoch.

        Raises:
          DivergedError: the loss is no longer a number.
        """
        ...

    def judged(self, metrics: M, on_search: Callable[[int], None]) -> M:
        """Returns the metrics with an evaluation of what was trained; `on_search` hears of the searches done, if any."""
        ...

    def at_rest(self) -> M:
        """Returns the metrics of a run that makes no more epoch."""
        ...

    def header(self) -> dict[str, Any]:
        """Returns what a file of this run's weights says about itself."""
        ...

    def weights(self) -> dict[str, Tensor]:
        """Returns all that playing needs."""
        ...

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Returns the tensors and the header that `restore` needs."""
        ...

    def restore(self, tensors: dict[str, Tensor], header: dict[str, Any]) -> None:
        """Goes on from a `state`.

        Raises:
          TacitError: it is of another game.
        """
        ...


@dataclass(frozen=True)
class System(Generic[C, M]):
    """A system that trains.

    Attributes:
      name: as in `tacit train NAME`.
      config: the class of its settings.
      presets: settings by name; `cpu` is the default.
      metrics: the class of an epoch's metrics.
      trainer: makes a new run from a game, settings and a device.
    """

    name: str
    config: type[C]
    presets: Mapping[str, C]
    metrics: type[M]
    trainer: Callable[[AnyGame, C, str], Any]
