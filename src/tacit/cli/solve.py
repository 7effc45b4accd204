"""`tacit solve`: an equilibrium of a game, live."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.common import JsonOption, SeedOption, logger, print_json, printer, progress_bar, start
from tacit.cli.solve_checks import check_leaf, refuse, refuse_same_file, who_acts
from tacit.errors import TacitError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.search.config import SearchConfig
    from tacit.solvers import Point, SolveResult
    from tacit.tree.hand_strategy import HandStrategy
    from tacit.tree.hand_tree import Spot

AUTOSAVE_SECONDS = 30.0
AUTOSAVE_SHARE = 0.05
"""Of the time, at most, that goes into saving on the way: large solves take long to write."""


def solve(
    game: Annotated[str, typer.Argument(help="The game, as in `tacit games`.")],
    solver: Annotated[
        str,
        typer.Option(
            help="cfr, cfr+, linear-cfr, dcfr, pcfr+, lp, or fp, linear-fp, flop, xfp, also as xfp(step=0.1,noise=0.05)."
        ),
    ] = "dcfr",
    iterations: Annotated[int | None, typer.Option(help="Iterations; each updates both players. [default: 1000]")] = None,
    target: Annotated[str | None, typer.Option(help="Stop at this exploitability; in hold'em also 0.5%pot or 20mbb.")] = None,
    time_limit: Annotated[str | None, typer.Option(help="Stop after this time: 90s, 10m, 1h.")] = None,
    depth: Annotated[
        str | None, typer.Option(help="Search this many actions deep, or to the end of the `round`, instead of solving it all.")
    ] = None,
    leaf: Annotated[
        str | None,
        typer.Option(
            help="With --depth, what leaves are worth: oracle, solved, zero, random, or a trained network. [default: oracle]"
        ),
    ] = None,
    decomposition: Annotated[
        str | None,
        typer.Option(help="With --depth, where leaves are valued: cfr-d, cfr-ave or modified-cfr-ave. [default: cfr-d]"),
    ] = None,
    recycle: Annotated[
        int | None, typer.Option(min=1, help="With --depth, iterations that use the same leaf values. [default: 1]")
    ] = None,
    simultaneous: Annotated[bool, typer.Option("--simultaneous", help="Update both players at once, not in turn.")] = False,
    backend: Annotated[str | None, typer.Option(help="numba or torch. [default: numba]")] = None,
    device: Annotated[str, typer.Option(help="Where torch computes: cpu or cuda.")] = "cpu",
    save: Annotated[Path | None, typer.Option(help="Keep the solve in this file (also on the way, and when stopped).")] = None,
    resume: Annotated[Path | None, typer.Option(help="Continue the solve in this file.")] = None,
    export: Annotated[Path | None, typer.Option(help="Write the strategy: .json, .csv or .openspiel.json.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Write the convergence curve as a picture (.png, .svg or .pdf).")] = None,
    show: Annotated[int, typer.Option(min=0, help="Print the strategy at this many infostates.")] = 0,
    range0: Annotated[str | None, typer.Option(help="Hold'em with a board: player 0's hands, like AA,AKs,QJo:0.5.")] = None,
    range1: Annotated[str | None, typer.Option(help="Likewise player 1's.")] = None,
    at: Annotated[str, typer.Option(help="Hold'em: where the grid of hands is shown, like 'check / bet to 2000'.")] = "",
    grid: Annotated[Path | None, typer.Option(help="Hold'em: write that grid as a picture (.png, .svg or .pdf).")] = None,
    as_json: JsonOption = False,
    seed: SeedOption = 0,
) -> None:
    """Solve a game in tables and report its value and exact exploitability.

    Examples:

      tacit solve kuhn_poker --solver lp --show 12

      tacit solve "liars_dice(dice=1,faces=6)" --solver dcfr --target 1e-4 --plot curve.png

      tacit solve leduc_poker --solver pcfr+ --iterations 5000 --save leduc.tacit

      tacit solve openspiel:leduc_poker --export policy.openspiel.json

      tacit solve leduc_poker --solver "xfp(step=0.01)" --iterations 5000 --plot curve.png

      tacit solve kuhn_poker --solver linear-cfr --iterations 64 --depth 2 --leaf oracle

      tacit solve leduc_poker --depth round --leaf solved --decomposition cfr-ave --iterations 16

      tacit solve "no_limit_holdem(board=3s7hTdKs,pot=2000,bets=1|allin,raises=allin)" --target 0.5%pot --grid g.png
    """
    from tacit.files import check_writable
    from tacit.games import load_game
    from tacit.games.holdem import Holdem
    from tacit.plots import SUFFIXES as PICTURES
    from tacit.search.config import CFR_D, SearchConfig
    from tacit.solvers import load_result
    from tacit.solvers import solve as run
    from tacit.solvers.export import check_export

    start(seed)
    refuse_same_file(resume, save=save, export=export, plot=plot, grid=grid)
    for path in (save, export, plot, grid):
        if path is not None:
            check_writable(path)
    for picture in (plot, grid):
        if picture is not None and not picture.name.endswith(PICTURES):
            raise TacitError(f"cannot write {picture}: the name must end in {', '.join(PICTURES)}")
    rules = with_ranges(load_game(game), range0, range1)
    if (at or grid) and not isinstance(rules, Holdem):
        raise TacitError(f"--at and --grid are for hold'em, not for {rules.name}")
    if export is not None:
        check_export(rules, export)
    if depth is not None:
        whole = "cannot be used with --depth: a search runs its --iterations at every public state"
        refuse(whole, save=save, resume=resume, target=target, time_limit=time_limit)
        refuse("cannot be used with --depth: a search has its own, on the --device", backend=backend)
        refuse("cannot be used with --depth: hands are shown where the whole game is solved", at=at or None, grid=grid)
        check_leaf(leaf)
    else:
        refuse("can only be used with --depth", leaf=leaf, decomposition=decomposition, recycle=recycle)
    if solver == "lp":
        refuse("cannot be used with --solver lp: it solves for both players in one go", simultaneous=simultaneous)
    with progress_bar("searches" if depth else "iterations") as progress:
        task = progress.add_task(f"{solver} on {game}", total=None if depth else iterations, rate="", note="compiling the game")
        watch = _Watch(progress, task, save)
        if depth is not None:
            config = SearchConfig(
                solver,
                64 if iterations is None else iterations,
                _parse_depth(depth),
                CFR_D if decomposition is None else decomposition,
                not simultaneous,
                recycle or 1,
            )
            result = _search(rules, config, leaf, device, seed, lambda done: progress.update(task, completed=done, note=""))
        else:
            result = run(
                rules,
                solver=solver,
                iterations=iterations,
                target=None if target is None else parse_target(target, rules),
                time_limit=None if time_limit is None else parse_seconds(time_limit),
                simultaneous=simultaneous,
                backend="numba" if backend is None else backend,
                device=device,
                seed=seed,
                resume=None if resume is None else load_result(resume, rules),
                on_compile=lambda count: progress.update(task, note=f"compiling the game: {count:,} histories"),
                on_tree=(lambda tree: who_acts(tree, tree.find(at))) if at or grid else lambda _: None,
                on_check=watch,
                keep_when_interrupted=True,
            )
    if result.interrupted:
        kept = "" if save is None else f"; what was reached is kept in {save}"
        logger().print(f"stopped early{kept}", soft_wrap=True)
    if save is not None:
        result.save(save)
    if export is not None:
        from tacit.solvers.export import export as write

        write(result, export)
    if plot is not None:
        from tacit.plots import convergence_plot

        convergence_plot({result.solver: result.curve}, result.game, plot)
    if grid is not None:
        _draw_grid(result, at, grid)
    if as_json:
        print_json(result.summary())
    else:
        _print(result, show, at, [path for path in (save, export, plot, grid) if path is not None])


def _parse_depth(depth: str) -> int | str:
    """Returns the depth of a search: a number of actions, or `round`."""
    if depth == "round":
        return depth
    try:
        return int(depth)
    except ValueError:
        raise TacitError(f"cannot read the depth {depth!r}: write a number of actions, or round") from None


def _search(
    rules: Any, config: SearchConfig, leaf: str | None, device: str, seed: int, progress: Callable[[int], None]
) -> SolveResult:
    from tacit.nets.forward import forward_pass
    from tacit.rebel.trained import load_trained
    from tacit.search.solve import solve_by_search

    return solve_by_search(
        rules,
        config,
        leaf="oracle" if leaf is None else leaf,
        load_network=lambda path, space: forward_pass(load_trained(path).value_net(space, device)),
        device=device,
        seed=seed,
        progress=progress,
    )


def with_ranges(rules: Any, range0: str | None, range1: str | None) -> Any:
    """Returns a game of hold'em with the players' ranges set, where any are given.

    Raises:
      TacitError: the game has no ranges, or one of them cannot be read.
    """
    given = {name: text.replace(",", "|") for name, text in (("range0", range0), ("range1", range1)) if text is not None}
    if given and not given.keys() <= rules.parameters.keys():
        raise TacitError(f"{rules.name} has no ranges: they are for no_limit_holdem with a board")
    return replace(rules, **given) if given else rules


def parse_target(text: str, rules: Any) -> float:
    """Returns the exploitability in `0.01`, or in `0.5%pot` and `20mbb` where the game knows these.

    Raises:
      TacitError: it cannot be read.
    """
    units = {"%pot": "percent_of_pot", "mbb": "mbb"}
    ending = next((ending for ending in units if text.endswith(ending)), "")
    one = rules.in_units(1.0).get(units[ending]) if ending else 1.0
    try:
        number = float(text.removesuffix(ending))
    except ValueError:
        raise TacitError(f"cannot read the target {text!r}: write a number, or in hold'em 0.5%pot or 20mbb") from None
    if one is None:
        raise TacitError(f"{rules} has no {ending}: write the target {text!r} as a number")
    return float(number / one)


def parse_seconds(text: str) -> float:
    """Returns the seconds in `90s`, `10m`, `1.5h` or a bare number."""
    units = {"s": 1.0, "m": 60.0, "h": 3600.0}
    number, unit = (text[:-1], text[-1]) if text[-1:] in units else (text, "s")
    try:
        seconds = float(number) * units[unit]
    except ValueError:
        raise TacitError(f"cannot read the time {text!r}: write 90s, 10m or 1h") from None
    if not 0.0 < seconds < math.inf:
        raise TacitError(f"a time limit must be positive and finite, not {text}")
    return seconds


class _Watch:
    """Shows every evaluation and saves now and then."""

    def __init__(self, progress: Any, task: Any, save: Path | None) -> None:
        self._progress, self._task, self._save = progress, task, save
        self._next_save = time.monotonic() + AUTOSAVE_SECONDS

    def __call__(self, point: Point, result: Callable[[], SolveResult]) -> None:
        self._progress.update(
            self._task,
            completed=point.iteration,
            rate=f"{point.iteration / point.seconds:,.3g}/s" if point.seconds else "",
            note=f"exploitability {point.exploitability:.3g}",
        )
        began = time.monotonic()
        if self._save is not None and began > self._next_save:
            result().save(self._save)
            took = time.monotonic() - began
            self._next_save = time.monotonic() + max(AUTOSAVE_SECONDS, took / AUTOSAVE_SHARE)


def _print(result: SolveResult, show: int, at: str, written: list[Path]) -> None:
    from rich.table import Table

    from tacit.tree.hand_strategy import HandStrategy

    console = printer()
    tree = result.strategy.tree
    known = tree.game.known_value()
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_row("game", result.game)
    table.add_row("size", f"{tree.num_nodes:,} public states, {tree.num_infostates:,} infostates")
    rate = result.iterations / result.seconds if result.seconds else 0.0
    speed = f", {rate:,.0f}/s" if rate >= 10 else f", {rate:.2g}/s" if rate else ""
    table.add_row("solver", f"{result.solver}, {result.iterations:,} iterations in {result.seconds:.2f} s{speed}")
    table.add_row(
        "value",
        f"{result.value:.10g} for the first player" + (f"  (known: {known.value:.10g}, {known.source})" if known else ""),
    )
    units = "".join(f"{number:.3g} {name.replace('percent_of_', '% of the ')}, " for name, number in result.in_units.items())
    table.add_row("exploitability", f"{result.exploitability:.4g}  ({units}exact; NashConv {result.nash_conv:.4g})")
    for path in written:
        table.add_row("written", str(path))
    console.print(table)
    if isinstance(result.strategy, HandStrategy):
        from tacit.cli.strategy_grid import strategy_text

        spot = result.strategy.tree.find(at)
        console.print(f"\n{who_acts(result.strategy.tree, spot)}", soft_wrap=True)
        console.print(strategy_text(*_grid_numbers(result.strategy, spot)))
    if show:
        _print_strategy(console, result, show)


def _grid_numbers(strategy: HandStrategy, spot: Spot) -> tuple[Any, ...]:
    """Returns the strategy, the range, the names of actions and the board at a spot."""
    tree = strategy.tree
    reach = strategy.range_at(spot, int(tree.actor[spot.node]))
    return strategy.played(spot), reach, tree.action_names(spot.node), tree.board(spot)


def _draw_grid(result: SolveResult, at: str, path: Path) -> None:
    from tacit.cards.deck import card_names
    from tacit.grid_plots import draw_strategy_grid
    from tacit.tree.hand_strategy import HandStrategy

    strategy = result.strategy
    if not isinstance(strategy, HandStrategy):
        raise TacitError(f"--grid is for hold'em from the flop on, not for {result.game}")
    spot = strategy.tree.find(at)
    played, reach, names, board = _grid_numbers(strategy, spot)
    draw_strategy_grid(path, played, reach, names, f"{who_acts(strategy.tree, spot)}, board {card_names(board)}", board)


def _print_strategy(console: Any, result: SolveResult, show: int) -> None:
    from rich.table import Table

    table = Table("player", "public", "private", "plays", box=None, header_style="bold")
    for infostate in range(min(show, len(result.strategy))):
        decision = result.strategy.decision(infostate)
        plays = "  ".join(f"{action} {probability:.3f}" for action, probability in decision.probabilities.items())
        table.add_row(str(decision.player), decision.public or "-", decision.private or "-", plays)
    console.print()
    console.print(table)
    left = len(result.strategy) - show
    if left > 0:
        console.print(f"... and {left:,} more infostates; --export writes them all")
