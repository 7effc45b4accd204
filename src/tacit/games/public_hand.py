"""The public state of a hand of hold'em, followed from the actions and cards seen at the table."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tacit.cards.deck import parse_cards
from tacit.games.betting import CALL, DEAL, FOLD, Betting
from tacit.games.holdem import Holdem

CARD = -1
"""Stands in place of the player in a step of a path where a card was dealt."""

_PASSIVE = {"fold": FOLD, "check": CALL, "call": CALL}


@dataclass(frozen=True)
class PublicHand:
    """A public state.

    Attributes:
      game: The rules.
      board: The board cards so far.
      betting: The betting state. Its street may still be waiting for its cards.
      path: The steps that led here, as in `HandTree.path`: a player and its action, or `CARD` and the card dealt.
    """

    game: Holdem
    board: tuple[int, ...]
    betting: Betting
    path: tuple[tuple[int, int], ...] = ()

    @staticmethod
    def start(game: Holdem) -> PublicHand:
        """Returns the state before anything is seen, even board cards known from the start."""
        return PublicHand(game, (), game.rules.start())

    @property
    def actions(self) -> tuple[int, ...]:
        """The legal actions of the player to act."""
        return self.game.rules.actions(self.betting)

    def after(self, action: int) -> PublicHand:
        """Returns the state after an action."""
        rules = self.game.rules
        betting = rules.apply(self.betting, action)
        if betting.actor == DEAL:
            betting = rules.deal(betting)
        return replace(self, betting=betting, path=(*self.path, (self.betting.actor, action)))

    def dealt(self, cards: tuple[int, ...]) -> PublicHand:
        """Returns the state after board cards are dealt."""
        known = len(self.board) < len(self.game.known_board)  # cards known from the start are no step
        steps = () if known else tuple((CARD, card) for card in cards)
        return replace(self, board=(*self.board, *cards), path=(*self.path, *steps))

    def hear(self, word: str) -> PublicHand:
        """Returns the state after one public observation: an action's name, or cards."""
        action = read_action(word)
        return self.dealt(parse_cards(word)) if action is None else self.after(action)


def read_action(word: str) -> int | None:
    """Returns the action in a public observation, or None if it is cards."""
    if word in _PASSIVE:
        return _PASSIVE[word]
    return int(word.rpartition(" ")[2]) if " to " in word else None
