"""Where hands of training start: stacks and bet sizes at random."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tacit.games.betting import ALL_IN, PREFLOP, NoLimitBetting

STACKS, ENDGAME_STACKS = (0.25, 1.25), (0.25, 2.5)
"""The least and the most chips of training, in stacks of the game: 5,000 to 25,000 of 20,000, in endgames 5,000 to 50,000."""


def draw_rules(rules: NoLimitBetting, perturbation: float, generator: np.random.Generator) -> NoLimitBetting:
    """Returns rules with other stacks, and bets up to `perturbation` of the pot smaller or larger."""
    least, most = STACKS if rules.first_street == PREFLOP else ENDGAME_STACKS
    lowest = rules.pot // 2 + rules.big_blind if rules.pot else 2 * rules.big_blind
    stack = max(lowest, round(rules.stack * float(np.exp(generator.uniform(np.log(least), np.log(most))))))

    def perturbed(sizes: tuple[float, ...]) -> tuple[float, ...]:
        moved = [s if s == ALL_IN else max(0.05, s + float(generator.uniform(-perturbation, perturbation))) for s in sizes]
        return tuple(sorted(moved))

    return replace(rules, stack=stack, bets=perturbed(rules.bets), raises=perturbed(rules.raises))
