"""The `tacit` command: its subcommands, and how errors are reported (one line, exit code 2)."""

from __future__ import annotations

import inspect
import os
import re
import sys
from typing import Annotated

import typer

from tacit import __version__
from tacit.cli import (
    acpc,
    bench,
    check,
    compare,
    doctor,
    equity,
    evaluate,
    games,
    match,
    play,
    report,
    reproduce,
    runs,
    serve,
    show,
    slumbot,
    solve,
    train,
)  # fmt: skip
from tacit.errors import StoppedError, TacitError

# Torch's waiting threads should sleep: spinning makes small tensors many times slower on a machine that is not idle.
# OpenMP reads this when torch is loaded, which happens later.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# Some versions of Typer bundle click under another name: take the base class of its errors from one that all versions export.
_UsageError: type[typer.BadParameter] = typer.BadParameter.__mro__[1]

_STOPPED = 130
"""Exit code of every command after Ctrl-C. Some versions of Typer return it instead of raising."""
_TORCH_OUT_OF_MEMORY = re.compile("out of memory|can(no|')t allocate memory|not enough memory", re.IGNORECASE)
"""What torch says, on any device and system, in errors that have no class of their own."""

app = typer.Typer(
    name="tacit",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("games")(games.games)
app.command("check")(check.check)
app.command("solve")(solve.solve)
app.command("show")(show.show)
app.command("train")(train.train)
app.add_typer(runs.runs, name="runs")
app.command("evaluate")(evaluate.evaluate)
app.command("match")(match.match)
app.command("compare")(compare.compare)
app.command("play")(play.play)
app.command("serve")(serve.serve)
app.command("equity")(equity.equity)
app.command("report")(report.report)
app.command("doctor")(doctor.doctor)
app.command("bench")(bench.bench)
app.command("reproduce")(reproduce.reproduce)
app.add_typer(acpc.acpc, name="acpc")
app.command("slumbot")(slumbot.slumbot)


def _keep_examples_whole(commands: typer.Typer) -> None:
    """Makes help show each example on its own line, however narrow the terminal, so that it can be pasted."""
    for command in commands.registered_commands:
        text = inspect.cleandoc(command.callback.__doc__ or "") if command.callback else ""
        command.help = re.sub(r"\n\n(?= +tacit )", "\n\n\b\n", text)  # \b tells click not to wrap the paragraph
    for group in commands.registered_groups:
        if group.typer_instance is not None:
            _keep_examples_whole(group.typer_instance)


_keep_examples_whole(app)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"tacit {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Reinforcement learning plus search in two-player games with hidden information.

    Exit codes: 0 for success, 2 after a mistake (one line explains it), and 130 after Ctrl-C.
    """


def main(arguments: list[str] | None = None) -> None:
    """Runs the command line and exits."""
    _open_streams()
    try:
        code = app(arguments, standalone_mode=False)
        sys.stdout.flush()
        if code == _STOPPED:
            sys.stderr.write("tacit: stopped\n")
    except StoppedError as error:
        _complain(f"stopped {error}")
        code = _STOPPED
    except TacitError as error:
        code = _complain(str(error))
    except _UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            sys.stdout.write(error.format_message() + "\n")
            code = 2
        else:
            code = _complain(f"{error.format_message()} (see --help)")
    except (KeyboardInterrupt, typer.Abort):
        sys.stderr.write("tacit: stopped\n")
        code = _STOPPED
    except (BrokenPipeError, SystemExit):  # click exits when the pipe breaks: its reader has seen enough
        code = _discard_output()
    except Exception as error:
        explained = _explained(error)
        if explained is None:
            raise
        code = _complain(explained)
    sys.exit(code if isinstance(code, int) else 0)


def _explained(error: Exception) -> str | None:
    """Returns one line for the user about an unforeseen error, or None if it is a bug of ours."""
    from tacit.games.own import in_one_line, own_place

    if own_place(error, imported=True) is not None:
        return in_one_line(error)
    if isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and _TORCH_OUT_OF_MEMORY.search(str(error))):
        return f"that does not fit into memory: choose smaller numbers ({str(error).partition(chr(10))[0]})"
    if isinstance(error, OSError):
        _discard_output()
        what = f"use {error.filename}" if error.filename else "write to standard output"
        return f"cannot {what}: {error.strerror or error}"
    return None


def _open_streams() -> None:
    """Reopens standard streams that the caller closed, on the null device: their output is lost, and nothing fails."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115, for the whole process


def _discard_output() -> int:
    """Returns exit code 0 after discarding what is left in the buffers, so that exiting does not fail again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.__stdout__.fileno() if sys.__stdout__ else 1)
    return 0


def _complain(message: str) -> int:
    """Returns exit code 2 after printing the message on one line."""
    sys.stderr.write(f"tacit: {' '.join(message.split())}\n")
    return 2
