"""`tacit reproduce`: a table or figure of a paper, beside the paper's numbers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.common import JsonOption, OutOption, SeedOption, print_json, printer, progress_bar, start
from tacit.errors import TacitError

if TYPE_CHECKING:
    from tacit.reproduce.dice import Cell

NAMES = ("flop", "rebel-table2")
SCALES = ("smoke", "cpu", "gpu")


def reproduce(
    name: Annotated[str, typer.Argument(help="flop (ReBeL Figure 3) or rebel-table2.")],
    scale: Annotated[str, typer.Option(help="How much to run: smoke, cpu or gpu.")] = "cpu",
    rows: Annotated[str, typer.Option(help="Rows of a table to make: tabular.")] = "tabular",
    out: OutOption = "out",
    as_json: JsonOption = False,
    seed: SeedOption = 0,
) -> None:
    """Reproduce a table or figure of a paper.

    Examples:

      tacit reproduce flop

      tacit reproduce rebel-table2 --rows tabular --json
    """
    from tacit.files import check_writable
    from tacit.plots import convergence_panels
    from tacit.reproduce import dice

    for value, allowed, what in ((name, NAMES, "experiment"), (scale, SCALES, "scale"), (rows, ("tabular",), "rows")):
        if value not in allowed:
            raise TacitError(f"unknown {what} {value!r}: choose one of {', '.join(allowed)}")
    picture = Path(out) / f"{name}.png"
    check_writable(picture)
    start(seed)
    solvers = dice.FIGURE_3_SOLVERS if name == "flop" else dice.TABLE_2_SOLVERS
    with progress_bar("solves") as progress:
        task = progress.add_task(name, total=len(dice.VARIANTS) * len(solvers), rate="", note="")
        started: set[tuple[str, str]] = set()

        def watch(variant: str, solver: str, iteration: int, exploitability: float) -> None:
            started.add((variant, solver))
            note = f"{solver} on {variant}: iteration {iteration:,}, exploitability {exploitability:.3g}"
            progress.update(task, completed=len(started) - 1, note=note)

        cells = dice.figure_3(scale, watch) if name == "flop" else dice.table_2(watch)
    panels: dict[str, dict[str, Any]] = {}
    for cell in cells:
        panels.setdefault(f"Liar's Dice {cell.variant}", {})[cell.solver] = cell.result.curve
    title = "Exploitability in four games of Liar's Dice" + (" (ReBeL, Figure 3)" if name == "flop" else "")
    convergence_panels(panels, title, picture)
    if as_json:
        print_json({"experiment": name, "scale": scale, "results": [_as_dict(cell) for cell in cells], "plot": str(picture)})
        return
    _print(cells, solvers)
    printer().print(f"\nplot: {picture}", soft_wrap=True)


def _as_dict(cell: Cell) -> dict[str, Any]:
    return {
        **cell.result.summary(),
        "variant": cell.variant,
        "known_value": cell.known_value,
        "paper_exploitability": cell.paper,
    }


def _print(cells: list[Cell], solvers: tuple[str, ...]) -> None:
    from rich.table import Table

    variants = list(dict.fromkeys(cell.variant for cell in cells))
    by_key = {(cell.variant, cell.solver): cell for cell in cells}
    table = Table("Liar's Dice", *variants, box=None, header_style="bold")
    iterations = cells[0].result.iterations
    for solver in solvers:
        row = [by_key[variant, solver] for variant in variants]
        table.add_row(f"{solver}: exploitability", *(f"{cell.result.exploitability:.4f}" for cell in row))
        if any(cell.paper is not None for cell in row):
            table.add_row("  published (ReBeL, Table 2)", *(f"{cell.paper:.3f}" for cell in row), style="dim")
        table.add_row("  seconds", *(f"{cell.result.seconds:.2f}" for cell in row), style="dim")
    best = [by_key[variant, solvers[-1]] for variant in variants]
    table.add_row(f"{solvers[-1]}: value of the game", *(f"{cell.result.value:+.5f}" for cell in best))
    table.add_row("  known", *("" if cell.known_value is None else f"{cell.known_value:+.5f}" for cell in best), style="dim")
    console = printer()
    console.print(table)
    console.print(
        f"exact, after {iterations:,} iterations of both players ({2 * iterations:,} alternating ones in the paper's count)"
    )
