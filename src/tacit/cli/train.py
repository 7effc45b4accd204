"""`tacit train`: trains an agent by self-play, live."""

from __future__ import annotations

import shlex
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from tacit.cli.common import JsonOption, logger, print_json, print_lines, program, say, start
from tacit.cli.crew_line import crew_lines, crew_report
from tacit.cli.looks import find_system
from tacit.cli.pace import preparation_shown
from tacit.cli.session import run_session
from tacit.cli.solve_checks import parse_seconds
from tacit.errors import TacitError

if TYPE_CHECKING:
    from torch import Tensor

    from tacit.cli.looks import Look
    from tacit.games import AnyGame
    from tacit.scale.engines import CrewMaker
    from tacit.scale.plan import EnginePlan
    from tacit.training.folder import RunFolder
    from tacit.training.settings import Settings


def train(
    system: Annotated[
        str,
        typer.Argument(
            help="What to train: rebel, sog, deepstack, nfsp, dqn, deep-cfr, sd-cfr, rpg, blueprint, or FILE.py:SYSTEM."
        ),
    ],
    game: Annotated[str | None, typer.Argument(help="The game, as in `tacit games`, or FILE.py:CLASS.")] = None,
    run: Annotated[
        Path | None, typer.Option(help="Folder of the run: configuration, metrics, checkpoints, TensorBoard events.")
    ] = None,
    list_settings: Annotated[
        bool, typer.Option("--settings", help="Only list all settings; with a game, with the values it would get.")
    ] = False,
    preset: Annotated[str | None, typer.Option(help="cpu, gpu (not NFSP on trees), paper or smoke. [default: cpu]")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="Change a setting of the preset: key=value. key=a,b,c makes a run for each value."),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, max=1_000, help="Train this many runs, with seeds from --seed on, in folders of their own."),
    ] = None,
    workers: Annotated[
        int,
        typer.Option(
            min=1, max=1_024, help="Processes: with --engine those that generate, with --seeds or a sweep the runs at once."
        ),
    ] = 1,
    engine: Annotated[
        str | None,
        typer.Option(help="What generates examples: local (--workers processes) or ray (actors). [default: this process]"),
    ] = None,
    ray_address: Annotated[
        str | None, typer.Option(help="HOST:PORT of a Ray cluster's head. [default: a cluster on this machine]")
    ] = None,
    gpus_per_worker: Annotated[
        float | None, typer.Option(min=0.0, max=64.0, help="GPUs per Ray worker, may be a fraction. [default: 1 on cuda]")
    ] = None,
    time_limit: Annotated[
        str | None, typer.Option(help="Stop after this time: 90s, 10m, 1h. With several runs: time per run, over all sessions.")
    ] = None,
    start_from: Annotated[
        str | None,
        typer.Option(help="Hold'em: start from another run's networks: its folder, a network file or pretrained:NAME."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Resume the run or runs in the folder.")] = False,
    device: Annotated[str, typer.Option(help="Where to train: cpu or cuda.")] = "cpu",
    seed: Annotated[int | None, typer.Option(min=0, max=2**32 - 1, help="Seed for everything random. [default: 0]")] = None,
    as_json: JsonOption = False,
) -> None:
    """Train an agent by self-play. A run can be killed at any moment and continues with --resume.

    Examples:

      tacit train rebel "liars_dice(dice=1,faces=4)" --run runs/dice --time-limit 5m

      tacit train rebel kuhn_poker --run runs/kuhn --set hidden=64 --set epochs=100

      tacit train sog pot_limit_leduc --run runs/student

      tacit train deepstack pot_limit_leduc --run runs/deepstack --time-limit 2m

      tacit train blueprint no_limit_holdem --run runs/blueprint --time-limit 20m

      tacit train nfsp leduc_poker --run runs/leduc

      tacit train deep-cfr leduc_poker --run runs/deep-cfr --time-limit 10m

      tacit train rpg leduc_poker --run runs/rpg --set update=qpg

      tacit train nfsp leduc_poker --run runs/paper --preset paper --set memory=window

      tacit train nfsp limit_holdem --run runs/limit --preset paper --device cuda

      tacit train rebel no_limit_holdem --run runs/holdem --preset gpu --device cuda --start-from pretrained:no_limit_holdem

      tacit train examples/own_system.py:BELIEF_ITERATION kuhn_poker --run runs/own

      tacit train rebel --settings

      tacit train rebel leduc_poker --settings --preset gpu --json

      tacit train rebel kuhn_poker --run runs/seeds --preset smoke --seeds 5 --workers 2

      tacit train rebel kuhn_poker --run runs/sweep --preset smoke --set hidden=16,32 --set learning_rate=0.001,0.003 --seeds 3

      tacit train rebel "liars_dice(dice=1,faces=4)" --run runs/many --engine local --workers 2

      tacit train rebel "liars_dice(dice=1,faces=4)" --run runs/ray --engine ray --workers 2

      tacit train rebel "liars_dice(dice=1,faces=4)" --run runs/dice --resume

      tacit train rebel "liars_dice(dice=1,faces=4)" --run runs/dice --resume --set epochs=80
    """
    from tacit.training.names import check_system

    check_system(system)
    pairs = _read_pairs(settings or [])
    if list_settings:
        useless = {"--run": run, "--seeds": seeds, "--time-limit": time_limit, "--start-from": start_from, "--resume": resume}
        for option, value in useless.items():
            if value:
                raise TacitError(f"--settings lists settings and trains nothing: leave out {option}, or --settings")
        _list_settings(system, game, preset or "cpu", {} if seed is None else {"seed": str(seed)}, pairs, as_json)
        return
    if game is None or run is None:
        missing = "game: tacit games lists them" if game is None else "folder for the run: --run DIR"
        raise TacitError(f"name a {missing} (or add --settings to see what can be set)")
    limit = None if time_limit is None else parse_seconds(time_limit)
    request = TrainRequest(system, game, run, preset, pairs, seed, limit, resume, device)
    plan = _engine_plan(engine, workers, device, ray_address, gpus_per_worker)
    if _wants_many(request, seeds):
        if plan is not None:
            raise TacitError("--engine is for a single run: leave out --seeds and lists of values")
        if start_from is not None:
            raise TacitError("--start-from is for a single run: leave out --seeds and lists of values")
        _train_many(request, seeds, workers, as_json)
    else:
        if workers > 1 and plan is None:
            raise TacitError("--workers needs --engine local, or several runs: --seeds N or a list of values, --set key=a,b")
        _train_one(request, start_from, as_json, plan)


@dataclass(frozen=True)
class TrainRequest:
    """What the user asks for.

    Attributes:
      system: The system's name.
      game: The game, as the user wrote it.
      run: The run's folder.
      preset: The preset, None if not given.
      pairs: The settings to change.
      seed: The seed, None if not given.
      limit: Seconds after which to stop.
      resume: Whether to resume the run.
      device: `cpu` or `cuda`.
    """

    system: str
    game: str
    run: Path
    preset: str | None
    pairs: dict[str, str]
    seed: int | None
    limit: float | None
    resume: bool
    device: str


def _engine_plan(
    kind: str | None, workers: int, device: str, address: str | None, gpus_per_worker: float | None
) -> EnginePlan | None:
    """Returns the requested engine, None if the run generates its own examples.

    Raises:
      TacitError: the options do not go together.
    """
    from tacit.scale.plan import EnginePlan

    if kind is not None:
        return EnginePlan(kind, workers, device, address, gpus_per_worker)
    for option, value in (("--ray-address", address), ("--gpus-per-worker", gpus_per_worker)):
        if value is not None:
            raise TacitError(f"{option} is for --engine ray")
    return None


def _train_one(request: TrainRequest, start_from: str | None, as_json: bool, plan: EnginePlan | None) -> None:
    """Trains a single run and prints its report."""
    run, game = request.run, request.game
    again = f"{program()} train {shlex.quote(request.system)} {shlex.quote(game)} --run {shlex.quote(str(run))} --resume"
    with ExitStack() as held:
        with preparation_shown(f"preparing {request.system} on {game}"):
            folder, look, trainer, weights, make_crew = _prepared(request, start_from, plan, held)
        if trainer.epoch >= trainer.config.epochs:
            logger().print(f"all {trainer.epoch} epochs are done: add --set epochs=N for more")
        elif trainer.epoch:
            logger().print(f"resuming after epoch {trainer.epoch}")
        elif request.resume:
            logger().print("no checkpoint yet: starting again")
        if weights is not None:
            trainer.start_from(weights)
            logger().print(f"starting from the networks of {start_from}", soft_wrap=True)
        engine = None
        if plan is not None and make_crew is not None:
            from tacit.scale.engines import open_engine

            engine = held.enter_context(open_engine(trainer, request.system, plan, make_crew))
        last = run_session(trainer, folder, look, request.system, request.device, again, request.limit, engine=engine)
        report = {**_report(request.system, trainer, folder, look, last), **({} if engine is None else crew_report(engine))}
    print_json(report) if as_json else _print(look, report, game, again)


def _prepared(
    request: TrainRequest, start_from: str | None, plan: EnginePlan | None, held: ExitStack
) -> tuple[RunFolder[Any, Any], Look, Any, dict[str, Tensor] | None, CrewMaker | None]:
    """Returns a run's folder, its look, its trainer, the networks it starts from, and a function that makes its crew.

    The folder is locked against other training processes until `held` is closed.

    Raises:
      TacitError: the folder has no run to resume, or holds one that is not to be resumed, or the run cannot be trained.
    """
    from tacit.games import load_game
    from tacit.kernels import check_backend
    from tacit.training.folder import RunFolder
    from tacit.training.run import configure, opened_run

    start(request.seed or 0)
    run, resume = request.run, request.resume
    rules = load_game(request.game)
    system, look = find_system(request.system, rules)
    if plan is not None:
        from tacit.scale.engines import check_generates, reached

        check_generates(system)
    folder = RunFolder(run, system)
    if folder.holds_run() != resume:
        raise TacitError(f"{run} {'has no run to resume' if resume else 'holds a run: add --resume, or choose another'}")
    check_backend("torch", request.device)
    config = configure(folder, resume, request.preset, request.pairs, request.seed)
    weights = None if start_from is None else _weights(start_from, cast("Any", system.trainer), rules, config, resume)
    make_crew = None if plan is None else held.enter_context(reached(plan))  # before a folder is made
    return folder, look, held.enter_context(opened_run(folder, rules, config, request.device, say)), weights, make_crew


def _wants_many(request: TrainRequest, seeds: int | None) -> bool:
    """Returns whether several runs are asked for, by the options or by the plan in the folder."""
    from tacit.training.plan import read_plan, split_sweep

    return seeds is not None or bool(split_sweep(request.pairs)[1]) or read_plan(request.run) is not None


def _train_many(request: TrainRequest, seeds: int | None, workers: int, as_json: bool) -> None:
    """Trains a run for each seed and combination of settings, and prints their report."""
    from tacit.cli.many_runs import ManyRuns, show_many
    from tacit.training.plan import RunPlan, read_plan, split_sweep

    plain, sweep = split_sweep(request.pairs)
    if seeds is not None and "seed" in request.pairs:
        raise TacitError("--seeds counts from --seed on: leave out --set seed")
    known = read_plan(request.run)
    if (request.run / "config.json").exists():
        raise TacitError(f"{request.run} holds a single run: choose another folder")
    if known is None and request.resume:
        raise TacitError(f"{request.run} has no runs to resume")
    if known is not None and not request.resume:
        raise TacitError(f"{request.run} holds several runs: add --resume, or choose another")
    plan = RunPlan(
        request.system, request.game, request.preset or "cpu", plain, sweep, seeds, request.seed or 0, request.limit
    )  # fmt: skip
    if known is not None:
        unsaid = {"preset": request.preset, "seeds": seeds, "seed": request.seed}
        plan = known.continued(request.run, plan, [key for key, value in unsaid.items() if value is None])
    with preparation_shown(f"preparing {request.system} on {request.game}"):
        from tacit.games import load_game
        from tacit.kernels import check_backend

        start(request.seed or 0)
        rules = load_game(request.game)
        system, look = find_system(request.system, rules)
        check_backend("torch", request.device)
    runs = ManyRuns(plan, request.run, rules, system, look, request.device, workers, {})
    show_many(runs.train(), as_json, runs.again(), request.game)


def _list_settings(
    system: str, game: str | None, preset: str, seed: dict[str, str], pairs: dict[str, str], as_json: bool
) -> None:
    """Prints all settings of a system."""
    from tacit.cli.settings_list import print_settings, settings_report
    from tacit.games import load_game

    if pairs and game is None:
        raise TacitError("--settings shows what --set changes for a game: name one")
    report = settings_report(system, None if game is None else load_game(game), preset, {**seed, **pairs})
    print_json(report) if as_json else print_settings(report)


def _report(system: str, trainer: Any, folder: RunFolder[Any, Any], look: Look, last: Any) -> dict[str, Any]:
    """Returns the report of a trained run, for JSON."""
    return {
        "game": str(trainer.game), "system": system, "run": str(folder.path), "epoch": trainer.epoch,
        "finished": trainer.epoch >= trainer.config.epochs, "seconds": trainer.seconds, "exploitability": last.exploitability,
        "kind": look.kind, "published": look.published(trainer), "plot": str(folder.curve), **look.report(trainer, last),
    }  # fmt: skip


def _print(look: Look, report: dict[str, Any], game: str, again: str) -> None:
    """Prints the report for people; `game` is the text the user typed."""
    quoted = shlex.quote(report["run"])
    print_lines(
        *look.lines(report),
        *crew_lines(report),
        *([] if report["finished"] else [f"to continue: {again}"]),
        f"play against it: {program()} play {shlex.quote(game)} --agent {quoted}",
        f"learning curve: {report['plot']}; all metrics: tensorboard --logdir {quoted}",
    )


def _weights(name: str, trainer: Any, game: AnyGame, config: Settings, resume: bool) -> dict[str, Tensor]:
    """Returns the networks of another run that a new run starts from; called before the new folder is made.

    Raises:
      TacitError: the networks do not fit, or this run cannot start from others.
    """
    from tacit.nets.checkpoint import load_tensors
    from tacit.training.folder import network_file

    if resume or not hasattr(trainer, "start_from"):
        raise TacitError("--start-from is for new runs of rebel at hold'em")
    weights, header = load_tensors(network_file(name))
    trainer.check_start(game, config, header)
    return weights


def _read_pairs(settings: list[str]) -> dict[str, str]:
    """Returns settings by key.

    Raises:
      TacitError: a setting is not `key=value`, or a key is given twice.
    """
    pairs: dict[str, str] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise TacitError(f"cannot read the setting {setting!r}: write key=value")
        if key in pairs:
            raise TacitError(f"--set {key} is given twice: to sweep, write {key}={pairs[key]},{value}")
        pairs[key] = value
    return pairs
