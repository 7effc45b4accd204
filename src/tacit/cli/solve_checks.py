"""Parses the options of `tacit solve`, and refuses wrong ones before long work starts."""

from __future__ import annotations

import math
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.errors import TacitError

if TYPE_CHECKING:
    from tacit.games import AnyGame
    from tacit.solvers import Lock, SolveResult


def check_files(rules: AnyGame, resume: Path | None, **written: Path | None) -> None:
    """Refuses output files that cannot be written, or whose contents should not be lost.

    Raises:
      TacitError: a file cannot be written in its format, would be written twice, or would replace the solve that is resumed,
        a solve of another game, or a file of another kind.
    """
    from tacit.files import check_writable
    from tacit.plots import SUFFIXES as PICTURES
    from tacit.solvers.export import check_export

    taken: dict[Path, str] = {}
    files = {name: path for name, path in written.items() if path is not None}
    for name, path in files.items():
        other = taken.setdefault(path.resolve(), name)
        if name != "save" and resume is not None and path.resolve() == resume.resolve():
            other = "resume"
        if other != name:
            raise TacitError(f"--{other} and --{name} are the same file, {path}: give each its own")
    for name, path in files.items():
        check_writable(path)
        if name in ("plot", "grid") and not path.name.endswith(PICTURES):
            raise TacitError(f"cannot write {path}: the name must end in {', '.join(PICTURES)}")
    if "export" in files:
        check_export(rules, files["export"])
    if "save" in files and files["save"].exists() and (resume is None or files["save"].resolve() != resume.resolve()):
        _check_replaceable(files["save"], str(rules))


def _check_replaceable(path: Path, game: str) -> None:
    """Refuses to write a solve over anything but another solve of the same game."""
    from tacit.solvers.result import saved_game

    saved = saved_game(path)
    if saved != game and path.stat().st_size:
        problem = "is not a saved solve" if saved is None else f"holds a solve of {saved}"
        raise TacitError(f"{path} {problem}: it is not overwritten, choose another name for --save or remove it")


def keep_elsewhere(result: SolveResult, path: Path) -> str:
    """Saves a solve that could not be written to its file somewhere else; returns a message that says where."""
    for folder in (tempfile.gettempdir(), Path.home(), Path.cwd()):
        try:
            place = Path(tempfile.mkdtemp(prefix="tacit-", dir=folder)) / path.name
            result.save(place)
        except (TacitError, OSError):
            continue
        return f"the solve is kept in {place}"
    return "the solve could not be kept anywhere else"


def parse_locks(texts: list[str] | None) -> list[Lock] | None:
    """Returns the locks of `--lock`, given as text or as JSON files; None without any.

    Raises:
      TacitError: a lock cannot be read.
    """
    from tacit.solvers.locks import load_locks, parse_lock

    if not texts:
        return None
    return [lock for text in texts for lock in (load_locks(text) if text.endswith(".json") else [parse_lock(text)])]


def refuse(why: str, **options: Any) -> None:
    """Refuses options that would have no effect."""
    given = [f"--{name.replace('_', '-')}" for name, value in options.items() if value not in (None, False, "")]
    if given:
        raise TacitError(f"{', '.join(given)} {why}")


def with_ranges(rules: Any, range0: str | None, range1: str | None) -> Any:
    """Returns the game with the players' ranges set, if any are given.

    Raises:
      TacitError: the game has no ranges, or a range cannot be read.
    """
    given = {name: text.replace(",", "|") for name, text in (("range0", range0), ("range1", range1)) if text is not None}
    if given and not given.keys() <= rules.parameters.keys():
        raise TacitError(f"{rules.name} has no ranges: they are for no_limit_holdem with a board")
    return replace(rules, **given) if given else rules


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
