"""Files that are there whole or not at all, and JSON that every program reads."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from tacit.errors import TacitError


@contextmanager
def whole_file(path: str | Path) -> Iterator[BinaryIO]:
    """Yields a file to write to that gets its name once all is written and on the disk: a kill leaves the old or the new one.

    Raises:
      TacitError: the place cannot be written.
    """
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(temporary, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise TacitError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        with suppress(OSError):  # nothing is left to remove once it is renamed
            temporary.unlink()


def write_whole(path: str | Path, content: bytes) -> None:
    """Writes a file as `whole_file` does.

    Raises:
      TacitError: the place cannot be written.
    """
    with whole_file(path) as file:
        file.write(content)


def check_readable(path: str | Path) -> None:
    """Refuses a file that the system does not let us read, which says nothing about what is in it.

    Raises:
      TacitError: it cannot be opened.
    """
    try:
        with open(path, "rb"):
            pass
    except OSError as error:
        raise TacitError(f"cannot read {path}: {error.strerror or error}") from None


def json_text(data: Any) -> str:
    """Returns data as one line of JSON, with null for numbers that are none: the standard knows no NaN."""
    return json.dumps(_finite(data), allow_nan=False)


def _finite(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


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
