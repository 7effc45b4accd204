"""What ReBeL trained, found by name: run folders, network files, and the networks that are shipped."""

from __future__ import annotations

from pathlib import Path

from tacit.learning.trained import Trained, read_trained
from tacit.rebel.config import RebelConfig
from tacit.training.folder import network_file


def load_trained(path: str | Path) -> Trained[RebelConfig]:
    """Returns what a run trained.

    Args:
      path: a run folder, a network file, or `pretrained:NAME`.

    Raises:
      TacitError: there is no network, or it is damaged.
    """
    return read_trained(network_file(path), str(path), RebelConfig)
