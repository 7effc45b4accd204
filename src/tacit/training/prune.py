"""The files of a run that can be removed: older evaluated networks, and checkpoints. The latest network that plays is kept."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from tacit.errors import TacitError
from tacit.nets.checkpoint import SUFFIX, is_whole, unnamed_parts


def prunable(path: Path, keep: int, checkpoint: bool) -> list[Path]:
    """Returns the files of a run to remove, including parts that nothing else needs.

    Args:
      path: The run's folder.
      keep: How many evaluated networks to keep, the latest ones.
      checkpoint: Whether to remove all checkpoints, too: the run still plays, but cannot be continued.

    Raises:
      TacitError: checkpoints are to be removed, but no network can be opened.
    """
    folder = path / "checkpoints"
    networks = _numbered(folder, "network")
    plays = next((file for file in (folder / f"network{SUFFIX}", *reversed(networks)) if is_whole(file)), None)
    gone = [file for file in networks[: max(0, len(networks) - keep)] if file != plays]
    if checkpoint:
        if plays is None:
            raise TacitError(f"{path} has no network that can be opened: its checkpoints are all that is left, and are kept")
        gone += [*_numbered(folder, "checkpoint"), *folder.glob(f"last{SUFFIX}")]
    parts = {part for file in gone for part in unnamed_parts(file, without=tuple(gone))}
    return [*gone, *sorted(parts)]


def remove(files: list[Path]) -> None:
    """Removes files, those that name parts first, so that a kill in between leaves no file without its parts."""
    for file in sorted(files, key=lambda file: file.suffix != SUFFIX):
        with suppress(FileNotFoundError):
            file.unlink()


def _numbered(folder: Path, family: str) -> list[Path]:
    """Returns files that have an epoch in their name, oldest first."""
    named = [(re.fullmatch(rf"{family}-(\d+)", file.stem), file) for file in folder.glob(f"{family}-*{SUFFIX}")]
    return [file for _, file in sorted((int(match[1]), file) for match, file in named if match)]
