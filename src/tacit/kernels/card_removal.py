"""Values of hands at folds and showdowns against the reach of all hands they can meet, in time linear in the hands.

Two hands never share a card. A sum over the opponent's hands is therefore the sum over all hands less those that hold either
of one's own cards: `S - s[a] - s[b] + r[ab]` for a hand `ab`, since `r[ab]` was subtracted twice. At a showdown the sums run
over the weaker hands and over the stronger ones, in order of strength.

`LANES` terminal nodes of one board are computed at once: a vector holds the reach of one hand at each of them.
"""

from __future__ import annotations

from tacit.compiled import compiled, inner
from tacit.kernels.simd import load, splat, store, transpose, width

NUM_CARDS = 52
LANES = 16
"""Terminal nodes in a vector."""
VECTOR = width(LANES)


@inner()
def turn(source, starts, step, target, ends, stride, num_hands):  # type: ignore[no-untyped-def]
    """Transposes `LANES` rows over hands into vectors `[hands, LANES]`, or such vectors into rows, one square at a time.

    Args:
      source: flat.
      starts: `[LANES]` where each row or vector of the first square starts in `source`.
      step: how far the start moves per hand: 1 for rows, `LANES` for vectors.
      target: flat.
      ends: `[LANES]` where each row or vector of the first square starts in `target`.
      stride: how far that start moves per hand.
      num_hands: the number of hands; if it is not a multiple of `LANES`, the last square overlaps the one before.
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


@inner()
def _zeros(by_card):  # type: ignore[no-untyped-def]
    """Returns a vector of zeros and clears the sums; with a slice this would take numba a second to compile."""
    zero = splat(by_card.dtype.type(0), VECTOR)
    for card in range(NUM_CARDS):
        store(by_card, card, zero)
    return zero


@inner()
def _add(reach, hand, cards, by_card):  # type: ignore[no-untyped-def]
    """Returns a hand's reach and adds it to the sums of the hand's two cards."""
    added = load(reach, hand, VECTOR)
    first, second = cards[hand, 0], cards[hand, 1]
    store(by_card, first, load(by_card, first, VECTOR) + added)
    store(by_card, second, load(by_card, second, VECTOR) + added)
    return added


@inner()
def _others(total, hand, cards, by_card):  # type: ignore[no-untyped-def]
    """Returns a sum without the hands that hold either card of a given hand.

    The two cards' sums are added before they are subtracted, so that rounding leaves nothing if all hands hold one of them.
    """
    return total - (load(by_card, cards[hand, 0], VECTOR) + load(by_card, cards[hand, 1], VECTOR))


@compiled()
def fold_values(reach, reach_cards, same, cards, amount, by_card, values):  # type: ignore[no-untyped-def]
    """Sets `values` to `amount` times the opponent's reach that each of `H` hands can meet.

    Args:
      reach: `[G + 1, LANES]` of the opponent's hands, then zeros.
      reach_cards: `[G, 2]` their cards.
      same: `[H]` the opponent's hand with the same cards, G if there is none.
      cards: `[H, 2]`.
      amount: `[1, LANES]` chips won.
      by_card: `[52, LANES]` scratch for sums.
      values: `[H, LANES]`.
    """
    total = _zeros(by_card)
    for g in range(len(reach_cards)):
        total = total + _add(reach, g, reach_cards, by_card)
    chips = load(amount, 0, VECTOR)
    for h in range(len(cards)):
        store(values, h, chips * (_others(total, h, cards, by_card) + load(reach, same[h], VECTOR)))


@compiled()
def showdown_values(reach, reach_cards, ranks, cards, amount, by_card, values):  # type: ignore[no-untyped-def]
    """Sets `values` to `amount` times the reach that each of `H` hands beats minus the reach that beats it.

    Args:
      reach: `[G, LANES]` of the opponent's hands, from the weakest to the strongest.
      reach_cards: `[G, 2]` their cards.
      ranks: `[H]` how many of these are weaker than each hand, and `[H]` how many are not stronger.
      cards: `[H, 2]`, from the weakest to the strongest.
      amount: `[1, LANES]` chips won or lost.
      by_card: `[52, LANES]` scratch for sums.
      values: `[H, LANES]`.
    """
    weaker, beaten = ranks
    total, added = _zeros(by_card), 0
    for h in range(len(cards)):  # from the weakest: all hands below this strength are added
        while added < weaker[h]:
            total = total + _add(reach, added, reach_cards, by_card)
            added += 1
        store(values, h, _others(total, h, cards, by_card))
    total, added, chips = _zeros(by_card), len(reach_cards), load(amount, 0, VECTOR)
    for h in range(len(cards) - 1, -1, -1):  # from the strongest: all hands above it are added
        while added > beaten[h]:
            added -= 1
            total = total + _add(reach, added, reach_cards, by_card)
        store(values, h, chips * (load(values, h, VECTOR) - _others(total, h, cards, by_card)))
