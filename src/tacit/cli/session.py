"""A training session: the run is prepared, trained live, and the session is recorded."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli.common import logger, say
from tacit.cli.pace import preparation_shown
from tacit.errors import DivergedError, RunLostError, StoppedError, TacitError

if TYPE_CHECKING:
    from tacit.cli.looks import Look
    from tacit.scale.engine import Engine
    from tacit.training.folder import RunFolder


def finish_run(
    folder: RunFolder[Any, Any],
    game: str,
    config: Any,
    device: str,
    look: Look,
    title: str,
    on_epoch: Callable[[Any], None] | None = None,
) -> None:
    """Trains a run live to its last epoch, from where it was stopped; a finished run is left alone.

    With `on_epoch`, which is called after every epoch, the run is not evaluated here: the caller evaluates it.

    Raises:
      StoppedError: Ctrl-C; everything is kept.
    """
    from tacit.training.run import opened_run

    logger().print(f"{title}, kept in {folder.path}", soft_wrap=True)
    with ExitStack() as held:
        with preparation_shown(f"preparing {game}"):
            trainer: Any = held.enter_context(opened_run(folder, game, config, device, say))
        if trainer.epoch >= trainer.config.epochs:
            logger().print(f"trained before, {trainer.epoch} epochs")
        else:
            run_session(trainer, folder, look, "training", device, "the same command", on_epoch=on_epoch)


def run_session(
    trainer: Any,
    folder: RunFolder[Any, Any],
    look: Look,
    name: str,
    device: str,
    again: str,
    limit: float | None = None,
    on_epoch: Callable[[Any], None] | None = None,
    engine: Engine | None = None,
) -> Any:
    """Trains a run live and draws its learning curve; returns its last progress.

    Raises:
      StoppedError: Ctrl-C; the message says how to resume.
      TacitError: the loss is no longer a number, or a file could not be written; the message says what is kept.
    """
    from tacit.cli.live import train_live

    _note_session(folder, trainer.config.seed, device)
    try:
        last, stopped = train_live(trainer, folder, look, name, limit, on_epoch, engine)
    except KeyboardInterrupt:  # the second Ctrl-C: the epoch is not finished
        raise StoppedError(f"at once; resume {_where(folder)} with: {again}") from None
    except OSError as error:
        problem = f"cannot write {error.filename or folder.path}: {error.strerror or error}"
        raise TacitError(f"{problem}; resume {_where(folder)} with: {again}") from None
    except DivergedError as error:
        again = f", or resume from it with: {again}" if folder.checkpoints() else ""
        raise DivergedError(f"{error}; start a new run with that{again}") from None
    except RunLostError:  # there is nothing to resume
        raise
    except TacitError as error:
        raise TacitError(f"{error}; resume {_where(folder)} with: {again}") from None
    if stopped:
        raise StoppedError(f"after epoch {trainer.epoch} of {trainer.config.epochs}, all kept; resume with: {again}")
    evaluated = [epoch for epoch in folder.history() if look.evaluated(epoch)]
    if evaluated:
        look.draw(evaluated, str(trainer.game), look.published(trainer), folder.curve)
    return last


def _where(folder: RunFolder[Any, Any]) -> str:
    """Returns in words where a run can resume from."""
    return "from the last checkpoint" if folder.checkpoints() else "from the start (there is no checkpoint yet)"


def _note_session(folder: RunFolder[Any, Any], seed: int, device: str) -> None:
    """Records the command, the time, and the version of the code."""
    from tacit import __version__

    commit = _commit()
    facts = [f"version {__version__}", *([f"commit {commit}"] if commit else []), f"seed {seed}", f"device {device}"]
    now = datetime.now().isoformat(timespec="seconds")
    folder.add_command(f"{now}  tacit {shlex.join(sys.argv[1:])}  ({', '.join(facts)})")


def _commit() -> str | None:
    """Returns the commit of the source tree this program runs from, None if it is installed."""
    root = Path(__file__).parents[3]
    if not (root / ".git").exists():  # a repository further up is not ours
        return None
    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--exclude=*"]
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return result.stdout.strip() or None
