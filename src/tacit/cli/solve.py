"""`tacit solve`: finds an equilibrium of a game, live."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli import solve_checks as checks
from tacit.cli.common import JsonOption, logger, plain_table, print_json, printer, progress_monitor, start
from tacit.cli.show import draw_view, print_view
from tacit.errors import StoppedError, TacitError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.games import AnyGame
    from tacit.solvers import Point, SolveResult

SEARCH_ITERATIONS = 64
"""Default iterations of a depth-limited search at every public state."""
AUTOSAVE_SECONDS = 30.0
AUTOSAVE_SHARE = 0.05
"""Largest share of the time that goes into saving during a solve: large solves take long to write."""


def solve(
    game: Annotated[str, typer.Argument(help="The game, as in `tacit games`.")],
    solver: Annotated[
        str | None,
        typer.Option(
            help="cfr, cfr+, linear-cfr, dcfr, pcfr+, lp, fp, linear-fp, flop, xfp, also xfp(step=0.1,noise=0.05); sampling: "
            "external-mccfr, chance-mccfr, outcome-mccfr, vr-mccfr. [default: dcfr, or that of --resume]"
        ),
    ] = None,
    lock: Annotated[
        list[str] | None,
        typer.Option(
            help="Fix the play at a public state and solve around it: 'LINE: ACTION=SHARE,...', 'LINE: ACTION: RANGE; ACTION: "
            "rest', or a file LOCKS.json. Can be given several times."
        ),
    ] = None,
    iterations: Annotated[int | None, typer.Option(help="Iterations; each updates both players. [default: 1000]")] = None,
    target: Annotated[str | None, typer.Option(help="Stop at this exploitability; in hold'em also 0.5%pot or 20mbb.")] = None,
    time_limit: Annotated[str | None, typer.Option(help="Stop after this time: 90s, 10m, 1h.")] = None,
    depth: Annotated[
        str | None, typer.Option(help="Solve by search that looks this many actions ahead, or to the end of the `round`.")
    ] = None,
    leaf: Annotated[
        str | None,
        typer.Option(
            help="With --depth, how leaves are valued: oracle (default), solved, zero, random, continuations(key=value,...), a "
            "network, or FILE.py:CLASS."
        ),
    ] = None,
    decomposition: Annotated[
        str | None, typer.Option(help="With --depth, the beliefs at leaves: cfr-d (default), cfr-ave or modified-cfr-ave.")
    ] = None,
    recycle: Annotated[
        int | None, typer.Option(min=1, help="With --depth, iterations that reuse the same leaf values. [default: 1]")
    ] = None,
    safety: Annotated[
        str | None,
        typer.Option(
            help="With --depth, how to search again below leaves: sampled, re-solving or unsafe. [default: re-solving with "
            "continuations, else sampled]"
        ),
    ] = None,
    simultaneous: Annotated[bool, typer.Option("--simultaneous", help="Update both players at once, not alternately.")] = False,
    backend: Annotated[str | None, typer.Option(help="Compute with numba or torch. [default: numba]")] = None,
    device: Annotated[str, typer.Option(help="Where torch computes: cpu or cuda.")] = "cpu",
    bits: Annotated[
        int | None, typer.Option(help="Hold'em on the cpu: 16 halves the memory, at less precision. [default: 32]")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help="Save the solve to this file; also while it runs, and when stopped.")
    ] = None,
    resume: Annotated[
        Path | None, typer.Option(help="Continue the solve in this file, with its solver, locks and seed.")
    ] = None,
    export: Annotated[Path | None, typer.Option(help="Write the strategy: .json, .csv or .openspiel.json.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Write the convergence curve as a picture (.png, .svg or .pdf).")] = None,
    show: Annotated[int, typer.Option(min=0, help="Print the strategy at this many infostates.")] = 0,
    range0: Annotated[str | None, typer.Option(help="Hold'em with a board: player 0's hands, like AA,AKs,QJo:0.5.")] = None,
    range1: Annotated[str | None, typer.Option(help="Hold'em with a board: player 1's hands.")] = None,
    at: Annotated[str | None, typer.Option(help="Show the strategy at this point, like 'check / bet to 2000'.")] = None,
    grid: Annotated[
        Path | None, typer.Option(help="Hold'em: draw the grid of hands at that point (.png, .svg or .pdf).")
    ] = None,
    as_json: JsonOption = False,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=2**32 - 1,
            help="Seed for noisy responses and sampling; nothing else is random. [default: 0, or that of --resume]",
        ),
    ] = None,
) -> None:
    """Solve a game in tables and report its value and exact exploitability.

    Ctrl-C stops it after the current iteration: the result so far is printed and saved, and the exit code is 130.

    Examples:

      tacit solve kuhn_poker --solver lp --show 12

      tacit solve "liars_dice(dice=1,faces=6)" --solver dcfr --target 1e-4 --plot curve.png

      tacit solve leduc_poker --solver pcfr+ --save leduc.tacit --export policy.openspiel.json

      tacit solve leduc_poker --solver "xfp(step=0.01)" --iterations 5000 --plot curve.png

      tacit solve leduc_poker --solver external-mccfr --iterations 1000000 --seed 1

      tacit solve leduc_poker --depth round --leaf solved --decomposition cfr-ave --iterations 16

      tacit solve leduc_poker --depth round --leaf "continuations(by=search,count=8)" --iterations 200

      tacit solve "no_limit_holdem(board=3s7hTdKs,pot=2000,bets=1|allin,raises=allin)" --target 0.5%pot --grid g.png

      tacit solve leduc_poker --lock "bet: fold=0.5,call=0.5" --lock ": bet: Ks,Kh; check: rest"
    """
    from tacit.artifacts.searches import solve_by_search
    from tacit.games import load_game
    from tacit.games.holdem import require_holdem
    from tacit.search.config import CFR_D
    from tacit.solvers.targets import parse_target

    start(seed or 0)
    rules = checks.with_ranges(load_game(game), range0, range1)
    checks.check_files(rules, resume, save=save, export=export, plot=plot, grid=grid)
    if grid is not None:
        require_holdem(rules, "--grid")
    if solver == "lp":
        checks.refuse("cannot be used with --solver lp: it solves for both players in one go", simultaneous=simultaneous)
    if depth is None:
        searching = {"leaf": leaf, "decomposition": decomposition, "recycle": recycle, "safety": safety}
        checks.refuse("can only be used with --depth", **searching)
        goal = None if target is None else parse_target(target, rules)
        limit = None if time_limit is None else checks.parse_seconds(time_limit)
        result = _solve(
            rules, save, resume, at, solver=solver, locks=checks.parse_locks(lock), iterations=iterations, target=goal,
            time_limit=limit, simultaneous=simultaneous, backend=backend or "numba", device=device, bits=bits, seed=seed,
        )  # fmt: skip
    else:
        whole = {"save": save, "resume": resume, "target": target, "time_limit": time_limit, "lock": lock}
        _refuse_for_search(whole, {"backend": backend, "bits": bits}, {"at": at, "grid": grid})
        length = SEARCH_ITERATIONS if iterations is None else iterations
        with progress_monitor() as monitor:
            result = solve_by_search(
                rules, depth=_parse_depth(depth), leaf=leaf or "oracle", solver=solver or "dcfr", iterations=length,
                decomposition=decomposition or CFR_D, recycle=recycle or 1, safety=safety, simultaneous=simultaneous,
                device=device, seed=seed or 0, monitor=monitor,
            )  # fmt: skip
    written, problems = _write(result, save, export, plot, grid, at)
    if as_json:
        print_json(result.summary() if at is None else {**result.summary(), "node": result.show(at).as_dict()})
    else:
        _print(result, show, at, written)
    if problems:
        raise TacitError("; ".join(problems))
    if result.interrupted:
        raise StoppedError("by Ctrl-C" + (f"; the result so far is kept in {save}" if save else ""))


def _refuse_for_search(whole: dict[str, Any], computing: dict[str, Any], shown: dict[str, Any]) -> None:
    """Refuses options that apply only to solving a whole game: its goals, its computation and its display."""
    checks.refuse("cannot be used with --depth: a search runs its --iterations at every public state", **whole)
    checks.refuse("cannot be used with --depth: a search has its own, on the --device", **computing)
    checks.refuse("cannot be used with --depth: hands are shown where the whole game is solved", **shown)


def _parse_depth(text: str) -> int | str:
    if text != "round" and not text.lstrip("-").isdecimal():
        raise TacitError(f"cannot read the depth {text!r}: write a number of actions, or round")
    return text if text == "round" else int(text)


def _solve(rules: AnyGame, save: Path | None, resume: Path | None, at: str | None, **options: Any) -> SolveResult:
    """Returns a solve of the whole game with the options of `tacit.solve`, shown and saved as it runs.

    A point `at` that the game does not have is refused once the game is compiled.
    """
    from tacit.solvers import load_result
    from tacit.solvers import solve as run
    from tacit.tree.base import who_acts

    saved = None if resume is None else load_result(resume, rules)
    task = f"{options['solver'] or (saved.solver if saved else 'dcfr')} on {rules}"
    with progress_monitor() as monitor:
        if saved is not None:
            monitor.say(f"continuing {task} after {saved.iterations:,} iterations")
        monitor.step(task, 0, note="compiling the game")
        return run(
            rules,
            **options,
            resume=saved,
            on_compile=lambda count: monitor.step(task, 0, note=f"compiling the game: {count:,} histories"),
            on_tree=lambda tree: None if at is None else who_acts(tree, tree.find(at)),
            on_check=_autosave(partial(monitor.step, task, total=options["iterations"], unit="iterations"), save),
            keep_when_interrupted=True,
        )


def _autosave(show: Callable[..., None], save: Path | None) -> Callable[[Point, Callable[[], SolveResult]], None]:
    """Returns a callback that shows every evaluation and saves now and then."""
    next_save = time.monotonic() + AUTOSAVE_SECONDS

    def check(point: Point, result: Callable[[], SolveResult]) -> None:
        nonlocal next_save
        rate = f"{point.iteration / point.seconds:,.3g}/s  " if point.seconds else ""
        show(point.iteration, note=f"{rate}exploitability {point.exploitability:.3g}")
        began = time.monotonic()
        if save is not None and began > next_save:
            try:
                result().save(save)
            except TacitError as error:  # nothing is lost yet: at its end the solve is saved somewhere else
                logger().print(f"not saved on the way: {error}", soft_wrap=True)
            next_save = time.monotonic() + max(AUTOSAVE_SECONDS, (time.monotonic() - began) / AUTOSAVE_SHARE)

    return check


def _write(
    result: SolveResult, save: Path | None, export: Path | None, plot: Path | None, grid: Path | None, at: str | None
) -> tuple[list[Path], list[str]]:
    """Writes a solve to the files that the user named; returns those that were written, and the errors of the others."""
    from tacit.solvers.export import export as write

    writers: dict[Path | None, Callable[[Path], object]] = {
        save: result.save,
        export: lambda path: write(result, path),
        plot: result.plot,
        grid: lambda path: draw_view(result.strategy.at(at or ""), path),
    }
    written, problems = [], []
    for path, write_file in writers.items():
        if path is not None:
            try:
                write_file(path)
                written.append(path)
            except (TacitError, OSError) as error:
                problems.append(f"{error}{'; ' + checks.keep_elsewhere(result, path) if path == save else ''}")
    return written, problems


def _print(result: SolveResult, show: int, at: str | None, files: list[Path]) -> None:
    from rich.table import Table

    console, tree = printer(), result.strategy.tree
    known = tree.game.known_value()
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("game", result.game)
    table.add_row("size", f"{tree.num_nodes:,} public states, {tree.num_infostates:,} infostates")
    rate = result.iterations / result.seconds if result.seconds else 0.0
    speed = f", {rate:,.0f}/s" if rate >= 10 else f", {rate:.2g}/s" if rate else ""
    table.add_row("solver", f"{result.solver}, {result.iterations:,} iterations in {result.seconds:.2f} s{speed}")
    source = "without locks" if result.locks else "known"
    beside = f"  ({source}: {known.value:.10g}, {known.source})" if known else ""
    table.add_row("value", f"{result.value:.10g} for the first player{beside}")
    units = "".join(f"{number:.3g} {name.replace('percent_of_', '% of the ')}, " for name, number in result.in_units.items())
    bound = "; best responses obey the locks" if result.locks else ""
    table.add_row("exploitability", f"{result.exploitability:.4g}  ({units}exact; NashConv {result.nash_conv:.4g}{bound})")
    for lock in result.locks:
        table.add_row("locked", str(lock))
    for path in files:
        table.add_row("written", str(path))
    console.print(table)
    if at is not None or tree.layout == "hands":
        console.print()
        print_view(result.strategy.at(at or ""))
    if show:
        _print_strategy(console, result, show)


def _print_strategy(console: Any, result: SolveResult, show: int) -> None:
    table = plain_table("player", "public", "private", "plays")
    for infostate in range(min(show, len(result.strategy))):
        decision = result.strategy.decision(infostate)
        plays = "  ".join(f"{action} {probability:.3f}" for action, probability in decision.probabilities.items())
        table.add_row(str(decision.player), decision.public or "-", decision.private or "-", plays)
    console.print()
    console.print(table)
    left = len(result.strategy) - show
    if left > 0:
        console.print(f"... and {left:,} more infostates; --export writes them all")
