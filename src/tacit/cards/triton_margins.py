"""Who beats whom over all boards that can come, counted on a GPU."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

TILE = 64
"""Hands of either side that a program compares."""


@triton.jit  # type: ignore[untyped-decorator]
def _count_kernel(strengths, cards, margins, scale, run_outs, hands, TILE: tl.constexpr):  # type: ignore[no-untyped-def]
    """Fills a tile of the margins of one board."""
    game = tl.program_id(2).to(tl.int64)
    first, second = tl.program_id(0) * TILE + tl.arange(0, TILE), tl.program_id(1) * TILE + tl.arange(0, TILE)
    in_first, in_second = first < hands, second < hands
    total = tl.zeros([TILE, TILE], tl.int32)
    row = strengths + game * run_outs * hands
    for _ in range(run_outs):
        ours = tl.load(row + first, mask=in_first, other=-1).to(tl.int32)[:, None]
        theirs = tl.load(row + second, mask=in_second, other=-1).to(tl.int32)[None, :]
        both = (ours >= 0) & (theirs >= 0)
        total += tl.where(both, (ours > theirs).to(tl.int32) - (ours < theirs).to(tl.int32), 0)
        row += hands
    held = cards + game * hands * 2
    a, b = tl.load(held + 2 * first, mask=in_first, other=-1)[:, None], tl.load(held + 2 * first + 1, mask=in_first)[:, None]
    c, d = (
        tl.load(held + 2 * second, mask=in_second, other=-2)[None, :],
        tl.load(held + 2 * second + 1, mask=in_second)[None, :],
    )
    apart = (a != c) & (a != d) & (b != c) & (b != d)
    found = tl.where(apart, total.to(tl.float32) * scale, 0.0)
    place = margins + game * hands * hands + first[:, None] * hands + second[None, :]
    tl.store(place, found.to(tl.float16), mask=in_first[:, None] & in_second[None, :])


def count_margins(strengths: Tensor, cards: Tensor, scale: float) -> Tensor:
    """Returns `[G, H, H]` float16 `scale` times wins less losses; 0 where two hands share a card.

    Args:
      strengths: `[G, R, H]` int16 on every full board, -1 where it blocks a hand.
      cards: `[G, H, 2]` of each hand, int64.
      scale: one over the number of boards that two hands leave.
    """
    games, run_outs, hands = strengths.shape
    margins = torch.empty(games, hands, hands, dtype=torch.float16, device=strengths.device)
    tiles = triton.cdiv(hands, TILE)
    _count_kernel[tiles, tiles, games](strengths.contiguous(), cards.contiguous(), margins, scale, run_outs, hands, TILE=TILE)
    return margins
