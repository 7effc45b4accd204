"""Checks that a run's files are as they were written, and which of them can still be opened."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from tacit.errors import DamagedError, TacitError
from tacit.nets.checkpoint import UNSIGNED_FORMAT, check_tensors
from tacit.training.listing import read_json


@dataclass(frozen=True)
class FileCheck:
    """The result of checking a file.

    Attributes:
      file: The file.
      problem: What is wrong with the file; None if every byte is as it was written.
      epoch: The epoch of a network or a checkpoint that can be opened, else None.
      signed: Whether the file has a digest. Files of earlier versions have none, so changes in them go unnoticed.
    """

    file: Path
    problem: str | None = None
    epoch: int | None = None
    signed: bool = True


def verify_run(path: Path) -> list[FileCheck]:
    """Returns the checks of a run's files: its configuration, its metrics, and all networks and checkpoints.

    The run may be training meanwhile: files that are replaced while being read are read again.
    """
    tensors = (_check_tensors(file) for file in sorted(path.glob("checkpoints/*.safetensors")))
    checks = [check for check in tensors if check is not None]
    kept = max((check.epoch or 0 for check in checks), default=0)
    return [_check_config(path / "config.json"), _check_metrics(path / "metrics.jsonl", kept), *checks]


def what_opens(checks: list[FileCheck]) -> str:
    """Returns in words which parts of a run can still be used."""
    opens = [check for check in checks if check.problem is None and check.epoch is not None]
    goes_on = [check for check in opens if not check.file.name.startswith("network")]
    plays = [check for check in opens if check.file.name.startswith("network")]
    parts = []
    if goes_on:
        latest = max(goes_on, key=lambda check: check.epoch or 0)
        parts.append(f"--resume continues after epoch {latest.epoch} ({latest.file.name})")
    if plays:
        latest = max(plays, key=lambda check: (check.epoch or 0, "-" not in check.file.name))  # the run plays by this one
        parts.append(f"the network of epoch {latest.epoch} plays ({latest.file.name})")
    return "; ".join(parts) or "nothing can be opened any more"


def _check_tensors(file: Path) -> FileCheck | None:
    """Returns the check of a file with tensors; None if it was removed meanwhile."""
    for _ in range(10):
        before = _written(file)
        try:
            header = check_tensors(file)
        except DamagedError as error:
            if _written(file) != before:
                continue
            return FileCheck(file, str(error).partition(" is damaged: ")[2] or "is not a checkpoint, or is damaged")
        except TacitError as error:
            if _written(file) != before:
                continue
            return FileCheck(file, str(error))
        return FileCheck(file, None, int(header.get("epoch", 0)), header["format"] != UNSIGNED_FORMAT)
    return None


def _check_config(file: Path) -> FileCheck:
    config = read_json(file)
    whole = config is not None and {"system", "game"} <= config.keys()
    return FileCheck(file, None if whole else "is missing" if not file.exists() else "cannot be read")


def _check_metrics(file: Path, kept: int) -> FileCheck:
    """Returns the check of the metrics, which should contain every epoch up to `kept` once, in order.

    Later epochs are run again, so a last line that a kill cut short does no harm.
    """
    text = file.read_bytes() if file.exists() else b""
    epochs = []
    for number, line in enumerate(text.splitlines(keepends=True), start=1):
        try:
            epochs.append(int(json.loads(line)["epoch"]))
        except (ValueError, KeyError, TypeError):
            if line.endswith(b"\n"):
                return FileCheck(file, f"line {number} cannot be read")
    known = [epoch for epoch in epochs if epoch <= kept]
    return FileCheck(file, None if known == list(range(1, kept + 1)) else _gap(known, kept))


def _gap(known: list[int], kept: int) -> str:
    """Returns in words how epochs differ from 1, 2, ..., `kept`."""
    missing = sorted(set(range(1, kept + 1)) - set(known))
    if not missing:
        return "epochs are repeated or out of order"
    return f"epoch {missing[0]} is missing" + (f", and {len(missing) - 1} more" if missing[1:] else "")


def _written(file: Path) -> tuple[int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino
