"""A lock for the process that trains in a folder. A killed process releases it; the lock file holds the owner's token."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from tacit.errors import TacitError

_NAME = ".lock"


@contextmanager
def locked_folder(folder: Path) -> Iterator[str]:
    """Yields a token written to the folder's lock, where it stays unless the folder is replaced; makes the folder if needed.

    Raises:
      TacitError: another process is training there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / _NAME, "a") as file:
        if not _locked(file):
            raise TacitError(f"another process is training in {folder}")
        token = secrets.token_hex(8)
        file.truncate(0)
        file.write(token)
        file.flush()
        yield token


def holds_token(folder: Path, token: str) -> bool:
    """Returns whether a folder's lock holds a token, so that it is still the folder that was locked."""
    try:
        return (folder / _NAME).read_text() == token
    except (FileNotFoundError, NotADirectoryError):
        return False


def is_locked(folder: Path) -> bool:
    """Returns whether a process on this machine is training in a folder; False where locks are not supported."""
    try:
        import fcntl

        with open(folder / _NAME) as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)  # released as soon as the file is closed
    except BlockingIOError:
        return True
    except (ImportError, OSError):
        return False
    return False


def _locked(file: IO[str]) -> bool:
    """Returns whether a file could be locked; True where locks are not supported (Windows, some file systems)."""
    for pause in (0.05, 0.05, 0.0):
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(pause)  # a process that calls `is_locked` holds it for a moment
        except (ImportError, OSError):
            return True
        else:
            return True
    return False
