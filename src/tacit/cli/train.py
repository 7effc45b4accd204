"""`tacit train`: self-play until it is good, live."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.common import JsonOption, logger, print_json, printer, progress_bar, start
from tacit.cli.solve import parse_seconds
from tacit.errors import TacitError

if TYPE_CHECKING:
    from tacit.rebel.train import Progress, Trainer

SYSTEMS = ("rebel",)


def train(
    system: Annotated[str, typer.Argument(help="What to train: rebel.")],
    game: Annotated[str, typer.Argument(help="The game, as in `tacit games`.")],
    run: Annotated[Path, typer.Option(help="Folder of the run: configuration, metrics, checkpoints.")],
    preset: Annotated[str, typer.Option(help="cpu, gpu, paper or smoke.")] = "cpu",
    settings: Annotated[list[str] | None, typer.Option("--set", help="Change a setting of the preset: key=value.")] = None,
    time_limit: Annotated[str | None, typer.Option(help="Stop after this time: 90s, 10m, 1h.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in the folder.")] = False,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of everything random.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Train an agent by self-play. A run can be killed at any moment and goes on with --resume.

    Examples:

      tacit train rebel "liars_dice(dice=1,faces=4)" --run runs/dice --time-limit 5m

      tacit train rebel kuhn_poker --run runs/kuhn --set hidden=64 --set epochs=100

      tacit train rebel "liars_dice(dice=1,faces=4)" --run runs/dice --resume
    """
    from tacit.rebel.train import CHECKPOINT
    from tacit.rebel.train import train as go_on

    if system not in SYSTEMS:
        raise TacitError(f"unknown system {system!r}: choose one of {', '.join(SYSTEMS)}")
    start(seed)
    limit = None if time_limit is None else parse_seconds(time_limit)
    if (run / CHECKPOINT).exists() != resume:
        raise TacitError(f"{run} {'has no run to go on with' if resume else 'holds a run: add --resume, or choose another'}")
    trainer = _load(run, game, device) if resume else _start(run, game, preset, settings or [], device, seed)
    with progress_bar("epochs") as progress:
        task = progress.add_task(f"{system} on {game}", total=trainer.config.epochs, completed=trainer.epoch, rate="", note="")
        latest = {"exploitability": ""}

        def show(now: Progress) -> None:
            if now.exploitability is not None:
                latest["exploitability"] = (
                    f", exploitability at most {now.exploitability:.4f} ({now.playthroughs} playthroughs)"
                )
            rate = f"{now.examples_per_second:,.0f} examples/s"
            progress.update(task, completed=now.epoch, rate=rate, note=f"loss {now.loss:.4f}{latest['exploitability']}")

        last = go_on(trainer, run, time_limit=limit, on_epoch=show)
    found = trainer.evaluate(trainer.config.playthroughs, seed=seed)
    report = {
        "game": str(trainer.game), "system": system, "run": str(run), "epoch": trainer.epoch, "examples": trainer.replay.added,
        "loss": last.loss, "seconds": trainer.seconds, "exploitability": found, "kind": "upper bound",
        "playthroughs": trainer.config.playthroughs,
    }  # fmt: skip
    if as_json:
        print_json(report)
        return
    console = printer()
    console.print(
        f"{report['game']}: {trainer.epoch} epochs, {trainer.replay.added:,} examples in {trainer.seconds:.0f} s", markup=False
    )
    console.print(f"exploitability at most {found:.4f} (upper bound, {trainer.config.playthroughs} playthroughs)")
    console.print(f"a tighter bound: tacit evaluate {run} --playthroughs 256", markup=False)


def _start(run: Path, game: str, preset: str, settings: list[str], device: str, seed: int) -> Trainer:
    """Returns a new run, its configuration and command written down."""
    from tacit import __version__
    from tacit.files import check_writable, write_whole
    from tacit.games import load_game
    from tacit.rebel.config import preset as find_preset
    from tacit.rebel.train import Trainer

    pairs = dict(_split(setting) for setting in settings)
    config = find_preset(preset).with_settings({"seed": str(seed), **pairs})
    check_writable(run / "config.json")
    trainer = Trainer(load_game(game), config, device)
    facts: dict[str, Any] = {"game": str(trainer.game), "version": __version__, **config.as_dict()}
    write_whole(run / "config.json", json.dumps(facts, indent=1).encode())
    write_whole(run / "command.txt", (" ".join(sys.argv) + "\n").encode())
    return trainer


def _load(run: Path, game: str, device: str) -> Trainer:
    from tacit.games import load_game
    from tacit.rebel.train import load_trainer

    trainer = load_trainer(run, device)
    if str(trainer.game) != str(load_game(game)):
        raise TacitError(f"{run} holds a run of {trainer.game}, not of {game}")
    logger().print(f"going on after epoch {trainer.epoch}")
    return trainer


def _split(setting: str) -> tuple[str, str]:
    key, equals, value = setting.partition("=")
    if not equals:
        raise TacitError(f"cannot read the setting {setting!r}: write key=value")
    return key, value
