"""The training loop on disk: a run that can be killed at any moment and goes on from its last checkpoint."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from tacit.errors import DivergedError, TacitError
from tacit.files import check_writable
from tacit.games import AnyGame, load_game, recall_game
from tacit.nets.checkpoint import load_tensors, read_header, save_tensors
from tacit.training.folder import RunFolder
from tacit.training.settings import find_preset
from tacit.training.system import C, M, Trainer

CHECKPOINT_SECONDS = 15.0
"""Least time between checkpoints. They hold the memories, which can take longer to write than an epoch to run."""
CHECKPOINT_SHARE = 0.1
"""Most of the time that is spent on writing them: those of memories of gigabytes come less often."""


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
    """Returns the last progress of a run that goes on until its last epoch.

    Args:
      trainer: the run, new or from `load_trainer`.
      folder: where it is kept. Every epoch's metrics and network are written, a checkpoint now and then and at the end; where
        no run was opened before, its configuration.
      time_limit: stop after this many more seconds; the run can go on later.
      on_epoch: called after every epoch.
      on_search: called during an evaluation with the number of searches done.
      on_share: called during an epoch with the share of it that is done.
      should_stop: asked after every epoch whether to stop there.
      judges: whether the run is evaluated on the way and at its end.
      clock: the time in seconds.

    Raises:
      TacitError: another process is training there, the folder holds another run, or the loss is no longer a number.
    """
    with folder.alone():
        kept = folder.checkpoint_epoch()
        if kept is not None and kept > trainer.epoch:
            raise TacitError(
                f"{folder.path} holds a run after epoch {kept}: go on with open_run(...), or choose another folder"
            )
        config = trainer.config
        if folder.config.exists():
            _require_same(folder, str(trainer.game), config)
        else:
            folder.start(str(trainer.game), config)
        folder.forget_after(trainer.epoch)
        history = folder.history()
        progress = history[-1] if history else trainer.at_rest()
        start = saved = clock()
        pause = CHECKPOINT_SECONDS
        trainer.on_share = on_share
        trainer.finish_by = None if time_limit is None else trainer.seconds + time_limit
        ends = trainer.epoch >= config.epochs
        while not ends:
            try:
                progress = trainer.run_epoch(clock)
            except DivergedError as error:
                kept = folder.checkpoint_epoch()
                last = "there is no checkpoint yet" if kept is None else f"the checkpoint of epoch {kept} is kept"
                raise DivergedError(f"{error}; {last}") from None
            ends = trainer.epoch >= config.epochs or (time_limit is not None and clock() - start >= time_limit)
            evaluates = judges and (ends or (config.evaluate_every > 0 and trainer.epoch % config.evaluate_every == 0))
            if evaluates:
                progress = trainer.judged(progress, on_search)
            folder.add_epoch(progress)
            folder.save_network(trainer, keep=evaluates)
            on_epoch(progress)
            ends = ends or should_stop()
            if ends or clock() - saved >= pause:
                began = clock()
                save_tensors(folder.checkpoint, *trainer.state())
                saved = clock()
                pause = max(CHECKPOINT_SECONDS, (saved - began) / CHECKPOINT_SHARE)
        return progress


def configure(folder: RunFolder[C, M], resume: bool, preset: str | None, settings: Mapping[str, str], seed: int | None) -> C:
    """Returns the configuration that a user asks for; a run that goes on keeps its own where nothing is said.

    Args:
      folder: of the run.
      resume: whether the run in it goes on.
      preset: the name of the settings to start from; None takes `cpu`, or those of the run.
      settings: changes to them.
      seed: of a new run, 0 where it is None; a run that goes on has its own.

    Raises:
      TacitError: there is no such preset or setting, no run, or one with another seed.
    """
    presets = folder.system.presets
    if not resume:
        return find_preset(presets, preset or "cpu").with_settings({"seed": str(seed or 0), **settings})
    known = folder.asked_for()[1]
    if seed is not None and seed != known.seed:
        raise TacitError(f"{folder.path} holds a run with seed {known.seed}, not {seed}: leave out --seed to go on")
    base = known if preset is None else find_preset(presets, preset)
    return base.with_settings({"seed": str(known.seed), "epochs": str(known.epochs), **settings})


def load_trainer(folder: RunFolder[C, M], device: str = "cpu", game: AnyGame | None = None) -> Trainer[C, M]:
    """Returns the run kept in a folder, ready to go on: from its checkpoint, or from the start if it has none yet.

    Args:
      folder: of the run.
      device: `cpu` or `cuda`.
      game: the game it is of; needed for one in a file of one's own that has gone.

    Raises:
      TacitError: there is no run, it is of another game, or its checkpoint is damaged or does not fit.
    """
    name, config = folder.asked_for()
    if game is not None and str(game) != name:
        raise TacitError(f"{folder.path} holds a run of {name}, not of {game}")
    try:
        rules = recall_game(name, (read_header(folder.checkpoint) or {}).get("source"), folder.path) if game is None else game
    except TacitError as error:
        raise TacitError(f"{folder.path}: {error}; or give the game itself: load_trainer(folder, game=game)") from None
    state = load_tensors(folder.checkpoint) if folder.checkpoint.exists() else None  # a damaged one is told before long work
    trainer: Trainer[C, M] = folder.system.trainer(rules, config, device)
    if state is not None:
        try:
            trainer.restore(*state)
        except (RuntimeError, KeyError, ValueError):
            raise TacitError(f"{folder.checkpoint} does not fit {folder.config}") from None
    return trainer


def open_run(folder: RunFolder[C, M], game: str | AnyGame, config: C, device: str = "cpu") -> Trainer[C, M]:
    """Returns the run kept in a folder, or a new one where there is none.

    Args:
      folder: of the run.
      game: the game it is of, or its name.
      config: its configuration; a run that goes on may differ in its length alone, and zeros that stand for what suits the
        game stand for what they did.
      device: `cpu` or `cuda`.

    Raises:
      TacitError: the folder holds another run, a damaged one, or cannot be written.
    """
    rules = load_game(game) if isinstance(game, str) else game
    if folder.holds_run():
        _require_same(folder, str(rules), config)
        return load_trainer(folder, device, rules)
    trainer: Trainer[C, M] = folder.system.trainer(rules, config, device)  # before a folder is made: the game may not fit
    check_writable(folder.config)
    folder.start(str(rules), trainer.config)
    return trainer


@contextmanager
def opened_run(folder: RunFolder[C, M], game: str | AnyGame, config: C, device: str = "cpu") -> Iterator[Trainer[C, M]]:
    """Yields what `open_run` returns; nobody else trains there from before the run is read.

    Raises:
      TacitError: another process is training there, or as in `open_run`.
    """
    with ExitStack() as held:
        if folder.holds_run():
            held.enter_context(folder.alone())
        trainer = open_run(folder, game, config, device)  # a run that is refused leaves no folder behind
        held.enter_context(folder.alone())
        yield trainer


def _require_same(folder: RunFolder[C, M], game: str, config: C) -> None:
    """Lets a run go on with another length, and nothing else changed.

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
