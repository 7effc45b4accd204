"""Random deals of hold'em inside kernels: hands drawn from ranges, and their buckets in the card abstraction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.blueprint.boards import set_number
from tacit.blueprint.buckets import BucketTables
from tacit.blueprint.features import FeatureTables, feature_tables, rank_in_suit, strength_at
from tacit.cards.deck import NUM_CARDS
from tacit.cards.hands import NUM_HANDS
from tacit.compiled import compiled, inner
from tacit.games.holdem import Holdem
from tacit.kernels.simd import prefetch
from tacit.random_numbers import below, uniform


class DealTables(NamedTuple):
    """The lookup tables of a deal.

    Attributes:
      stays: `[2, 1326]` float64, the probability that a drawn hand is kept (Walker's alias method).
      alias: `[2, 1326]` int64, the hand that replaces it otherwise.
      known: `[0 to 5]` int64, the cards on the board from the start.
      cards: strengths, and the cards of hands.
      buckets: the buckets of hands, with each street's `bucket` flattened to `[R * 1326]`.
    """

    stays: Any
    alias: Any
    known: Any
    cards: FeatureTables
    buckets: BucketTables


@dataclass(frozen=True)
class Alias:
    """Walker's alias method, which samples in constant time: a uniform number n, then n or its alias.

    Attributes:
      stays: `[N]` the probability that n is kept.
      alias: `[N]` the number that replaces n otherwise.
    """

    stays: NDArray[np.float64]
    alias: NDArray[np.int64]

    @staticmethod
    def of(weights: NDArray[np.float64]) -> Alias:
        """Returns the tables that sample in proportion to weights `[N]`."""
        share = weights * (len(weights) / weights.sum())
        stays, alias = np.ones(len(weights)), np.arange(len(weights))
        small, large = (list(np.flatnonzero(part)) for part in (share < 1.0, share >= 1.0))
        while small and large:
            less, more = small.pop(), large[-1]
            stays[less], alias[less] = share[less], more
            share[more] -= 1.0 - share[less]
            if share[more] < 1.0:
                small.append(large.pop())
        stays[weights == 0.0] = 0.0  # rounding may have left a rest
        return Alias(stays, alias)


def deal_tables(game: Holdem, buckets: BucketTables) -> DealTables:
    """Returns the lookup tables for deals of a game."""
    first, second = (Alias.of(part) for part in game.ranges)
    flat = buckets._replace(bucket=tuple(part.ravel() for part in buckets.bucket))  # type: ignore[arg-type]
    stays, alias = np.stack([first.stays, second.stays]), np.stack([first.alias, second.alias])
    return DealTables(stays, alias, np.array(game.known_board, np.int64), feature_tables(), flat)


BATCH = 64
"""The number of deals made together, so that memory accesses of different deals overlap."""


class Deals(NamedTuple):
    """A batch of deals; each thread has its own.

    Attributes:
      hand: `[B, 2]` int64, both players' hands.
      board: `[B, 5]` int64.
      number: `[B, 3]` int64, the `board_number` of flop, turn and river.
      total: `[B, 2]` int64, the sum of the keys of each player's seven cards.
      suits: `[B, 2]` int64, the ranks of each player's seven cards by suit.
      bucket: `[B, 2, 4]` int64, both players' buckets on each street, from the first betting street on.
      winner: `[B]` float32, 1.0 if player 0 has the better hand, -1.0 if player 1 has it, 0.0 for a tie.
    """

    hand: Any
    board: Any
    number: Any
    total: Any
    suits: Any
    bucket: Any
    winner: Any


@inner()
def make_deals():  # type: ignore[no-untyped-def]
    """Returns an empty batch."""
    return Deals(
        np.zeros((BATCH, 2), np.int64), np.zeros((BATCH, 5), np.int64), np.zeros((BATCH, 3), np.int64),
        np.zeros((BATCH, 2), np.int64), np.zeros((BATCH, 2), np.int64), np.zeros((BATCH, 2, 4), np.int64),
        np.zeros(BATCH, np.float32),
    )  # fmt: skip


@inner(_nrt=False)
def deal(tables, first_street, streams, stream, deals, count):  # type: ignore[no-untyped-def]
    """Deals hands to both players and full boards; fills in the buckets and the winner of a showdown.

    It makes three passes: each prefetches the memory that the next one reads.

    Args:
      tables: `DealTables`.
      first_street: the first betting street.
      streams: `[S]` the states of random streams.
      stream: the index of the stream to draw from.
      deals: `Deals` to fill in.
      count: how many to fill in, from the first on.
    """
    first_place = max(first_street - 1, 0)
    for n in range(count):
        _draw_cards(tables, streams, stream, deals, n)
        for place in range(first_place, 3):
            number = deals.number[n, place]
            prefetch(tables.buckets.row[place], number)
            prefetch(tables.buckets.rename[place], number)
        for player in range(2):
            prefetch(tables.cards.by_sum, deals.total[n, player])
    for n in range(count):
        for player in range(2):
            deals.bucket[n, player, 0] = tables.buckets.kind[deals.hand[n, player]]
        for place in range(first_place, 3):
            number = deals.number[n, place]
            row, rename = np.int64(tables.buckets.row[place][number]), tables.buckets.rename[place][number]
            for player in range(2):
                cell = row * NUM_HANDS + np.int64(tables.buckets.renamed_hands[rename, deals.hand[n, player]])
                deals.bucket[n, player, place + 1] = cell
                prefetch(tables.buckets.bucket[place], cell)
    for n in range(count):
        own = strength_at(deals.total[n, 0], deals.suits[n, 0], tables.cards)
        other = strength_at(deals.total[n, 1], deals.suits[n, 1], tables.cards)
        deals.winner[n] = np.float32(own > other) - np.float32(own < other)
        for place in range(first_place, 3):
            for player in range(2):
                cell = deals.bucket[n, player, place + 1]
                deals.bucket[n, player, place + 1] = tables.buckets.bucket[place][cell]


@compiled(_nrt=False, inline="always")
def _draw_cards(tables, streams, stream, deals, n):  # type: ignore[no-untyped-def]
    """Draws the cards of one deal.

    Pairs of hands are drawn until they share no card, so each pair's probability is proportional to the product of its weights.
    """
    one, cards = np.uint64(1), tables.cards.cards
    while True:
        first = _draw(tables, 0, streams, stream)
        second = _draw(tables, 1, streams, stream)
        firsts = one << np.uint64(cards[first, 0]) | one << np.uint64(cards[first, 1])
        seconds = one << np.uint64(cards[second, 0]) | one << np.uint64(cards[second, 1])
        if firsts & seconds == 0:
            break
    dead, known = firsts | seconds, len(tables.known)
    for place in range(known):
        dead |= one << np.uint64(tables.known[place])
    lies, total, suits = np.uint64(0), np.int64(0), np.int64(0)
    for place in range(5):
        if place < known:
            card = tables.known[place]
        else:
            card = below(streams, stream, NUM_CARDS)
            while (dead >> np.uint64(card)) & one:
                card = below(streams, stream, NUM_CARDS)
        dead |= one << np.uint64(card)
        lies |= one << np.uint64(card)
        total += tables.cards.key[card]
        suits |= rank_in_suit(card)
        deals.board[n, place] = card
        if place >= 2:
            deals.number[n, place - 2] = set_number(deals.board, n, place + 1)
    for player, hand in enumerate((first, second)):
        high, low = cards[hand, 0], cards[hand, 1]
        deals.hand[n, player] = hand
        deals.total[n, player] = total + tables.cards.key[high] + tables.cards.key[low]
        deals.suits[n, player] = suits | rank_in_suit(high) | rank_in_suit(low)


@compiled(_nrt=False, inline="always")
def _draw(tables, player, streams, stream):  # type: ignore[no-untyped-def]
    """Returns a hand; the whole part of one random number selects it, the fraction decides whether its alias replaces it."""
    drawn = uniform(streams, stream) * NUM_HANDS
    hand = int(drawn)
    return hand if drawn - hand < tables.stays[player, hand] else tables.alias[player, hand]
