"""Playing cards: names, two-card hands, seven-card strengths and ranges. It holds no rules of any game."""

from tacit.cards.deck import card_name, parse_cards
from tacit.cards.grid import cell_name, grid_of, strategy_grid
from tacit.cards.hands import HANDS, NUM_HANDS, hand_index, hand_name
from tacit.cards.ranges import check_range, parse_range, write_range
from tacit.cards.strength import hand_strengths, seven_card_strengths

__all__ = [
    "HANDS", "NUM_HANDS", "card_name", "cell_name", "check_range", "grid_of", "hand_index", "hand_name", "hand_strengths",
    "parse_cards", "parse_range", "seven_card_strengths", "strategy_grid", "write_range",
]  # fmt: skip
