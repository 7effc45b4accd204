"""Bots: players that need no preparation."""

from __future__ import annotations

import numpy as np

from tacit.agents.base import Sight
from tacit.agents.table import Table
from tacit.errors import TacitError
from tacit.games import AnyGame
from tacit.games.base import TERMINAL

PASSIVE = ("check", "call")
"""Names of the actions that stay in the hand without a raise, in any poker game."""


class RandomBot:
    """Plays each legal action with equal probability."""

    name = "random"

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator
        self._legal_actions: tuple[int, ...] = ()

    def start(self, player: int) -> None:
        del player

    def observe(self, sight: Sight) -> None:
        self._legal_actions = sight.legal_actions

    def act(self) -> int:
        return int(self._generator.choice(self._legal_actions))

    def view(self) -> None:
        return None


class PokerBot:
    """Plays poker without looking at its cards: it takes the first legal action in a list of preferred names."""

    def __init__(self, name: str, preferred: tuple[str, ...]) -> None:
        self.name = name
        self._preferred = preferred
        self._choices: dict[str, int] = {}

    def start(self, player: int) -> None:
        del player

    def observe(self, sight: Sight) -> None:
        self._choices = _choices(sight)

    def act(self) -> int:
        names = list(self._choices)
        return self._choices[names[self.choose(names)]]

    def choose(self, names: list[str]) -> int:
        """Returns the index of the chosen action among the names of the legal ones."""
        return next(names.index(word) for word in self._preferred if word in names)

    def view(self) -> None:
        return None


def always_call(game: AnyGame) -> PokerBot:
    """Returns a player that checks or calls with every hand.

    Raises:
      TacitError: the game is not poker.
    """
    return _poker_bot("always-call", game, PASSIVE)


def always_fold(game: AnyGame) -> PokerBot:
    """Returns a player that folds to every bet and checks otherwise.

    Raises:
      TacitError: the game is not poker.
    """
    return _poker_bot("always-fold", game, ("fold", *PASSIVE))


def _poker_bot(name: str, game: AnyGame, preferred: tuple[str, ...]) -> PokerBot:
    table = Table(game, np.random.default_rng(0))
    while table.actor != TERMINAL:
        choices = _choices(table.sights[table.actor])
        passive = next((choices[word] for word in PASSIVE if word in choices), None)
        if passive is None:
            raise TacitError(f"{name} only plays poker: {game} has no moves named check or call")
        table.play(passive)
    return PokerBot(name, preferred)


def _choices(sight: Sight | None) -> dict[str, int]:
    """Returns the legal actions by name."""
    if sight is None:
        return {}
    return {name.casefold(): action for name, action in zip(sight.action_names, sight.legal_actions, strict=True)}
