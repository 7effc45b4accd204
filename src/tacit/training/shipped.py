"""The networks of all systems that are shipped with the package: `pretrained:NAME`."""

from __future__ import annotations

from pathlib import Path

from tacit.errors import TacitError
from tacit.nets.checkpoint import read_header

PRETRAINED = "pretrained:"
"""The prefix of the names of shipped networks."""


def shipped_file(name: str) -> Path:
    """Returns the file of `pretrained:NAME`.

    Raises:
      TacitError: no network has that name.
    """
    shipped, wanted = _shipped(), name.removeprefix(PRETRAINED)
    if wanted not in shipped:
        raise TacitError(f"no pretrained network {wanted!r}: choose one of {', '.join(shipped)}")
    return shipped[wanted]


def shipped_for(game: str) -> str | None:
    """Returns the name, `pretrained:NAME`, of the network for a game with its parameters, if one is shipped."""
    for name, file in _shipped().items():
        header = read_header(file)
        if header is not None and header["game"] == game:
            return f"{PRETRAINED}{name}"
    return None


def _shipped() -> dict[str, Path]:
    return {file.stem: file for file in sorted((Path(__file__).parents[1] / "pretrained").glob("*.safetensors"))}
