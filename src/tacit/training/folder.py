"""The folder of a run: what was asked for, how it went, and everything to go on with after a kill.

    config.json                    the game, the version and every setting
    command.txt                    a line for each session: arguments, version, commit, seed
    metrics.jsonl                  a line for each epoch
    events.out.tfevents.*          the same for TensorBoard
    curve.png                      exploitability over time
    checkpoints/
      last.safetensors             everything to go on with, memories included
      network.safetensors          the networks after the latest epoch
      network-000030.safetensors   the networks of the last three evaluations
      *.part                       more of any of them that is too large for one file (`nets/checkpoint.py`)

An epoch's line and networks are written before a checkpoint of it, so that a checkpoint never knows more than they do. What is
newer than the checkpoint when a run goes on is dropped, because those epochs are run again.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import MISSING, asdict, fields
from pathlib import Path
from typing import Any, Generic

from tacit import __version__
from tacit.errors import TacitError
from tacit.files import check_readable, json_text, write_whole
from tacit.nets.checkpoint import PART, drop_parts, read_header, remove_tensors, save_tensors
from tacit.training.plan import read_plan
from tacit.training.shipped import PRETRAINED, shipped_file
from tacit.training.system import C, M, System, Trainer

_OWN = "own_system"
"""What configurations and network files call the name of a system of one's own."""
_NETWORK = Path("checkpoints", "network.safetensors")

KEPT_NETWORKS = 3
"""Networks of evaluations kept: as many as ReBeL's Table 2 takes means over."""


def system_of(path: str | Path) -> str | None:
    """Returns the name of the system that trained what is in a run folder, a network file or `pretrained:NAME`, else None.

    Raises:
      TacitError: the folder holds several runs, its configuration cannot be read, or no shipped network has that name.
    """
    if str(path).startswith(PRETRAINED) or Path(path).is_file():
        header = read_header(network_file(path))
        return None if header is None else header.get("system")
    config, plan = Path(path) / "config.json", read_plan(Path(path))
    if plan is not None:
        one, more = Path(path) / plan.runs()[0].name, len(plan.runs()) - 1
        raise TacitError(f"{path} holds several runs: name one of them, such as {one} ({more} more)")
    return str(_read_config(config)["system"]) if config.exists() else None


def own_system_of(path: str | Path) -> str | None:
    """Returns the name of the system of one's own, `FILE.py:SYSTEM`, that trained what is in a run folder or a network file."""
    if Path(path).is_dir():
        config = Path(path) / "config.json"
        return _read_config(config).get(_OWN) if config.exists() else None
    return (read_header(Path(path)) or {}).get(_OWN)


def network_file(path: str | Path) -> Path:
    """Returns the file of the latest networks of a run folder or of `pretrained:NAME`; a file is itself."""
    if str(path).startswith(PRETRAINED):
        return shipped_file(str(path))
    path = Path(path)
    return path / _NETWORK if path.is_dir() else path


class RunFolder(Generic[C, M]):
    """Reads and writes the files of one run.

    Args:
      path: the folder.
      system: what trains there.
    """

    def __init__(self, path: str | Path, system: System[C, M]) -> None:
        self.path, self.system = Path(path), system
        self.config = self.path / "config.json"
        self.command = self.path / "command.txt"
        self.metrics = self.path / "metrics.jsonl"
        self.curve = self.path / "curve.png"
        self.checkpoint = self.path / "checkpoints" / "last.safetensors"
        self.network = self.path / _NETWORK
        self._alone = False

    def holds_run(self) -> bool:
        """Returns whether a run was started here, even if it has no checkpoint yet or lost its configuration."""
        return self.config.exists() or self.checkpoint.exists()

    def start(self, game: str, config: C) -> None:
        """Makes this the folder of a new run."""
        own = self.system.found_at()
        home = {} if own is None else {_OWN: own}
        facts = {"system": self.system.name, **home, "game": game, "version": __version__, **config.as_dict()}
        write_whole(self.config, json.dumps(facts, indent=1).encode())

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keeps others from training here; whoever is alone already stays so. A killed process lets go by itself.

        Raises:
          TacitError: another one does.
        """
        if self._alone:
            yield
            return
        self.path.mkdir(parents=True, exist_ok=True)
        with open(self.path / ".lock", "w") as file:
            try:
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise TacitError(f"another process is training in {self.path}") from None
            except (ImportError, OSError):  # Windows, or a file system without locks
                pass
            self._alone = True
            try:
                yield
            finally:
                self._alone = False

    def asked_for(self) -> tuple[str, C]:
        """Returns the game and the configuration of the run.

        Raises:
          TacitError: there is no run, it is of another system, or its configuration cannot be read.
        """
        system = system_of(self.path)
        if system is None and self.checkpoint.exists():
            raise TacitError(f"{self.config} is missing: the run cannot go on")
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
        """Returns the epochs so far; a line that a crash of the machine cut short or garbled is left out."""
        lines = _content(self.metrics).decode(errors="replace").splitlines()
        epochs = []
        for line in lines:
            try:
                epochs.append(self.system.metrics(**self._numbers(json.loads(line))))
            except (ValueError, TypeError, AttributeError):
                continue
        return epochs

    def add_epoch(self, progress: M) -> None:
        """Adds an epoch to the metrics."""
        self.path.mkdir(parents=True, exist_ok=True)
        with open(self.metrics, "a") as metrics:
            metrics.write(json_text(asdict(progress)) + "\n")
            metrics.flush()
            os.fsync(metrics.fileno())

    def save_network(self, trainer: Trainer[C, M], keep: bool) -> None:
        """Writes the network alone; with `keep` also under the name of its epoch, and only the latest such files stay."""
        header = {**trainer.header(), _OWN: self.system.found_at()}
        save_tensors(self.network, trainer.weights(), header)
        if keep:
            save_tensors(self._kept(trainer.epoch), trainer.weights(), header)
            for epoch in list(self.kept_networks())[:-KEPT_NETWORKS]:
                remove_tensors(self._kept(epoch))

    def kept_networks(self) -> dict[int, Path]:
        """Returns the networks of the last evaluations by epoch, oldest first."""
        files = sorted(self.network.parent.glob("network-*.safetensors"))
        return {int(file.stem.removeprefix("network-")): file for file in files}

    def checkpoint_epoch(self) -> int | None:
        """Returns after which epoch the last checkpoint was written, None where there is none that can be read."""
        header = read_header(self.checkpoint)
        return None if header is None else int(header["epoch"])

    def forget_after(self, epoch: int) -> None:
        """Drops the metrics and networks of later epochs, which will be run again, and what was not written to its end."""
        if self.metrics.exists():
            kept = [json_text(asdict(progress)) + "\n" for progress in self.history() if progress.epoch <= epoch]
            write_whole(self.metrics, "".join(kept).encode())
        for kept_epoch, file in self.kept_networks().items():
            if kept_epoch > epoch:
                remove_tensors(file)
        for file in self.path.rglob(".*.tmp"):  # what a kill left half-written
            file.unlink()
        for part in self.network.parent.glob(f"*{PART}"):
            drop_parts(part.with_name(f"{part.name.partition('.')[0]}{self.network.suffix}"))

    def _numbers(self, facts: dict[str, Any]) -> dict[str, Any]:
        """Returns the facts of an epoch with NaN where a number that every epoch has was none."""
        always = {field.name for field in fields(self.system.metrics) if field.default is MISSING}
        return {name: math.nan if value is None and name in always else value for name, value in facts.items()}

    def _kept(self, epoch: int) -> Path:
        return self.network.with_name(f"network-{epoch:06d}.safetensors")


def _read_config(config: Path) -> dict[str, Any]:
    """Returns what `config.json` says, at least the system and the game.

    Raises:
      TacitError: it cannot be read, or is damaged.
    """
    check_readable(config)
    try:
        facts = json.loads(config.read_bytes())
    except ValueError:
        raise _damaged(config) from None
    if not isinstance(facts, dict) or not {"system", "game"} <= facts.keys():
        raise _damaged(config)
    return facts


def _content(file: Path) -> bytes:
    """Returns what a file holds, nothing where there is none."""
    if not file.exists():
        return b""
    check_readable(file)
    return file.read_bytes()


def _damaged(config: Path) -> TacitError:
    return TacitError(f"{config} is damaged: the run cannot go on")
