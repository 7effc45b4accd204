"""Poker with one private card each: Kuhn's (1950), Leduc (Southey et al. 2005) and pot-limit Leduc; they share the betting."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from tacit.games.base import CHANCE, TERMINAL, Game, GameSize, KnownValue

FOLD, CALL, RAISE = range(3)
"""Checking is calling nothing; betting is raising nothing."""


class PokerState(NamedTuple):
    """Cards dealt so far (player 0, player 1, board) and the actions of each street."""

    cards: tuple[int, ...]
    streets: tuple[tuple[int, ...], ...]


class OneCardPoker(Game[PokerState]):
    """Both players ante and get one card; after each card there is a street of betting, player 0 first.

    A player folds (only against a bet), calls or raises by the one allowed size. After the last street the cards are shown: a
    pair with the board wins, then the higher rank; equal hands split.
    """

    ranks: ClassVar[str] = "JQK"
    suits: ClassVar[str] = "sh"
    num_streets: ClassVar[int] = 2
    ante: ClassVar[int] = 1

    @abstractmethod
    def raise_to(self, street: int, num_raises: int, facing: int) -> int | None:
        """Returns the raiser's new total contribution, or None where no raise is allowed.

        Args:
          street: 0, or 1 after the board card.
          num_raises: raises made on this street.
          facing: the total contribution of the player being raised.
        """

    @property
    def num_cards(self) -> int:
        """Cards are numbered by rank, then suit."""
        return len(self.ranks) * len(self.suits)

    def card_name(self, card: int) -> str:
        """Returns a card in words."""
        rank, suit = divmod(card, len(self.suits))
        return self.ranks[rank] + (self.suits[suit] if len(self.suits) > 1 else "")

    def strength(self, card: int, board: int | None) -> int:
        """Returns a number that orders hands: the higher one wins."""
        rank = card // len(self.suits)
        paired = board is not None and board // len(self.suits) == rank
        return rank + (len(self.ranks) if paired else 0)

    def contributions(self, state: PokerState) -> list[int]:
        """Returns the chips each player has put in."""
        chips = [self.ante, self.ante]
        for street, actions in enumerate(state.streets):
            num_raises = 0
            for move, action in enumerate(actions):
                player = move % 2
                if action == CALL:
                    chips[player] = chips[1 - player]
                elif action == RAISE:
                    total = self.raise_to(street, num_raises, chips[1 - player])
                    assert total is not None
                    chips[player] = total
                    num_raises += 1
        return chips

    def initial_state(self) -> PokerState:
        return PokerState((), ((),))

    def actor(self, state: PokerState) -> int:
        if len(state.cards) < 2:
            return CHANCE
        betting = state.streets[-1]
        if betting and betting[-1] == FOLD:
            return TERMINAL
        closed = len(betting) >= 2 and betting[-1] == CALL
        if not closed and len(state.streets) > 1 and not betting:
            chips = self.contributions(state)
            closed = self.raise_to(len(state.streets) - 1, 0, chips[0]) is None  # all in before this street
        if closed:
            return CHANCE if len(state.streets) < self.num_streets else TERMINAL
        return len(betting) % 2

    def legal_actions(self, state: PokerState) -> tuple[int, ...]:
        betting, chips = state.streets[-1], self.contributions(state)
        player = len(betting) % 2
        actions = [CALL] if chips[0] == chips[1] else [FOLD, CALL]
        if self.raise_to(len(state.streets) - 1, betting.count(RAISE), chips[1 - player]) is not None:
            actions.append(RAISE)
        return tuple(actions)

    def chance_outcomes(self, state: PokerState) -> list[tuple[int, float]]:
        left = [card for card in range(self.num_cards) if card not in state.cards]
        return [(card, 1.0 / len(left)) for card in left]

    def apply(self, state: PokerState, action: int) -> PokerState:
        if self.actor(state) == CHANCE:
            board_dealt = len(state.cards) == 2
            return PokerState((*state.cards, action), (*state.streets, ()) if board_dealt else state.streets)
        return PokerState(state.cards, (*state.streets[:-1], (*state.streets[-1], action)))

    def public_observation(self, state: PokerState) -> str:
        betting = state.streets[-1]
        if not betting:
            return self.card_name(state.cards[2]) if len(state.cards) == 3 else ""
        if betting[-1] == FOLD:
            return "fold"
        quiet = RAISE not in betting[:-1]
        return ("check" if quiet else "call") if betting[-1] == CALL else ("bet" if quiet else "raise")

    def private_observation(self, state: PokerState, player: int) -> str:
        dealt_now = len(state.cards) == player + 1 and not state.streets[0]
        return self.card_name(state.cards[player]) if dealt_now else ""

    def public_key(self, state: PokerState) -> tuple[tuple[int, ...], ...]:
        raises = state.streets[-1].count(RAISE)
        return tuple(self.contributions(state)), state.cards[2:], (len(state.streets), raises)

    def returns(self, state: PokerState) -> tuple[float, float]:
        chips = self.contributions(state)
        betting = state.streets[-1]
        if betting and betting[-1] == FOLD:
            folder = (len(betting) - 1) % 2
            payoff = float(-chips[0] if folder == 0 else chips[1])
        else:
            board = state.cards[2] if len(state.cards) == 3 else None
            first, second = (self.strength(card, board) for card in state.cards[:2])
            payoff = float(chips[0] * ((first > second) - (first < second)))
        return payoff, -payoff

    def action_name(self, action: int) -> str:
        return ("fold", "call", "raise")[action]


@dataclass(frozen=True)
class KuhnPoker(OneCardPoker):
    """Jack, Queen, King; both ante 1 and get a card; one bet of 1 may be made, and called or folded to."""

    name = "kuhn_poker"
    suits = " "
    num_streets = 1

    def raise_to(self, street: int, num_raises: int, facing: int) -> int | None:
        return facing + 1 if num_raises == 0 else None

    def size(self) -> GameSize:
        return GameSize(histories=54, public_states=9, infostates=12)

    def known_value(self) -> KnownValue:
        return KnownValue(-1 / 18, "Kuhn 1950")

    def openspiel_twin(self) -> str:
        return "kuhn_poker"


@dataclass(frozen=True)
class LeducPoker(OneCardPoker):
    """Two suits of Jack, Queen, King; both ante 1; raises of 2, then of 4 after the board card; two raises a street."""

    name = "leduc_poker"

    def raise_to(self, street: int, num_raises: int, facing: int) -> int | None:
        return facing + (2, 4)[street] if num_raises < 2 else None

    def size(self) -> GameSize:
        return GameSize(histories=9_300, public_states=460, infostates=936)

    def known_value(self) -> KnownValue:
        return KnownValue(-0.085606424078, "OpenSpiel's sequence-form LP")

    def openspiel_twin(self) -> str:
        return "leduc_poker"


@dataclass(frozen=True)
class PotLimitLeduc(OneCardPoker):
    """Leduc's six cards; both ante 300 of 1,200 chips; the one bet or raise is the pot, capped at all-in (300, 900, 1200)."""

    name = "pot_limit_leduc"
    ante = 300
    stack = 1200

    def raise_to(self, street: int, num_raises: int, facing: int) -> int | None:
        return min(3 * facing, self.stack) if facing < self.stack else None

    def size(self) -> GameSize:
        return GameSize(histories=4_500, public_states=220, infostates=456)

    def known_value(self) -> KnownValue:
        return KnownValue(-11.66, "independent sequence-form solve, to two digits")
