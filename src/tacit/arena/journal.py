"""Results as JSON lines, written during a match; all but the last line are complete even if the program dies."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from tacit.errors import TacitError
from tacit.files import check_writable, parse_json


class GrowingFile:
    """A text file that entries are appended to; an entry is in the file when `append` returns."""

    def __init__(self, path: str | Path, *, resume: bool = False) -> None:
        """Creates the file if it does not exist; only with `resume` may it have content.

        Raises:
          TacitError: it has content already, or cannot be written.
        """
        self.path = Path(path)
        check_writable(self.path)
        if not resume and self.path.exists() and self.path.stat().st_size:
            raise TacitError(f"{self.path} exists: give another file, or move it away")
        self.append("")

    def append(self, text: str) -> None:
        """Writes an entry.

        Raises:
          TacitError: the file cannot be written, for example because the disk is full.
        """
        try:
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise TacitError(f"cannot write {self.path}: {error.strerror or error}") from None


class Journal(GrowingFile):
    """A file that grows by one JSON object per line.

    `resume` continues a file and drops a last line that was cut off; `anew` drops the whole content.
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
    """Returns the entries of a journal, without a last line that was cut off.

    Raises:
      TacitError: the file cannot be read, or a line is not a JSON object.
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
            raise TacitError(f"line {number} of {path} is not a JSON object")
        entries.append(entry)
    return entries
