"""The opt-out gadget: a subgame solved again without making the whole strategy worse (Burch, Johanson & Bowling 2014).

A player who solves a subgame again must leave its opponent no more than the strategy so far did: else an opponent who knows
it would steer for this subgame. So the opponent may, with each private state at the root, leave the subgame for the
counterfactual value that it had there before. It learns by regret matching when to stay, and only what stays enters the
subgame.

The range that enters is the one *after* the gadget's own update in the same iteration: a range that lags behind by one
iteration costs several times the exploitability.
"""

from __future__ import annotations

from typing import Any

from tacit.kernels.clock import RegretStep


class Gadget:
    """Decides for the opponent of a re-solving player, in each private state at the roots, whether it enters the subgame.

    Attributes:
      player: The opponent.
      entering: The probability of each root row to enter, laid out like `Passes.root_cfv`; at first everything does.
    """

    def __init__(self, player: int, promised: Any) -> None:
        """Starts with everything entering.

        Args:
          player: the opponent.
          promised: its counterfactual values at the root rows before, laid out like `Passes.root_cfv`.
        """
        self.player, self._promised = player, promised
        self._regret = [promised * 0.0, promised * 0.0]  # of entering and of leaving
        self.entering = promised * 0.0 + 1.0

    def answer(self, values: Any, step: RegretStep) -> Any:
        """Returns the new root reach after an update with the counterfactual values of entering."""
        mean = self.entering * values + (1.0 - self.entering) * self._promised
        wanted = []
        for number, worth in enumerate((values, self._promised)):
            old, instant = self._regret[number], worth - mean
            kept = step.positive_discount * old.clip(0) - step.negative_discount * (-old).clip(0)
            old[:] = (kept + instant).clip(step.floor)  # in place: a captured graph works on the same memory in all iterations
            wanted.append((old + step.prediction * instant).clip(0))
        total = wanted[0] + wanted[1]
        nothing = total <= 0
        self.entering[:] = (wanted[0] + 0.5 * nothing) / (total + nothing)
        return self.entering
