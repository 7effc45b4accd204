"""`tacit reproduce`: a table or figure of a paper, beside the paper's numbers."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.common import JsonOption, SeedOption, plain_table, print_json, print_lines, printer, program, solves_shown, start
from tacit.errors import TacitError

if TYPE_CHECKING:
    from rich.table import Table

    from tacit.reproduce.learned import LearnedCell
    from tacit.reproduce.tabular import Cell

NAMES = ("flop", "nfsp-leduc", "nfsp-xfp", "rebel-table2", "rebel-teh", "sog-leduc", "sog-tplo", "teh-tabular")
SCALES = ("smoke", "cpu", "gpu")
ROWS = {"all": ("tabular", "cfr-d", "fp"), "learned": ("cfr-d", "fp")}
"""Names for several rows of Table 2; each row also has its own."""


def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            help="flop (ReBeL Figure 3), rebel-table2, rebel-teh (Figures 2, 5), teh-tabular (Figure 4), nfsp-leduc, nfsp-xfp "
            "(NFSP Figures 1, 3), sog-leduc or sog-tplo (Student of Games, Figures 2, 3, 4)."
        ),
    ],
    scale: Annotated[str, typer.Option(help="How much to run: smoke, cpu or gpu.")] = "cpu",
    rows: Annotated[
        str | None,
        typer.Option(help="Rows of Table 2: all, tabular, learned, cfr-d or fp; separate several by commas. [default: all]"),
    ] = None,
    games: Annotated[
        str | None, typer.Option(help="Games of the learned rows: 1x4f,1x5f,1x6f,2x3f. [default: those of the scale]")
    ] = None,
    out: Annotated[str, typer.Option(help="Folder for plots and tables.")] = "out",
    as_json: JsonOption = False,
    seed: SeedOption = 0,
) -> None:
    """Reproduce a table or figure of a paper. Trained runs are kept: the same command continues where it was stopped.

    Examples:

      tacit reproduce flop

      tacit reproduce rebel-table2 --rows tabular --json

      tacit reproduce rebel-table2 --rows tabular,cfr-d --games 1x4f

      tacit reproduce rebel-table2 --scale gpu

      tacit reproduce rebel-teh

      tacit reproduce teh-tabular

      tacit reproduce nfsp-xfp

      tacit reproduce nfsp-leduc

      tacit reproduce sog-leduc

      tacit reproduce sog-tplo --scale smoke
    """
    from tacit.files import check_writable

    for value, allowed, what in ((name, NAMES, "experiment"), (scale, SCALES, "scale")):
        if value not in allowed:
            raise TacitError(f"unknown {what} {value!r}: choose one of {', '.join(allowed)}")
    for option, given in (("--rows", rows), ("--games", games)):
        if given is not None and name != "rebel-table2":
            raise TacitError(f"{option} is for rebel-table2, not for {name}")
    chosen, folder = _rows("all" if rows is None else rows), Path(out)
    if games is not None and chosen == ("tabular",):
        raise TacitError("--games is for the learned rows: --rows tabular makes none")
    picture = folder / f"{name}.png"
    check_writable(picture)
    start(seed)
    if name == "nfsp-leduc":
        from tacit.cli.nfsp_figures import reproduce_nfsp

        report, show = reproduce_nfsp(scale, folder / name / scale, picture, seed)
    elif name == "nfsp-xfp":
        from tacit.cli.nfsp_figures import reproduce_xfp

        report, show = reproduce_xfp(scale, picture, seed)
    elif name == "rebel-teh":
        from tacit.cli.teh_figures import reproduce_teh

        report, show = reproduce_teh(scale, folder / name / scale, picture, seed)
    elif name.startswith("sog"):
        from tacit.cli.sog_figures import reproduce_sog_leduc, reproduce_sog_tplo

        make = reproduce_sog_leduc if name == "sog-leduc" else reproduce_sog_tplo
        report, show = make(scale, folder / name / scale, picture, seed)
    else:
        report, show = _rebel(name, scale, chosen if name == "rebel-table2" else ("tabular",), games, folder, seed)
    print_json({"experiment": name, "scale": scale, **report}) if as_json else show()


def _rebel(
    name: str, scale: str, rows: tuple[str, ...], games: str | None, folder: Path, seed: int
) -> tuple[dict[str, Any], Callable[[], None]]:
    """Returns the rows of a table or figure of ReBeL, and a function that prints them."""
    import torch

    from tacit.cli.learned import learn
    from tacit.reproduce.learned import jobs

    report: dict[str, Any] = {}
    cells: list[Cell] = []
    learned: list[LearnedCell] = []
    runs, picture, learning = folder / name / scale, folder / f"{name}.png", folder / f"{name}-learning.png"
    if rows != ("tabular",):
        variants = None if games is None else tuple(part.strip() for part in games.split(","))
        todo = jobs(scale, tuple(row for row in rows if row != "tabular"), variants, runs, seed)
        if todo[0].device == "cuda" and not torch.cuda.is_available():  # before anything is trained
            raise TacitError("no CUDA device here, and --scale gpu needs one: choose --scale cpu")
        learned = learn(todo, learning)
        report |= {"learned": [cell.summary() for cell in learned], "learning_plot": str(learning)}
    if "tabular" in rows:
        cells = _tabular(name, scale, picture)
        beside = [{"variant": c.variant, "known_value": c.known_value, "paper_exploitability": c.paper} for c in cells]
        results = [{**cell.result.summary(), **more} for cell, more in zip(cells, beside, strict=True)]
        report |= {"results": results, "plot": str(picture)}

    def show() -> None:
        _print(name, scale, cells, learned)
        lines = [f"{key.replace('_', ' ')}: {report[key]}" for key in ("plot", "learning_plot") if key in report]
        for cell in learned:
            agent = shlex.quote(str(cell.job.folder.path))
            lines.append(f"play against it: {program()} play {shlex.quote(cell.job.game)} --agent {agent}")
        print_lines(*lines, *([f"to train from scratch, remove {runs}"] if learned else []))

    return report, show


def _rows(text: str) -> tuple[str, ...]:
    """Returns the requested rows of Table 2."""
    wanted = [row for part in text.split(",") for row in ROWS.get(part.strip(), (part.strip(),))]
    unknown = [row for row in wanted if row not in ROWS["all"]]
    if unknown:
        raise TacitError(f"unknown rows {unknown[0]!r}: choose one of {', '.join((*ROWS, *ROWS['all']))}")
    return tuple(row for row in ROWS["all"] if row in wanted)


def _tabular(name: str, scale: str, picture: Path) -> list[Cell]:
    """Returns the tabular results, after drawing their convergence."""
    from tacit.plots import convergence_panels
    from tacit.reproduce.tabular import EXPERIMENTS, run_experiment

    experiment = EXPERIMENTS[name]
    with solves_shown(name, len(experiment.games_at(scale)) * len(experiment.solvers)) as watch:
        cells = run_experiment(experiment, scale, watch)
    panels: dict[str, dict[str, Any]] = {}
    for cell in cells:
        panels.setdefault(f"{experiment.family} {cell.variant}", {})[cell.solver] = cell.result.curve
    convergence_panels(panels, experiment.title, picture)
    return cells


def _print(name: str, scale: str, cells: list[Cell], learned: list[LearnedCell]) -> None:
    from tacit.cli.learned import add_learned_rows
    from tacit.reproduce.tabular import EXPERIMENTS

    experiment = EXPERIMENTS[name]
    wanted = {cell.variant for cell in cells} | {cell.job.variant for cell in learned}
    variants = [variant for variant in experiment.games_at(scale) if variant in wanted]
    table = plain_table(experiment.family, *variants)
    if cells:
        _add_tabular_rows(table, cells, variants)
    notes = add_learned_rows(table, learned, variants)
    printer().print(table)
    if cells:
        iterations = cells[0].result.iterations
        both = f"{iterations:,} iterations of both players ({2 * iterations:,} alternating ones in the paper's count)"
        print_lines(f"tabular rows: exact, after {both}")
    print_lines(*notes)


def _add_tabular_rows(table: Table, cells: list[Cell], variants: list[str]) -> None:
    by_key = {(cell.variant, cell.solver): cell for cell in cells}
    solvers = list(dict.fromkeys(cell.solver for cell in cells))
    for solver in solvers:
        row = [by_key[variant, solver] for variant in variants]
        table.add_row(f"{solver}: exploitability", *(f"{cell.result.exploitability:.4f}" for cell in row))
        for unit in row[0].result.in_units:
            table.add_row(f"  {unit.replace('_', ' ')}", *(f"{cell.result.in_units[unit]:.4g}" for cell in row), style="dim")
        if any(cell.paper is not None for cell in row):
            table.add_row("  published (ReBeL, Table 2)", *(f"{cell.paper:.3f}" for cell in row), style="dim")
        table.add_row("  seconds", *(f"{cell.result.seconds:.2f}" for cell in row), style="dim")
    best = [by_key[variant, solvers[-1]] for variant in variants]
    table.add_row(f"{solvers[-1]}: value of the game", *(f"{cell.result.value:+.5f}" for cell in best))
    if any(cell.known_value is not None for cell in best):
        known = ("" if cell.known_value is None else f"{cell.known_value:+.5f}" for cell in best)
        table.add_row("  known", *known, style="dim")
