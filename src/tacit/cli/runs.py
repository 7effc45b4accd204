"""`tacit runs`: lists runs, verifies their files, compares them, and removes what is no longer needed."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.common import JsonOption, plain_table, print_json, print_lines, printer, program
from tacit.cli.run_curves import differing_settings, draw_curves, figure_kind, print_curves, short_names
from tacit.errors import TacitError

if TYPE_CHECKING:
    from tacit.training.listing import KnownRun
    from tacit.training.verify import FileCheck

runs = typer.Typer(help="List, verify, compare and prune runs of `tacit train`.", no_args_is_help=True)

RunsArgument = Annotated[list[Path], typer.Argument(help="Folders of runs, or folders that contain runs.")]


@runs.command("list")
def list_runs(
    folder: Annotated[Path, typer.Argument(help="Folder to search, four levels deep.")] = Path(), as_json: JsonOption = False
) -> None:
    """List runs: how far, how good, how large, and whether training now.

    Examples:

      tacit runs list

      tacit runs list runs --json
    """
    from tacit.training.listing import find_runs

    if not folder.is_dir():
        raise TacitError(f"there is no folder {folder}")
    found = sorted(find_runs(folder), key=lambda run: -run.changed())
    rows = [_listed(run) for run in found]
    if as_json:
        print_json({"folder": str(folder), "runs": rows})
        return
    if not rows:
        print_lines(f"no runs in {folder}: {program()} train rebel kuhn_poker --run runs/kuhn makes one")
        return
    table = plain_table("run", "system", "game", "epoch", "exploitability", "seconds", "size", "last written")
    for row in rows:
        judged = "" if row["exploitability"] is None else f"{row['exploitability']:.4g} ({row['kind']})"
        written = "training now" if row["training"] else row["written"].replace("T", " ")[:16]
        seconds = "" if row["seconds"] is None else f"{row['seconds']:,.0f}"
        epoch = f"{row['epoch']} of {row['epochs']}" if row["epochs"] else str(row["epoch"])
        name = str(Path(row["run"]).relative_to(folder))  # `.` is the folder itself
        table.add_row(
            row["run"] if name == "." else name,
            row["system"],
            row["game"],
            epoch,
            judged,
            seconds,
            in_bytes(row["bytes"]),
            written,
        )
    printer().print(table)


@runs.command("verify")
def verify(folders: RunsArgument, as_json: JsonOption = False) -> None:
    """Check every byte of runs.

    Names each damaged file, says what still opens, and exits with 2 if a file is damaged. A run may be training meanwhile.

    Examples:

      tacit runs verify runs/kuhn

      tacit runs verify runs --json
    """
    from tacit.training.verify import verify_run, what_opens

    damaged, report = 0, []
    for run in _named(folders):
        checks = verify_run(run.path)
        problems = [check for check in checks if check.problem is not None]
        damaged += len(problems)
        opens = what_opens(checks)
        report.append({
            "run": str(run.path), "files": len(checks), "whole": not problems, "opens": opens,
            "damaged": [{"file": str(check.file), "problem": check.problem} for check in problems],
            "without_digest": [str(check.file) for check in checks if not check.signed],
        })  # fmt: skip
        if not as_json:
            _print_checks(run.path, checks, opens)
    if as_json:
        print_json({"whole": not damaged, "runs": report})
    if damaged:
        raise TacitError(f"{damaged} {'file is' if damaged == 1 else 'files are'} damaged{_instead(report)}")


@runs.command("compare")
def compare(
    folders: RunsArgument,
    plot: Annotated[Path | None, typer.Option(help="Draw the curves into this file: .png, .svg or .pdf.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Compare runs of one game.

    Shows the settings that differ, and exploitability over seconds of training.

    Examples:

      tacit runs compare runs/kuhn runs/wide

      tacit runs compare runs --plot curves.png
    """
    from tacit.files import check_writable

    found = _named(folders)
    if len(found) < 2:
        raise TacitError(f"{found[0].path} is one run: name two or more to compare")
    games = list(dict.fromkeys(run.game for run in found))
    if len(games) > 1:
        raise TacitError(f"figures of {games[0]} and of {games[1]} cannot be compared: name runs of one game")
    if plot is not None:
        check_writable(plot)
    labels = short_names(found)
    curves = {label: run.curve() for label, run in zip(labels, found, strict=True)}
    kinds = {label: figure_kind(run) for label, run in zip(labels, found, strict=True)}
    differing = differing_settings(labels, found)
    if plot is not None:
        draw_curves(curves, kinds, games[0], plot)
    if as_json:
        print_json({
            "game": games[0], "runs": labels, "settings": differing, "kinds": kinds, "curves": curves,
            "plot": None if plot is None else str(plot),
        })  # fmt: skip
        return
    table = plain_table("", *labels)
    for name, values in differing.items():
        table.add_row(name, *("-" if value is None else str(value) for value in values.values()))
    printer().print(table) if differing else print_lines("the settings are the same")
    print_curves(curves, kinds)
    if plot is not None:
        print_lines(f"curves: {plot}")


@runs.command("prune")
def prune(
    folders: RunsArgument,
    keep: Annotated[int, typer.Option(min=0, help="How many of the latest evaluated networks to keep.")],
    checkpoint: Annotated[
        bool, typer.Option("--checkpoint", help="Also what only --resume needs: the run can still play, but not be resumed.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Remove the files; without this, only list them.")] = False,
    as_json: JsonOption = False,
) -> None:
    """List files of runs that are no longer needed; remove them with --yes.

    Also says how much space they take. The last network that opens is always kept.

    Examples:

      tacit runs prune runs/kuhn --keep 1

      tacit runs prune runs --keep 0 --checkpoint --yes
    """
    from tacit.training.prune import prunable, remove

    report: list[dict[str, Any]] = []
    for run in _named(folders):
        if run.is_training():
            raise TacitError(f"a process is training in {run.path}: stop it, or wait")
        files = prunable(run.path, keep, checkpoint)
        freed = sum(file.stat().st_size for file in files)
        if yes:
            remove(files)
        report.append({"run": str(run.path), "files": [str(file) for file in files], "bytes": freed})
    total, count = sum(pruned["bytes"] for pruned in report), sum(len(pruned["files"]) for pruned in report)
    if as_json:
        print_json({"removed": yes, "bytes": total, "runs": report})
        return
    for pruned in report:
        parts = [file for file in pruned["files"] if file.endswith(".part")]
        named = [file for file in pruned["files"] if file not in parts]
        print_lines(*(f"{'removed' if yes else 'would go:'} {file}" for file in named))
        if parts:
            print_lines(f"{'removed' if yes else 'would go:'} {len(parts)} parts that only these needed")
    if yes or not count:
        print_lines(f"{in_bytes(total)} freed, {count} files removed" if count else "nothing to remove")
    else:
        print_lines(f"{in_bytes(total)} in {count} files: add --yes to remove them")


def in_bytes(count: int) -> str:
    """Returns a size in readable units."""
    size, units = float(count), ["B", "kB", "MB", "GB", "TB"]
    while size >= 999.5 and len(units) > 1:
        size /= 1000.0
        units.pop(0)
    return f"{size:.3g} {units[0]}"


def _named(folders: list[Path]) -> list[KnownRun]:
    """Returns the runs that the folders are or contain, each once.

    Raises:
      TacitError: a folder contains no run.
    """
    from tacit.training.listing import find_runs

    found: dict[Path, KnownRun] = {}
    for folder in folders:
        inside = find_runs(folder)
        if not inside:
            broken = (folder / "config.json").exists()
            why = "its config.json cannot be read" if broken else "name the folder that --run named, or one above it"
            raise TacitError(f"no run in {folder}: {why}")
        found |= {run.path.resolve(): run for run in inside}
    return list(found.values())


def _listed(run: KnownRun) -> dict[str, Any]:
    evaluated = run.evaluated()
    return {
        "run": str(run.path), "system": run.system, "game": run.game, "epoch": int(run.last.get("epoch", 0)),
        "epochs": run.config.get("epochs"), "exploitability": evaluated[-1]["exploitability"] if evaluated else None,
        "kind": figure_kind(run) if evaluated else None, "seconds": run.last.get("seconds"), "bytes": run.size(),
        "written": datetime.fromtimestamp(run.changed()).isoformat(timespec="seconds"), "training": run.is_training(),
    }  # fmt: skip


def _print_checks(path: Path, checks: list[FileCheck], opens: str) -> None:
    """Prints the state of a run's files: one line if all are whole, else what is damaged and what still opens."""
    problems = [check for check in checks if check.problem is not None]
    unsigned = sum(not check.signed for check in checks)
    beside = f" ({unsigned} without a digest, written by earlier versions)" if unsigned else ""
    if not problems:
        print_lines(f"{path}: {len(checks)} files whole{beside}; {opens}")
        return
    print_lines(*(f"{check.file}: {check.problem}" for check in problems))
    print_lines(f"{path}: {len(problems)} of {len(checks)} files damaged{beside}; {opens}")


def _instead(report: list[dict[str, Any]]) -> str:
    """Returns the end of an error line: the first damaged file, and what opens in its place."""
    first = next(run for run in report if run["damaged"])
    return f", first of all {first['damaged'][0]['file']}: {first['opens']}"
