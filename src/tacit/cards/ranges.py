"""Reads and writes ranges of poker hands in the usual notation.

A range is a weight from 0 to 1 for each of the 1,326 hands. Items are separated by commas, and spaces are ignored:

| item | hands |
|---|---|
| `AA`, `AKs`, `AKo`, `AK` | a pair (6 hands), suited (4), offsuit (12), both (16) |
| `AsKd` | this hand |
| `TT+` | this pair and all higher ones |
| `ATs+` | the lower card goes up to just below the higher one: `ATs, AJs, AQs, AKs` |
| `T9s+` | if it is already just below, both cards go up: `T9s, JTs, QJs, KQs, AKs` |
| `TT-77`, `A9s-A6s` | from one to the other: pairs, or the lower card |
| `76s-54s`, `J9o-86o` | both cards go down together: `76s, 65s, 54s` |
| `random`, `any` | all hands |
| `top 20%` | the best fifth of all hands by exact equity against a random hand before the flop |
| `AKs:0.5` | any of these with a weight; without one the weight is 1 |

In `top 20%` the last kind of hand gets the weight that makes the total exactly a fifth of the 1,326 hands. If items overlap,
the last one counts: `random, 72o:0` is everything but 72o. Tools differ in two points: `T9s+` is read as in postflop-solver,
while PokerKit reads `T9s` alone; and in postflop-solver the first of overlapping items counts. `write_range` avoids both, so
all of them read its texts alike.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.cards.deck import RANKS, SUITS, card_names, parse_cards
from tacit.cards.equity import preflop_order
from tacit.cards.grid import CELLS, SIZE
from tacit.cards.hands import NUM_HANDS, hand_index, hand_name, possible_hands
from tacit.errors import TacitError

DIGITS = 4
"""The number of decimals of a written weight."""
_ALL_HANDS = ("random", "any")
_TOP = "top"
_HOW_TO_WRITE = "write AA, AKs, AKo, AK, AsKd, TT+, A9s-A6s, top 20% or random, with commas between"


class _Kind(NamedTuple):
    """The hands of two ranks, as places in the grid (the ace is 0): suited `s`, offsuit `o`, or all of them."""

    high: int
    low: int
    suits: str = ""

    def __str__(self) -> str:
        return RANKS[::-1][self.high] + RANKS[::-1][self.low] + self.suits

    def cells(self) -> list[int]:
        """Returns the grid cells of these hands."""
        suited, offsuit = SIZE * self.high + self.low, SIZE * self.low + self.high
        return {"s": [suited], "o": [offsuit]}.get(self.suits, [suited, offsuit])


class _Run(NamedTuple):
    """Kinds with the same weight, written as one item; `first` is the highest of them."""

    first: _Kind
    last: _Kind
    weight: float

    def __str__(self) -> str:
        first, last = self.first, self.last
        if first == last:
            return f"{first}{_weight_text(self.weight)}"
        up_to_the_top = first.high == first.low == 0 or (first.high == last.high and first.low == first.high + 1)
        return f"{last}+{_weight_text(self.weight)}" if up_to_the_top else f"{first}-{last}{_weight_text(self.weight)}"


def parse_range(text: str) -> NDArray[np.float64]:
    """Returns `[1326]`, the weights of a range written as above.

    Raises:
      TacitError: an item cannot be read, or no hand has a weight above 0.
    """
    weights = np.zeros(NUM_HANDS)
    items = [item for item in "".join(text.split()).split(",") if item]
    for item in items:
        hands, colon, weight = item.partition(":")
        shares = _top_share(hands) if hands.lower().startswith(_TOP) or hands.endswith("%") else _hands_of(hands).astype(float)
        weights = np.where(shares > 0, shares * (_parse_weight(weight, item) if colon else 1.0), weights)
    if not items:
        raise TacitError(f"the range is empty: {_HOW_TO_WRITE}")
    if not weights.any():
        raise TacitError(f"the range {text!r} has no hand with a weight above 0")
    return weights


def write_range(weights: NDArray[Any]) -> str:
    """Returns a short text that `parse_range` reads as these weights, each to within 0.00005.

    No two items overlap. Pairs come first, then suited hands or all suits, offsuit hands, and, if weights differ by suit,
    single hands.

    Args:
      weights: `[1326]`, from 0 to 1.

    Returns:
      The text; empty if every weight is below 0.00005.

    Raises:
      TacitError: a weight is not between 0 and 1.
    """
    rounded = np.round(np.asarray(weights, float), DIGITS)
    if not ((rounded >= 0) & (rounded <= 1)).all():
        raise TacitError("weights of a range must lie between 0 and 1: divide by the largest one")
    if rounded[0] > 0 and (rounded == rounded[0]).all():
        return f"{_ALL_HANDS[0]}{_weight_text(rounded[0])}"
    grid, mixed = _common_weights(rounded)
    pairs = _runs([(_Kind(place, place), grid[place, place]) for place in range(SIZE)])
    suited, offsuit = _high_card_runs(grid, "s"), _high_card_runs(grid.T, "o")
    both = {run for run in suited if _of_suits(run, "o") in offsuit}
    with_suited = [_of_suits(run, "") if run in both else run for run in suited]
    alone = [run for run in offsuit if _of_suits(run, "s") not in both]
    items = [str(run) for run in (*pairs, *_join_down(with_suited), *_join_down(alone))]
    single = [hand for hand in range(NUM_HANDS - 1, -1, -1) if mixed[hand] and rounded[hand] > 0]
    return ",".join(items + [f"{hand_name(hand)}{_weight_text(rounded[hand])}" for hand in single])


def check_range(weights: NDArray[Any], board: tuple[int, ...]) -> None:
    """Raises if a range has no hand left on a board.

    Args:
      weights: `[1326]`, the weights of the hands.
      board: The cards on the board.

    Raises:
      TacitError: every hand with a weight above 0 holds a card of the board.
    """
    if not (weights[possible_hands(board)] > 0).any():
        raise TacitError(
            f"no hand of the range can be held with {card_names(board)} on the table: add hands without those cards"
            if board
            else "the range has no hand with a weight above 0"
        )


def _parse_weight(text: str, item: str) -> float:
    hint = f"write a number from 0 to 1, as {item.partition(':')[0]}:0.5"
    try:
        weight = float(text)
    except ValueError:
        raise TacitError(f"cannot read the weight {text!r} in {item!r}: {hint}") from None
    if not 0 <= weight <= 1:
        raise TacitError(f"the weight {text} in {item!r} is not between 0 and 1: {hint}")
    return weight


def _weight_text(weight: float) -> str:
    return "" if weight == 1 else f":{weight:.{DIGITS}f}".rstrip("0")


def _top_share(item: str) -> NDArray[np.float64]:
    """Returns `[1326]`: 1 for the best hands of `top20%`, a smaller weight for the last kind, 0 for the others."""
    match = re.fullmatch(rf"{_TOP}(\d+\.?\d*|\.\d+)%", item.lower())
    if match is None or not 0 < float(match[1]) <= 100:
        raise TacitError(f"cannot read {item!r}: write top and a share of all hands, above 0% and up to 100%, as top 20%")
    left, shares = float(match[1]) / 100 * NUM_HANDS, np.zeros(NUM_HANDS)
    for cell in preflop_order()[0]:
        hands = np.flatnonzero(cell == CELLS)
        shares[hands] = min(1.0, max(0.0, left / len(hands)))
        left -= len(hands)
    return shares


def _hands_of(item: str) -> NDArray[np.bool_]:
    """Returns `[1326]`, True for the hands of an item without its weight."""
    if item.lower() in _ALL_HANDS:
        return np.ones(NUM_HANDS, bool)
    if len(item) == 4 and _names_a_suit(item):
        hand = np.zeros(NUM_HANDS, bool)
        hand[hand_index(*parse_cards(item))] = True
        return hand
    kinds = _up_from(item[:-1], item) if item.endswith("+") else _between(item) if "-" in item else [_parse_kind(item, item)]
    return np.isin(CELLS, [cell for kind in kinds for cell in kind.cells()])


def _names_a_suit(text: str) -> bool:
    """Returns whether four letters are meant as two cards, valid or not."""
    return "10" not in text and (text[1].lower() in SUITS or (text[3].lower() in SUITS and text[2] not in "-+"))


def _parse_kind(text: str, item: str) -> _Kind:
    where = "" if text == item else f" in {item!r}"
    if len(text) == 4 and _names_a_suit(text) and text[2].upper() in RANKS:
        raise TacitError(f"{text!r}{where} is one hand, and + and - need a kind of hand: as {text[0]}{text[2]}s+ or TT-77")
    if "10" in text:
        raise TacitError(f"cannot read {text!r}{where}: ten is written T")
    if len(text) not in (2, 3):
        raise TacitError(f"cannot read {text!r}{where}: {_HOW_TO_WRITE}")
    for letter in text[:2]:
        if letter.upper() not in RANKS:
            raise TacitError(f"{letter!r} in {item!r} is no rank: a hand has two of {RANKS}")
    high, low = sorted(RANKS[::-1].index(letter.upper()) for letter in text[:2])
    suits = text[2:].lower()
    if suits not in ("", "s", "o"):
        raise TacitError(f"{text[2]!r} in {item!r} is neither s for suited nor o for offsuit: as {_Kind(high, low)}s")
    if high == low and suits:
        word = "never suited" if suits == "s" else "always offsuit"
        raise TacitError(f"cannot read {text!r}{where}: a pair is {word}, write {_Kind(high, low)}")
    return _Kind(high, low, suits)


def _up_from(text: str, item: str) -> list[_Kind]:
    """Returns the kinds of `TT+`, `ATs+` or `T9s+`."""
    high, low, suits = _parse_kind(text, item)
    if low - high <= 1:
        return [_Kind(high - step, low - step, suits) for step in range(high + 1)]
    return [_Kind(high, place, suits) for place in range(high + 1, low + 1)]


def _between(item: str) -> list[_Kind]:
    """Returns the kinds of `TT-77`, `A9s-A6s` or `76s-54s`; the ends may be in either order."""
    ends = item.split("-")
    if len(ends) != 2:
        raise TacitError(f"cannot read {item!r}: a dash needs one hand on each side, as in TT-77")
    first, last = sorted(_parse_kind(end, item) for end in ends)
    if first.suits != last.suits:
        raise TacitError(f"the ends of {item!r} differ in suits: write both with s, both with o or both without")
    if last.low - last.high == first.low - first.high:
        return [_Kind(first.high + step, first.low + step, first.suits) for step in range(last.high - first.high + 1)]
    if first.high == last.high and first.low > first.high:
        return [_Kind(first.high, place, first.suits) for place in range(first.low, last.low + 1)]
    raise TacitError(
        f"cannot read {item!r}: both ends must be pairs (TT-77), share the higher card (A9s-A6s) or have the same gap (76s-54s)"
    )


def _common_weights(weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Returns `[13, 13]`, the common weight of each cell's hands (0 if they differ), and `[1326]`, True where they differ."""
    lowest, highest = np.full(SIZE * SIZE, np.inf), np.full(SIZE * SIZE, -np.inf)
    np.minimum.at(lowest, CELLS, weights)
    np.maximum.at(highest, CELLS, weights)
    differ = lowest != highest
    return np.where(differ, 0.0, lowest).reshape(SIZE, SIZE), differ[CELLS]


def _high_card_runs(grid: NDArray[np.float64], suits: str) -> list[_Run]:
    """Returns the runs of each row to the right of the diagonal."""
    rows = ([(_Kind(high, low, suits), grid[high, low]) for low in range(high + 1, SIZE)] for high in range(SIZE))
    return [run for row in rows for run in _runs(row)]


def _runs(line: list[tuple[_Kind, np.float64]]) -> list[_Run]:
    """Returns the stretches of equal weights above 0."""
    stretches = [(float(weight), [kind for kind, _ in group]) for weight, group in groupby(line, lambda pair: pair[1])]
    return [_Run(kinds[0], kinds[-1], weight) for weight, kinds in stretches if weight > 0]


def _join_down(runs: list[_Run]) -> list[_Run]:
    """Joins runs of a single kind in which both cards go down together, such as `76s`, `65s` and `54s`."""
    joined: list[_Run] = []
    for run in runs:
        first, last, weight = run
        before = _Run(_Kind(0, 0), _Kind(first.high - 1, first.low - 1, first.suits), weight)
        growing = next((place for place, old in enumerate(joined) if old[1:] == before[1:] and _is_diagonal(old)), None)
        if first != last or growing is None:
            joined.append(run)
        else:
            joined[growing] = _Run(joined[growing].first, last, weight)
    return joined


def _is_diagonal(run: _Run) -> bool:
    return run.first == run.last or run.first.high != run.last.high


def _of_suits(run: _Run, suits: str) -> _Run:
    return _Run(run.first._replace(suits=suits), run.last._replace(suits=suits), run.weight)
