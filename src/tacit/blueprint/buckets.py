"""The card abstraction: the bucket of each hand on each board. Hands in the same bucket are played alike.

Before the flop there are 169 buckets, one for each kind of hand, so nothing is lost. Later, a hand's bucket is the nearest
centre in the features of `features.py`, and earlier streets are forgotten (imperfect recall). A street with `ALL` buckets has
one for each hand on each board: with it the abstract game of an endgame is the real one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.blueprint.boards import BoardRows, board_number, board_rows
from tacit.blueprint.clusters import WIDTH, Points, find_centres, in_blocks, nearest, nearest_centres
from tacit.blueprint.features import (
    BINS,
    EARLY_FEATURES,
    GROUPS,
    feature_tables,
    features_of_boards,
    river_row,
    shares_below,
    street_features,
)
from tacit.cards.deck import NUM_CARDS
from tacit.cards.grid import CELLS
from tacit.cards.hands import NUM_HANDS, possible_hands
from tacit.cards.suits import RENAMED_HANDS, symmetries
from tacit.compiled import compiled
from tacit.errors import TacitError
from tacit.games.betting import BOARD_CARDS, FLOP, PREFLOP, RIVER, TURN
from tacit.games.holdem import Holdem
from tacit.threads import run_together
from tacit.training.preparing import say_preparing

ALL = "all"
"""Given instead of a number of buckets, for no abstraction."""
STREET_NAMES = ("flop", "turn", "river")
"""The streets that have boards."""
PARTS = 50
"""A street's boards are processed in this many parts, with a progress report before each."""
KINDS = 169
"""The number of buckets before the flop."""
MAX_BUCKETS = 2**16
"""The largest number of buckets, which are stored in 16 bits."""
SAMPLE = {FLOP: 60, TURN: 200, RIVER: 200}
"""The number of random boards whose hands are clustered, by street."""
MAX_POINTS = 60_000
"""The largest number of hands that are clustered."""


@dataclass(frozen=True)
class CardAbstraction:
    """Buckets of hands on every board of a game.

    Attributes:
      game: the game.
      centres: for each street from the flop on `[K, F]` float32, or None if every hand has its own bucket.
    """

    game: Holdem
    centres: tuple[Points | None, Points | None, Points | None]

    @cached_property
    def group(self) -> tuple[int, ...]:
        """The permutations of suits that leave the game unchanged."""
        return symmetries(self.game.known_board, self.game.ranges)

    def boards(self, street: int) -> BoardRows:
        """Returns the boards of a street."""
        return board_rows(BOARD_CARDS[street], self.game.known_board, self.group)

    @cached_property
    def num_buckets(self) -> tuple[int, int, int, int]:
        """The number of buckets on each street; 0 on streets before the game starts."""
        first = self.game.rules.first_street
        later = (0 if street < first else self._later_buckets(street) for street in (FLOP, TURN, RIVER))
        return (KINDS if first == PREFLOP else 0, *later)  # type: ignore[return-value]

    def _later_buckets(self, street: int) -> int:
        centres = self.centres[street - FLOP]
        return len(self.boards(street).boards) * NUM_HANDS if centres is None else len(centres)

    def require_few(self, street: int) -> None:
        """Raises a `TacitError` if a street has too many boards to give each hand on each board its own bucket."""
        count = len(self.boards(street).boards) * NUM_HANDS
        if count > MAX_BUCKETS:
            raise TacitError(f"{count:,} buckets are more than the limit of {MAX_BUCKETS:,}: use {ALL} only for small endgames")

    def row(self, board: tuple[int, ...]) -> NDArray[np.int64]:
        """Returns `[1326]` the bucket of each hand on a board; those of impossible hands are meaningless."""
        if not board:
            return np.asarray(CELLS)
        street = BOARD_CARDS.index(len(board))
        centres = self.centres[street - FLOP]
        if centres is not None:
            return nearest_centres(street_features(board), centres)
        rows, number = self.boards(street), _number(np.array(board))
        found: NDArray[np.int64] = rows.row[number] * NUM_HANDS + RENAMED_HANDS[rows.rename[number]]
        return found


class BucketTables(NamedTuple):
    """The lookup tables of buckets for MCCFR. Each tuple holds the flop, the turn and the river.

    Attributes:
      row: the row of each board (see `BoardRows`).
      rename: the renaming of suits for each board (see `BoardRows`).
      bucket: `[R, 1326]` uint16, the bucket of each hand on the board of each row.
      renamed_hands: `[24, 1326]` uint16, every hand under each permutation of suits.
      kind: `[1326]` int64, the bucket of each hand before the flop.
    """

    row: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]
    rename: tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint8]]
    bucket: tuple[NDArray[np.uint16], NDArray[np.uint16], NDArray[np.uint16]]
    renamed_hands: NDArray[np.uint16]
    kind: NDArray[np.int64]


def find_abstraction(
    game: Holdem, buckets: tuple[int | str, int | str, int | str], seed: int, threads: int = 1
) -> CardAbstraction:
    """Returns an abstraction with given numbers of buckets on the flop, turn and river, by k-means over hands on random boards.

    It does not depend on the number of threads.

    Raises:
      TacitError: `ALL` would mean too many buckets.
    """
    plain = CardAbstraction(game, (None, None, None))
    for street, count in zip((FLOP, TURN, RIVER), buckets, strict=True):
        if count == ALL and street >= game.rules.first_street:
            plain.require_few(street)
    held = (game.ranges[0] + game.ranges[1]) > 0
    centres: list[Points | None] = []
    for street, count in zip((FLOP, TURN, RIVER), buckets, strict=True):
        if count == ALL or street < game.rules.first_street:
            centres.append(None)
            continue
        say_preparing(f"finding {count} buckets of hands on the {STREET_NAMES[street - FLOP]}")
        generator = np.random.default_rng([seed, street])
        boards = plain.boards(street).boards
        chosen = boards[generator.permutation(len(boards))[: SAMPLE[street]]]
        dealt = np.stack([possible_hands(board) & held for board in chosen.tolist()])
        points = features_of_boards(chosen, threads)[dealt]
        points = points[generator.permutation(len(points))[:MAX_POINTS]]
        centres.append(find_centres(points, int(count), generator, threads))
    return CardAbstraction(game, (centres[0], centres[1], centres[2]))


def bucket_tables(abstraction: CardAbstraction, threads: int) -> BucketTables:
    """Returns the buckets of all boards of a game.

    Args:
      abstraction: the card abstraction.
      threads: the number of threads.
    """
    first = abstraction.game.rules.first_street
    streets = [_NO_BOARDS if street < first else abstraction.boards(street) for street in (FLOP, TURN, RIVER)]
    river, renamed = streets[2], RENAMED_HANDS.astype(np.uint16)
    found = [np.zeros((len(street.boards), NUM_HANDS), np.uint16) for street in streets]
    bins = np.zeros((len(river.boards), NUM_HANDS), np.uint8)
    for street in (RIVER, TURN, FLOP):
        place = street - FLOP
        boards, centres = streets[place].boards, abstraction.centres[place]
        if centres is None:
            found[place].ravel()[:] = np.arange(found[place].size)
        some = np.zeros((0, GROUPS), np.float32) if centres is None else centres
        for part in _parts(len(boards), STREET_NAMES[place]):
            if street == RIVER:
                run_together(threads, _fill_river, boards[part], some, feature_tables(), found[place][part], bins[part])
            elif centres is not None:
                lookups = river.row, river.rename, renamed, bins
                run_together(threads, _fill_early, boards[part], some, *lookups, found[place][part])
    row, rename = (tuple(getattr(street, name) for street in streets) for name in ("row", "rename"))
    return BucketTables(row, rename, tuple(found), renamed, np.asarray(CELLS))  # type: ignore[arg-type]


def _parts(num_boards: int, street: str) -> Iterator[slice]:
    """Yields the boards of a street in parts, and reports progress before each."""
    size = max(1, -(-num_boards // PARTS))
    for start in range(0, num_boards, size):
        say_preparing(f"putting the hands of {num_boards:,} boards of the {street} into buckets", start / num_boards)
        yield slice(start, start + size)


_NO_BOARDS = BoardRows(np.empty(0, np.int32), np.empty(0, np.uint8), np.empty((0, 5), np.int64))


@compiled()
def _number(board):  # type: ignore[no-untyped-def]
    return board_number(board.copy(), len(board))


@compiled(nogil=True)
def _fill_river(member, members, place, boards, centres, tables, found, bins):  # type: ignore[no-untyped-def]
    """Fills in the buckets `[R, 1326]` of full boards, if there are centres, and the intervals of strength `[R, 1326]`."""
    strength, order = np.empty(NUM_HANDS, np.int64), np.empty(NUM_HANDS, np.int64)
    features, room = np.zeros((NUM_HANDS, GROUPS), np.float32), np.empty(WIDTH, np.float32)
    blocks, means = in_blocks(centres)
    for row in range(member, len(boards), members):
        river_row(boards[row], tables, strength, order, features, bins[row])
        for hand in range(NUM_HANDS):
            if len(centres) and strength[hand] >= 0:
                found[row, hand] = nearest(features[hand], blocks, means, room)


@compiled(nogil=True)
def _fill_early(member, members, place, boards, centres, rows, rename, renamed, bins, found):  # type: ignore[no-untyped-def]
    """Fills in the buckets `[R, 1326]` of boards of three or four cards, from the intervals of strength on all rivers."""
    num_cards = boards.shape[1]
    features, room = np.zeros((NUM_HANDS, EARLY_FEATURES), np.float32), np.empty(WIDTH, np.float32)
    blocks, means = in_blocks(centres)
    count, full = np.zeros((NUM_HANDS, BINS + 1), np.int64), np.empty(5, np.int64)
    for row in range(member, len(boards), members):
        count[:] = 0
        lies = np.zeros(NUM_CARDS, np.bool_)
        for card in boards[row]:
            lies[card] = True
        for last in range(NUM_CARDS):
            for other in range(last if num_cards == 3 else 1):
                if lies[last] or (num_cards == 3 and lies[other]):
                    continue
                full[:num_cards] = boards[row]
                full[4] = last
                if num_cards == 3:
                    full[3] = other
                number = board_number(full, 5)
                strengths, names = bins[rows[number]], renamed[rename[number]]
                for hand in range(NUM_HANDS):
                    count[hand, strengths[names[hand]]] += 1
        for hand in range(NUM_HANDS):
            shares_below(count, hand, features)
            found[row, hand] = nearest(features[hand], blocks, means, room)
