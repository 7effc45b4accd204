"""Finished hands of hold'em in the form shared by all adapters: cards, and actions in chips over the whole hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tacit.cards.deck import card_name
from tacit.errors import TacitError
from tacit.games import load_game
from tacit.games.base import CHANCE, TERMINAL
from tacit.games.betting import PREFLOP
from tacit.games.holdem import Holdem, HoldemState


@dataclass(frozen=True)
class HandRecord:
    """A hand that was played to its end.

    Attributes:
      hands: four private cards, two of player 0 (big blind) and then two of player 1 (button).
      board: the public cards that were dealt.
      actions: `FOLD`, `CALL` and raises to a number of chips, as in `tacit.games.betting`.
    """

    hands: tuple[int, ...]
    board: tuple[int, ...]
    actions: tuple[int, ...]


def states(game: Holdem, record: HandRecord) -> Iterator[HoldemState]:
    """Yields all states of a recorded hand, including chance states.

    Raises:
      TacitError: a card comes twice, an action is not allowed, or the hand does not end where the record does.
    """
    check_cards((*record.hands, *record.board))
    cards, actions = iter((*record.hands, *record.board)), iter(record.actions)
    state = game.initial_state()
    yield state
    while (actor := game.actor(state)) != TERMINAL:
        following = next(cards if actor == CHANCE else actions, None)
        if following is None:
            raise TacitError("the hand is incomplete: " + ("cards are missing" if actor == CHANCE else "a player must act"))
        state = game.apply(state, following)
        yield state
    if next(actions, None) is not None or next(cards, None) is not None:
        raise TacitError("the hand goes on after its end")


def replay(game: Holdem, record: HandRecord) -> HoldemState:
    """Returns the final state of a recorded hand; `game.returns` gives its payoffs.

    Raises:
      TacitError: the record is not possible.
    """
    *_, end = states(game, record)
    return end


def full_game(name: str) -> Holdem:
    """Returns the game of that name, which must be hold'em from the blinds on, as other programs play it.

    Raises:
      TacitError: it is a different game.
    """
    game = load_game(name)
    if not isinstance(game, Holdem) or game.rules.first_street != PREFLOP:
        raise TacitError(f"{game} is not hold'em from the first street on: choose no_limit_holdem or limit_holdem")
    return game


def check_cards(cards: tuple[int, ...]) -> None:
    """Checks that no card appears twice.

    Raises:
      TacitError: one does.
    """
    twice = next((card for card in cards if cards.count(card) > 1), None)
    if twice is not None:
        raise TacitError(f"{card_name(twice)} is dealt twice")
