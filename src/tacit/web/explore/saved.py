"""The saved solves that the server was given: files, and folders of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tacit.errors import TacitError
from tacit.solvers.result import saved_game

MOST_FILES = 500
"""Files that a list of saved solves has."""


def list_saved(places: Sequence[str]) -> list[dict[str, Any]]:
    """Returns the saved solves in files and folders, ready for JSON: `file`, `game`."""
    found = []
    for name, path in _files(places).items():
        game = saved_game(path)
        if game is not None:
            found.append({"file": name, "game": game})
    return found


def find_saved(places: Sequence[str], name: str) -> Path:
    """Returns the path of a saved solve that the server was given.

    Raises:
      TacitError: there is none of that name.
    """
    files = _files(places)
    if name not in files:
        raise TacitError(f"no saved solve {name!r} here: start tacit serve with its file or folder")
    return files[name]


def _files(places: Sequence[str]) -> dict[str, Path]:
    """Returns the files by the names that addresses have."""
    found: dict[str, Path] = {}
    for place in map(Path, places):
        inside = sorted(file for file in place.rglob("*") if file.is_file()) if place.is_dir() else [place]
        for file in inside[: MOST_FILES - len(found)]:
            name = str(file.relative_to(place)) if place.is_dir() else file.name
            found.setdefault(name if name not in found else str(file), file)
    return found
