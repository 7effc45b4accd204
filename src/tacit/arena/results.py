"""Reads the results of matches with other programs to evaluate a player by AIVAT: every hand with both players' cards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

from tacit.agents.hand_policy import HandPolicy
from tacit.arena.acpc import read_state
from tacit.arena.aivat_cases import hand_estimator, hand_line
from tacit.arena.hands import HandRecord, full_game, states
from tacit.arena.journal import read_journal
from tacit.cards.deck import parse_cards
from tacit.cards.hands import hand_index
from tacit.errors import TacitError
from tacit.games.holdem import Holdem
from tacit.games.public_hand import PublicHand


@dataclass(frozen=True)
class JudgedHand:
    """A finished hand from the view of the player under evaluation.

    Attributes:
      record: cards and actions.
      seat: that player's seat.
      winnings: that player's winnings, in chips.
    """

    record: HandRecord
    seat: int
    winnings: float


@dataclass(frozen=True)
class Results:
    """A file of results.

    Attributes:
      game: the game played.
      player: the name of the player under evaluation.
      hands: the hands in the order they were played.
    """

    game: Holdem
    player: str
    hands: list[JudgedHand]


def read_results(path: str | Path, player: str) -> Results:
    """Returns the hands of a file that `tacit slumbot` or `tacit acpc dealer` wrote.

    Args:
      path: the file.
      player: the dealer's name for the player under evaluation; in a match against Slumbot that is always the agent.

    Raises:
      TacitError: the file cannot be read, has no such player, or lacks a player's cards.
    """
    head, *lines = read_journal(path) or [{}]
    if not isinstance(head.get("game"), str) or (head.get("agent") is None and head.get("players") is None):
        raise TacitError(f"{path} holds no results of tacit slumbot or tacit acpc dealer")
    game = full_game(head["game"])
    players = head.get("players")
    if players is not None and (not isinstance(players, list) or player not in players):
        named = ", ".join(map(str, players)) if isinstance(players, list) else str(players)
        raise TacitError(f"nobody was called {player!r} in {path}: choose one of {named}")
    read = _of_dealer if players is not None else _of_slumbot
    hands = []
    for number, line in enumerate(lines, start=2):
        if "hand" not in line:
            continue
        try:
            hand = read(game, line, player)
            if len(hand.record.hands) != 4:
                raise TacitError("one player's cards are missing: AIVAT needs them in every hand, folded ones included")
            hands.append(hand)
        except (LookupError, TypeError, ValueError, OverflowError):
            raise TacitError(f"line {number} of {path} is not a hand of {game}") from None
        except TacitError as error:
            raise TacitError(f"line {number} of {path}: {error}") from None
    return Results(game, player if players is not None else str(head["agent"]), hands)


def estimates(results: Results, policy: HandPolicy) -> Iterator[float]:
    """Yields the AIVAT estimate of each hand, in chips, for the player under evaluation, who plays `policy`.

    Raises:
      TacitError: The player made a move that its policy never makes.
    """
    estimator = hand_estimator(results.game, (policy, None))
    for hand in results.hands:
        cards = hand.record.hands
        held = hand_index(*cards[:2]), hand_index(*cards[2:])
        yield estimator.value(hand_line(public_end(results.game, hand.record), held), hand.seat)


def public_end(game: Holdem, record: HandRecord) -> PublicHand:
    """Returns the public state in which a hand ended, with its path.

    Raises:
      TacitError: the record is not possible.
    """
    words = filter(None, (game.public_observation(state) for state in states(game, record)))
    return reduce(PublicHand.hear, words, PublicHand.start(game))


def _of_slumbot(game: Holdem, line: dict[str, Any], player: str) -> JudgedHand:
    del game, player
    own, other, board = (parse_cards(_text(line, key)) for key in ("hole_cards", "bot_hole_cards", "board"))
    seat, actions = line["client_pos"], tuple(line["actions"])
    if type(seat) is not int or not all(type(action) is int for action in actions):
        raise TypeError("whole numbers")
    cards = (*own, *other) if seat == 0 else (*other, *own)
    record = HandRecord(cards, board, actions)
    return JudgedHand(record, seat, float(line["winnings"]))


def _of_dealer(game: Holdem, line: dict[str, Any], player: str) -> JudgedHand:
    _, number, betting, cards, payoffs, names = _text(line, "state").split(":")
    seat = names.split("|").index(player)
    state = read_state(game.rules, f"MATCHSTATE:0:{number}:{betting}:{cards}")
    record = HandRecord((*state.hands[0], *state.hands[1]), state.board, state.actions)
    return JudgedHand(record, seat, float(payoffs.split("|")[seat]))


def _text(line: dict[str, Any], key: str) -> str:
    """Returns a string in a line; raises a `KeyError` or `TypeError` if there is none."""
    if not isinstance(line[key], str):
        raise TypeError(key)
    return str(line[key])
