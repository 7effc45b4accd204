"""Trained networks as files: safetensors with a JSON header that says what they are for.

Networks larger than `PART_BYTES` are spread over several files, so that no file is too large to be copied or kept under version
control. The first file has the header, as many tensors as fit, and the names of the parts with the rest:

    checkpoint-000030.safetensors      the header, some tensors, and the names of its parts
    checkpoint.9f86d081884c7d65.part   more tensors; the name is a digest of its content

Files whose names differ only in such a number are a family and share equal parts. Parts are written before the file that names
them, and a part is removed once no file of its family names it. So a kill at any moment leaves whole files.

The file itself has a digest in its metadata, of all its bytes with zeros in the digest's place. Reading a file detects anything
missing, cut short or changed, even by a bit. Files of the first format have digests for their parts but not for themselves;
they can still be read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load, save
from torch import Tensor

from tacit.errors import DamagedError, TacitError
from tacit.files import check_readable, parse_json, write_whole
from tacit.nets.packing import joined, packed

FORMAT = "tacit-checkpoint-2"
UNSIGNED_FORMAT = "tacit-checkpoint-1"
"""The format of files without a digest of their own. The two numbers differ in two bits, so no single flip confuses them."""
SUFFIX = ".safetensors"
PART_BYTES = 16 * 2**20 - 2**18
"""The most bytes of tensors in one file; with its header a file stays below 16 MiB."""
PART = ".part"
_NO_DIGEST = "0" * 32
_KINDS: dict[str, tuple[type, ...]] = {
    "system": (str,), "game": (str,), "source": (str, type(None)), "config": (dict,), "epoch": (int,), "seconds": (int, float),
    "spilled": (dict,), "shapes": (dict,),
}  # fmt: skip
"""The types of these entries of a header, where present."""


def save_tensors(path: str | Path, tensors: dict[str, Tensor], header: dict[str, Any]) -> None:
    """Writes tensors and a header, whole or not at all, and removes the parts that the file's family no longer needs."""
    path = Path(path)
    first, *others = packed({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}, PART_BYTES)
    parts = [write_part(path, part) for part in others]
    shapes = {name: list(tensor.shape) for name, tensor in tensors.items() if tensor.nbytes > PART_BYTES}
    facts = {"format": FORMAT, **header, **({"parts": parts, "shapes": shapes} if parts else {})}
    write_whole(path, _signed(save(first, {"tacit": json.dumps(facts), "digest": _NO_DIGEST})))
    drop_parts(path)


def read_header(path: str | Path) -> dict[str, Any] | None:
    """Returns a file's header without reading its tensors; None if it is not a checkpoint, is cut short, or lacks a part.

    Only `load_tensors` and `check_tensors` detect changed bytes.
    """
    header = _header(path)
    if header is None:
        return None
    return header if all(Path(path).with_name(part).is_file() for part in _parts(header)) else None


def load_tensors(path: str | Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Returns the tensors of a file and its parts, and the file's header.

    Raises:
      DamagedError: something is missing, cut short or changed.
      TacitError: the file does not exist, cannot be read, or has another format.
    """
    path, tensors = Path(path), dict[str, Tensor]()
    header, contents = _verified(path)
    # How a file was cut is not part of its content, and must not be copied into another file.
    parts, shapes = header.pop("parts", ()), header.pop("shapes", {})
    for number, content in enumerate(contents):
        if number > len(parts):  # spilled rows are read elsewhere; here they need only be whole
            continue
        try:
            tensors |= load(content)
        except SafetensorError:
            raise _damaged(path) from None
    try:
        return joined(tensors, shapes), header
    except ValueError:
        raise _damaged(path) from None


def check_tensors(path: str | Path) -> dict[str, Any]:
    """Returns a file's header after checking every byte of the file and its parts.

    Raises:
      DamagedError, TacitError: as in `load_tensors`.
    """
    header, contents = _verified(Path(path))
    for _ in contents:  # one part in memory at a time
        pass
    return header


def is_whole(path: str | Path) -> bool:
    """Returns whether a file can be loaded, with nothing missing or changed."""
    try:
        check_tensors(path)
    except TacitError:
        return False
    return True


def remove_tensors(path: str | Path) -> None:
    """Removes a file, and the parts that no other file of its family needs."""
    Path(path).unlink(missing_ok=True)
    drop_parts(path)


def drop_parts(path: str | Path) -> None:
    """Removes the parts that no file of a family names: those of earlier files, or of a file that was never written."""
    for part in unnamed_parts(path):
        with suppress(OSError):
            part.unlink()


def unnamed_parts(path: str | Path, without: tuple[Path, ...] = ()) -> list[Path]:
    """Returns the parts that no file of a family names, ignoring the files in `without`.

    Returns none if one of the other files is damaged: the parts it names are unknown, and it may still be repaired.
    """
    path, named = Path(path), set[str]()
    family = _family(path.stem)
    if not path.parent.is_dir():
        return []
    files = list(path.parent.iterdir())
    for file in files:
        if file.suffix == SUFFIX and _family(file.stem) == family and file not in without:
            header = _header(file)
            if header is None:
                return []
            named.update(_parts(header))
    parts = [file for file in files if file.suffix == PART and _family(file.stem.rpartition(".")[0]) == family]
    return [part for part in parts if part.name not in named]


def write_part(path: Path, tensors: dict[str, Tensor]) -> str:
    """Returns the name of a part for a family's files, after writing it unless it exists already.

    The part is kept for as long as a file of the family names it, among its own parts or as `spilled`.
    """
    content = save(tensors)
    part = path.with_name(f"{_family(path.stem)}.{_digest(content, size=8)}{PART}")
    if not (part.is_file() and part.read_bytes() == content):  # repairs a part that was damaged meanwhile
        write_whole(part, content)
    return part.name


def prefixed(prefix: str, tensors: dict[str, Any]) -> dict[str, Tensor]:
    """Returns the tensors with a prefix before each name."""
    return {f"{prefix}.{name}": tensor for name, tensor in tensors.items() if isinstance(tensor, torch.Tensor)}


def unprefixed(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Returns the tensors that have a prefix, without it."""
    return {name.removeprefix(f"{prefix}."): tensor for name, tensor in tensors.items() if name.startswith(f"{prefix}.")}


def _family(stem: str) -> str:
    """Returns the name shared by a family's files of all epochs: `network-000030` belongs to the family `network`."""
    return re.sub(r"-\d+$", "", stem)


def _parts(header: dict[str, Any]) -> list[str]:
    """Returns the names of all parts of a file: its own, and those with rows that were spilled (`learning/spill.py`)."""
    return [*header.get("parts", ()), *(name for names in header.get("spilled", {}).values() for name in names)]


def _digest(*contents: bytes | memoryview, size: int) -> str:
    summed = blake2b(digest_size=size)
    for content in contents:
        summed.update(content)
    return summed.hexdigest()


def _signed(content: bytes) -> bytes:
    """Returns a file's content with its digest in place of the zeros."""
    mark = b'"digest":"'
    start = content.index(mark + _NO_DIGEST.encode()) + len(mark)
    return content[:start] + _digest(content, size=16).encode() + content[start + len(_NO_DIGEST) :]


def _is_signed(content: bytes, digest: Any) -> bool:
    """Returns whether a file's content matches the digest it states."""
    if not (isinstance(digest, str) and re.fullmatch("[0-9a-f]{32}", digest)):
        return False
    start = content.find(f'"digest":"{digest}"'.encode()) + len('"digest":"')
    view = memoryview(content)
    return digest == _digest(view[:start], _NO_DIGEST.encode(), view[start + len(digest) :], size=16)


def _header(path: str | Path) -> dict[str, Any] | None:
    """Returns the header of a file; None if it is not a checkpoint or is cut short."""
    try:
        with safe_open(str(path), framework="pt") as file:
            header = _parsed((file.metadata() or {})["tacit"])
    except (SafetensorError, KeyError, ValueError, OSError):
        return None
    return header if header.get("format") in (FORMAT, UNSIGNED_FORMAT) else None


def _parsed(text: Any) -> dict[str, Any]:
    """Returns a header after checking its entries: parts are files in the same folder, shapes are lists of sizes.

    Raises:
      ValueError: the text is not a valid header.
    """
    header = parse_json(text) if isinstance(text, str) else None
    if not isinstance(header, dict):
        raise ValueError("a header is a JSON object")
    if any(type(header[name]) not in kinds for name, kinds in _KINDS.items() if name in header):
        raise ValueError("an entry is of another kind")
    for names in (header.get("parts", []), *header.get("spilled", {}).values()):
        if not (isinstance(names, list) and all(isinstance(name, str) and _is_part(name) for name in names)):
            raise ValueError("parts are files beside the one that names them")
    for shape in header.get("shapes", {}).values():
        if not (isinstance(shape, list) and all(type(size) is int and size >= 0 for size in shape)):
            raise ValueError("a shape is a list of sizes")
    return header


def _is_part(name: str) -> bool:
    """Returns whether a name is that of a part in the same folder."""
    return re.fullmatch(rf"(?a)[\w.\-]+\.[0-9a-f]{{16}}{re.escape(PART)}", name) is not None


def _verified(path: Path) -> tuple[dict[str, Any], Iterator[bytes]]:
    """Returns a file's header, and an iterator over the contents of the file and its parts; each part is verified when read.

    Raises:
      DamagedError, TacitError: as in `load_tensors`.
    """
    if not path.is_file():
        raise TacitError(f"no checkpoint at {path}")
    content = _read(path, path)
    try:
        length = int.from_bytes(content[:8], "little")
        metadata = parse_json(content[8 : 8 + length])["__metadata__"]
        header, digest = _parsed(metadata["tacit"]), metadata.get("digest")
        known = header.get("format")
    except (ValueError, LookupError, TypeError, AttributeError):
        raise _damaged(path) from None
    if (digest is not None or known == FORMAT) and not _is_signed(content, digest):
        raise DamagedError(f"{path} is damaged: it was cut short or changed")
    if known not in (FORMAT, UNSIGNED_FORMAT):
        raise TacitError(f"{path} is not a checkpoint of this version ({FORMAT})")
    if digest is None and _header(path) is None:
        raise _damaged(path)  # cut short
    parts = _parts(header)

    def contents() -> Iterator[bytes]:
        yield content
        for name in parts:
            yield _read_part(path, name)

    return header, contents()


def _read_part(path: Path, name: str) -> bytes:
    """Returns the content of a part.

    Raises:
      DamagedError: the part is missing or changed.
      TacitError: the part cannot be read.
    """
    part = path.with_name(name)
    if not part.is_file():
        raise DamagedError(f"{path} is damaged: its part {name} is missing")
    content = _read(path, part)
    if _digest(content, size=8) != part.stem.rpartition(".")[2]:
        raise DamagedError(f"{path} is damaged: its part {name} was cut short or changed")
    return content


def _read(path: Path, file: Path) -> bytes:
    """Returns the bytes of a file that belongs to a checkpoint; a read error of the disk counts as damage.

    Raises:
      DamagedError: the disk fails.
      TacitError: the file may not be read.
    """
    check_readable(file)
    try:
        return file.read_bytes()
    except OSError as error:
        raise DamagedError(f"{path} is damaged: cannot read {file.name}: {error.strerror or error}") from None


def _damaged(path: Path) -> DamagedError:
    return DamagedError(f"{path} is not a checkpoint, or is damaged")
