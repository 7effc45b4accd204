"""What ReBeL trained, found by name: run folders, network files, and the networks that are shipped."""

from __future__ import annotations

from pathlib import Path

from tacit.errors import TacitError
from tacit.games import AnyGame
from tacit.learning.trained import Trained, read_trained
from tacit.rebel.config import RebelConfig
from tacit.training.folder import network_file

PRETRAINED = "pretrained:"
"""Before the names of networks that are shipped."""


def load_trained(path: str | Path) -> Trained[RebelConfig]:
    """Returns what a run trained.

    Args:
      path: a run folder, a network file, or `pretrained:NAME`.

    Raises:
      TacitError: there is no network, or it is damaged.
    """
    return read_trained(_find_network(path), str(path), RebelConfig)


def pretrained_for(game: AnyGame) -> str | None:
    """Returns the name of the shipped network for a game, if there is one."""
    names = (f"{PRETRAINED}{name}" for name in _shipped())
    return next((name for name in names if load_trained(name).game == str(game)), None)


def _find_network(agent: str | Path) -> Path:
    """Returns the file behind a run folder, a network file, or the name of a shipped network, `pretrained:NAME`."""
    name = str(agent)
    if name.startswith(PRETRAINED):
        shipped, wanted = _shipped(), name.removeprefix(PRETRAINED)
        if wanted not in shipped:
            raise TacitError(f"no pretrained network {wanted!r}: choose one of {', '.join(shipped)}")
        return shipped[wanted]
    return network_file(agent)


def _shipped() -> dict[str, Path]:
    """Returns the files of the shipped networks by name."""
    return {file.stem: file for file in sorted((Path(__file__).parents[1] / "pretrained").glob("*.safetensors"))}
