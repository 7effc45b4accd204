"""Sizes of bets: how they are written in the name of a game, and how many chips they are.

| size | a bet or raise |
|---|---|
| `0.5` | of half the pot, after the call if there is one |
| `3x` | to three times the last bet of the street; before the flop the big blind counts as the first bet |
| `geo` | of the share of the pot that, bet and called on every street left, is all-in on the river |
| `2geo` | the same over two streets, this one included, or over fewer if fewer are left |
| `allin` | of everything |
| `none` | no bet at all; must stand alone |

The sizes of a menu are separated by `|`. Menus of different streets are separated by `/`, from the first street of the game
on; the last one also holds for all later streets.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from tacit.errors import TacitError

STREET_NAMES = ("before the flop", "on the flop", "on the turn", "on the river")
NUM_STREETS = len(STREET_NAMES)
ALL_IN = math.inf
"""The size, in pots, of an all-in bet."""
MAX_SIZES = 7
"""The most raises in a menu: ReBeL's policy network has nine actions, fold and call included."""
_NOTHING = "none"
_HOW_TO_WRITE = "write sizes in pots, 3x, geo, 2geo and allin, like 0.5|1|allin"


@dataclass(frozen=True)
class Multiple:
    """A raise to `times` the last bet of the street."""

    times: float


@dataclass(frozen=True)
class Geometric:
    """A bet that makes the pot grow by the same factor on each of `streets` streets, until all chips are in."""

    streets: int = NUM_STREETS


Size = float | Multiple | Geometric
"""A number is a share of the pot after the call."""
Sizes = tuple[Size, ...]


@dataclass(frozen=True)
class StreetSizes:
    """Sizes that differ by street or player.

    Attributes:
      menus: `[4][2]` the sizes that each player is offered on each street.
    """

    menus: tuple[tuple[Sizes, Sizes], ...]


Menu = Sizes | StreetSizes
"""Sizes of both players on all streets, or of each player on each street."""


def sizes_at(menu: Menu, street: int, player: int) -> Sizes:
    """Returns the sizes that a menu offers a player on a street."""
    return menu.menus[street][player] if isinstance(menu, StreetSizes) else menu


def all_sizes(menu: Menu) -> list[Sizes]:
    """Returns the sizes of each player on each street; sizes shared by all are listed once."""
    return [sizes for street in menu.menus for sizes in street] if isinstance(menu, StreetSizes) else [menu]


def change_sizes(menu: Menu, change: Callable[[Sizes], Sizes]) -> Menu:
    """Returns a menu with the sizes of every player and street changed alike."""
    if isinstance(menu, StreetSizes):
        return StreetSizes(tuple((change(first), change(second)) for first, second in menu.menus))
    return change(menu)


def raised_by(size: Size, facing: int, begun: int, stack: int, streets_left: int) -> float:
    """Returns the chips that a raise adds to the amount to call, not rounded and perhaps more than the stack.

    Args:
      size: The size of the raise.
      facing: The chips that a player must have put in over the whole hand to call.
      begun: The chips that each player had put in when the street began.
      stack: The chips that each player can put in over the whole hand.
      streets_left: The number of streets left, this one included.
    """
    if isinstance(size, Multiple):
        return (size.times - 1.0) * (facing - begun)
    if isinstance(size, Geometric):  # from a pot of 2 * facing to one of 2 * stack
        return float(facing * ((stack / facing) ** (1.0 / min(size.streets, streets_left)) - 1.0))
    return size * 2 * facing


def in_pots(size: Size) -> float:
    """Returns a size as a share of the pot, to compare sizes without a betting state.

    `3x` counts as its size against a bet of half the pot, and `geo` as three quarters of the pot.
    """
    return (size.times - 1.0) / 4.0 if isinstance(size, Multiple) else 0.75 if isinstance(size, Geometric) else size


def parse_menu(text: str) -> Sizes:
    """Returns the sizes in a text like `0.5|3x|allin`, in ascending order; empty for an empty text.

    Raises:
      TacitError: a piece is not a size, or there are more than `MAX_SIZES`.
    """
    pieces = [piece.strip().lower() for piece in text.split("|")] if text.strip() else []
    sizes = {_parse_size(piece, text) for piece in pieces}
    if len(sizes) > MAX_SIZES:
        raise TacitError(f"{text!r} has {len(sizes)} bets; with fold and call there are at most {MAX_SIZES + 2} actions")
    return tuple(sorted(sizes, key=in_pots))


def _parse_size(piece: str, text: str) -> Size:
    match = re.fullmatch(r"(allin)|(\d?)geo|(\d+(?:\.\d+)?|\.\d+)(x?)", piece)
    if match is None:
        try:
            size = float(piece)  # such as 1e-1
        except ValueError:
            size = math.nan
        if 0 < size < math.inf:
            return size
        hint = f"{_NOTHING} stands alone" if piece == _NOTHING else _HOW_TO_WRITE
        raise TacitError(f"{piece!r} in {text!r} is no bet: {hint}")
    all_in, streets, number, multiple = match.groups()
    if all_in:
        return ALL_IN
    if streets is not None:
        if streets and not 1 <= int(streets) <= NUM_STREETS:
            raise TacitError(f"{piece!r} in {text!r} is no bet: geo is over 1 to {NUM_STREETS} streets, like 2geo")
        return Geometric(int(streets or NUM_STREETS))
    if multiple and not float(number) > 1:
        raise TacitError(f"{piece!r} in {text!r} is no raise: it must be to more than 1x the last bet, like 3x")
    if not 0 < float(number) < math.inf:
        raise TacitError(f"{piece!r} in {text!r} is no bet: {_HOW_TO_WRITE}")
    return Multiple(float(number)) if multiple else float(number)


def parse_streets(text: str, first_street: int) -> tuple[Sizes, ...]:
    """Returns `[4]`, the sizes on each street in a text like `0.5|1/1|allin`; streets before the first get its sizes.

    Raises:
      TacitError: a menu cannot be read, or there are more menus than streets.
    """
    parts = text.split("/")
    streets = NUM_STREETS - first_street
    if len(parts) > streets:
        word = "street is" if streets == 1 else "streets are"
        raise TacitError(f"{text!r} has menus for {len(parts)} streets, and {streets} {word} left {STREET_NAMES[first_street]}")
    menus = []
    for part in parts:
        if not part.strip():
            raise TacitError(f"{text!r} has an empty menu between slashes: write sizes, or none for no bet")
        menus.append(() if part.strip().lower() == _NOTHING else parse_menu(part))
    return (*menus[:1] * first_street, *menus, *menus[-1:] * (streets - len(menus)))


def read_menu(both: str, own: tuple[str, str], first_street: int) -> Menu:
    """Returns the menu in a text for both players, overridden for each player by its own text unless that is empty.

    Raises:
      TacitError: a text cannot be read.
    """
    if not any(text.strip() for text in own) and "/" not in both and both.strip().lower() != _NOTHING:
        return parse_menu(both)
    first, second = (parse_streets(text if text.strip() else both, first_street) for text in own)
    return StreetSizes(tuple(zip(first, second, strict=True)))


def refuse_multiples(menu: Menu, name: str, first_street: int) -> None:
    """Raises if a menu has a size like `3x` where nobody can have bet yet.

    Raises:
      TacitError: a menu of first bets offers multiples on the flop or later.
    """
    for street in range(max(first_street, 1), NUM_STREETS):
        for player in (0, 1):
            multiple = next((size for size in sizes_at(menu, street, player) if isinstance(size, Multiple)), None)
            if multiple is not None:
                raise TacitError(
                    f"{multiple.times:g}x in {name} multiplies the last bet, and {STREET_NAMES[street]} there is none yet: "
                    "write it in raises, or for the street before the flop alone, like 2.5x/0.5"
                )
