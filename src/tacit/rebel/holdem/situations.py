"""Where hands of training start: stacks and bet sizes at random."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tacit.games.betting import PREFLOP, NoLimitBetting
from tacit.games.sizes import ALL_IN, Size, Sizes, change_sizes, in_pots

STACKS, ENDGAME_STACKS = (0.25, 1.25), (0.25, 2.5)
"""The least and the most chips of training, in stacks of the game: 5,000 to 25,000 of 20,000, in endgames 5,000 to 50,000."""


def draw_rules(rules: NoLimitBetting, perturbation: float, generator: np.random.Generator) -> NoLimitBetting:
    """Returns rules with other stacks, and bets up to `perturbation` of the pot smaller or larger; `3x` and `geo` stay."""
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
