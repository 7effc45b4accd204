"""The saved solves that the server was given: files, and folders of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tacit.errors import TacitError
from tacit.solvers.result import saved_game

MOST_FILES = 500
"""The most files in a list of saved solves."""


def list_saved(places: Sequence[str]) -> list[dict[str, Any]]:
    """Returns the saved solves in files and folders, ready for JSON: `file`, `game`."""
    solves = []
    for name, path in _files(places).items():
        game = saved_game(path)
        if game is not None:
            solves.append({"file": name, "game": game})
    return solves


def find_saved(places: Sequence[str], name: str) -> Path:
    """Returns the path of a saved solve that the server was given.

    Raises:
      TacitError: there is no file of that name.
    """
    files = _files(places)
    if name not in files:
        raise TacitError(f"no saved solve {name!r} here: start tacit serve with its file or folder")
    return files[name]


def _files(places: Sequence[str]) -> dict[str, Path]:
    """Returns the files by their names in the page's address."""
    files: dict[str, Path] = {}
    for place in map(Path, places):
        inside = sorted(file for file in place.rglob("*") if file.is_file()) if place.is_dir() else [place]
        for file in inside[: MOST_FILES - len(files)]:
            name = str(file.relative_to(place)) if place.is_dir() else file.name
            files.setdefault(name if name not in files else str(file), file)
    return files
