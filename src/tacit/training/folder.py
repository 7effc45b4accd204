"""The folder of a run: its configuration, its progress, and everything needed to continue after a kill.

    config.json                    the game, the version and every setting
    command.txt                    a line for each session: arguments, version, commit, seed
    metrics.jsonl                  a line for each epoch
    events.out.tfevents.*          the same for TensorBoard
    curve.png                      exploitability over time
    checkpoints/
      checkpoint-000030.safetensors   everything needed to continue, replay memories included: the last two
      network.safetensors             the networks after the latest epoch
      network-000030.safetensors      the networks of the last three evaluations
      *.part                          the rest of any file that is too large on its own (`nets/checkpoint.py`)

An epoch's line and networks are written before its checkpoint, so a checkpoint is never ahead of them. When a run continues,
anything newer than the checkpoint is dropped, because those epochs are run again. If a checkpoint is damaged, the one before it
is used. No checkpoint changes once it has its name, so a kill at any moment leaves the earlier ones intact.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import MISSING, asdict, fields
from pathlib import Path
from typing import Any, Generic

from torch import Tensor

from tacit import __version__
from tacit.errors import RunLostError, TacitError
from tacit.files import check_readable, json_text, parse_json, write_whole
from tacit.nets.checkpoint import PART, SUFFIX, drop_parts, read_header, remove_tensors, save_tensors
from tacit.training.lock import holds_token, locked_folder
from tacit.training.plan import read_plan
from tacit.training.shipped import PRETRAINED, shipped_file
from tacit.training.system import C, M, System, Trainer

_OWN = "own_system"
"""The key in configurations and network files for the name of a user's own system."""
_NETWORK = Path("checkpoints", "network.safetensors")
_OLDER_CHECKPOINT = Path("checkpoints", "last.safetensors")
"""The file name of earlier versions, which kept only one checkpoint."""

KEPT_CHECKPOINTS = 2
"""How many checkpoints are kept: if the last one is damaged, a run continues from the one before it."""
KEPT_NETWORKS = 3
"""How many evaluated networks are kept: ReBeL's Table 2 averages over as many."""


def system_of(path: str | Path) -> str | None:
    """Returns the name of the system that trained a run folder, a network file or `pretrained:NAME`; None for anything else.

    Raises:
      TacitError: the folder holds several runs, its configuration cannot be read, or no shipped network has that name.
    """
    if str(path).startswith(PRETRAINED) or os.path.isfile(path):
        header = read_header(network_file(path))
        system = None if header is None else header.get("system")
        return system if isinstance(system, str) else None
    if not os.path.isdir(path):
        return None
    config, plan = Path(path) / "config.json", read_plan(Path(path))
    if plan is not None:
        one, more = Path(path) / plan.runs()[0].name, len(plan.runs()) - 1
        raise TacitError(f"{path} holds several runs: name one of them, such as {one} ({more} more)")
    return str(_read_config(config)["system"]) if config.exists() else None


def own_system_of(path: str | Path) -> str | None:
    """Returns the name, `FILE.py:SYSTEM`, of the user's own system that trained a run folder or a network file; else None."""
    if os.path.isdir(path):
        config = Path(path) / "config.json"
        return _read_config(config).get(_OWN) if config.exists() else None
    own = (read_header(Path(path)) or {}).get(_OWN)
    return own if isinstance(own, str) else None


def network_file(path: str | Path) -> Path:
    """Returns the file with the latest networks of a run folder or of `pretrained:NAME`; a file's path is returned as it is."""
    if str(path).startswith(PRETRAINED):
        return shipped_file(str(path))
    path = Path(path)
    return path / _NETWORK if path.is_dir() else path


class RunFolder(Generic[C, M]):
    """Reads and writes the files of one run.

    Args:
      path: the folder.
      system: the system that trains there.
    """

    def __init__(self, path: str | Path, system: System[C, M]) -> None:
        self.path, self.system = Path(path), system
        self.config = self.path / "config.json"
        self.command = self.path / "command.txt"
        self.metrics = self.path / "metrics.jsonl"
        self.curve = self.path / "curve.png"
        self.network = self.path / _NETWORK
        self._token = ""  # the content of the folder's lock while we hold it

    def holds_run(self) -> bool:
        """Returns whether a run was started here, even if it has no checkpoint yet or lost its configuration."""
        return self.config.exists() or bool(self.checkpoints())

    def start(self, game: str, config: C) -> None:
        """Writes the configuration of a new run."""
        own = self.system.found_at()
        home = {} if own is None else {_OWN: own}
        facts = {"system": self.system.name, **home, "game": game, "version": __version__, **config.as_dict()}
        write_whole(self.config, json.dumps(facts, indent=1).encode())

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Locks the folder against other training processes; calls can be nested. A killed process releases the lock.

        Raises:
          TacitError: another process is training here.
        """
        if self._token:
            yield
            return
        with locked_folder(self.path) as token:
            self._token = token
            try:
                yield
            finally:
                self._token = ""

    def require_ours(self) -> None:
        """Checks that the folder is still the one that was locked.

        Raises:
          RunLostError: somebody removed or replaced it.
        """
        if not holds_token(self.path, self._token) or not self.config.exists():
            raise RunLostError(
                f"{self.path} was removed or replaced while a run trained there: nothing of that run is left; "
                "start it again in another folder"
            )

    @contextmanager
    def staying_ours(self) -> Iterator[None]:
        """Distinguishes work that failed because its folder is gone from work that failed for another reason.

        Raises:
          RunLostError: as in `require_ours`, in place of the error of the first write after that.
        """
        try:
            yield
        except (OSError, TacitError):
            self.require_ours()
            raise

    def asked_for(self) -> tuple[str, C]:
        """Returns the game and the configuration of the run.

        Raises:
          TacitError: there is no run, it belongs to another system, or its configuration cannot be read.
        """
        system = system_of(self.path)
        if system is None and self.checkpoints():
            raise TacitError(f"{self.config} is missing: the run cannot be continued")
        if system is None:
            raise TacitError(f"no run in {self.path}")
        if system != self.system.name:
            raise TacitError(f"{self.path} holds a run of {system}, not of {self.system.name}")
        facts = _read_config(self.config)
        settings = {field.name: facts[field.name] for field in fields(self.system.config) if field.name in facts}
        try:
            return str(facts["game"]), self.system.config(**settings).found_near(self.path)
        except (ValueError, TypeError):
            raise _damaged(self.config) from None

    def add_command(self, line: str) -> None:
        """Adds a line about a session."""
        before = _content(self.command)
        write_whole(self.command, before + f"{line}\n".encode())

    def history(self) -> list[M]:
        """Returns the epochs so far, without lines that a crash of the machine cut short or garbled."""
        lines = _content(self.metrics).decode(errors="replace").splitlines()
        epochs = []
        for line in lines:
            try:
                progress = self.system.metrics(**self._numbers(parse_json(line)))
            except (ValueError, TypeError, AttributeError):
                continue
            if type(progress.epoch) is int:
                epochs.append(progress)
        return epochs

    def add_epoch(self, progress: M) -> None:
        """Adds an epoch to the metrics."""
        with open(self.metrics, "a") as metrics:
            metrics.write(json_text(asdict(progress)) + "\n")
            metrics.flush()
            os.fsync(metrics.fileno())

    def save_network(self, trainer: Trainer[C, M], keep: bool, weights: dict[str, Tensor] | None = None) -> None:
        """Writes the network alone; with `keep` also under its epoch's name, of which only the latest files are kept.

        Args:
          trainer: the trainer of the network.
          keep: whether the network was evaluated.
          weights: the result of `trainer.weights()`, if known already.
        """
        header = {**trainer.header(), _OWN: self.system.found_at()}
        weights = trainer.weights() if weights is None else weights
        save_tensors(self.network, weights, header)
        if keep:
            save_tensors(self._kept(trainer.epoch), weights, header)
            for epoch in list(self.kept_networks())[:-KEPT_NETWORKS]:
                remove_tensors(self._kept(epoch))

    def kept_networks(self) -> dict[int, Path]:
        """Returns the networks of the last evaluations by epoch, oldest first."""
        return self._numbered("network")

    def save_checkpoint(self, trainer: Trainer[C, M]) -> None:
        """Writes everything needed to continue, and removes all checkpoints except the latest `KEPT_CHECKPOINTS`."""
        save_tensors(self.checkpoint_file(trainer.epoch), *trainer.state())
        for file in list(self.checkpoints().values())[:-KEPT_CHECKPOINTS]:
            remove_tensors(file)

    def checkpoint_file(self, epoch: int) -> Path:
        """Returns the path of an epoch's checkpoint, whether it exists or not."""
        return self.network.with_name(f"checkpoint-{epoch:06d}{SUFFIX}")

    def checkpoints(self) -> dict[int, Path]:
        """Returns the checkpoints by epoch, oldest first, damaged ones included."""
        older = self.path / _OLDER_CHECKPOINT
        found = {int((read_header(older) or {}).get("epoch", 0)): older} if older.exists() else {}
        return dict(sorted((found | self._numbered("checkpoint")).items()))

    def checkpoint_epoch(self) -> int | None:
        """Returns the epoch of the last checkpoint whose header can be read; None if there is none."""
        return next((epoch for epoch, file in reversed(self.checkpoints().items()) if read_header(file) is not None), None)

    def forget_after(self, epoch: int) -> None:
        """Removes everything of later epochs, which will be run again, and files that were not fully written."""
        for kept_epoch, file in [*self.kept_networks().items(), *self.checkpoints().items()]:
            if kept_epoch > epoch:
                remove_tensors(file)
        for file in self.path.rglob(".*.tmp"):  # files that a kill left half-written
            file.unlink()
        for part in self.network.parent.glob(f"*{PART}"):
            drop_parts(part.with_suffix("").with_suffix(SUFFIX))
        kept = [json_text(asdict(progress)) + "\n" for progress in self.history() if progress.epoch <= epoch]
        if (content := "".join(kept).encode()) != _content(self.metrics):  # last: the disk may have been full until now
            write_whole(self.metrics, content)

    def _numbers(self, facts: dict[str, Any]) -> dict[str, Any]:
        """Returns the facts of an epoch, with NaN where a number that every epoch must have is null."""
        always = {field.name for field in fields(self.system.metrics) if field.default is MISSING}
        return {name: math.nan if value is None and name in always else value for name, value in facts.items()}

    def _kept(self, epoch: int) -> Path:
        return self.network.with_name(f"network-{epoch:06d}{SUFFIX}")

    def _numbered(self, family: str) -> dict[int, Path]:
        """Returns a family's files that have an epoch in their name, by epoch, oldest first."""
        named = (
            (re.fullmatch(rf"{family}-(\d+)", file.stem), file) for file in self.network.parent.glob(f"{family}-*{SUFFIX}")
        )
        return dict(sorted((int(match[1]), file) for match, file in named if match))


def _read_config(config: Path) -> dict[str, Any]:
    """Returns the content of `config.json`, which has at least the system and the game.

    Raises:
      TacitError: it cannot be read, or is damaged.
    """
    check_readable(config)
    try:
        facts = parse_json(config.read_bytes())
    except ValueError:
        raise _damaged(config) from None
    if not isinstance(facts, dict) or not {"system", "game"} <= facts.keys() or not isinstance(facts.get(_OWN), str | None):
        raise _damaged(config)
    return facts


def _content(file: Path) -> bytes:
    """Returns a file's content; empty if the file does not exist."""
    if not file.exists():
        return b""
    check_readable(file)
    return file.read_bytes()


def _damaged(config: Path) -> TacitError:
    return TacitError(f"{config} is damaged: the run cannot be continued")
