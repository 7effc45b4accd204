"""TensorBoard events of a run."""

from __future__ import annotations

from pathlib import Path

from tacit.rebel.train import Progress

_SCALARS = ("loss", "policy_loss", "exploitability", "examples_per_second", "seconds")


class EventWriter:
    """Writes the metrics of every epoch for `tensorboard --logdir FOLDER`."""

    def __init__(self, folder: Path, epoch: int) -> None:
        """Opens a file of events; earlier events of epochs after `epoch`, which will be run again, no longer show.

        Raises:
          ImportError: TensorBoard is not installed.
        """
        from torch.utils.tensorboard import SummaryWriter

        self._writer = SummaryWriter(str(folder), purge_step=epoch + 1, flush_secs=5)

    def add(self, progress: Progress) -> None:
        """Adds an epoch."""
        for name in _SCALARS:
            value = getattr(progress, name)
            if value is not None:
                self._writer.add_scalar(name, value, progress.epoch)

    def close(self) -> None:
        """Flushes what is left."""
        self._writer.close()
