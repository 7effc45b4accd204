"""What hands win at folds and showdowns against the reach of all hands they can meet, in time linear in the hands.

Two hands never share a card. Sums over the opponent's hands are therefore sums over all of them, less those that hold either
card of one's own: `S - s[a] - s[b] + r[ab]` for a hand `ab`, since `r[ab]` was taken away twice. At a showdown the sums run
over the weaker hands, and over the stronger ones, as they come in order of strength.

`LANES` terminal nodes of one board are handled at once: a vector has the reach of one hand at each of them.
"""

from __future__ import annotations

from tacit.compiled import compiled
from tacit.kernels.simd import load, splat, store, transpose, width

NUM_CARDS = 52
LANES = 16
"""Terminal nodes in a vector."""
VECTOR = width(LANES)


@compiled()
def turn(source, starts, step, target, ends, stride, num_hands):  # type: ignore[no-untyped-def]
    """Turns `LANES` rows over hands into vectors `[hands, LANES]`, or such vectors into rows, a square at a time.

    Args:
      source: flat.
      starts: `[LANES]` where each row or vector of the first square starts.
      step: how much later it starts for the next hand: 1 for rows, `LANES` for vectors.
      target: flat, with
      ends: `[LANES]` and
      stride: likewise.
      num_hands: if they are no squares, the last one overlaps the one before.
    """
    if num_hands < LANES:
        for node in range(LANES):
            for hand in range(num_hands):
                if step == 1:
                    target[ends[hand] + node] = source[starts[node] + hand]
                else:
                    target[ends[node] + hand] = source[starts[hand] + node]
        return
    for first in range(0, num_hands, LANES):
        hand = min(first, num_hands - LANES)
        transpose(source, starts, hand * step, target, ends, hand * stride, VECTOR)


@compiled()
def _add(reach, hand, cards, by_card):  # type: ignore[no-untyped-def]
    """Adds a hand's reach to the sums of its two cards, and returns it."""
    added = load(reach, hand, VECTOR)
    first, second = cards[hand, 0], cards[hand, 1]
    store(by_card, first, load(by_card, first, VECTOR) + added)
    store(by_card, second, load(by_card, second, VECTOR) + added)
    return added


@compiled()
def _of_cards(hand, cards, by_card):  # type: ignore[no-untyped-def]
    """Returns the sums of a hand's two cards."""
    return load(by_card, cards[hand, 0], VECTOR) + load(by_card, cards[hand, 1], VECTOR)


@compiled()
def fold_values(reach, cards, num_hands, amount, by_card, values):  # type: ignore[no-untyped-def]
    """Sets `values` to `amount` times the opponent's reach that each hand can meet.

    Args:
      reach: `[H, LANES]` the opponent's.
      cards: `[H, 2]`.
      num_hands: hands.
      amount: `[1, LANES]` chips that are won.
      by_card: `[52, LANES]` room for sums.
      values: `[H, LANES]`.
    """
    by_card[:] = 0
    total = splat(by_card[0, 0], VECTOR)
    for h in range(num_hands):
        total = total + _add(reach, h, cards, by_card)
    chips = load(amount, 0, VECTOR)
    for h in range(num_hands):
        store(values, h, chips * (total - _of_cards(h, cards, by_card) + load(reach, h, VECTOR)))


@compiled()
def showdown_values(reach, cards, tie, num_hands, amount, by_card, values):  # type: ignore[no-untyped-def]
    """Sets `values` to `amount` times the reach that each hand beats less the reach that beats it.

    Args:
      reach: `[H, LANES]` the opponent's, hands from the weakest to the strongest.
      cards: `[H, 2]`.
      tie: `[H]` the first hand of equal strength.
      num_hands: hands.
      amount: `[1, LANES]` chips that are won or lost.
      by_card: `[52, LANES]` room for sums.
      values: `[H, LANES]`.
    """
    by_card[:] = 0
    zero = splat(by_card[0, 0], VECTOR)
    total, added = zero, 0
    for h in range(num_hands):  # from the weakest: all below the present strength has been added
        while added < tie[h]:
            total = total + _add(reach, added, cards, by_card)
            added += 1
        store(values, h, total - _of_cards(h, cards, by_card))
    by_card[:] = 0
    total, added, chips = zero, num_hands - 1, load(amount, 0, VECTOR)
    for h in range(num_hands - 1, -1, -1):  # from the strongest: all above it
        while tie[added] > tie[h]:
            total = total + _add(reach, added, cards, by_card)
            added -= 1
        store(values, h, chips * (load(values, h, VECTOR) - total + _of_cards(h, cards, by_card)))
