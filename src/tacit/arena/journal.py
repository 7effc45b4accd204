"""Results as JSON lines, written as a match goes on: what is there when the program dies is whole lines."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from tacit.errors import TacitError
from tacit.files import check_writable, parse_json


class GrowingFile:
    """A text file to whose end entries are written; each is in the file when `append` returns."""

    def __init__(self, path: str | Path, *, resume: bool = False) -> None:
        """Makes the file where there is none; with `resume` it may hold something.

        Raises:
          TacitError: it holds something already, or cannot be written.
        """
        self.path = Path(path)
        check_writable(self.path)
        if not resume and self.path.exists() and self.path.stat().st_size:
            raise TacitError(f"{self.path} exists: give another file, or move it away")
        self.append("")

    def append(self, text: str) -> None:
        """Writes an entry.

        Raises:
          TacitError: the disk is full, or the like.
        """
        try:
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise TacitError(f"cannot write {self.path}: {error.strerror or error}") from None


class Journal(GrowingFile):
    """A file that grows by a JSON object a line.

    Where it goes on with `resume`, a last line that was cut off is dropped; with `anew` everything is.
    """

    def __init__(self, path: str | Path, *, resume: bool = False, anew: bool = False) -> None:
        super().__init__(path, resume=resume or anew)
        if anew:
            self.path.write_bytes(b"")
        content = self.path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.truncate(self.path, whole)

    def write(self, entry: dict[str, Any]) -> None:
        """Appends a line."""
        self.append(json.dumps(entry) + "\n")


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
            entry = parse_json(line)
        except ValueError:
            entry = None
        if not isinstance(entry, dict):
            raise TacitError(f"line {number} of {path} is no JSON object")
        entries.append(entry)
    return entries
