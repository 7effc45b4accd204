"""Random deals of hold'em inside kernels: hands by the weights of ranges, and what the card abstraction sees of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.blueprint.boards import board_number
from tacit.blueprint.buckets import BucketTables
from tacit.blueprint.features import FeatureTables, feature_tables, seven_strength
from tacit.cards.hands import NUM_HANDS
from tacit.compiled import inner
from tacit.games.holdem import Holdem
from tacit.random_numbers import below, uniform


class DealTables(NamedTuple):
    """What a deal looks up.

    Attributes:
      stays: `[2, 1326]` float64, how often a hand that was drawn stays what it is (Walker's alias method), and
      alias: `[2, 1326]` int64, what it becomes otherwise.
      known: `[0 to 5]` int64, the cards that lie from the start.
      cards: strengths and the cards of hands.
      buckets: buckets of hands.
    """

    stays: Any
    alias: Any
    known: Any
    cards: FeatureTables
    buckets: BucketTables


@dataclass(frozen=True)
class Alias:
    """Draws in constant time: a number n from all equally often, then n or its alias.

    Attributes:
      stays: `[N]` how often n stays n.
      alias: `[N]` what it becomes otherwise.
    """

    stays: NDArray[np.float64]
    alias: NDArray[np.int64]

    @staticmethod
    def of(weights: NDArray[np.float64]) -> Alias:
        """Returns what draws in proportion to weights `[N]`."""
        share = weights * (len(weights) / weights.sum())
        stays, alias = np.ones(len(weights)), np.arange(len(weights))
        small, large = (list(np.flatnonzero(part)) for part in (share < 1.0, share >= 1.0))
        while small and large:
            less, more = small.pop(), large[-1]
            stays[less], alias[less] = share[less], more
            share[more] -= 1.0 - share[less]
            if share[more] < 1.0:
                small.append(large.pop())
        stays[weights == 0.0] = 0.0  # what rounding left over
        return Alias(stays, alias)


def deal_tables(game: Holdem, buckets: BucketTables) -> DealTables:
    """Returns what deals of a game look up."""
    first, second = (Alias.of(part) for part in game.ranges)
    stays, alias = np.stack([first.stays, second.stays]), np.stack([first.alias, second.alias])
    return DealTables(stays, alias, np.array(game.known_board, np.int64), feature_tables(), buckets)


@inner(_nrt=False)
def deal(tables, first_street, streams, stream, board, bucket):  # type: ignore[no-untyped-def]
    """Deals a hand to both players and a whole board; fills in the buckets and tells who wins a showdown.

    Pairs of hands are drawn until two share no card, which leaves each pair as likely as the product of its weights says.

    Args:
      tables: `DealTables`.
      first_street: the first street that is bet.
      streams: `[S]` states of random streams, of which
      stream: is drawn from.
      board: `[5]` int64, filled in.
      bucket: `[2, 4]` int64, filled in from the first street on.

    Returns:
      1.0 where player 0 has the better hand, -1.0 where player 1 has it, 0.0 for a tie.
    """
    one = np.uint64(1)
    cards = tables.cards.cards
    dead = np.uint64(0)
    for place in range(len(tables.known)):
        dead |= one << np.uint64(tables.known[place])
    while True:
        first = _draw(tables, 0, streams, stream)
        second = _draw(tables, 1, streams, stream)
        firsts = one << np.uint64(cards[first, 0]) | one << np.uint64(cards[first, 1])
        seconds = one << np.uint64(cards[second, 0]) | one << np.uint64(cards[second, 1])
        if firsts & seconds == 0:
            break
    dead |= firsts | seconds
    known = len(tables.known)
    for place in range(known):
        board[place] = tables.known[place]
    for place in range(known, 5):
        card = below(streams, stream, 52)
        while (dead >> np.uint64(card)) & one:
            card = below(streams, stream, 52)
        dead |= one << np.uint64(card)
        board[place] = card
    own = seven_strength(cards[first, 0], cards[first, 1], board, tables.cards)
    other = seven_strength(cards[second, 0], cards[second, 1], board, tables.cards)
    bucket[0, 0], bucket[1, 0] = tables.buckets.kind[first], tables.buckets.kind[second]
    # Boards are sets: sorting the first three, four and five cards in place loses nothing.
    if first_street <= 1:
        _look_up(tables.buckets, 0, board, 3, first, second, bucket)
    if first_street <= 2:
        _look_up(tables.buckets, 1, board, 4, first, second, bucket)
    _look_up(tables.buckets, 2, board, 5, first, second, bucket)
    return 1.0 if own > other else -1.0 if own < other else 0.0


@inner(_nrt=False)
def _draw(tables, player, streams, stream):  # type: ignore[no-untyped-def]
    hand = below(streams, stream, NUM_HANDS)
    return hand if uniform(streams, stream) < tables.stays[player, hand] else tables.alias[player, hand]


@inner(_nrt=False)
def _look_up(buckets, place, board, count, first, second, bucket):  # type: ignore[no-untyped-def]
    """Fills in both players' buckets with the first `count` cards of a board."""
    number = board_number(board, count)
    row, names = buckets.row[place][number], buckets.renamed_hands[buckets.rename[place][number]]
    bucket[0, place + 1] = buckets.bucket[place][row, names[first]]
    bucket[1, place + 1] = buckets.bucket[place][row, names[second]]
