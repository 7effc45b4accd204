"""The situations in which training hands start: random stacks, bet sizes and ranges."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tacit.cards.equity import preflop_order
from tacit.cards.grid import CELLS
from tacit.games.betting import PREFLOP, NoLimitBetting
from tacit.games.menus import smaller_menus
from tacit.games.sizes import ALL_IN, Size, Sizes, change_sizes, in_pots

STACKS, ENDGAME_STACKS = (0.25, 1.25), (0.25, 2.5)
"""The least and the most chips in training, in stacks of the game: 5,000 to 25,000 of 20,000, in endgames 5,000 to 50,000."""


def draw_rules(
    rules: NoLimitBetting, perturbation: float, generator: np.random.Generator, fewer_bets: float = 0.0
) -> NoLimitBetting:
    """Returns rules with random stacks and bets.

    Args:
      rules: the rules of the game.
      perturbation: the most by which bets become smaller or larger, in pots; `3x` and `geo` stay.
      generator: draws all of this.
      fewer_bets: the probability that a smaller menu (`games/menus.py`) takes the place of the game's.
    """
    if fewer_bets and generator.random() < fewer_bets:
        menus = list(smaller_menus(rules))[1:]
        rules = menus[generator.integers(len(menus))]
    least, most = STACKS if rules.first_street == PREFLOP else ENDGAME_STACKS
    lowest = rules.pot // 2 + rules.big_blind if rules.pot else 2 * rules.big_blind
    stack = max(lowest, round(rules.stack * float(np.exp(generator.uniform(np.log(least), np.log(most))))))

    def moved(size: Size) -> Size:
        if not isinstance(size, float | int) or size == ALL_IN:
            return size
        return max(0.05, size + float(generator.uniform(-perturbation, perturbation)))

    def perturbed(sizes: Sizes) -> Sizes:
        return tuple(sorted(map(moved, sizes), key=in_pots))

    bets, raises = change_sizes(rules.bets, perturbed), change_sizes(rules.raises, perturbed)
    donks = None if rules.donks is None else change_sizes(rules.donks, perturbed)
    return replace(rules, stack=stack, bets=bets, raises=raises, donks=donks)


MOST_BLUR = 0.3
"""How far kinds of hands can move in the order of strengths near the edges of a range, as a share of all kinds."""


def draw_ranges(count: int, generator: np.random.Generator) -> NDArray[np.float32]:
    """Returns `[count, 1326]` weights of hands as players hold them before the flop, the same for all names of suits.

    A range has the kinds of hands between two strengths: two thirds of ranges leave out the weakest hands, a third the
    strongest. Kinds near the edges may fall on either side. Hands outside are left out entirely or held now and then, and in
    half of the ranges some kinds are held more often than others.
    """
    order = np.array(preflop_order()[0])
    strength = np.empty(len(order))
    strength[order] = np.linspace(1.0, 0.0, len(order))

    def uniform(low: float, high: float) -> NDArray[np.float64]:
        return generator.uniform(low, high, (count, 1))

    moved = strength + uniform(0.0, MOST_BLUR) * generator.standard_normal((count, len(order)))
    lowest = uniform(-0.4, 0.85)
    highest = np.where(uniform(0.0, 1.0) < 1 / 3, lowest.clip(0.0) + uniform(0.1, 1.0), np.inf)
    outside = np.where(uniform(0.0, 1.0) < 0.5, 0.0, uniform(0.0, 0.3))
    spread = np.where(uniform(0.0, 1.0) < 0.5, 0.0, uniform(0.0, 1.5))
    held = np.where((moved >= lowest) & (moved <= highest), 1.0, outside)
    weights = held * np.exp(-spread * np.abs(generator.standard_normal(held.shape)))
    weights[~weights.any(axis=1)] = 1.0
    spread_out: NDArray[np.float32] = weights[:, CELLS].astype(np.float32)
    return spread_out
