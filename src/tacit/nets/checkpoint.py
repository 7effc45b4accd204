"""Trained networks as files: safetensors with a JSON header that says what they are for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from tacit.errors import TacitError
from tacit.files import check_readable, write_whole

FORMAT = "tacit-checkpoint-1"


def save_tensors(path: str | Path, tensors: dict[str, Tensor], header: dict[str, Any]) -> None:
    """Writes tensors and a header to one file, whole or not at all."""
    content = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    write_whole(path, save(content, {"tacit": json.dumps({"format": FORMAT, **header})}))


def read_header(path: str | Path) -> dict[str, Any] | None:
    """Returns the header of a file without reading its tensors; None where it is no checkpoint of this version."""
    try:
        with safe_open(str(path), framework="pt") as file:
            header = json.loads((file.metadata() or {})["tacit"])
    except (SafetensorError, KeyError, ValueError, OSError):
        return None
    return header if isinstance(header, dict) and header.get("format") == FORMAT else None


def load_tensors(path: str | Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Returns the tensors and the header of a file.

    Raises:
      TacitError: the file is missing, cannot be read, is cut short or of another kind.
    """
    if not Path(path).is_file():
        raise TacitError(f"no checkpoint at {path}")
    check_readable(path)  # safetensors says of such a file that there is none
    try:
        with safe_open(str(path), framework="pt") as file:
            header = json.loads((file.metadata() or {})["tacit"])
            tensors: dict[str, Tensor] = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, KeyError, ValueError, OSError):
        raise TacitError(f"{path} is not a checkpoint, or is damaged") from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise TacitError(f"{path} is not a checkpoint of this version ({FORMAT})")
    return tensors, header


def prefixed(prefix: str, tensors: dict[str, Any]) -> dict[str, Tensor]:
    """Returns the tensors with a prefix before each name."""
    return {f"{prefix}.{name}": tensor for name, tensor in tensors.items() if isinstance(tensor, torch.Tensor)}


def unprefixed(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Returns the tensors that have a prefix, without it."""
    return {name.removeprefix(f"{prefix}."): tensor for name, tensor in tensors.items() if name.startswith(f"{prefix}.")}
