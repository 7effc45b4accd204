"""The opt-out gadget: re-solves a subgame without making the whole strategy worse (Burch, Johanson & Bowling 2014).

A player who re-solves a subgame must not give its opponent more than the previous strategy did: otherwise an opponent who knows
this would steer towards the subgame. So the opponent may, in each private state at the root, leave the subgame for the
counterfactual value that it had there before. It learns by regret matching when to enter, and only the entering part of its
range plays the subgame.

The entering range is the one *after* the gadget's own update in the same iteration: a range that lags one iteration behind
costs several times the exploitability.
"""

from __future__ import annotations

from typing import Any

from tacit.kernels.clock import RegretStep


class Gadget:
    """Decides for the opponent of a re-solving player, in each private state at the roots, whether it enters the subgame.

    Attributes:
      player: The opponent.
      entering: The probability that each root row enters, laid out like `Passes.root_cfv`; 1 at first.
    """

    def __init__(self, player: int, promised: Any) -> None:
        """Starts with all root rows entering.

        Args:
          player: the opponent.
          promised: its previous counterfactual values at the root rows, laid out like `Passes.root_cfv`.
        """
        self.player, self._promised = player, promised
        self._regret = [promised * 0.0, promised * 0.0]  # of entering and of leaving
        self.entering = promised * 0.0 + 1.0

    def answer(self, values: Any, step: RegretStep) -> Any:
        """Returns the new root reach, after an update with the counterfactual values of entering."""
        mean = self.entering * values + (1.0 - self.entering) * self._promised
        wanted = []
        for number, worth in enumerate((values, self._promised)):
            old, instant = self._regret[number], worth - mean
            kept = step.positive_discount * old.clip(0) - step.negative_discount * (-old).clip(0)
            old[:] = (kept + instant).clip(step.floor)  # in place: a captured graph uses the same memory in every iteration
            wanted.append((old + step.prediction * instant).clip(0))
        total = wanted[0] + wanted[1]
        no_regret = total <= 0
        self.entering[:] = (wanted[0] + 0.5 * no_regret) / (total + no_regret)
        return self.entering
