"""Whether all that a run has written is as it was written, and what of it still opens."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from tacit.errors import DamagedError, TacitError
from tacit.nets.checkpoint import UNSIGNED_FORMAT, check_tensors
from tacit.training.listing import read_json


@dataclass(frozen=True)
class FileCheck:
    """What became of a file.

    Attributes:
      file: The file.
      problem: What is wrong with it, None where every byte is as it was written.
      epoch: Of a network or a checkpoint that opens, its epoch.
      signed: Whether it has a digest: files of earlier versions have none, and changes in them are not noticed.
    """

    file: Path
    problem: str | None = None
    epoch: int | None = None
    signed: bool = True


def verify_run(path: Path) -> list[FileCheck]:
    """Returns what became of the files of a run: its configuration, its metrics, and all networks and checkpoints.

    A run may train meanwhile: files that are replaced while they are read are read again.
    """
    tensors = (_check_tensors(file) for file in sorted(path.glob("checkpoints/*.safetensors")))
    checks = [check for check in tensors if check is not None]
    kept = max((check.epoch or 0 for check in checks), default=0)
    return [_check_config(path / "config.json"), _check_metrics(path / "metrics.jsonl", kept), *checks]


def what_opens(checks: list[FileCheck]) -> str:
    """Returns in words what of a run can still be used."""
    opens = [check for check in checks if check.problem is None and check.epoch is not None]
    goes_on = [check for check in opens if not check.file.name.startswith("network")]
    plays = [check for check in opens if check.file.name.startswith("network")]
    parts = []
    if goes_on:
        latest = max(goes_on, key=lambda check: check.epoch or 0)
        parts.append(f"--resume goes on after epoch {latest.epoch} ({latest.file.name})")
    if plays:
        latest = max(plays, key=lambda check: (check.epoch or 0, "-" not in check.file.name))  # the one that a run plays by
        parts.append(f"the network of epoch {latest.epoch} plays ({latest.file.name})")
    return "; ".join(parts) or "nothing opens any more"


def _check_tensors(file: Path) -> FileCheck | None:
    """Returns what became of a file with tensors, None where it has gone meanwhile."""
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
    """Returns what became of the metrics, in which every epoch up to the `kept` one should be once, in order.

    What is after it is run again, so a last line that a kill cut short does no harm.
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
        return "epochs are there twice, or out of order"
    return f"epoch {missing[0]} is missing" + (f", and {len(missing) - 1} more" if missing[1:] else "")


def _written(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino
