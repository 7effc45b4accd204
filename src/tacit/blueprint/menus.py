"""The bet sizes that a blueprint considers: on each street, some of the game's own."""

from __future__ import annotations

from dataclasses import replace

from tacit.errors import TacitError
from tacit.games.betting import BettingRules, NoLimitBetting
from tacit.games.menus import nearest_sizes
from tacit.games.sizes import NUM_STREETS, Menu, Sizes, StreetSizes, parse_menu, sizes_at


def cut_rules(rules: BettingRules, bets: str, raises: str, max_raises: int) -> BettingRules:
    """Returns the rules of a game with fewer bet sizes; limit games keep their rules.

    Args:
      rules: the rules of the game.
      bets: sizes of the first bet or raise of a street, like `0.5|1|allin`; streets are separated by `/`, and a single menu is
        for all streets. The nearest sizes that the game offers are used.
      raises: the same for later raises.
      max_raises: bets and raises on a street after which only all-in is left as a raise.

    Raises:
      TacitError: a menu cannot be read.
    """
    if not isinstance(rules, NoLimitBetting):
        return rules
    return replace(
        rules,
        bets=_nearest(rules.bets, parse_streets(bets)),
        raises=_nearest(rules.later_raises, parse_streets(raises)),
        donks=None if rules.donks is None else _nearest(rules.donks, parse_streets(bets)),
        max_raises=max_raises,
    )


def _nearest(offered: Menu, wanted: tuple[Sizes, ...]) -> StreetSizes:
    """Returns the sizes of a menu that are nearest to the sizes wanted on each street."""

    def nearest(street: int, player: int) -> Sizes:
        return nearest_sizes(sizes_at(offered, street, player), wanted[street])

    return StreetSizes(tuple((nearest(street, 0), nearest(street, 1)) for street in range(NUM_STREETS)))


def parse_streets(text: str) -> tuple[Sizes, ...]:
    """Returns the sizes on each street from a text like `0.5|1/0.5|allin/1/1`; a single menu without `/` is for all streets."""
    menus = [parse_menu(part) for part in text.split("/")]
    if len(menus) not in (1, NUM_STREETS) or not all(menus):
        raise TacitError(
            f"{text!r} is not a menu: write sizes in pots for all streets or for each of four, like 0.5|1/1/1/1|allin"
        )
    return tuple(menus * NUM_STREETS if len(menus) == 1 else menus)
