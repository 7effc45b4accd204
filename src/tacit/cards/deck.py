"""The 52 cards: card `4 * rank + suit`, ranks `23456789TJQKA`, suits `cdhs`."""

from __future__ import annotations

from collections.abc import Iterable

from tacit.errors import TacitError

RANKS = "23456789TJQKA"
SUITS = "cdhs"
NUM_CARDS = 52


def card_name(card: int) -> str:
    """Returns the name of a card: `Ks`."""
    return RANKS[card // 4] + SUITS[card % 4]


def card_names(cards: Iterable[int]) -> str:
    """Returns the names of cards without a space: `3s7hTd`."""
    return "".join(card_name(int(card)) for card in cards)


def parse_cards(text: str) -> tuple[int, ...]:
    """Returns the cards in a text like `3s7hTdKs` or `3s 7h Td Ks`.

    Raises:
      TacitError: the text contains something that is not a card, or the same card twice.
    """
    letters = text.replace(" ", "").replace(",", "")
    cards = []
    for start in range(0, len(letters), 2):
        rank, suit = RANKS.find(letters[start].upper()), SUITS.find(letters[start + 1 : start + 2].lower() or "?")
        if rank < 0 or suit < 0:
            raise TacitError(f"{letters[start : start + 2]!r} in {text!r} is no card: a rank of {RANKS} and a suit of {SUITS}")
        cards.append(4 * rank + suit)
    twice = next((card for card in cards if cards.count(card) > 1), None)
    if twice is not None:
        raise TacitError(f"{card_name(twice)} comes twice in {text!r}")
    return tuple(cards)
