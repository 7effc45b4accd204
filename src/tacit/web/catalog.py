"""The games that the app offers by picture, each with its lane. Any other game can be opened by name."""

from __future__ import annotations

from typing import NamedTuple

from tacit.web.desk import QUICK, SLOW, Message, text_of
from tacit.web.settings import DEFAULT_GAME


class Offer(NamedTuple):
    """A game on offer.

    Attributes:
      game: The game's name, as `load_game` reads it.
      title: The title shown to visitors.
      group: The heading it is listed under.
      about: One line that describes the game.
      lane: The kind of worker that runs its opponents.
    """

    game: str
    title: str
    group: str
    about: str
    lane: str = QUICK


OFFERS = (
    Offer("kuhn_poker", "Kuhn poker", "Small poker", "Three cards, one bet: the smallest poker there is."),
    Offer("leduc_poker", "Leduc poker", "Small poker", "Six cards, two rounds, one card on the board."),
    Offer("pot_limit_leduc", "Pot-limit Leduc", "Small poker", "Leduc with 1,200 chips and bets of the pot."),
    Offer("liars_dice(dice=1,faces=4)", "Liar's dice 1x4", "Dice", "One die of four faces each. The highest face is wild."),
    Offer("liars_dice(dice=1,faces=5)", "Liar's dice 1x5", "Dice", "One die of five faces each. The highest face is wild."),
    Offer("liars_dice(dice=1,faces=6)", "Liar's dice 1x6", "Dice", "One die of six faces each. The highest face is wild."),
    Offer("liars_dice(dice=2,faces=3)", "Liar's dice 2x3", "Dice", "Two dice of three faces each. The highest face is wild."),
    Offer("no_limit_holdem", "No-limit hold'em", "Hold'em", "Heads-up, 200 big blinds, any bet.", SLOW),
    Offer("limit_holdem", "Limit hold'em", "Hold'em", "Heads-up with fixed bets.", SLOW),
    Offer("turn_endgame_holdem", "Turn endgame", "Hold'em", "Starts on the turn with 2,000 chips in the pot.", SLOW),
    Offer("goofspiel(cards=4)", "Goofspiel", "Boards and bids", "Bid cards for prizes; only the winner is announced."),
    Offer("tic_tac_toe", "Tic-tac-toe", "Boards and bids", "Three in a row."),
    Offer("connect_four", "Connect four", "Boards and bids", "Four in a line.", SLOW),
)  # fmt: skip
"""The games on offer, in the order in which the app shows them."""

_LANES = {offer.game: offer.lane for offer in OFFERS}


def choose_lane(message: Message) -> str:
    """Returns the lane of a message that opens a game: the slow one if its cost is unknown."""
    if message.get("desk") != "play":
        return SLOW
    game, opponent = text_of(message, "game", DEFAULT_GAME), text_of(message, "opponent", "default")
    known = opponent in ("default", "random") or opponent.startswith("pretrained:")
    return _LANES.get(game, SLOW) if known else SLOW


def catalog() -> dict[str, object]:
    """Returns the offers, ready for JSON."""
    return {"games": [offer._asdict() for offer in OFFERS], "default": DEFAULT_GAME}
