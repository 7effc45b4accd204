"""The bets that a blueprint considers: on each street some of the game's own."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.errors import TacitError
from tacit.games.betting import Betting, BettingRules, NoLimitBetting, parse_menu
from tacit.games.menus import nearest_sizes

STREETS = 4

Sizes = tuple[float, ...]


@dataclass(frozen=True)
class StreetBetting(NoLimitBetting):
    """No-limit betting whose menu depends on the street and on how often it was raised there.

    Attributes:
      street_bets: for each street the sizes of the first bet or raise, in pots.
      street_raises: for each street the sizes of later raises.
      max_raises: bets and raises of a street after which nothing but all-in is left to raise.
    """

    street_bets: tuple[Sizes, ...] = ()
    street_raises: tuple[Sizes, ...] = ()
    max_raises: int = 3

    def menu(self, betting: Betting, smallest: int, largest: int) -> tuple[int, ...]:
        if betting.num_raises >= self.max_raises:
            return (largest,)
        sizes = (self.street_raises if betting.num_raises else self.street_bets)[betting.street]
        facing, pot = betting.facing, 2 * betting.facing
        return NoLimitBetting(self.stack, self.small_blind, self.big_blind, self.first_street, self.pot, sizes).menu(
            Betting(betting.street, betting.actor, (facing, pot - facing), betting.raise_size), smallest, largest
        )


def cut_rules(rules: BettingRules, bets: str, raises: str, max_raises: int) -> BettingRules:
    """Returns the rules of a game with fewer bets; those of limit games as they are.

    Args:
      rules: of the game.
      bets: sizes of the first bet or raise of a street, like `0.5|1|allin`; streets are separated by `/`, and one menu is for
        all streets. Of the sizes that the game offers, the nearest to these are taken.
      raises: the same for later raises.
      max_raises: bets and raises of a street after which nothing but all-in is left to raise.

    Raises:
      TacitError: a menu cannot be read.
    """
    if not isinstance(rules, NoLimitBetting):
        return rules
    own_raises = rules.raises or rules.bets
    return StreetBetting(
        rules.stack, rules.small_blind, rules.big_blind, rules.first_street, rules.pot, rules.bets, rules.raises,
        tuple(nearest_sizes(rules.bets, wanted) for wanted in parse_streets(bets)),
        tuple(nearest_sizes(own_raises, wanted) for wanted in parse_streets(raises)),
        max_raises,
    )  # fmt: skip


def parse_streets(text: str) -> tuple[Sizes, ...]:
    """Returns the sizes on each street of a text like `0.5|1/0.5|allin/1/1`; one menu without `/` is for all streets."""
    menus = [parse_menu(part) for part in text.split("/")]
    if len(menus) not in (1, STREETS) or not all(menus):
        raise TacitError(
            f"{text!r} is no menu: write sizes in pots for all streets or for each of four, like 0.5|1/1/1/1|allin"
        )
    return tuple(menus * STREETS if len(menus) == 1 else menus)
