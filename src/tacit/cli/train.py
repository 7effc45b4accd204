"""`tacit train`: self-play until it is good, live."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from tacit.cli.common import JsonOption, logger, print_json, print_lines, program, start
from tacit.cli.looks import SYSTEMS, find_system
from tacit.cli.solve_checks import parse_seconds
from tacit.errors import StoppedError, TacitError

if TYPE_CHECKING:
    from torch import Tensor

    from tacit.cli.looks import Look
    from tacit.games import AnyGame
    from tacit.training.folder import RunFolder
    from tacit.training.settings import Settings


def train(
    system: Annotated[str, typer.Argument(help="What to train: rebel, sog, deepstack, nfsp, dqn or blueprint.")],
    game: Annotated[str, typer.Argument(help="The game, as in `tacit games`, or FILE.py:CLASS.")],
    run: Annotated[Path, typer.Option(help="Folder of the run: configuration, metrics, checkpoints, TensorBoard events.")],
    preset: Annotated[str | None, typer.Option(help="cpu, gpu (not NFSP on trees), paper or smoke. [default: cpu]")] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="Change a setting of the preset: key=value.")] = None,
    time_limit: Annotated[str | None, typer.Option(help="Stop after this time: 90s, 10m, 1h.")] = None,
    start_from: Annotated[
        str | None,
        typer.Option(help="Hold'em: begin with what another run learnt: its folder, a network file, pretrained:NAME."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in the folder.")] = False,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of everything random.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Train an agent by self-play. A run can be killed at any moment and goes on with --resume.

    Examples:

      tacit train rebel "liars_dice(dice=1,faces=4)" --run runs/dice --time-limit 5m

      tacit train rebel kuhn_poker --run runs/kuhn --set hidden=64 --set epochs=100

      tacit train sog pot_limit_leduc --run runs/student

      tacit train deepstack pot_limit_leduc --run runs/deepstack --time-limit 2m

      tacit train blueprint no_limit_holdem --run runs/blueprint --time-limit 20m

      tacit train nfsp leduc_poker --run runs/leduc

      tacit train nfsp leduc_poker --run runs/paper --preset paper --set memory=window

      tacit train nfsp limit_holdem --run runs/limit --preset paper --device cuda

      tacit train rebel no_limit_holdem --run runs/holdem --preset gpu --device cuda --start-from pretrained:no_limit_holdem

      tacit train rebel "liars_dice(dice=1,faces=4)" --run runs/dice --resume

      tacit train rebel "liars_dice(dice=1,faces=4)" --run runs/dice --resume --set epochs=80
    """
    from tacit.games import load_game
    from tacit.kernels import check_backend
    from tacit.training.folder import RunFolder
    from tacit.training.run import opened_run

    if system not in SYSTEMS:
        raise TacitError(f"unknown system {system!r}: choose one of {', '.join(SYSTEMS)}")
    limit = None if time_limit is None else parse_seconds(time_limit)
    rules = load_game(game)
    found, look = find_system(system, rules)
    folder = RunFolder(run, found)
    if folder.holds_run() != resume:
        raise TacitError(f"{run} {'has no run to go on with' if resume else 'holds a run: add --resume, or choose another'}")
    check_backend("torch", device)
    start(seed)
    pairs = dict(_split(setting) for setting in settings or [])
    config, beginner = _configured(folder, resume, preset, pairs, seed), cast("Any", found.trainer)
    weights = None if start_from is None else _weights(start_from, beginner, rules, config, resume)
    again = f"{program()} train {system} {shlex.quote(game)} --run {shlex.quote(str(run))} --resume"
    with opened_run(folder, rules, config, device) as trainer:
        if trainer.epoch:
            logger().print(f"going on after epoch {trainer.epoch}")
        elif resume:
            logger().print("no checkpoint yet: starting again")
        if weights is not None:
            beginner.start_from(trainer, weights)
            logger().print(f"begins with the networks of {start_from}", soft_wrap=True)
        last = _session(trainer, folder, look, system, device, again, limit)
    report = _report(system, trainer, folder, look, last)
    print_json(report) if as_json else _print(look, report, game, again)


def _report(system: str, trainer: Any, folder: RunFolder[Any, Any], look: Look, last: Any) -> dict[str, Any]:
    """Returns what is said of a run that was trained, as JSON has it."""
    return {
        "game": str(trainer.game), "system": system, "run": str(folder.path), "epoch": trainer.epoch,
        "finished": trainer.epoch >= trainer.config.epochs, "seconds": trainer.seconds, "exploitability": last.exploitability,
        "kind": look.kind, "published": look.published(trainer), "plot": str(folder.curve), **look.report(trainer, last),
    }  # fmt: skip


def _print(look: Look, report: dict[str, Any], game: str, again: str) -> None:
    """Prints it for people; `game` is as they wrote it."""
    quoted = shlex.quote(report["run"])
    print_lines(
        *look.lines({**report, "asked": game}),
        *([] if report["finished"] else [f"go on: {again}"]),
        f"play against it: {program()} play {shlex.quote(game)} --agent {quoted}",
        f"learning curve: {report['plot']}; all metrics: tensorboard --logdir {quoted}",
    )


def _weights(name: str, trainer: Any, game: AnyGame, config: Settings, resume: bool) -> dict[str, Tensor]:
    """Returns the networks of another run that a new one is to begin with, before a folder is made.

    Raises:
      TacitError: they do not fit, or it is no run that could.
    """
    from tacit.nets.checkpoint import load_tensors
    from tacit.training.folder import network_file

    if resume or not hasattr(trainer, "start_from"):
        raise TacitError("--start-from is for new runs of rebel at hold'em")
    weights, header = load_tensors(network_file(name))
    trainer.check_start(game, config, header)
    return weights


def _configured(folder: RunFolder[Any, Any], resume: bool, preset: str | None, settings: dict[str, str], seed: int) -> Settings:
    """Returns the configuration the user asks for; a run that goes on keeps its own where nothing is said."""
    from tacit.training.settings import find_preset

    presets = folder.system.presets
    if not resume:
        fresh: Settings = find_preset(presets, preset or "cpu").with_settings({"seed": str(seed), **settings})
        return fresh
    known: Settings = folder.asked_for()[1]
    base = known if preset is None else find_preset(presets, preset)
    return base.with_settings({"seed": str(known.seed), "epochs": str(known.epochs), **settings})


def finish_run(
    folder: RunFolder[Any, Any],
    game: str,
    config: Any,
    device: str,
    look: Look,
    title: str,
    on_epoch: Callable[[Any], None] | None = None,
) -> None:
    """Trains a run with a title to its end before the user's eyes, from where it was stopped; a finished one is left alone.

    With `on_epoch`, which is called after every epoch, the run is not evaluated: somebody else judges it.

    Raises:
      StoppedError: by Ctrl-C; everything is kept.
    """
    from tacit.training.run import opened_run

    logger().print(f"{title}, kept in {folder.path}", soft_wrap=True)
    with opened_run(folder, game, config, device) as trainer:
        if trainer.epoch >= config.epochs:
            logger().print(f"trained before, {trainer.epoch} epochs")
        else:
            _session(trainer, folder, look, "training", device, "the same command", on_epoch=on_epoch)


def _session(
    trainer: Any,
    folder: RunFolder[Any, Any],
    look: Look,
    name: str,
    device: str,
    again: str,
    limit: float | None = None,
    on_epoch: Callable[[Any], None] | None = None,
) -> Any:
    """Returns the last progress of a run that is trained live, after drawing its learning curve.

    Raises:
      StoppedError: by Ctrl-C, with how to go on.
    """
    from tacit.cli.live import train_live

    _note_session(folder, trainer.config.seed, device)
    try:
        last, stopped = train_live(trainer, folder, look, name, limit, on_epoch)
    except KeyboardInterrupt:  # the second one: the epoch is not waited for
        where = "from the last checkpoint" if folder.checkpoint.exists() else "from the start (there is no checkpoint yet)"
        raise StoppedError(f"at once; go on {where} with: {again}") from None
    if stopped:
        raise StoppedError(f"after epoch {trainer.epoch} of {trainer.config.epochs}, all kept; go on with: {again}")
    evaluated = [epoch for epoch in folder.history() if look.evaluated(epoch)]
    if evaluated:
        look.draw(evaluated, str(trainer.game), look.published(trainer), folder.curve)
    return last


def _note_session(folder: RunFolder[Any, Any], seed: int, device: str) -> None:
    """Writes down what was called, when, and with which code."""
    from tacit import __version__

    commit = _commit()
    facts = [f"version {__version__}", *([f"commit {commit}"] if commit else []), f"seed {seed}", f"device {device}"]
    now = datetime.now().isoformat(timespec="seconds")
    folder.add_command(f"{now}  tacit {shlex.join(sys.argv[1:])}  ({', '.join(facts)})")


def _commit() -> str | None:
    """Returns the commit of the source tree this program runs from, None where it is installed."""
    root = Path(__file__).parents[3]
    if not (root / ".git").exists():  # a repository further up is not ours
        return None
    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--exclude=*"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, check=False, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return found.stdout.strip() or None


def _split(setting: str) -> tuple[str, str]:
    key, equals, value = setting.partition("=")
    if not equals:
        raise TacitError(f"cannot read the setting {setting!r}: write key=value")
    return key, value
