"""What goes between a learner and its workers: tensors and a few facts in one piece of bytes."""

from __future__ import annotations

import json
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from tacit.errors import TacitError
from tacit.files import parse_json


def pack(tensors: dict[str, Tensor], **facts: Any) -> bytes:
    """Returns tensors and facts, which must be ready for JSON, as bytes."""
    here = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    return bytes(save(here, {"tacit": json.dumps(facts)}))


def unpack(frame: bytes) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Returns the tensors and the facts of a frame.

    Raises:
      TacitError: it is none.
    """
    length = int.from_bytes(frame[:8], "little")
    try:
        facts = parse_json(parse_json(frame[8 : 8 + length])["__metadata__"]["tacit"])
        tensors: dict[str, Tensor] = load(frame)
    except (SafetensorError, LookupError, TypeError, ValueError):
        facts = None
    if not isinstance(facts, dict):
        raise TacitError(f"{len(frame):,} bytes between a learner and a worker are no frame")
    return tensors, facts
