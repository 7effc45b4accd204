"""Frames, the messages between a learner and its workers: tensors and a few facts as bytes."""

from __future__ import annotations

import json
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from tacit.errors import TacitError
from tacit.files import parse_json


def pack(tensors: dict[str, Tensor], **facts: Any) -> bytes:
    """Returns tensors and facts as bytes; facts must be ready for JSON."""
    here = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    return bytes(save(here, {"tacit": json.dumps(facts)}))


def unpack(frame: bytes) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Returns the tensors and the facts of a frame.

    Raises:
      TacitError: it is not a frame.
    """
    length = int.from_bytes(frame[:8], "little")
    try:
        facts = parse_json(parse_json(frame[8 : 8 + length])["__metadata__"]["tacit"])
        tensors: dict[str, Tensor] = load(frame)
    except (SafetensorError, LookupError, TypeError, ValueError):
        facts = None
    if not isinstance(facts, dict):
        raise TacitError(f"{len(frame):,} bytes between a learner and a worker are not a valid message")
    return tensors, facts
