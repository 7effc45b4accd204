"""TensorBoard events of a run."""

from __future__ import annotations

import os
import platform
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.training.system import Metrics

if TYPE_CHECKING:
    from tensorboard.compat.proto.event_pb2 import Event


class EventWriter:
    """Writes the metrics of every epoch for `tensorboard --logdir FOLDER`.

    The training thread writes the events. The usual `SummaryWriter` has a thread of its own, which ends in a traceback if the
    disk is full or the folder is gone; here such a write fails like every other write of a run.
    """

    def __init__(self, folder: Path, epoch: int) -> None:
        """Opens a file of events and hides earlier events of epochs after `epoch`, which will be run again.

        Raises:
          ImportError: TensorBoard is not installed.
          OSError: the folder cannot be written.
        """
        from tensorboard.compat.proto.event_pb2 import Event, SessionLog
        from tensorboard.summary.writer.record_writer import RecordWriter

        name = f"events.out.tfevents.{time.time_ns()}.{platform.node()}.{os.getpid()}"
        self._file = open(folder / name, "wb", buffering=0)  # noqa: SIM115
        self._records = RecordWriter(self._file)
        self._write(Event(file_version="brain.Event:2"))
        self._write(Event(step=epoch + 1, session_log=SessionLog(status=SessionLog.START)))

    def add(self, metrics: Metrics) -> None:
        """Adds all known numbers of an epoch.

        Raises:
          OSError: they cannot be written.
        """
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary

        facts = {name: value for name, value in asdict(metrics).items() if isinstance(value, int | float) and name != "epoch"}
        values = [Summary.Value(tag=name, simple_value=value) for name, value in facts.items()]
        self._write(Event(step=metrics.epoch, summary=Summary(value=values)))

    def close(self) -> None:
        """Closes the file, which already contains everything that was added."""
        self._file.close()

    def _write(self, event: Event) -> None:
        event.wall_time = time.time()
        self._records.write(event.SerializeToString())
