"""Menus of bets cut down to what a search or a blueprint has time for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tacit.games.betting import ALL_IN, BettingRules, NoLimitBetting

SMALLER_MENUS = (
    ((0.5, 1.0, 2.0, ALL_IN), (1.0, ALL_IN)),
    ((0.5, 1.0, ALL_IN), (1.0, ALL_IN)),
    ((1.0, ALL_IN), (1.0, ALL_IN)),
    ((1.0, ALL_IN), (ALL_IN,)),
)
"""Bets and raises, in pots, for games that offer too many: the sizes nearest to these are kept."""


def smaller_menus(rules: BettingRules) -> Iterator[BettingRules]:
    """Yields rules as they are, and no-limit ones with fewer and fewer bets."""
    yield rules
    if isinstance(rules, NoLimitBetting):
        for bets, raises in SMALLER_MENUS:
            kept = nearest_sizes(rules.bets, bets), nearest_sizes(rules.raises or rules.bets, raises)
            yield replace(rules, bets=kept[0], raises=kept[1])


def nearest_sizes(offered: Sequence[float], wanted: Sequence[float]) -> tuple[float, ...]:
    """Returns the sizes offered that are nearest to those wanted."""
    largest = max([100.0, *(size for size in (*offered, *wanted) if size != ALL_IN)])
    return tuple(
        sorted({min(offered, key=lambda size: abs(min(size, 2 * largest) - min(want, 2 * largest))) for want in wanted})
    )
