"""Files that are written whole or not at all, and JSON that any program can read."""

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
    """Yields a file to write to. It gets its name once everything is on disk, so a kill leaves the old file or the new one.

    Raises:
      TacitError: the path cannot be written.
    """
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(exist_ok=True)  # not its parents: a run's folder that was removed must not come back
        with open(temporary, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        _sync_folder(path.parent)
    except OSError as error:
        raise TacitError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        with suppress(OSError):  # a renamed file leaves nothing to remove
            temporary.unlink()


def write_whole(path: str | Path, content: bytes) -> None:
    """Writes a file as `whole_file` does.

    Raises:
      TacitError: the path cannot be written.
    """
    with whole_file(path) as file:
        file.write(content)


def _sync_folder(folder: Path) -> None:
    """Makes a new file name survive a power loss, before the file it replaces is removed."""
    with suppress(OSError):  # Windows and some network file systems cannot
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def check_readable(path: str | Path) -> None:
    """Checks that a file can be opened, so that a lack of permission is not mistaken for bad content.

    Raises:
      TacitError: the file cannot be opened.
    """
    try:
        with open(path, "rb"):
            pass
    except OSError as error:
        raise TacitError(f"cannot read {path}: {error.strerror or error}") from None


MOST_EXACT = 2**53
"""The largest integer that every program that reads JSON represents exactly."""


def parse_json(text: str | bytes, *, strict: bool = False) -> Any:
    """Returns the data in a JSON text. All JSON from users and from files is read here, so bad text always raises ValueError.

    Args:
      text: the JSON.
      strict: whether to refuse data that cannot be sent back or stored: numbers that are not finite or not exact in other
        programs (Python reads NaN, 1e999 and integers of any length), and strings with half a surrogate pair.

    Raises:
      ValueError: the text is not JSON, is nested too deeply, or is refused.
    """
    try:
        if not strict:
            return json.loads(text)
        data = json.loads(text, parse_constant=_finite_number, parse_float=_finite_number, parse_int=_exact_number)
        json.dumps(data, ensure_ascii=False).encode()
        return data
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _finite_number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not finite")
    return number


def _exact_number(text: str) -> int:
    number = int(text)
    if abs(number) > MOST_EXACT:
        raise ValueError(f"{text} is too large")
    return number


def json_text(data: Any) -> str:
    """Returns data as one line of JSON, with null for numbers that are not finite: the standard has no NaN."""
    return json.dumps(_finite(data), allow_nan=False)


def _finite(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def check_writable(path: str | Path) -> None:
    """Checks before long work starts that a path can be written later; makes its parent folders.

    Raises:
      TacitError: the path cannot be written.
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
