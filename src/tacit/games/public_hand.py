"""What everyone knows of a hand of hold'em, followed by what is seen and heard at the table."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tacit.cards.deck import parse_cards
from tacit.games.betting import CALL, DEAL, FOLD, Betting
from tacit.games.holdem import Holdem

CARD = -1
"""Stands for the player in a step of a path where a card came."""

_PASSIVE = {"fold": FOLD, "check": CALL, "call": CALL}


@dataclass(frozen=True)
class PublicHand:
    """A public state.

    Attributes:
      game: the rules.
      board: the cards that lie.
      betting: the street it stands on may still wait for its cards.
      path: how it was reached, as `HandTree.path` tells it: who acted and how, or `CARD` and the card that came.
    """

    game: Holdem
    board: tuple[int, ...]
    betting: Betting
    path: tuple[tuple[int, int], ...] = ()

    @staticmethod
    def start(game: Holdem) -> PublicHand:
        """Returns the state before anything was seen, the cards that lie from the start included."""
        return PublicHand(game, (), game.rules.start())

    @property
    def actions(self) -> tuple[int, ...]:
        """The legal actions of whoever acts."""
        return self.game.rules.actions(self.betting)

    def after(self, action: int) -> PublicHand:
        """Returns the state after an action."""
        rules = self.game.rules
        betting = rules.apply(self.betting, action)
        if betting.actor == DEAL:
            betting = rules.deal(betting)
        return replace(self, betting=betting, path=(*self.path, (self.betting.actor, action)))

    def dealt(self, cards: tuple[int, ...]) -> PublicHand:
        """Returns the state after board cards."""
        known = len(self.board) < len(self.game.known_board)  # those of the start are no step
        steps = () if known else tuple((CARD, card) for card in cards)
        return replace(self, board=(*self.board, *cards), path=(*self.path, *steps))

    def hear(self, word: str) -> PublicHand:
        """Returns the state after one public observation: an action in words, or cards."""
        action = read_action(word)
        return self.dealt(parse_cards(word)) if action is None else self.after(action)


def read_action(word: str) -> int | None:
    """Returns the action that a public observation tells, or None where it tells cards."""
    if word in _PASSIVE:
        return _PASSIVE[word]
    return int(word.rpartition(" ")[2]) if " to " in word else None
