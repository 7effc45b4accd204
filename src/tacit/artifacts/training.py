"""`tacit.train`: trains an agent by self-play and keeps it in a folder."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tacit.artifacts.systems import checked_system, find_system
from tacit.errors import TacitError
from tacit.games import AnyGame, load_game
from tacit.games.own import source_of
from tacit.html import card, facts, log_curve
from tacit.kernels import check_backend
from tacit.training.folder import RunFolder
from tacit.training.run import configure, opened_run
from tacit.training.run import train as train_run
from tacit.training.system import Metrics, System


@dataclass(frozen=True, repr=False)
class TrainResult(PathLike[str]):
    """A trained run. It can be passed wherever its folder can: to `tacit.open`, `tacit.match` and the like.

    Attributes:
      system: The system's name.
      game: The game's name with its parameters.
      run: The folder.
      epoch: The epochs finished.
      epochs: The epochs of the complete run.
      seconds: The time spent on training, over all sessions.
      history: The metrics of every epoch.
      passing: The temporary folder if none was named; it is removed with the result.
    """

    system: str
    game: str
    run: Path
    epoch: int
    epochs: int
    seconds: float
    history: list[Metrics]
    passing: TemporaryDirectory[str] | None = None

    @property
    def finished(self) -> bool:
        """Whether no epoch is left."""
        return self.epoch >= self.epochs

    @property
    def exploitability(self) -> float | None:
        """The figure of the last evaluated epoch, exact or a bound as the system reports it; None if none was evaluated."""
        known = [epoch.exploitability for epoch in self.history if epoch.exploitability is not None]
        return known[-1] if known else None

    def __fspath__(self) -> str:
        return str(self.run)

    def __str__(self) -> str:
        return str(self.run)

    def __repr__(self) -> str:
        judged = "" if self.exploitability is None else f", exploitability {self.exploitability:.4g}"
        done = f"{self.epoch} of {self.epochs} epochs in {self.seconds:.0f} s"
        return f"<TrainResult {self.run}: {self.system} on {self.game}, {done}{judged}>"

    def _repr_html_(self) -> str:
        figures = {
            "epochs": f"{self.epoch} of {self.epochs}", "seconds": self.seconds, "exploitability": self.exploitability,
            "folder": "removed with this result" if self.passing else self.run,
        }  # fmt: skip
        points = [(float(epoch.epoch), epoch.exploitability) for epoch in self.history if epoch.exploitability is not None]
        curve = log_curve(points, "epochs", "exploitability")
        return card(f"{self.system} on {self.game}", facts(figures), curve)


def train(
    system: str | System[Any, Any],
    game: AnyGame | str,
    *,
    run: str | PathLike[str] | None = None,
    preset: str | None = None,
    time_limit: float | None = None,
    resume: bool = False,
    device: str = "cpu",
    seed: int | None = None,
    on_epoch: Callable[[Metrics], None] = lambda _: None,
    clock: Callable[[], float] = time.perf_counter,
    **settings: str | float | bool | type[Any],
) -> TrainResult:
    """Trains an agent by self-play and returns its run. A run can be killed at any moment and resumed with `resume=True`.

    Args:
      system: `rebel`, `sog`, `deepstack`, `nfsp`, `dqn`, `deep-cfr`, `sd-cfr`, `rpg`, `blueprint`, your own `System`, or its
        `FILE.py:SYSTEM`.
      game: the game, or its name.
      run: the folder of the run: configuration, metrics, checkpoints. None takes one that is removed with the result.
      preset: the settings to start from: `cpu` (the default), `gpu`, `paper` or `smoke`.
      time_limit: stop after this many seconds; the run can be resumed later.
      resume: resume the run in the folder; settings that are not given stay as they were.
      device: `cpu` or `cuda`.
      seed: seed for everything random, by default 0; a resumed run keeps its own.
      on_epoch: called with the metrics of every epoch.
      clock: returns the time in seconds.
      **settings: changes to the preset, like `epochs=100` or `network="nets.py:Net(width=64)"`; a class stands for its name.

    Raises:
      TacitError: there is no such system, preset or setting, or the folder holds another run.
    """
    rules = load_game(game) if isinstance(game, str) else game
    known = find_system(system, rules) if isinstance(system, str) else checked_system(system)
    passing = TemporaryDirectory(prefix="tacit-run-") if run is None else None
    folder: RunFolder[Any, Any] = RunFolder(Path(passing.name if passing else run or ""), known)
    if folder.holds_run() != resume:
        wrong = "has no run to resume" if resume else "holds a run: add resume=True, or choose another"
        raise TacitError(f"{folder.path} {wrong}")
    if time_limit is not None and not time_limit > 0:
        raise TacitError(f"time_limit must be positive, not {time_limit}")
    check_backend("torch", device)
    config = configure(folder, resume, preset, {key: _in_words(value) for key, value in settings.items()}, seed)
    with opened_run(folder, rules, config, device) as trainer:
        train_run(trainer, folder, time_limit=time_limit, on_epoch=on_epoch, clock=clock)
        epochs, history = trainer.config.epochs, folder.history()
        return TrainResult(known.name, str(rules), folder.path, trainer.epoch, epochs, trainer.seconds, history, passing)


def _in_words(value: str | float | bool | type[Any]) -> str:
    """Returns a setting as the command line writes it.

    Raises:
      TacitError: the setting is a class that no file defines.
    """
    if not isinstance(value, type):
        return str(value).lower() if isinstance(value, bool) else str(value)
    own = source_of(value)
    if own is None:
        raise TacitError(f"{value.__name__} is not defined in a Python file of yours: a resumed run could not find it again")
    return str(own)
