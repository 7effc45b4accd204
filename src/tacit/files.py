"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from tacit.errors import TacitError


def write_whole(path: str | Path, content: bytes) -> None:
    """Writes a file under a temporary name, flushes it to the disk, then renames it: a kill leaves the old or the new one.

    Raises:
      TacitError: the place cannot be written.
    """
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(temporary, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise TacitError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        with suppress(OSError):  # nothing is left to remove once it is renamed
            temporary.unlink()


def check_writable(path: str | Path) -> None:
    """Refuses a path that could not be written later, before long work starts; makes the folders that lead to it.

    Raises:
      TacitError: the place cannot be written.
    """
    path = Path(path)
    if path.is_dir():
        raise TacitError(f"cannot write {path}: it is a directory")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TacitError(f"cannot write {path}: {error.strerror or error}") from None
    if not os.access(path.parent, os.W_OK):
        raise TacitError(f"cannot write {path}: {path.parent} is not writable")
