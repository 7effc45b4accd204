"""What goes between a learner and its workers: tensors and a few facts in one piece of bytes."""

from __future__ import annotations

import json
from typing import Any

from safetensors.torch import load, save
from torch import Tensor


def pack(tensors: dict[str, Tensor], **facts: Any) -> bytes:
    """Returns tensors and facts, which must be ready for JSON, as bytes."""
    here = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    return bytes(save(here, {"tacit": json.dumps(facts)}))


def unpack(frame: bytes) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Returns the tensors and the facts of a frame."""
    length = int.from_bytes(frame[:8], "little")
    facts: dict[str, Any] = json.loads(json.loads(frame[8 : 8 + length])["__metadata__"]["tacit"])
    return load(frame), facts
