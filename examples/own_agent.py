"""Your own player, which every command takes by name: it bets with a king and, now and then, with anything.

Run it:

    python examples/own_agent.py
    tacit match "examples/own_agent.py:Bluffer(share=0.2)" random --game kuhn_poker --hands 1000
    tacit play kuhn_poker --agent examples/own_agent.py:Bluffer
"""

import numpy as np

import tacit


class Bluffer:
    """Tacit passes `generator` because `__init__` asks for it by name; `share` is set in the player's name."""

    name = "bluffer"

    def __init__(self, generator: np.random.Generator, share: float = 0.1) -> None:
        self.generator, self.share, self.card = generator, share, ""

    def start(self, player: int) -> None:
        """A new game begins."""
        self.card = ""

    def observe(self, sight: tacit.Sight) -> None:
        """Called whenever this seat sees something new."""
        self.card = "".join(sight.private) or self.card
        self.legal_actions = sight.legal_actions

    def act(self) -> int:
        """Returns the last legal action (a raise or a call) if it is brave, else the first (a check or a fold)."""
        brave = self.card == "K" or self.generator.random() < self.share
        return self.legal_actions[-1 if brave else 0]

    def view(self) -> None:
        """Returns its beliefs, for people who want to see them; this player shows none."""


def main() -> None:
    """Plays against an equilibrium, and against a player that always calls."""
    exact = tacit.solve("kuhn_poker", solver="lp")
    print(f"the equilibrium: exploitability {exact.exploitability:.4f}")
    for opponent in (exact, "always-call"):
        print(tacit.match(f"{__file__}:Bluffer(share=0.2)", opponent, game="kuhn_poker", hands=2_000))


if __name__ == "__main__":
    main()
