"""`tacit report`: one hold'em spot on many boards."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli import solve_checks as checks
from tacit.cli.common import JsonOption, SeedOption, plain_table, print_json, print_lines, printer, progress_monitor, start
from tacit.errors import StoppedError

if TYPE_CHECKING:
    from tacit.solvers.board_report import BoardPlay, OpenSpot

DEFAULT_TARGET = "0.5%pot"
RARELY = 0.0005
"""The frequency from which a table shows an action's EV."""


def report(
    spot: Annotated[str, typer.Argument(help="A game of hold'em with ? for each open card of its board.")],
    boards: Annotated[int, typer.Option(min=1, max=100_000, help="Boards to solve; a random sample if there are more.")] = 100,
    target: Annotated[
        str, typer.Option(help="Solve each board to this exploitability: chips, 0.5%pot or 20mbb.")
    ] = DEFAULT_TARGET,
    iterations: Annotated[int | None, typer.Option(min=1, help="Most iterations per board. [default: no limit]")] = None,
    solver: Annotated[str, typer.Option(help="Solver, as in `tacit solve`.")] = "dcfr",
    at: Annotated[
        list[str] | None, typer.Option(help="A line on the first street, like 'check / bet to 2000'; may be repeated.")
    ] = None,
    table: Annotated[
        Path | None, typer.Option("--csv", help="Write a line for each board; an existing file is continued.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw a bar for each board (.png, .svg or .pdf).")] = None,
    as_json: JsonOption = False,
    seed: SeedOption = 0,
) -> None:
    """Solve a hold'em spot on many boards, and report each action's frequency and EV.

    Boards that differ only in suits are solved once. EVs are chips won out of the pot: the two players' EVs add up to it.

    Examples:

      tacit report "no_limit_holdem(board=3s7hTd?,pot=2000,stack=10000,menu=pot)" --csv turns.csv --plot turns.png

      tacit report "no_limit_holdem(board=????,pot=2000,stack=10000,menu=pot,range0=top 40%,range1=top 25%)" --boards 100

      tacit report "no_limit_holdem(board=AsKd???,pot=600,stack=2000,menu=simple)" --at "check / bet to 702" --json
    """
    from tacit.cli.report_files import draw_report, read_report, write_report
    from tacit.solvers.board_report import find_lines, open_spot
    from tacit.solvers.targets import parse_target

    start(seed)
    opened = open_spot(spot, boards, seed)
    game = opened.game(opened.boards[0])
    goal = parse_target(target, game)
    checks.check_files(game, None, csv=table, plot=plot)
    players = find_lines(game, at or None)
    lines = tuple(players)
    done = {} if table is None else read_report(table, opened, players, goal)
    keep = _keep_nothing if table is None else partial(write_report, table)
    began, known = time.monotonic(), len(done)
    stopped = _solve_boards(opened, done, lines, keep, solver=solver, target=goal, iterations=iterations, seed=seed)
    plays = sorted(done.values(), key=lambda play: -play.lines[0].bet_frequency)
    seconds = time.monotonic() - began
    if plays:
        keep(plays)
        if plot is not None:
            draw_report(plot, spot, plays)
        missed = sum(play.exploitability > goal for play in plays)
        summary = {**_summary(opened, plays, target, seconds, len(plays) - known), "boards_above_target": missed}
        if as_json:
            print_json({**summary, "boards": [_as_dict(play) for play in plays]})
        else:
            _print(summary, plays, [path for path in (table, plot) if path is not None])
    if stopped:
        kept = f"finished boards are kept in {table}, and the same command continues" if table else "use --csv to keep them"
        raise StoppedError(f"by Ctrl-C after {len(plays)} of {len(opened.boards)} boards; {kept}")


def _keep_nothing(_plays: Sequence[BoardPlay]) -> None:
    pass


def _solve_boards(
    spot: OpenSpot,
    done: dict[str, BoardPlay],
    lines: Sequence[str],
    keep: Callable[[Sequence[BoardPlay]], None],
    **options: Any,
) -> bool:
    """Solves all boards that are not done; returns whether Ctrl-C stopped it."""
    from tacit.solvers import solve
    from tacit.solvers.board_report import board_play

    begun, began = len(done), time.monotonic()
    with progress_monitor() as monitor:
        for board in spot.boards:
            if str(board) in done:
                continue
            new, spent = len(done) - begun, time.monotonic() - began
            rate = f"{spent / new:.3g} s a board; " if new else ""

            def show(point: Any, _result: Any, rate: str = rate, name: str = str(board)) -> None:
                note = f"{rate}{name}: iteration {point.iteration:,}, exploitability {point.exploitability:.3g}"
                monitor.step("report", len(done), len(spot.boards), "boards", note)

            try:
                result = solve(spot.game(board), on_check=show, **options)
                done[str(board)] = board_play(board, result, lines)
                keep(list(done.values()))
            except KeyboardInterrupt:
                return True
    return False


def _summary(spot: OpenSpot, plays: Sequence[BoardPlay], target: str, seconds: float, solved: int) -> dict[str, Any]:
    """Returns the means over all boards."""
    from tacit.solvers.board_report import weighted_mean

    weights = [play.weight for play in plays]
    complete = spot.complete and len(plays) == len(spot.boards)

    def mean(values: Sequence[float], weights: Sequence[float] = weights) -> dict[str, Any]:
        average, error = weighted_mean(values, weights)
        return {"mean": average, "interval": None if complete else [average - error, average + error]}

    lines = []
    for number, first in enumerate(plays[0].lines):
        here = [play.lines[number] for play in plays]
        reached = [weight * line.reached for weight, line in zip(weights, here, strict=True)]
        actions = {}
        for name in first.frequency:
            taken = [share * line.frequency[name] for share, line in zip(reached, here, strict=True)]
            actions[name] = {
                "frequency": mean([line.frequency[name] for line in here], reached),
                "ev": mean([line.ev[name] for line in here], taken),
            }
        lines.append({"line": first.line, "player": first.player, "actions": actions})
    return {
        "spot": spot.text,
        "num_boards": sum(play.count for play in plays),
        "boards_solved": len(plays),
        "kind": "exact" if complete else "sampled",
        "target": target,
        "ev": [mean([play.ev[player] for play in plays]) for player in (0, 1)],
        "equity": [mean([play.equity[player] for play in plays]) for player in (0, 1)],
        "lines": lines,
        "worst_exploitability": max(play.exploitability for play in plays),
        "seconds": seconds,
        "seconds_per_board": seconds / solved if solved else None,
    }


def _as_dict(play: BoardPlay) -> dict[str, Any]:
    return {**vars(play), "lines": [vars(line) for line in play.lines]}


def _print(summary: dict[str, Any], plays: Sequence[BoardPlay], files: Sequence[Path]) -> None:
    """Prints a table with a row for each board, most frequent bets first, and the means below."""
    names = [[*line.frequency] for line in plays[0].lines]
    for number, first in enumerate(plays[0].lines):
        where = f"after {first.line}" if first.line else "at the start"
        print_lines(f"player {first.player} {where}: how often each action, in %, with its EV in chips")
        table = plain_table("board", "n", "EV 0", "EV 1", "equity 0", *names[number])
        for play in plays:
            line = play.lines[number]
            cells = (_cell(line.frequency[name], line.ev[name]) for name in names[number])
            table.add_row(play.board, str(play.count), *_evs(play.ev, play.equity[0]), *cells)
        means = summary["lines"][number]["actions"]
        evs, equity = [part["mean"] for part in summary["ev"]], summary["equity"][0]["mean"]
        cells = (_cell(means[name]["frequency"]["mean"], means[name]["ev"]["mean"]) for name in names[number])
        table.add_row("mean", str(summary["num_boards"]), *_evs(evs, equity), *cells)
        printer().print(table)
        print_lines("")
    each, target = summary["seconds_per_board"], summary["target"]
    missed = summary["boards_above_target"]
    reached = f"solved to {target}" + (f" ({missed} stopped before, by --iterations)" if missed else "")
    speed = f", {each:.3g} s a board" if each is not None else ""
    print_lines(
        f"{summary['num_boards']} boards, {summary['boards_solved']} up to suits, {_how_sure(summary)}; "
        f"{reached} in {summary['seconds']:.1f} s{speed}",
        *(f"written: {path}" for path in files),
    )


def _how_sure(summary: dict[str, Any]) -> str:
    """Returns whether means are exact, or how far off the EV may be."""
    if summary["kind"] == "exact":
        return "all there are"
    low, high = summary["ev"][0]["interval"]
    return f"at random (95 % interval of the mean EV of player 0: {low:,.1f} to {high:,.1f})"


def _evs(ev: Sequence[float], equity: float) -> tuple[str, str, str]:
    return f"{ev[0]:,.1f}", f"{ev[1]:,.1f}", f"{100 * equity:.1f} %"


def _cell(frequency: float, ev: float) -> str:
    """Returns a frequency in % and an EV, or `-` for the EV where the action is hardly ever taken."""
    return f"{100 * frequency:5.1f}  {f'{ev:,.0f}' if frequency >= RARELY and not math.isnan(ev) else '-'}"
