"""Who trains in a folder: a lock that a killed process lets go of by itself, with a token of whoever holds it."""

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
    """Yields a token that the lock of a folder holds from now on, until somebody makes the folder anew; makes the folder.

    Raises:
      TacitError: another process trains there.
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
    """Returns whether the lock of a folder holds a token: it is the folder that was locked."""
    try:
        return (folder / _NAME).read_text() == token
    except (FileNotFoundError, NotADirectoryError):
        return False


def is_locked(folder: Path) -> bool:
    """Returns whether a process of this machine trains in a folder; where there are no locks, False."""
    try:
        import fcntl

        with open(folder / _NAME) as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)  # let go as soon as the file is closed
    except BlockingIOError:
        return True
    except (ImportError, OSError):
        return False
    return False


def _locked(file: IO[str]) -> bool:
    """Returns whether a file could be locked; without locks, as on Windows and some file systems, True."""
    for pause in (0.05, 0.05, 0.0):
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(pause)  # whoever asks `is_locked` holds it for a moment
        except (ImportError, OSError):
            return True
        else:
            return True
    return False
