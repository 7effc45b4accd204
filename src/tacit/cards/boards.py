"""Boards with open cards, such as `3s7hTd?`: the boards they stand for, up to suits, and how likely each is."""

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
"""Stands for an open card."""
_LISTED = 30_000
"""At most this many boards are listed to count those that differ in more than suits. All flops fit."""
_LEAST_WEIGHT = 1e-9
"""A board of less weight counts as impossible: sums over hands that share no card carry rounding errors."""

Ranges = tuple[NDArray[np.float64], NDArray[np.float64]]
Cards = tuple[int, ...]


@dataclass(frozen=True)
class DrawnBoard:
    """A board that stands for all boards that differ from it only in suits.

    Attributes:
      cards: The board, beginning with the known cards.
      count: The number of drawn boards that it stands for.
      weight: How likely these boards are together, on any scale: `count` times the weight of the pairs of hands they allow.
    """

    cards: Cards
    count: int
    weight: float

    def __str__(self) -> str:
        return card_names(self.cards)


def parse_open_board(text: str) -> tuple[Cards, int]:
    """Returns the known cards of a board like `3s7hTd?` or `????`, and the number of open ones.

    Raises:
      TacitError: the text contains something that is not a card.
    """
    return parse_cards(text.replace(OPEN, "")), text.count(OPEN)


def draw_boards(known: Cards, num_open: int, ranges: Ranges, most: int, seed: int) -> tuple[list[DrawnBoard], bool]:
    """Returns boards that complete some cards, and whether these are all possible boards.

    It returns all boards if, up to suits, there are at most `most`; otherwise it draws `most` boards, all equally likely, and
    merges those that differ only in suits. A larger `most` with the same seed returns the same boards and more.

    Args:
      known: The known cards.
      num_open: The number of open cards.
      ranges: Both players' `[1326]` weights of hands.
      most: The largest number of boards to return.
      seed: The seed of the draw.

    Raises:
      TacitError: on every board, one of the players can hold no hand of its range.
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
    """Returns `[N, K]`, for each set of cards the canonical one, in descending order, among its renamings by a group."""
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
    """Returns the first `most` draws that are possible, with those that differ only in suits merged."""
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
    """Returns a board with its weight, or None if the board is impossible."""
    possible = possible_hands(cards)
    first, second = ranges[0] * possible, ranges[1] * possible
    weight = float(first @ np.clip(meetings(second), 0.0, None))
    return DrawnBoard(cards, count, count * weight) if weight > _LEAST_WEIGHT else None
