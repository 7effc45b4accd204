"""Playing cards: names, hands of two, strengths of seven, and ranges. No rules of any game."""

from tacit.cards.deck import card_name, parse_cards
from tacit.cards.hands import HANDS, NUM_HANDS, hand_index, hand_name
from tacit.cards.strength import hand_strengths, seven_card_strengths

__all__ = [
    "HANDS", "NUM_HANDS", "card_name", "hand_index", "hand_name", "hand_strengths", "parse_cards", "seven_card_strengths",
]  # fmt: skip
