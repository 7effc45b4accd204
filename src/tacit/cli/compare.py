"""`tacit compare`: every system that can play a game, with equal time and one core each."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli.common import (
    EngineOption,
    JsonOption,
    RayAddressOption,
    logger,
    plain_table,
    print_json,
    print_lines,
    printer,
    progress_monitor,
    say,
)
from tacit.cli.solve_checks import parse_seconds
from tacit.errors import StoppedError, TacitError

if TYPE_CHECKING:
    from tacit.comparison.marks import Run
    from tacit.comparison.result import Comparison


def compare(
    game: Annotated[str, typer.Argument(help="The game, as in `tacit games`.")],
    time: Annotated[str, typer.Option(help="How long each system runs on its core: 60s, 10m, 1h.")] = "60s",
    systems: Annotated[
        str | None,
        typer.Option(
            help="Systems or families (tabular, sampling, learning, search), separated by commas; FILE.py:SYSTEM for your own. "
            "[default: every built-in system]"
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, max=1_000, help="Runs of each system in which something is random.")] = 1,
    preset: Annotated[str, typer.Option(help="Settings of systems that train: cpu, paper or smoke.")] = "cpu",
    settings: Annotated[list[str] | None, typer.Option("--set", help="Change a setting of a system: SYSTEM.key=value.")] = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, max=1_024, help="Runs at the same time, each on a core of its own. [default: all cores]"),
    ] = None,
    engine: EngineOption = None,
    ray_address: RayAddressOption = None,
    out: Annotated[Path, typer.Option(help="Folder for the plot, the table and finished runs.")] = Path("out/compare"),
    as_json: JsonOption = False,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="The first seed.")] = 0,
) -> None:
    """Compare systems on a game: exploitability over time, with equal time and one core each.

    A system's clock starts once the game is compiled and the kernels are loaded; time spent on evaluation does not count.
    Finished runs are kept: the same command continues where it was stopped.

    Examples:

      tacit compare kuhn_poker --time 10s

      tacit compare leduc_poker --time 60s --seeds 3

      tacit compare leduc_poker --time 30s --systems sampling,deep-cfr --set deep-cfr.hidden=32-32 --json

      tacit compare kuhn_poker --time 10s --systems dcfr,examples/own_system.py:BELIEF_ITERATION
    """
    from tacit.comparison.compare import compare as run_comparison
    from tacit.files import check_writable, write_whole
    from tacit.games import load_game

    seconds, rules = parse_seconds(time), load_game(game)
    stem = out / re.sub(r"[^\w.,=+()-]", "-", f"{rules}-{seconds:g}s")[-120:]
    picture, page = stem.with_name(f"{stem.name}.png"), stem.with_name(f"{stem.name}.md")
    check_writable(picture)

    def tell(run: Run) -> None:
        figure = run.refused or f"exploitability {run.marks[-1].exploitability:.3g}"
        logger().print(f"{run.system}, seed {run.seed}: {figure}", soft_wrap=True)

    try:
        with progress_monitor() as monitor:
            comparison = run_comparison(
                game, seconds=seconds, systems=_split(systems), seeds=seeds, seed=seed, preset=preset,
                settings=_settings(settings or []), folder=out, workers=workers, engine=engine, ray_address=ray_address,
                on_run=tell, monitor=monitor,
            )  # fmt: skip
    except KeyboardInterrupt:
        raise StoppedError("by Ctrl-C; finished runs are kept: the same command continues") from None
    comparison.plot(picture)
    write_whole(page, comparison.markdown().encode())
    if as_json:
        print_json({**comparison.as_dict(), "plot": str(picture), "table": str(page)})
    else:
        _print(comparison)
        print_lines(f"plot: {picture}", f"table: {page}")
    say(f"to compare from scratch, remove {out / 'runs'}")


def _split(systems: str | None) -> list[str]:
    """Returns the systems in a comma-separated list; commas inside a name's parentheses do not separate."""
    return [part.strip() for part in re.split(r",(?![^()]*\))", systems) if part.strip()] if systems else []


def _settings(texts: list[str]) -> dict[str, dict[str, str]]:
    """Returns settings by system.

    Raises:
      TacitError: one is not `SYSTEM.key=value`.
    """
    settings: dict[str, dict[str, str]] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        system, dot, key = name.rpartition(".")
        if not (equals and dot and system and key):
            raise TacitError(f"cannot read the setting {text!r}: write SYSTEM.key=value, like deep-cfr.hidden=32-32")
        settings.setdefault(system, {})[key] = value
    return settings


def _print(comparison: Comparison) -> None:
    """Prints the table, and why systems are missing from it."""
    from tacit.comparison.result import EARLY

    columns = (
        "system",
        "family",
        f"after {comparison.seconds:g} s",
        "range of seeds",
        f"after {EARLY * comparison.seconds:g} s",
    )
    table = plain_table(*columns, "kind", "work")
    for row in comparison.rows():
        table.add_row(*row)
    print_lines(f"exploitability on {comparison.game}, {comparison.seconds:g} s on one core for each system")
    printer().print(table)
    for name, why in comparison.refused().items():
        print_lines(f"left out: {name}: {why}")
