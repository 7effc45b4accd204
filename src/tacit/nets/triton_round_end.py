"""The last step of `RoundEndNet` on a GPU, fused: from the outputs of its layers to counterfactual values."""

from __future__ import annotations

import triton
import triton.language as tl
from torch import Tensor


@triton.jit  # type: ignore[untyped-decorator]
def _value(game, leaf, player, hand, inside, coded, powers, leads, met, games, leaves, hands, POWERS: tl.constexpr):  # type: ignore[no-untyped-def]
    """Returns what some hands win beyond their odds, their `leads`, their `met`, and their places."""
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
    """Fills both players' values of one leaf of one game; both stay in registers until their surplus is known."""
    game, leaf = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)
    hand = tl.arange(0, HANDS)
    inside = hand < hands
    value0, lead0, likely0, at0 = _value(
        game, leaf, 0, hand, inside, coded, powers, leads, met, games, leaves, hands, POWERS
    )  # fmt: skip
    value1, lead1, likely1, at1 = _value(
        game, leaf, 1, hand, inside, coded, powers, leads, met, games, leaves, hands, POWERS
    )  # fmt: skip
    both0 = tl.load(beliefs + at0, mask=inside, other=0.0) * likely0
    both1 = tl.load(beliefs + at1, mask=inside, other=0.0) * likely1
    excess = tl.sum(both0 * value0 + both1 * value1, 0) / tl.maximum(tl.sum(both0 + both1, 0), 1e-12)
    unit = tl.load(chips + leaf)
    tl.store(out + at0, (lead0 + likely0 * (value0 - excess)) * unit, mask=inside)
    tl.store(out + at1, (lead1 + likely1 * (value1 - excess)) * unit, mask=inside)


def finish(coded: Tensor, powers: Tensor, leads: Tensor, met: Tensor, beliefs: Tensor, chips: Tensor) -> Tensor:
    """Returns `[2, L, G, H]` counterfactual values (see `RoundEndNet.finish`).

    Args:
      coded: `[G, 2, 2 * L, H]` values by embedding: each hand's own part, and its part per unit of odds.
      powers: `[2, L, G, POWERS]` factors of the powers of odds.
      leads: `[2, L, G, H]` each hand's wins less its losses against the opponent's beliefs.
      met: `[2, L, G, H]` the share of the opponent's beliefs that shares no card with each hand.
      beliefs: `[2, L, G, H]`.
      chips: `[L]` the unit of the values.
    """
    _, leaves, games, hands = beliefs.shape
    out = beliefs.new_empty(beliefs.shape)
    _finish_kernel[games, leaves](
        coded.contiguous(), powers.float().contiguous(), leads, met, beliefs.contiguous(), chips, out, games, leaves, hands,
        POWERS=powers.shape[3], HANDS=triton.next_power_of_2(hands), num_warps=16,
    )  # fmt: skip
    return out
