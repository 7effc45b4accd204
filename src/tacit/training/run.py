"""The training loop on disk: a run can be killed at any moment and continues from its last checkpoint."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

from torch import Tensor

from tacit.errors import DamagedError, DivergedError, TacitError
from tacit.files import check_writable
from tacit.games import AnyGame, load_game, recall_game
from tacit.nets.checkpoint import is_whole, load_tensors
from tacit.training.folder import RunFolder
from tacit.training.settings import find_preset
from tacit.training.steady import SteadyClock
from tacit.training.system import C, M, Trainer

CHECKPOINT_SECONDS = 15.0
"""The least time between checkpoints. They contain the replay memories, which can take longer to write than an epoch to run."""
CHECKPOINT_SHARE = 0.1
"""The largest share of time spent on writing checkpoints: those with gigabytes of memories are written less often."""


def train(
    trainer: Trainer[C, M],
    folder: RunFolder[C, M],
    *,
    time_limit: float | None = None,
    on_epoch: Callable[[M], None] = lambda _: None,
    on_search: Callable[[int], None] = lambda _: None,
    on_share: Callable[[float], None] = lambda _: None,
    should_stop: Callable[[], bool] = lambda: False,
    judges: bool = True,
    clock: Callable[[], float] = time.perf_counter,
) -> M:
    """Returns the last metrics of a run after training it to its last epoch.

    Args:
      trainer: the run, new or from `load_trainer`.
      folder: the run's folder. Every epoch's metrics and network are written to it, a checkpoint now and then and at the end,
        and the configuration if no run was opened there before.
      time_limit: stop after this many more seconds; the run can be continued later.
      on_epoch: called after every epoch.
      on_search: called during an evaluation with the number of searches done.
      on_share: called during an epoch with the share of it that is done.
      should_stop: called after every epoch; returns whether to stop there.
      judges: whether the run is evaluated during training and at its end.
      clock: the time in seconds; if it jumps back, no time passes.

    Raises:
      DivergedError: the loss or a weight is no longer finite; nothing of that epoch is written.
      RunLostError: somebody removed the folder.
      TacitError: another process is training there, the folder holds another run, or it cannot be written.
    """
    clock = SteadyClock(clock)
    with folder.alone():
        for kept, file in folder.checkpoints().items():
            if kept > trainer.epoch and is_whole(file):
                raise TacitError(
                    f"{folder.path} holds a run after epoch {kept}: continue it with open_run(...), or choose another folder"
                )
        config = trainer.config
        if folder.config.exists():
            _require_same(folder, str(trainer.game), config)
        else:
            folder.start(str(trainer.game), config)
        folder.forget_after(trainer.epoch)
        trainer.spill_beside(folder.checkpoint_file(0))
        history = folder.history()
        progress = history[-1] if history else trainer.at_rest()
        start = saved = clock()
        pause = CHECKPOINT_SECONDS
        trainer.on_share = on_share
        trainer.finish_by = None if time_limit is None else trainer.seconds + time_limit
        ends = trainer.epoch >= config.epochs
        with folder.staying_ours():
            while not ends:
                try:
                    progress = trainer.run_epoch(clock)
                    weights = trainer.weights()
                    _require_numbers(weights)
                except DivergedError as error:
                    last = folder.checkpoint_epoch()
                    kept_state = "there is no checkpoint yet" if last is None else f"the checkpoint of epoch {last} is kept"
                    raise DivergedError(f"{error}; {kept_state}") from None
                ends = trainer.epoch >= config.epochs or (time_limit is not None and clock() - start >= time_limit)
                evaluates = judges and (ends or (config.evaluate_every > 0 and trainer.epoch % config.evaluate_every == 0))
                if evaluates:
                    progress = trainer.judged(progress, on_search)
                folder.require_ours()
                folder.add_epoch(progress)
                folder.save_network(trainer, evaluates, weights)
                on_epoch(progress)
                ends = ends or should_stop()
                if ends or clock() - saved >= pause:
                    began = clock()
                    folder.save_checkpoint(trainer)
                    saved = clock()
                    pause = max(CHECKPOINT_SECONDS, (saved - began) / CHECKPOINT_SHARE)
        return progress


def _require_numbers(weights: Mapping[str, Tensor]) -> None:
    """Checks that all weights are finite.

    Raises:
      DivergedError: a weight is not.
    """
    for name, tensor in weights.items():
        if tensor.is_floating_point() and not bool(tensor.isfinite().all()):
            raise DivergedError(f"weights ({name}) are no longer numbers: lower the learning rate")


def configure(folder: RunFolder[C, M], resume: bool, preset: str | None, settings: Mapping[str, str], seed: int | None) -> C:
    """Returns the configuration that a user asks for; a resumed run keeps its own settings unless told otherwise.

    Args:
      folder: the run's folder.
      resume: whether to continue the run in the folder.
      preset: the name of the settings to start from; None takes `cpu`, or those of the resumed run.
      settings: changes to these settings.
      seed: the seed of a new run, 0 if None; a resumed run has its own.

    Raises:
      TacitError: there is no such preset or setting, no run to resume, or a run with another seed.
    """
    presets = folder.system.presets
    if not resume:
        return find_preset(presets, preset or "cpu").with_settings({"seed": str(seed or 0), **settings})
    known = folder.asked_for()[1]
    if seed is not None and seed != known.seed:
        raise TacitError(f"{folder.path} holds a run with seed {known.seed}, not {seed}: leave out --seed to continue")
    base = known if preset is None else find_preset(presets, preset)
    return base.with_settings({"seed": str(known.seed), "epochs": str(known.epochs), **settings})


def load_trainer(
    folder: RunFolder[C, M], device: str = "cpu", game: AnyGame | None = None, say: Callable[[str], None] = warnings.warn
) -> Trainer[C, M]:
    """Returns the run in a folder, ready to continue from its checkpoint, or from the start if it has none yet.

    If the last checkpoint is damaged, the run continues from the one before it.

    Args:
      folder: the run's folder.
      device: `cpu` or `cuda`.
      game: the run's game; only needed if it comes from a user's own file that no longer exists.
      say: called with a message if a checkpoint is damaged.

    Raises:
      TacitError: there is no run, it has another game, or its checkpoints are damaged or do not fit.
    """
    name, config = folder.asked_for()
    if game is not None and str(game) != name:
        raise TacitError(f"{folder.path} holds a run of {name}, not of {game}")
    state = _last_state(folder, say)  # reports damage before long work
    source = None if state is None else state[1].get("source")
    try:
        rules = recall_game(name, source, folder.path) if game is None else game
    except TacitError as error:
        raise TacitError(f"{folder.path}: {error}; or give the game itself: load_trainer(folder, game=game)") from None
    trainer: Trainer[C, M] = folder.system.trainer(rules, config, device)
    trainer.spill_beside(folder.checkpoint_file(0))
    if state is not None:
        try:
            trainer.restore(*state)
        except (
            RuntimeError,
            LookupError,
            ValueError,
            TypeError,
            AttributeError,
            OverflowError,
        ):
            raise TacitError(f"the checkpoint in {folder.path} does not fit {folder.config}") from None
    return trainer


def _last_state(folder: RunFolder[C, M], say: Callable[[str], None]) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
    """Returns the tensors and the header of the latest undamaged checkpoint; None if there is no checkpoint.

    Raises:
      DamagedError: all checkpoints are damaged.
      TacitError: a checkpoint cannot be read.
    """
    problem: DamagedError | None = None
    for epoch, file in reversed(folder.checkpoints().items()):
        try:
            state = load_tensors(file)
        except DamagedError as error:
            problem = problem or error
            continue
        if problem is not None:
            say(f"{problem}: continuing from the previous checkpoint, of epoch {epoch}")
        return state
    if problem is not None:
        hint = "there is no other checkpoint to continue from (`tacit runs verify` says what can still be opened)"
        raise DamagedError(f"{problem}; {hint}")
    return None


def open_run(
    folder: RunFolder[C, M], game: str | AnyGame, config: C, device: str = "cpu", say: Callable[[str], None] = warnings.warn
) -> Trainer[C, M]:
    """Returns the run in a folder, or a new one if there is none.

    Args:
      folder: the run's folder.
      game: the run's game, or its name.
      config: the run's configuration. For a run that exists only the number of epochs may differ; settings left open (zeros,
        which let the trainer choose) stand for the values chosen before.
      device: `cpu` or `cuda`.
      say: called with a message if a checkpoint is damaged.

    Raises:
      TacitError: the folder holds another run, a damaged one, or cannot be written.
    """
    rules = load_game(game) if isinstance(game, str) else game
    if folder.holds_run():
        _require_same(folder, str(rules), config)
        return load_trainer(folder, device, rules, say)
    trainer: Trainer[C, M] = folder.system.trainer(rules, config, device)  # before the folder is made: the game may not fit
    check_writable(folder.config)
    folder.start(str(rules), trainer.config)
    return trainer


@contextmanager
def opened_run(
    folder: RunFolder[C, M], game: str | AnyGame, config: C, device: str = "cpu", say: Callable[[str], None] = warnings.warn
) -> Iterator[Trainer[C, M]]:
    """Yields the run that `open_run` returns; the folder is locked before the run is read.

    Raises:
      TacitError: another process is training there, or as in `open_run`.
    """
    with ExitStack() as held:
        if folder.holds_run():
            held.enter_context(folder.alone())
        trainer = open_run(folder, game, config, device, say)  # a refused run leaves no folder behind
        held.enter_context(folder.alone())
        yield trainer


def _require_same(folder: RunFolder[C, M], game: str, config: C) -> None:
    """Checks that only the number of epochs differs from the run in the folder, and saves that number.

    Raises:
      TacitError: the folder holds a run of another game or with other settings.
    """
    known_game, known = folder.asked_for()
    if known_game != game:
        raise TacitError(f"{folder.path} holds a run of {known_game}, not of {game}")
    left_open = {*config.left_open(), *known.left_open()}
    asked = {name: value for name, value in config.as_dict().items() if name not in left_open}
    known_settings = known.as_dict()
    differ = [key for key, value in known_settings.items() if key != "epochs" and asked.get(key, value) != value]
    if differ:
        told = ", ".join(f"{key}={known_settings[key]} and not {asked[key]}" for key in differ)
        raise TacitError(f"{folder.path} holds a run with other settings ({told}): only epochs can be changed")
    epochs = asked.get("epochs", known.epochs)
    if epochs != known.epochs:
        folder.start(game, replace(known, epochs=epochs))
