"""What of a run could go: networks of older evaluations, and what only a run that goes on needs. Never what plays last."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from tacit.errors import TacitError
from tacit.nets.checkpoint import SUFFIX, is_whole, unnamed_parts


def prunable(path: Path, keep: int, checkpoint: bool) -> list[Path]:
    """Returns the files of a run that would go, with the parts that nothing else needs.

    Args:
      path: Its folder.
      keep: How many networks of evaluations stay, the latest ones.
      checkpoint: Whether all checkpoints go, too: the run still plays, but cannot go on.

    Raises:
      TacitError: checkpoints are to go although no network would be left that opens.
    """
    folder = path / "checkpoints"
    networks = _numbered(folder, "network")
    plays = next((file for file in (folder / f"network{SUFFIX}", *reversed(networks)) if is_whole(file)), None)
    gone = [file for file in networks[: max(0, len(networks) - keep)] if file != plays]
    if checkpoint:
        if plays is None:
            raise TacitError(f"{path} has no network that opens: its checkpoints are all there is, and stay")
        gone += [*_numbered(folder, "checkpoint"), *folder.glob(f"last{SUFFIX}")]
    parts = {part for file in gone for part in unnamed_parts(file, without=tuple(gone))}
    return [*gone, *sorted(parts)]


def remove(files: list[Path]) -> None:
    """Removes files, those that name others first, so that a kill in between leaves no file without its parts."""
    for file in sorted(files, key=lambda file: file.suffix != SUFFIX):
        with suppress(FileNotFoundError):
            file.unlink()


def _numbered(folder: Path, family: str) -> list[Path]:
    """Returns files that have an epoch in their name, oldest first."""
    named = [(re.fullmatch(rf"{family}-(\d+)", file.stem), file) for file in folder.glob(f"{family}-*{SUFFIX}")]
    return [file for _, file in sorted((int(match[1]), file) for match, file in named if match)]
