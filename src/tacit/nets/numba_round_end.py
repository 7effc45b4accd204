"""The last step of `RoundEndNet` on the CPU, fused: from the outputs of its layers to counterfactual values."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from tacit.compiled import compiled


@compiled(fastmath={"contract", "reassoc"})
def _add_powers(coded, tilt, powers, leads, met, beliefs, out):  # type: ignore[no-untyped-def]
    """Fills `out` `[H]` with what hands win beyond their odds; returns its sum over both ranges, and their weight."""
    surplus, weight = coded.dtype.type(0.0), coded.dtype.type(0.0)
    least = coded.dtype.type(1e-9)
    for hand in range(len(coded)):
        odds = leads[hand] / max(met[hand], least)
        value = powers[len(powers) - 1] * odds
        for number in range(len(powers) - 2, -1, -1):
            value = (value + powers[number]) * odds
        value += coded[hand] + tilt[hand] * odds
        both = beliefs[hand] * met[hand]
        surplus += both * value
        weight += both
        out[hand] = value
    return surplus, weight


@compiled()
def _finish(coded, powers, leads, met, beliefs, chips, out):  # type: ignore[no-untyped-def]
    """Fills both players' values at all leaves of all games."""
    _, leaves, games, _ = out.shape
    for leaf in range(leaves):
        for game in range(games):
            surplus, weight = np.float64(0.0), np.float64(0.0)
            for player in range(2):
                part, whole = _add_powers(
                    coded[game, 0, player * leaves + leaf], coded[game, 1, player * leaves + leaf],
                    powers[player, leaf, game], leads[player, leaf, game], met[player, leaf, game],
                    beliefs[player, leaf, game], out[player, leaf, game],
                )  # fmt: skip
                surplus += part
                weight += whole
            excess, unit = out.dtype.type(surplus / max(weight, 1e-12)), chips[leaf]
            for player in range(2):
                result, lead, likely = out[player, leaf, game], leads[player, leaf, game], met[player, leaf, game]
                for hand in range(len(result)):
                    result[hand] = (lead[hand] + likely[hand] * (result[hand] - excess)) * unit


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
    out = torch.empty_like(beliefs)
    _finish(*(part.contiguous().numpy() for part in (coded, powers, leads, met, beliefs, chips)), out.numpy())
    return out
