"""Reads runs on disk without importing training code: where they are, their progress and size, and whether they train now."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit.files import parse_json
from tacit.training.lock import is_locked

DEPTH = 4
"""How many levels of folders are searched for runs."""


@dataclass(frozen=True)
class KnownRun:
    """A run as described by its files.

    Attributes:
      path: The run's folder.
      config: The content of `config.json`.
      epochs: The lines of the run's metrics.
    """

    path: Path
    config: dict[str, Any]
    epochs: list[dict[str, Any]]

    @property
    def system(self) -> str:
        """The system that trained."""
        return str(self.config["system"])

    @property
    def game(self) -> str:
        """The game with its parameters."""
        return str(self.config["game"])

    @property
    def settings(self) -> dict[str, Any]:
        """Every setting."""
        return {key: value for key, value in self.config.items() if key not in ("system", "game", "version")}

    @property
    def last(self) -> dict[str, Any]:
        """The latest epoch; empty if there is none."""
        return self.epochs[-1] if self.epochs else {}

    def evaluated(self) -> list[dict[str, Any]]:
        """Returns the epochs whose exploitability is known."""
        return [epoch for epoch in self.epochs if isinstance(epoch.get("exploitability"), int | float)]

    def curve(self) -> list[tuple[float, float]]:
        """Returns points of seconds of training and exploitability."""
        return [(float(epoch["seconds"]), float(epoch["exploitability"])) for epoch in self.evaluated() if "seconds" in epoch]

    def changed(self) -> float:
        """Returns when any of its files was last written, by the wall clock."""
        return max(file.stat().st_mtime for file in _files(self.path))

    def size(self) -> int:
        """Returns the run's size on disk in bytes."""
        return sum(file.stat().st_size for file in _files(self.path))

    def is_training(self) -> bool:
        """Returns whether a process on this machine is training it now."""
        return is_locked(self.path)


def read_run(path: Path) -> KnownRun | None:
    """Returns the run in a folder; None if there is none or its configuration cannot be read."""
    config = read_json(path / "config.json")
    if config is None or not {"system", "game"} <= config.keys():
        return None
    try:
        text = (path / "metrics.jsonl").read_bytes()
    except OSError:
        text = b""
    return KnownRun(path, config, list(epochs_in(text)))


def find_runs(folder: Path) -> list[KnownRun]:
    """Returns the runs in a folder and below it."""
    return [run for path in run_folders(folder) if (run := read_run(path)) is not None]


def run_folders(folder: Path, depth: int = DEPTH) -> Iterator[Path]:
    """Yields the folders of runs in a folder and below it."""
    if (folder / "config.json").is_file():
        yield folder
    elif depth and folder.is_dir():
        for inside in sorted(folder.iterdir()):
            if inside.is_dir() and not inside.name.startswith(".") and not inside.is_symlink():
                yield from run_folders(inside, depth - 1)


def read_json(path: Path) -> dict[str, Any] | None:
    """Returns the JSON object in a file; None if there is none."""
    try:
        facts = _plain(parse_json(path.read_bytes()))
    except (OSError, ValueError):
        return None
    return facts if isinstance(facts, dict) else None


def epochs_in(text: bytes) -> Iterator[dict[str, Any]]:
    """Yields the epochs in lines of metrics, without lines that a crash garbled and numbers that are null or not finite."""
    for line in text.splitlines():
        try:
            epoch = _plain(parse_json(line))
        except ValueError:
            continue
        if isinstance(epoch, dict):
            yield {key: value for key, value in epoch.items() if value is not None}


def _plain(value: Any, depth: int = 3) -> Any:
    """Returns data that any JSON program can read: None replaces numbers that are not finite and anything nested deeper."""
    if isinstance(value, dict) and depth:
        return {key: _plain(part, depth - 1) for key, part in value.items()}
    if isinstance(value, list) and depth:
        return [_plain(part, depth - 1) for part in value]
    return value if isinstance(value, int | str) or (isinstance(value, float) and math.isfinite(value)) else None


def _files(path: Path) -> list[Path]:
    return [file for file in path.rglob("*") if file.is_file()]
