"""Trained networks as files: safetensors with a JSON header that says what they are for.

What is larger than `PART_BYTES` is spread over several files, so that no file is too large to be copied or kept under version
control. `last.safetensors` has the header, as many tensors as fit, and the names of the parts that have the rest:

    last.safetensors             the header, some tensors, and which parts belong to it
    last.9f86d081884c7d65.part   more tensors; the name is a digest of what is in it

Parts are written first and the file that names them last. So a kill in between leaves the files of before, which still name
their own parts; a part that is missing, cut short or another one than was named is noticed when it is read.
"""

from __future__ import annotations

import json
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load, save
from torch import Tensor

from tacit.errors import TacitError
from tacit.files import check_readable, write_whole

FORMAT = "tacit-checkpoint-1"
PART_BYTES = 16 * 2**20 - 2**18
"""Of tensors in one file; with its header a file stays below 16 MiB."""
PART = ".part"
_PIECE = "\0"
"""Stands in a name before the number of a piece, where a tensor was cut."""


def save_tensors(path: str | Path, tensors: dict[str, Tensor], header: dict[str, Any]) -> None:
    """Writes tensors and a header, whole or not at all, and removes the parts that were there before."""
    path = Path(path)
    first, *others = _packed({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()})
    parts = [_write_part(path, part) for part in others]
    shapes = {name: list(tensor.shape) for name, tensor in tensors.items() if tensor.nbytes > PART_BYTES}
    facts = {"format": FORMAT, **header, **({"parts": parts, "shapes": shapes} if parts else {})}
    write_whole(path, save(first, {"tacit": json.dumps(facts)}))
    drop_parts(path)


def read_header(path: str | Path) -> dict[str, Any] | None:
    """Returns the header of a file without reading its tensors; None where it is no whole checkpoint of this version."""
    try:
        with safe_open(str(path), framework="pt") as file:
            header = json.loads((file.metadata() or {})["tacit"])
    except (SafetensorError, KeyError, ValueError, OSError):
        return None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        return None
    return header if all(Path(path).with_name(part).is_file() for part in header.get("parts", ())) else None


def load_tensors(path: str | Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Returns the tensors and the header of a file and of the parts it names.

    Raises:
      TacitError: a file is missing, cannot be read, is cut short or of another kind.
    """
    path = Path(path)
    if not path.is_file():
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
    # What says how a file was cut says nothing about its content, and must not go with that into another file.
    parts, shapes = header.pop("parts", ()), header.pop("shapes", {})
    for name in parts:
        tensors |= _read_part(path, name)
    return _joined(tensors, shapes), header


def remove_tensors(path: str | Path) -> None:
    """Removes a file and its parts."""
    Path(path).unlink(missing_ok=True)
    drop_parts(path)


def drop_parts(path: str | Path) -> None:
    """Removes parts that a file does not name: those of the file before it, or of one that was never written."""
    path = Path(path)
    header = read_header(path)
    if header is None and path.exists():
        return  # a damaged file may still be mended from its parts
    named = [] if header is None else header.get("parts", [])
    for part in path.parent.glob(f"{path.stem}.*{PART}"):
        if part.name not in named:
            with suppress(OSError):
                part.unlink()


def prefixed(prefix: str, tensors: dict[str, Any]) -> dict[str, Tensor]:
    """Returns the tensors with a prefix before each name."""
    return {f"{prefix}.{name}": tensor for name, tensor in tensors.items() if isinstance(tensor, torch.Tensor)}


def unprefixed(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Returns the tensors that have a prefix, without it."""
    return {name.removeprefix(f"{prefix}."): tensor for name, tensor in tensors.items() if name.startswith(f"{prefix}.")}


def _packed(tensors: dict[str, Tensor]) -> list[dict[str, Tensor]]:
    """Returns tensors in bins of at most `PART_BYTES`, at least one; each goes where it first fits, the largest first."""
    pieces: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        if tensor.nbytes <= PART_BYTES:
            pieces[name] = tensor
            continue
        cut = torch.split(tensor.view(-1), PART_BYTES // tensor.element_size())
        pieces |= {f"{name}{_PIECE}{number}": piece.clone() for number, piece in enumerate(cut)}
    bins: list[dict[str, Tensor]] = [{}]
    room = [PART_BYTES]
    for name, piece in sorted(pieces.items(), key=lambda item: -item[1].nbytes):
        at = next((number for number, left in enumerate(room) if piece.nbytes <= left), len(bins))
        if at == len(bins):
            bins.append({})
            room.append(PART_BYTES)
        bins[at][name] = piece
        room[at] -= piece.nbytes
    return bins


def _joined(tensors: dict[str, Tensor], shapes: dict[str, list[int]]) -> dict[str, Tensor]:
    """Returns tensors with those that were cut in one piece again; `shapes` are what these had."""
    whole = {name: tensor for name, tensor in tensors.items() if _PIECE not in name}
    for name, shape in shapes.items():
        count = sum(other.startswith(name + _PIECE) for other in tensors)
        whole[name] = torch.cat([tensors[f"{name}{_PIECE}{number}"] for number in range(count)]).view(shape)
    return whole


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=8).hexdigest()


def _write_part(path: Path, tensors: dict[str, Tensor]) -> str:
    """Writes a part and returns its name."""
    content = save(tensors)
    name = f"{path.stem}.{_digest(content)}{PART}"
    write_whole(path.with_name(name), content)
    return name


def _read_part(path: Path, name: str) -> dict[str, Tensor]:
    """Returns the tensors of a part.

    Raises:
      TacitError: it is missing, cannot be read, or is not the one that was named.
    """
    part = path.with_name(name)
    if not part.is_file():
        raise TacitError(f"{path} is damaged: its part {name} is missing")
    check_readable(part)
    content = part.read_bytes()
    if name != f"{path.stem}.{_digest(content)}{PART}":
        raise TacitError(f"{path} is damaged: its part {name} was cut short or changed")
    tensors: dict[str, Tensor] = load(content)
    return tensors
