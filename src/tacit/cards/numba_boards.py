"""The weights that hands can meet on many boards, on the CPU (see `BoardTensors.fill_meetings`)."""

from __future__ import annotations

import numpy as np

from tacit.cards.deck import NUM_CARDS
from tacit.compiled import compiled


@compiled()
def fill_meetings(cards, source, rows, out, places, amount):  # type: ignore[no-untyped-def]
    """Sets planes of `out` to the weights that hands can meet in planes of `source`.

    Sums are float64: if the other range is narrow, the weight a hand can meet is a small difference of large numbers.

    Args:
      cards: `[G, H, 2]`, the cards of the hands.
      source: `[S, G, H]`, weights.
      rows: `[F]`, the planes of `source` to read.
      out: `[O, G, H]`, the result.
      places: `[F]`, the planes of `out` to set.
      amount: `[F]`, the factor of each plane.
    """
    by_card = np.empty(NUM_CARDS, np.float64)
    for game in range(source.shape[1]):
        for plane in range(len(rows)):
            weights, result = source[rows[plane], game], out[places[plane], game]
            by_card[:] = 0.0
            for hand in range(len(weights)):
                weight = np.float64(weights[hand])
                by_card[cards[game, hand, 0]] += weight
                by_card[cards[game, hand, 1]] += weight
            total = by_card.sum() / 2.0  # every hand has two cards
            for hand in range(len(weights)):
                shared = by_card[cards[game, hand, 0]] + by_card[cards[game, hand, 1]]
                result[hand] = (total - shared + np.float64(weights[hand])) * amount[plane]  # it was subtracted twice
