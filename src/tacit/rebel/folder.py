"""The folder of a run: what was asked for, how it went, and everything to go on with after a kill.

    config.json                    the game, the version and every setting
    command.txt                    a line for each session: arguments, version, commit, seed
    metrics.jsonl                  a line for each epoch
    events.out.tfevents.*          the same for TensorBoard
    curve.png                      exploitability over time
    checkpoints/
      last.safetensors             everything to go on with, replay buffer included
      network.safetensors          the network after the latest epoch
      network-000030.safetensors   the networks of the last three evaluations, whose mean the paper reports

An epoch's line and networks are written before a checkpoint of it, so that a checkpoint never knows more than they do. What is
newer than the checkpoint when a run goes on is dropped, because those epochs are run again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from tacit import __version__
from tacit.errors import TacitError
from tacit.files import write_whole
from tacit.nets.checkpoint import load_tensors, save_tensors
from tacit.rebel.config import RebelConfig
from tacit.rebel.train import Progress, Trainer

KEPT_NETWORKS = 3
"""Networks of evaluations kept: ReBeL's Table 2 gives means over the last three checkpoints."""


class RunFolder:
    """Reads and writes the files of one run."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.config = self.path / "config.json"
        self.command = self.path / "command.txt"
        self.metrics = self.path / "metrics.jsonl"
        self.curve = self.path / "curve.png"
        self.checkpoint = self.path / "checkpoints" / "last.safetensors"
        self.network = self.path / "checkpoints" / "network.safetensors"

    def holds_run(self) -> bool:
        """Returns whether a run was started here, even if it was killed before its first checkpoint."""
        return self.config.exists()

    def start(self, game: str, config: RebelConfig) -> None:
        """Makes this the folder of a new run."""
        facts = {"system": "rebel", "game": game, "version": __version__, **config.as_dict()}
        write_whole(self.config, json.dumps(facts, indent=1).encode())

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keeps other processes from training here; a killed process lets go by itself.

        Raises:
          TacitError: another one does.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        with open(self.path / ".lock", "w") as file:
            try:
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise TacitError(f"another process is training in {self.path}") from None
            except (ImportError, OSError):  # Windows, or a file system without locks
                pass
            yield

    def asked_for(self) -> tuple[str, RebelConfig]:
        """Returns the game and the configuration of the run.

        Raises:
          TacitError: there is no run, or its configuration cannot be read.
        """
        if not self.config.exists():
            raise TacitError(f"no run in {self.path}")
        try:
            facts = json.loads(self.config.read_text())
            settings = {field.name: facts[field.name] for field in fields(RebelConfig) if field.name in facts}
            return str(facts["game"]), RebelConfig(**settings)
        except (ValueError, KeyError, TypeError, OSError):
            raise TacitError(f"{self.config} is damaged: the run cannot go on") from None

    def add_command(self, line: str) -> None:
        """Adds a line about a session."""
        before = self.command.read_text() if self.command.exists() else ""
        write_whole(self.command, f"{before}{line}\n".encode())

    def history(self) -> list[Progress]:
        """Returns the epochs so far; a line that a crash of the machine cut short is left out."""
        lines = self.metrics.read_text().splitlines() if self.metrics.exists() else []
        epochs = []
        for line in lines:
            try:
                epochs.append(Progress(**json.loads(line)))
            except (ValueError, TypeError):
                continue
        return epochs

    def add_epoch(self, progress: Progress) -> None:
        """Adds an epoch to the metrics."""
        self.path.mkdir(parents=True, exist_ok=True)
        with open(self.metrics, "a") as metrics:
            metrics.write(json.dumps(asdict(progress)) + "\n")
            metrics.flush()
            os.fsync(metrics.fileno())

    def save_network(self, trainer: Trainer, keep: bool) -> None:
        """Writes the network alone; with `keep` also under the name of its epoch, and only the latest such files stay."""
        save_tensors(self.network, trainer.weights(), trainer.header())
        if keep:
            save_tensors(self._kept(trainer.epoch), trainer.weights(), trainer.header())
            for epoch in list(self.kept_networks())[:-KEPT_NETWORKS]:
                self._kept(epoch).unlink(missing_ok=True)

    def kept_networks(self) -> dict[int, Path]:
        """Returns the networks of the last evaluations by epoch, oldest first."""
        files = sorted(self.network.parent.glob("network-*.safetensors"))
        return {int(file.stem.removeprefix("network-")): file for file in files}

    def save_checkpoint(self, trainer: Trainer) -> None:
        """Writes everything that a run needs to go on."""
        save_tensors(self.checkpoint, *trainer.state())

    def load_checkpoint(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Returns the tensors and the header of the last checkpoint.

        Raises:
          TacitError: it is missing or damaged.
        """
        return load_tensors(self.checkpoint)

    def forget_after(self, epoch: int) -> None:
        """Drops the metrics and networks of later epochs, which will be run again, and what was not written to its end."""
        if self.metrics.exists():
            kept = [json.dumps(asdict(progress)) + "\n" for progress in self.history() if progress.epoch <= epoch]
            write_whole(self.metrics, "".join(kept).encode())
        for kept_epoch, file in self.kept_networks().items():
            if kept_epoch > epoch:
                file.unlink()
        for file in self.path.rglob(".*.tmp"):  # what a kill left half-written
            file.unlink()

    def _kept(self, epoch: int) -> Path:
        return self.network.with_name(f"network-{epoch:06d}.safetensors")
