"""Networks trained by ReBeL, found by name: in run folders, in network files, or shipped with the package."""

from __future__ import annotations

from pathlib import Path

from tacit.learning.trained import Trained, read_trained
from tacit.rebel.config import RebelConfig
from tacit.training.folder import network_file


def load_trained(path: str | Path) -> Trained[RebelConfig]:
    """Returns the networks that a run trained.

    Args:
      path: a run folder, a network file, or `pretrained:NAME`.

    Raises:
      TacitError: the network is missing or damaged.
    """
    return read_trained(network_file(path), str(path), RebelConfig)
