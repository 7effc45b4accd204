"""Your own game, from rules to exploitability.

The game is *one-card bluff*: each player antes 1 and draws a card from a deck of `cards` ranks, with replacement. Player 0 may
claim "high" (raise the stakes to 2) or stay quiet; player 1, who does not see the card, may doubt or accept.

- quiet: the cards are compared for 1.
- claim, accepted: player 0 takes 1.
- claim, doubted: the cards are compared for 2.

Run it:

    python examples/own_game.py
    tacit solve "examples/own_game.py:OneCardBluff(cards=6)" --solver lp --show 12
"""

from dataclasses import dataclass

import tacit
from tacit.games import CHANCE, TERMINAL, Game

QUIET, CLAIM = 0, 1
ACCEPT, DOUBT = 2, 3
NAMES = ("quiet", "claim", "accept", "doubt")

State = tuple[int, ...]


@dataclass(frozen=True)
class OneCardBluff(Game[State]):
    """Two hidden cards, a claim and a doubt. A state is (card 0, card 1, action of player 0, action of player 1)."""

    cards: int = 4

    name = "one_card_bluff"

    def __post_init__(self) -> None:
        if self.cards < 2:
            raise tacit.TacitError(f"one_card_bluff: needs at least 2 cards, not {self.cards}")

    def initial_state(self) -> State:
        return ()

    def actor(self, state: State) -> int:
        if len(state) < 2:
            return CHANCE
        if len(state) == 2:
            return 0
        return 1 if state[2:] == (CLAIM,) else TERMINAL

    def chance_outcomes(self, state: State) -> list[tuple[int, float]]:
        return [(card, 1 / self.cards) for card in range(self.cards)]

    def legal_actions(self, state: State) -> tuple[int, ...]:
        return (QUIET, CLAIM) if len(state) == 2 else (ACCEPT, DOUBT)

    def apply(self, state: State, action: int) -> State:
        return (*state, action)

    def public_observation(self, state: State) -> str:
        return NAMES[state[-1]] if len(state) > 2 else ""

    def private_observation(self, state: State, player: int) -> str:
        return f"card {state[player] + 1}" if len(state) == player + 1 else ""

    def returns(self, state: State) -> tuple[float, float]:
        if state[-1] == ACCEPT:
            payoff = 1.0
        else:
            stake = 2 if state[-1] == DOUBT else 1
            payoff = float(stake * ((state[0] > state[1]) - (state[0] < state[1])))
        return payoff, -payoff

    def action_name(self, action: int) -> str:
        return NAMES[action]


def main() -> None:
    """Checks the rules, solves the game in three ways and prints the equilibrium."""
    game = OneCardBluff(cards=4)
    report = tacit.check_game(game)
    print(report)
    assert report.ok

    exact = tacit.solve(game, solver="lp")
    print(f"value for the first player: {exact.value:.6f}")
    for solver in ("cfr+", "flop"):
        result = tacit.solve(game, solver=solver, iterations=2_000)
        print(f"{solver:>5}: value {result.value:.6f}, exploitability {result.exploitability:.2e}")
        assert abs(result.value - exact.value) <= 2 * result.exploitability + 1e-9

    for decision in exact.strategy:
        plays = ", ".join(f"{action} {probability:.2f}" for action, probability in decision.probabilities.items())
        print(f"player {decision.player}, {decision.private}, after [{decision.public}]: {plays}")


if __name__ == "__main__":
    main()
