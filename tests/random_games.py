"""Random small games for property tests: correlated deals, hidden and public actions, private draws, public deals."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import lru_cache

from tacit.games import CHANCE, TERMINAL, Game

Event = tuple[object, ...]
State = tuple[Event, ...]

_remembered = lru_cache(maxsize=100_000)  # every question about a state asks the same question about all its prefixes


@dataclass(frozen=True)
class RandomGame(Game[State]):
    """A random game: everything in it is a pseudo-random function of what the players involved know.

    A state is a tuple of events: ("deal", type 0, type 1, public part), ("move", player, action), ("draw", player, signal).

    Attributes:
      seed: Seed of everything random.
      length: Most moves in a game.
      hidden: Whether some actions are hidden from the opponent.
      draws: Whether private draws happen between moves.
      numbering: How actions are numbered: "plain" from 0, "shuffled" in a public order, "typed" by what the mover knows.
      roots: How many public states the deal can lead to.
    """

    seed: int = 0
    length: int = 3
    hidden: bool = True
    draws: bool = True
    numbering: str = "plain"
    roots: int = 1

    name = "random_game"

    def initial_state(self) -> State:
        return ()

    @_remembered
    def actor(self, state: State) -> int:
        if not state or self._draw_due(state):
            return CHANCE
        if self._moves(state) == self.length or (
            self._moves(state) > 1 and self._dice("end", self._public(state)).random() < 0.2
        ):
            return TERMINAL
        return self._dice("actor", self._public(state)).randrange(2)

    def legal_actions(self, state: State) -> list[int]:
        view = self._view(state, self.actor(state))
        count = self._dice("legal", view).randint(1, 3)
        if self.numbering == "plain":
            return list(range(count))
        return self._dice("numbers", self._public(state) if self.numbering == "shuffled" else view).sample(range(6), 6)[:count]

    def chance_outcomes(self, state: State) -> list[tuple[int, float]]:
        dice = self._dice("chance", self._public(state))
        weights = [dice.random() + 0.1 for _ in range(2 if state else 6 * self.roots)]
        return [(outcome, weight / sum(weights)) for outcome, weight in enumerate(weights)]

    def apply(self, state: State, action: int) -> State:
        if not state:
            return (("deal", action % 2, action // 2 % 3, action // 6),)
        if self._draw_due(state):
            return (*state, ("draw", self._dice("drawer", self._public(state)).randrange(2), action))
        return (*state, ("move", self.actor(state), action))

    def public_observation(self, state: State) -> str:
        return self._seen_by_all(state) if state else ""

    def private_observation(self, state: State, player: int) -> str:
        if not state:
            return ""
        last = state[-1]
        if last[0] == "deal":
            return f"type {last[1 + player]}"
        return f"signal {last[2]}" if last[0] == "draw" and last[1] == player else ""

    def returns(self, state: State) -> tuple[float, float]:
        payoff = self._dice("payoff", state).uniform(-1.0, 1.0)
        return payoff, -payoff

    def _dice(self, *about: object) -> random.Random:
        return random.Random(f"{self.seed}:{about}")

    def _moves(self, state: State) -> int:
        return sum(event[0] == "move" for event in state)

    @_remembered
    def _draw_due(self, state: State) -> bool:
        return self.draws and state[-1][0] == "move" and self._dice("draw", self._public(state)).random() < 0.3

    def _seen_by_all(self, state: State) -> str:
        """Returns the last event as the public sees it; whether it is hidden depends on public information only."""
        last = state[-1]
        if last[0] == "deal" and self.roots > 1:
            return f"deal {last[3]}"
        if last[0] != "move":
            return ""
        hide = self.hidden and self._dice("hide", self._public(state[:-1])).random() < 0.4
        return "" if hide else f"action {last[2]}"

    @_remembered
    def _public(self, state: State) -> tuple[object, ...]:
        return (*self._public(state[:-1]), (state[-1][0], self._seen_by_all(state))) if state else ()

    def _view(self, state: State, player: int) -> tuple[object, ...]:
        own = [event[2] if event[0] == "move" and event[1] == player else None for event in state]
        private = [self.private_observation(state[: i + 1], player) for i in range(len(state))]
        return (self._public(state), tuple(own), tuple(private))
