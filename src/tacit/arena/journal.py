"""Results as JSON lines, written as a match goes on: what is there when the program dies is whole lines."""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType
from typing import Any

from tacit.errors import TacitError
from tacit.files import check_writable


class Journal:
    """A file that grows by a JSON object a line."""

    def __init__(self, path: str | Path, *, resume: bool = False) -> None:
        """Opens the file; with `resume` it may hold lines, of which a last one that was cut off is dropped.

        Raises:
          TacitError: it holds something already, or cannot be written.
        """
        self.path = Path(path)
        check_writable(self.path)
        if not resume and self.path.exists() and self.path.stat().st_size:
            raise TacitError(f"{self.path} exists: give another file, or move it away")
        try:
            if self.path.exists():
                _cut_half_a_line(self.path)
            self._file = open(self.path, "a", encoding="utf-8")  # noqa: SIM115 (closed by __exit__)
        except OSError as error:
            raise TacitError(f"cannot write {self.path}: {error.strerror or error}") from None

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.close()

    def write(self, entry: dict[str, Any]) -> None:
        """Appends a line; it is in the file when this returns.

        Raises:
          TacitError: the disk is full, or the like.
        """
        try:
            self._file.write(json.dumps(entry) + "\n")
            self._file.flush()
        except OSError as error:
            raise TacitError(f"cannot write {self.path}: {error.strerror or error}") from None


def read_journal(path: str | Path) -> list[dict[str, Any]]:
    """Returns the lines of a journal; a last one that was cut off is left out.

    Raises:
      TacitError: there is no such file, or something in it is no JSON object.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise TacitError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
    entries = []
    for number, line in enumerate(lines[:-1], start=1):
        try:
            entry = json.loads(line)
        except ValueError:
            entry = None
        if not isinstance(entry, dict):
            raise TacitError(f"line {number} of {path} is no JSON object")
        entries.append(entry)
    return entries


def _cut_half_a_line(path: Path) -> None:
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        with open(path, "r+b") as file:
            file.truncate(whole)
