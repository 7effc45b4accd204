"""Menus of bets: named presets, and cutting menus down to what a search or a blueprint has time for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from tacit.errors import TacitError
from tacit.games.betting import BettingRules, NoLimitBetting
from tacit.games.sizes import ALL_IN, Menu, Size, Sizes, change_sizes, in_pots, read_menu, refuse_multiples

B = TypeVar("B", bound=BettingRules)


@dataclass(frozen=True)
class MenuPreset:
    """A menu with a name.

    Attributes:
      meaning: A description of what it offers.
      parameters: The parameters of `no_limit_holdem`. Sizes are those of four streets, from before the flop on, or the same
        for all.
    """

    meaning: str
    parameters: Mapping[str, str | float]


MENU_PRESETS = {
    "push": MenuPreset("all-in or nothing", {"bets": "allin", "raises": "allin"}),
    "pot": MenuPreset("the pot or all-in, always", {"bets": "1|allin", "raises": "1|allin"}),
    "simple": MenuPreset(
        "one bet of two thirds of the pot, raises to three times the bet or all-in; nobody leads into the aggressor",
        {"bets": "2.5x/0.67/0.67/0.67", "raises": "3x|allin", "donks": "none", "allin_threshold": 0.2},
    ),
    "standard": MenuPreset(
        "a small and a large bet on each street, and all-in on the river; raises to three times the bet or all-in; "
        "leads of a third of the pot into the aggressor",
        {
            "bets": "2.5x/0.33|0.75/0.5|1/0.5|1|allin",
            "raises": "3x|allin",
            "donks": "0.33",
            "allin_threshold": 0.2,
            "merge_threshold": 0.1,
        },
    ),
    "geometric": MenuPreset(
        "the bet that, as an equal share of the pot on every street, is all-in on the river, and all-in; the same for raises",
        {"bets": "2.5x/geo|allin/geo|allin/geo|allin", "raises": "geo|allin", "allin_threshold": 0.2},
    ),
}
"""Menus by name, for `menu=` of `no_limit_holdem`."""

SMALLER_MENUS = (
    ((0.5, 1.0, 2.0, ALL_IN), (1.0, ALL_IN)),
    ((0.5, 1.0, ALL_IN), (1.0, ALL_IN)),
    ((1.0, ALL_IN), (1.0, ALL_IN)),
    ((1.0, ALL_IN), (ALL_IN,)),
)
"""Bets and raises, in pots, for games that offer too many sizes: only the sizes nearest to these are kept."""


def menus_in_words() -> str:
    """Returns one line that describes each named menu."""
    return "; ".join(f"`{name}` ({preset.meaning})" for name, preset in MENU_PRESETS.items())


def read_menus(
    street: int,
    bets: str,
    raises: str,
    own_bets: tuple[str, str] = ("", ""),
    own_raises: tuple[str, str] = ("", ""),
    donks: str = "",
) -> tuple[Menu, Menu, Menu | None]:
    """Returns the menus `bets`, `raises` and `donks` of `NoLimitBetting`, read from texts as in `sizes`.

    An empty text other than `bets` means that nothing is given.

    Args:
      street: The first street of the game.
      bets: The bets of both players.
      raises: The raises of both players.
      own_bets: The bets of each player, which override `bets`.
      own_raises: The raises of each player, which override `raises`.
      donks: The leads of player 0.

    Raises:
      TacitError: a text cannot be read.
    """
    if not bets.strip():
        raise TacitError("bets is empty; write sizes in pots and allin, like 0.5|1|allin")
    first = read_menu(bets, own_bets, street)
    refuse_multiples(first, "bets", street)
    later: Menu = ()
    if raises.strip():
        later = read_menu(raises, own_raises, street)
    elif any(text.strip() for text in own_raises):  # the other player raises as it bets
        zero, one = (own_raises[player].strip() or own_bets[player].strip() or bets for player in (0, 1))
        later = read_menu("", (zero, one), street)
    leads = read_menu(donks, ("", ""), street) if donks.strip() else None
    if leads is not None:
        refuse_multiples(leads, "donks", street)
    return first, later, leads


def preset_parameters(name: str, first_street: int) -> dict[str, str | float]:
    """Returns the parameters of a named menu, for a game that starts on the given street.

    Raises:
      TacitError: there is no such menu.
    """
    if name not in MENU_PRESETS:
        raise TacitError(f"there is no menu {name!r}: choose one of {', '.join(MENU_PRESETS)}")
    parameters = dict(MENU_PRESETS[name].parameters)
    for key, value in parameters.items():
        if isinstance(value, str) and "/" in value:
            streets = value.split("/")[first_street:]
            parameters[key] = streets[0] if len(set(streets)) == 1 else "/".join(streets)
    return parameters


def smaller_menus(rules: B) -> Iterator[B]:
    """Yields the rules as they are, then, for no-limit rules, copies with fewer and fewer bets."""
    yield rules
    if isinstance(rules, NoLimitBetting):
        for wanted in SMALLER_MENUS:
            yield _cut_menus(rules, *wanted)  # type: ignore[misc]


def _cut_menus(rules: NoLimitBetting, bets: Sizes, raises: Sizes) -> NoLimitBetting:
    """Returns rules that keep only the offered sizes nearest to the given bets and raises."""

    def first(offered: Sizes) -> Sizes:
        return nearest_sizes(offered, bets)

    def later(offered: Sizes) -> Sizes:
        return nearest_sizes(offered, raises)

    donks = None if rules.donks is None else change_sizes(rules.donks, first)
    return replace(rules, bets=change_sizes(rules.bets, first), raises=change_sizes(rules.later_raises, later), donks=donks)


def nearest_sizes(offered: Sizes, wanted: Sizes) -> Sizes:
    """Returns the offered sizes nearest to the wanted ones; empty if none are offered."""
    if not offered:
        return ()
    largest = max([100.0, *(in_pots(size) for size in (*offered, *wanted) if size != ALL_IN)])

    def place(size: Size) -> float:
        return min(in_pots(size), 2 * largest)

    nearest = {min(offered, key=lambda size: abs(place(size) - place(want))) for want in wanted}
    return tuple(sorted(nearest, key=in_pots))
