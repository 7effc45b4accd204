"""Cuts tensors into pieces and packs them into bins of limited size, so that no file is too large; and joins them again."""

from __future__ import annotations

import torch
from torch import Tensor

_PIECE = "\0"
"""Separates a tensor's name from the number of its piece."""


def packed(tensors: dict[str, Tensor], limit: int) -> list[dict[str, Tensor]]:
    """Returns tensors in bins of at most `limit` bytes, at least one bin; each goes into the first that fits, largest first."""
    pieces: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        if tensor.nbytes <= limit:
            pieces[name] = tensor
            continue
        cut = torch.split(tensor.view(-1), limit // tensor.element_size())
        pieces |= {f"{name}{_PIECE}{number}": piece.clone() for number, piece in enumerate(cut)}
    bins: list[dict[str, Tensor]] = [{}]
    room = [limit]
    for name, piece in sorted(pieces.items(), key=lambda item: -item[1].nbytes):
        at = next((number for number, left in enumerate(room) if piece.nbytes <= left), len(bins))
        if at == len(bins):
            bins.append({})
            room.append(limit)
        bins[at][name] = piece
        room[at] -= piece.nbytes
    return bins


def joined(tensors: dict[str, Tensor], shapes: dict[str, list[int]]) -> dict[str, Tensor]:
    """Returns the tensors with all pieces joined; `shapes` has the shapes of those that were cut.

    Raises:
      ValueError: a tensor's pieces are missing or do not have its shape.
    """
    whole = {name: tensor for name, tensor in tensors.items() if _PIECE not in name}
    for name, shape in shapes.items():
        count = sum(other.startswith(name + _PIECE) for other in tensors)
        try:
            whole[name] = torch.cat([tensors[f"{name}{_PIECE}{number}"] for number in range(count)]).view(shape)
        except (KeyError, RuntimeError, TypeError):
            raise ValueError(f"the pieces of {name} do not have the shape {shape}") from None
    return whole
