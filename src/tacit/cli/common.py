"""Options, output and progress shared by all commands."""

from __future__ import annotations

import random
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.errors import StoppedError, TacitError
from tacit.files import json_text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from tacit.artifacts.base import Monitor
    from tacit.cli.bars import Bars
    from tacit.solvers import Point

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object, and nothing else, to standard output.")]
SeedOption = Annotated[
    int, typer.Option("--seed", min=0, max=2**32 - 1, help="Seed for everything random; tabular work is deterministic.")
]
SearchSolverOption = Annotated[
    str | None, typer.Option("--solver", help="Search algorithm of agents that search. [default: as in their training]")
]
SearchIterationsOption = Annotated[
    int | None, typer.Option("--iterations", min=1, help="Iterations of agents that search. [default: 512; in hold'em 100]")
]
SearchSafetyOption = Annotated[
    str | None,
    typer.Option("--safety", help="How an agent searches again below an earlier search: sampled, re-solving or unsafe."),
]
SearchDeviceOption = Annotated[
    str | None, typer.Option("--device", help="Device for agents that can search on either: cpu or cuda. [default: cpu]")
]
SearchTimeOption = Annotated[
    float | None,
    typer.Option(
        "--time-per-decision", help="Stop each decision's search after this many seconds; results then vary with the clock."
    ),
]
WorkersOption = Annotated[
    int,
    typer.Option(
        "--workers", min=1, max=1_024, help="Processes that play, with one thread each; their number does not change results."
    ),
]
EngineOption = Annotated[
    str | None, typer.Option("--engine", help="Where --workers run: local (on this machine) or ray. [default: local]")
]
RayAddressOption = Annotated[
    str | None, typer.Option("--ray-address", help="Address of the Ray cluster for --engine ray. [default: start a new one]")
]
SearchExpansionsOption = Annotated[
    int | None,
    typer.Option(
        "--expansions", min=1, max=10**9, help="With networks, search by growing a tree of this many states. [on boards: 400]"
    ),
]


WIDE = 110
"""Terminal width, in columns, from which progress is shown in full words."""


def start(seed: int) -> None:
    """Seeds the random generators, and arranges for a note when kernels compile for a new number of private states."""
    import numpy as np

    random.seed(seed)
    np.random.seed(seed)
    _announce_compilation()


def printer() -> Console:
    """Returns the console for results, on standard output."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False, width=None if sys.stdout.isatty() else 140)


def logger() -> Console:
    """Returns the console for progress and notes, on standard error."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, markup=False, emoji=False)


def say(line: str) -> None:
    """Prints a note on standard error; only the terminal wraps long ones."""
    logger().print(line, soft_wrap=True)


def plain_table(*headings: str) -> Table:
    """Returns an empty table with bold headings and no rules; wide cells are wrapped, never cut."""
    from rich.table import Column, Table

    return Table(*(Column(heading, overflow="fold") for heading in headings), box=None, header_style="bold")


def print_lines(*lines: str) -> None:
    """Prints results line by line; only the terminal wraps long ones, so that they can be copied."""
    for line in lines:
        printer().print(line, soft_wrap=True)


def seconds_option(text: str) -> Any:
    """Returns an option that takes a number of seconds."""
    return typer.Option(min=0.0, max=1e6, help=text)


def number_option(text: str, least: int = 1) -> Any:
    """Returns an option that takes a whole number; very large ones are refused as a mistake."""
    return typer.Option(min=least, max=10**9, help=text)


def print_json(data: dict[str, Any]) -> None:
    """Prints a command's result as one JSON object."""
    sys.stdout.write(json_text(data) + "\n")


def print_report(report: dict[str, Any]) -> None:
    """Prints for people what `print_json` prints for programs: a line for each figure."""
    named = {("95 % interval" if key == "interval" else key.replace("_", " ")): value for key, value in report.items()}
    width = max(map(len, named))
    for name, value in named.items():
        if value is not None:
            print_lines(f"{name:<{width}}  {_in_words(value, ' to ' if name == '95 % interval' else ', ')}")


def _in_words(value: Any, between: str = ", ") -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return f"{value:,}" if isinstance(value, int) else f"{value:,.0f}" if abs(value) >= 1_000 else f"{value:.4g}"
    if isinstance(value, list | tuple):
        return between.join(_in_words(part) for part in value)
    if isinstance(value, dict):
        return "; ".join(f"{key.replace('_', ' ')} {_in_words(part)}" for key, part in value.items() if part is not None)
    return str(value)


def program() -> str:
    """Returns the command that runs this program, for hints that can be copied."""
    script = Path(sys.argv[0])
    if script.name == "__main__.py":
        return "python -m tacit"
    return "tacit" if script.name != "tacit" or shutil.which("tacit") else str(script)


class StopRequest:
    """Turns the first Ctrl-C into a request to stop at the next point that can be kept; a second Ctrl-C stops at once."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self.requested = False
        self._say = say

    def __enter__(self) -> StopRequest:
        self._before = signal.signal(signal.SIGINT, self._ask)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    def _ask(self, *_: object) -> None:
        self.requested = True
        signal.signal(signal.SIGINT, signal.default_int_handler)
        self._say("stopping after this epoch (Ctrl-C again: at once)")


@contextmanager
def progress_bar() -> Iterator[Bars]:
    """Yields a progress display on standard error that vanishes when done; tasks have fields `unit`, `rate` and `note`."""
    from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeRemainingColumn

    from tacit.cli.bars import Bars

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24 if logger().width >= WIDE else 6),
        MofNCompleteColumn(),
        TextColumn("{task.fields[unit]}", markup=False),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}", markup=False),
    )
    with Bars(*columns, console=logger(), transient=True, disable=not sys.stderr.isatty()) as progress:
        yield progress


@contextmanager
def progress_monitor() -> Iterator[Monitor]:
    """Yields a monitor that shows the progress of one task after another on standard error, in text where no bar can be."""
    from tacit.artifacts.base import Monitor
    from tacit.cli.pace import Pace

    class Bar(Monitor):
        shown = ""
        pace = Pace(patience=5.0)  # most tasks are over by then, and their result says it all

        def step(self, what: str, done: int, total: int | None = None, unit: str = "", note: str = "") -> None:
            new, self.shown = what != self.shown, what
            if new:  # the previous task's speed says nothing about this one, nor does work done in an earlier session
                progress.reset(task, completed=done, description=what)
            progress.update(task, completed=done, total=total, unit=unit, note=note, refresh=new)
            if progress.disable and self.pace.due():
                share = f"{done:,}" if total is None else f"{done:,} of {total:,}"
                told = " ".join(part for part in (f"{what}:", share, unit, note) if part)
                progress.console.print(f"  {told} ({self.pace.seconds:.0f} s)", soft_wrap=True, highlight=False)

        def say(self, line: str) -> None:
            progress.console.print(line, soft_wrap=True)

    with progress_bar() as progress:
        task = progress.add_task("loading", total=None, unit="", rate="", note="")
        yield Bar()


@contextmanager
def solves_shown(name: str, total: int) -> Iterator[Callable[[str, Point], None]]:
    """Yields a function that shows the progress of several solves; it takes a solve's label and a new point of its curve."""
    started: set[str] = set()
    with progress_monitor() as monitor:

        def watch(label: str, point: Point) -> None:
            started.add(label)
            note = f"{label}: iteration {point.iteration:,}, exploitability {point.exploitability:.3g}"
            monitor.step(name, len(started) - 1, total, "solves", note)

        yield watch


@contextmanager
def what_is_kept(kept: Callable[[], str]) -> Iterator[None]:
    """Adds `kept()`, which says what is kept, to the message of an error or Ctrl-C that ends the work early.

    Raises:
      StoppedError: Ctrl-C.
      TacitError: any other error of ours.
    """
    try:
        yield
    except KeyboardInterrupt:
        raise StoppedError(f"by Ctrl-C; {kept()}") from None
    except TacitError as error:
        raise TacitError(f"{error}; {kept()}") from None


@cache
def _announce_compilation() -> None:
    """Prints a note when numba starts to compile, so that the first solve of this size does not look stuck."""
    from numba.core import event

    class Listener(event.Listener):  # type: ignore[misc]
        told = False

        def on_start(self, _event: Any) -> None:
            if not self.told:
                self.told = True
                long = "seconds, in hold'em half a minute; kept for later"
                sys.stderr.write(f"compiling kernels for this number of private states ({long}) ...\n")

        def on_end(self, _event: Any) -> None:
            pass

    event.register("numba:compile", Listener())
