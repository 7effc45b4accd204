"""Boards with cards left open, `3s7hTd?`: which boards they stand for, up to suits, and how likely each is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from tacit.cards.deck import NUM_CARDS, card_names, parse_cards
from tacit.cards.hands import meetings, possible_hands
from tacit.cards.suits import RENAMED_CARDS, symmetries
from tacit.errors import TacitError

OPEN = "?"
"""Stands for a card that is left open."""
_LISTED = 30_000
"""Boards that are listed to see whether they are few up to suits: all flops are."""
_LEAST_WEIGHT = 1e-9
"""Boards that pairs of hands leave with less cannot come: sums that leave out shared cards are not exactly zero."""

Ranges = tuple[NDArray[np.float64], NDArray[np.float64]]
Cards = tuple[int, ...]


@dataclass(frozen=True)
class DrawnBoard:
    """A board that stands for all boards that differ from it in suits alone.

    Attributes:
      cards: The board, the cards that were given first.
      count: How many of the boards that were drawn it stands for.
      weight: How likely these boards are together, on any scale: `count` times the weight of the pairs of hands they leave.
    """

    cards: Cards
    count: int
    weight: float

    def __str__(self) -> str:
        return card_names(self.cards)


def parse_open_board(text: str) -> tuple[Cards, int]:
    """Returns the cards of a board like `3s7hTd?` or `????`, and how many are left open.

    Raises:
      TacitError: something is no card.
    """
    return parse_cards(text.replace(OPEN, "")), text.count(OPEN)


def draw_boards(known: Cards, num_open: int, ranges: Ranges, most: int, seed: int) -> tuple[list[DrawnBoard], bool]:
    """Returns boards that complete some cards, and whether they are all there are.

    All of them if, up to suits, there are no more than `most`; else `most` at random, each as likely as any other. Of these
    the ones that differ in suits alone are returned as one. A larger `most` with the same seed returns the same and more.

    Args:
      known: the cards that lie.
      num_open: how many cards are missing.
      ranges: both players' `[1326]` weights of hands.
      most: how many boards are wanted.
      seed: of the draw.

    Raises:
      TacitError: there is no board on which both can hold a hand of their ranges.
    """
    group, left = symmetries(known, ranges), [card for card in range(NUM_CARDS) if card not in known]
    if comb(len(left), num_open) <= _LISTED:
        rests = np.array(list(combinations(left, num_open)))
        listed, counts = np.unique(_canonical(rests, group), axis=0, return_counts=True)
        if len(listed) <= most:
            boards = [
                _weighted((*known, *rest), count, ranges) for rest, count in zip(listed.tolist(), counts.tolist(), strict=True)
            ]
            return _require([board for board in boards[::-1] if board is not None]), True
    return _require(_sample(known, group, _draws(left, num_open, seed), ranges, most)), False


def _require(boards: list[DrawnBoard]) -> list[DrawnBoard]:
    if not boards:
        raise TacitError("no board leaves both players a hand of their ranges: widen the ranges")
    return boards


def _canonical(rests: NDArray[np.int64], group: Sequence[int]) -> NDArray[np.int64]:
    """Returns `[N, K]` for sets of cards the one, in descending order, that stands for all that a group turns it into."""
    renamed = -np.sort(-RENAMED_CARDS[list(group)][:, rests], axis=2)
    codes = renamed @ NUM_CARDS ** np.arange(rests.shape[1])[::-1]
    best: NDArray[np.int64] = np.take_along_axis(renamed, codes.argmax(axis=0)[None, :, None], axis=0)[0]
    return best


def _draws(left: list[int], num_open: int, seed: int) -> Iterator[Cards]:
    """Yields different sets of cards at random."""
    generator, drawn = np.random.default_rng(seed), set[Cards]()
    while len(drawn) < comb(len(left), num_open):
        rest = tuple(sorted(generator.choice(left, num_open, replace=False).tolist()))
        if rest not in drawn:
            drawn.add(rest)
            yield rest


def _sample(known: Cards, group: Sequence[int], draws: Iterator[Cards], ranges: Ranges, most: int) -> list[DrawnBoard]:
    """Returns the first `most` draws that can come, those that differ in suits alone as one."""
    weighted: dict[Cards, DrawnBoard | None] = {}
    counts = Counter[Cards]()
    for rest in draws:
        name = tuple(_canonical(np.array([rest]), group)[0].tolist())
        if name not in weighted:
            weighted[name] = _weighted((*known, *name), 1, ranges)
        counts[name] += weighted[name] is not None
        if counts.total() == most:
            break
    boards = [(board, counts[name]) for name, board in weighted.items() if board is not None]
    return [DrawnBoard(board.cards, count, count * board.weight) for board, count in boards]


def _weighted(cards: Cards, count: int, ranges: Ranges) -> DrawnBoard | None:
    """Returns a board with its weight; None if it cannot come."""
    possible = possible_hands(cards)
    first, second = ranges[0] * possible, ranges[1] * possible
    weight = float(first @ np.clip(meetings(second), 0.0, None))
    return DrawnBoard(cards, count, count * weight) if weight > _LEAST_WEIGHT else None
