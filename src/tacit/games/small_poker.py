"""Poker with a small deck, small hands, and streets of betting with a new board card between them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cache
from itertools import combinations
from math import comb, perm
from typing import Any, ClassVar, NamedTuple

from tacit.games.base import CHANCE, TERMINAL, Game, GameSize
from tacit.games.chips import Chips

FOLD, CALL, RAISE = range(3)
"""A check is a `CALL` of nothing; a bet is a `RAISE` of nothing."""
_ACTIONS = {"fold": FOLD, "check": CALL, "call": CALL, "bet": RAISE, "raise": RAISE}


class PokerState(NamedTuple):
    """The deals so far (player 0's hand, player 1's hand, board cards) and the actions of each street."""

    cards: tuple[int, ...]
    streets: tuple[tuple[int, ...], ...]


class SmallPoker(Game[PokerState]):
    """Both players ante and get a hand; streets of betting follow, player 0 first, each but the first with a new board card.

    A player folds (only against a bet), calls or raises by the one allowed size. After the last street the hands are shown:
    the stronger one wins, and equal ones split the pot.

    Cards are numbered by rank, then suit; hands are numbered in the order of `itertools.combinations` of their cards.
    """

    ranks: ClassVar[str] = "JQK"
    suits: ClassVar[str] = "sh"
    num_streets: ClassVar[int] = 2
    ante: ClassVar[int] = 1

    @abstractmethod
    def raise_to(self, street: int, num_raises: int, facing: int) -> int | None:
        """Returns the raiser's new total contribution, or None if no raise is allowed.

        Args:
          street: The number of the street, which is also the number of cards on the board.
          num_raises: The number of raises already made on this street.
          facing: The total contribution of the player being raised.
        """

    @abstractmethod
    def strength(self, hand: int, board: tuple[int, ...]) -> Any:
        """Returns the value that orders hands on a board; the hand with the greater one wins."""

    @property
    def hand_size(self) -> int:
        """The number of cards in a hand."""
        return 1

    @property
    def num_cards(self) -> int:
        """The number of cards in the deck."""
        return len(self.ranks) * len(self.suits)

    @property
    def hands(self) -> tuple[tuple[int, ...], ...]:
        """The cards of each hand."""
        return _hands(self.num_cards, self.hand_size)

    def card_name(self, card: int) -> str:
        """Returns the name of a card."""
        rank, suit = divmod(card, len(self.suits))
        return self.ranks[rank] + (self.suits[suit] if len(self.suits) > 1 else "")

    def hand_name(self, hand: int) -> str:
        """Returns the names of a hand's cards."""
        return "".join(self.card_name(card) for card in self.hands[hand])

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
        held = {card for hand in state.cards[:2] for card in self.hands[hand]}
        if len(state.cards) < 2:
            left = [number for number, hand in enumerate(self.hands) if held.isdisjoint(hand)]
        else:
            left = [card for card in range(self.num_cards) if card not in held and card not in state.cards[2:]]
        return [(outcome, 1.0 / len(left)) for outcome in left]

    def apply(self, state: PokerState, action: int) -> PokerState:
        if self.actor(state) == CHANCE:
            on_board = len(state.cards) >= 2
            return PokerState((*state.cards, action), (*state.streets, ()) if on_board else state.streets)
        return PokerState(state.cards, (*state.streets[:-1], (*state.streets[-1], action)))

    def public_observation(self, state: PokerState) -> str:
        betting = state.streets[-1]
        if not betting:
            return self.card_name(state.cards[-1]) if len(state.cards) > 2 else ""
        if betting[-1] == FOLD:
            return "fold"
        quiet = RAISE not in betting[:-1]
        return ("check" if quiet else "call") if betting[-1] == CALL else ("bet" if quiet else "raise")

    def private_observation(self, state: PokerState, player: int) -> str:
        dealt_now = len(state.cards) == player + 1 and not state.streets[0]
        return self.hand_name(state.cards[player]) if dealt_now else ""

    def public_key(self, state: PokerState) -> tuple[tuple[int, ...], ...]:
        raises = state.streets[-1].count(RAISE)
        return tuple(self.contributions(state)), tuple(sorted(state.cards[2:])), (len(state.streets), raises)

    def public_features(self, actor: int, observed: Sequence[str]) -> tuple[float, ...]:
        """Returns the board and the player to act, both one-hot, and each player's chips as a share of the most possible."""
        board = tuple(card for card in range(self.num_cards) if self.card_name(card) in observed)
        streets: list[tuple[int, ...]] = [()]
        for word in observed:
            streets = [*streets[:-1], (*streets[-1], _ACTIONS[word])] if word in _ACTIONS else [*streets, ()]
        chips = self.contributions(PokerState((), tuple(streets)))
        cards = (float(card in board) for card in range(self.num_cards))
        return (*cards, float(actor == 0), float(actor == 1), *(part / self._most_chips for part in chips))

    @property
    def _most_chips(self) -> int:
        """The most chips that a player can put in: its stack if nothing else limits the betting."""
        chips = self.ante
        for street in range(self.num_streets):
            num_raises = 0
            while (total := self.raise_to(street, num_raises, chips)) is not None:
                chips, num_raises = total, num_raises + 1
        return chips

    def returns(self, state: PokerState) -> tuple[float, float]:
        chips = self.contributions(state)
        betting = state.streets[-1]
        if betting and betting[-1] == FOLD:
            folder = (len(betting) - 1) % 2
            payoff = float(-chips[0] if folder == 0 else chips[1])
        else:
            first, second = (self.strength(hand, state.cards[2:]) for hand in state.cards[:2])
            payoff = float(chips[0] * ((first > second) - (first < second)))
        return payoff, -payoff

    def action_name(self, action: int) -> str:
        return ("fold", "call", "raise")[action]

    def chips(self, state: PokerState) -> Chips:
        first, second = self.contributions(state)
        street, actor = len(state.streets) - 1, self.actor(state)
        total = self.raise_to(street, state.streets[-1].count(RAISE), (first, second)[1 - actor])
        limits = None if total is None else (total, total)
        stack = getattr(self, "stack", None)  # where the betting has no other limit
        return Chips(street, (), actor, (first, second), stack, limits, RAISE)

    def size(self) -> GameSize:
        """Returns the exact size. Every board of a street allows equally many hands, so one board is counted for all."""
        histories = public_states = infostates = 0
        stack = [PokerState((0, 0), ((),))]
        while stack:
            state = stack.pop()
            actor, on_board = self.actor(state), len(state.cards) - 2
            if actor == CHANCE:
                stack.append(self.apply(state, 0))
                continue
            boards, left = perm(self.num_cards, on_board), self.num_cards - on_board
            hands = comb(left, self.hand_size)
            public_states += boards
            histories += boards * hands * comb(left - self.hand_size, self.hand_size)
            if actor != TERMINAL:
                infostates += boards * hands
                stack += [self.apply(state, action) for action in self.legal_actions(state)]
        return GameSize(histories, public_states, infostates)


@cache
def _hands(num_cards: int, size: int) -> tuple[tuple[int, ...], ...]:
    return tuple(combinations(range(num_cards), size))
