"""The last step of a network of round ends on a GPU, fused: from what it made of beliefs to counterfactual values."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

HANDS = 512
"""Hands that a program reads at a time."""


@triton.jit  # type: ignore[untyped-decorator]
def _value(game, leaf, player, hand, inside, coded, powers, leads, met, games, leaves, hands, POWERS: tl.constexpr):  # type: ignore[no-untyped-def]
    """Returns what some hands win beyond their odds, their leads, and how likely they can be held."""
    at = ((player * leaves + leaf) * games + game) * hands + hand
    lead, likely = tl.load(leads + at, mask=inside, other=0.0), tl.load(met + at, mask=inside, other=1.0)
    odds = lead / tl.maximum(likely, 1e-9)
    place = (game * 4 * leaves + player * leaves + leaf) * hands + hand
    value, power = tl.load(coded + place, mask=inside, other=0.0).to(tl.float32), odds
    value += odds * tl.load(coded + place + 2 * leaves * hands, mask=inside, other=0.0).to(tl.float32)
    first = powers + ((player * leaves + leaf) * games + game) * POWERS
    for number in tl.static_range(POWERS):
        value += tl.load(first + number) * power
        power *= odds
    return value, lead, likely, at


@triton.jit  # type: ignore[untyped-decorator]
def _finish_kernel(  # type: ignore[no-untyped-def]
    coded, powers, leads, met, beliefs, chips, out, games, leaves, hands, POWERS: tl.constexpr, HANDS: tl.constexpr
):
    """Fills both players' values of one leaf of one game."""
    game, leaf = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)
    surplus = tl.zeros([HANDS], tl.float32)
    weight = tl.zeros([HANDS], tl.float32)
    for player in tl.static_range(2):
        for start in range(0, hands, HANDS):
            hand = start + tl.arange(0, HANDS)
            inside = hand < hands
            value, _, likely, at = _value(
                game, leaf, player, hand, inside, coded, powers, leads, met, games, leaves, hands, POWERS
            )  # fmt: skip
            both = tl.load(beliefs + at, mask=inside, other=0.0) * likely
            surplus += both * value
            weight += both
    excess = tl.sum(surplus, 0) / tl.maximum(tl.sum(weight, 0), 1e-12)
    unit = tl.load(chips + leaf)
    for player in tl.static_range(2):
        for start in range(0, hands, HANDS):
            hand = start + tl.arange(0, HANDS)
            inside = hand < hands
            value, lead, likely, at = _value(
                game, leaf, player, hand, inside, coded, powers, leads, met, games, leaves, hands, POWERS
            )  # fmt: skip
            tl.store(out + at, (lead + likely * (value - excess)) * unit, mask=inside)


def finish(coded: Tensor, powers: Tensor, leads: Tensor, met: Tensor, beliefs: Tensor, chips: Tensor) -> Tensor:
    """Returns `[2, L, G, H]` counterfactual values (see `RoundEndNet.finish`).

    Args:
      coded: `[G, 2, 2 * L, H]` values by embedding: what hands have of their own, and for each unit of their odds.
      powers: `[2, L, G, POWERS]` factors of the powers of odds.
      leads: `[2, L, G, H]` what hands win against the other's beliefs less what they lose.
      met: `[2, L, G, H]` how likely the other's beliefs let them be held.
      beliefs: `[2, L, G, H]`.
      chips: `[L]` what values are counted in.
    """
    _, leaves, games, hands = beliefs.shape
    out = torch.empty_like(beliefs)
    _finish_kernel[games, leaves](
        coded.contiguous(), powers.float().contiguous(), leads, met, beliefs, chips, out, games, leaves, hands,
        POWERS=powers.shape[3], HANDS=HANDS,
    )  # fmt: skip
    return out
