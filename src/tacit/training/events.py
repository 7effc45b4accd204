"""TensorBoard events of a run."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from tacit.training.system import Metrics


class EventWriter:
    """Writes the metrics of every epoch for `tensorboard --logdir FOLDER`."""

    def __init__(self, folder: Path, epoch: int) -> None:
        """Opens a file of events; earlier events of epochs after `epoch`, which will be run again, no longer show.

        Raises:
          ImportError: TensorBoard is not installed.
        """
        from torch.utils.tensorboard import SummaryWriter

        self._writer = SummaryWriter(str(folder), purge_step=epoch + 1, flush_secs=5)

    def add(self, metrics: Metrics) -> None:
        """Adds an epoch: all of its numbers that are known."""
        for name, value in asdict(metrics).items():
            if isinstance(value, int | float) and name != "epoch":
                self._writer.add_scalar(name, value, metrics.epoch)

    def close(self) -> None:
        """Flushes what is left."""
        self._writer.close()
