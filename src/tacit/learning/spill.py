"""The older rows of a replay buffer, in files beside the checkpoints that name them.

Rows are numbered from the first that was ever added. A file holds a span of rows: raw arrays behind a JSON header, written
once, read through a memory map, and named by a digest of the content, like the parts of checkpoints (`nets/checkpoint.py`).
So a checkpoint need only name the files. Nothing written after it changes them, and a run that continues from it finds exactly
the rows that it had. Files that no checkpoint names any more are removed with the other parts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tacit.nets.checkpoint import write_part


@dataclass(frozen=True)
class _Span:
    """The rows of a file.

    Attributes:
      name: The file.
      first: The number of its first row.
      end: The number after its last one.
      columns: By the name of a tensor, its `[rows, bytes]` in the file, as uint8.
    """

    name: str
    first: int
    end: int
    columns: dict[str, NDArray[np.uint8]]


class SpilledRows:
    """Rows in files.

    Args:
      file: The checkpoint that the files belong to; they are stored beside it.

    Attributes:
      end: The number after the last row in a file.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._spans: list[_Span] = []
        self.end = 0

    @property
    def names(self) -> list[str]:
        """The files, oldest first."""
        return [span.name for span in self._spans]

    def write(self, rows: dict[str, Tensor]) -> None:
        """Writes the rows that follow `end` into a file."""
        name = write_part(self._file, rows)
        end = self.end + len(next(iter(rows.values())))
        self._spans.append(_Span(name, self.end, end, _columns(self._file.with_name(name))))
        self.end = end

    def adopt(self, names: list[str], end: int) -> None:
        """Uses existing files, which hold the rows before `end`."""
        self._spans, first = [], end
        for name in reversed(names):
            columns = _columns(self._file.with_name(name))
            first, before = first - len(next(iter(columns.values()))), first
            self._spans.insert(0, _Span(name, first, before, columns))
        self.end = end

    def forget_before(self, number: int) -> None:
        """Forgets the files that hold only rows before `number`; no such row will be written again."""
        self._spans = [span for span in self._spans if span.end > number]
        self.end = max(self.end, number)

    def gather(self, numbers: NDArray[np.int64], at: NDArray[np.int64], out: dict[str, Tensor]) -> None:
        """Copies rows out of files.

        Args:
          numbers: `[n]` the numbers of the rows, all before `end`.
          at: `[n]` where each goes in `out`.
          out: tensors of rows.
        """
        which = np.searchsorted([span.first for span in self._spans], numbers, side="right") - 1
        for number in np.unique(which):
            span, chosen = self._spans[number], which == number
            rows, places = numbers[chosen] - span.first, torch.from_numpy(at[chosen])
            for name, column in span.columns.items():
                part = out[name]
                if column.shape[1]:
                    part[places] = torch.from_numpy(column[rows]).view(part.dtype).view(-1, *part.shape[1:])


def _columns(path: Path) -> dict[str, NDArray[np.uint8]]:
    """Returns the tensors of a file as bytes of rows, mapped into memory."""
    content = np.memmap(path, np.uint8, "r")
    start = 8 + int.from_bytes(content[:8].tobytes(), "little")
    return dict(_parts(json.loads(content[8:start].tobytes()), content[start:]))


def _parts(header: dict[str, dict[str, list[int]]], content: NDArray[np.uint8]) -> Iterator[tuple[str, NDArray[np.uint8]]]:
    for name, facts in header.items():
        first, end = facts["data_offsets"]
        rows = facts["shape"][0]
        yield name, content[first:end].reshape(rows, (end - first) // rows)
