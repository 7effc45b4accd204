"""Writes hand histories of two-player hold'em in the PHH format (Kim 2024; the `.phh` files of pokerkit).

A file is TOML: one hand, or many with a table for each (`.phhs`). Player p1 is our player 0, the big blind. A raise counts the
chips put in **on the street**, while ours count the whole hand. Menus of bet sizes are not part of a hand and are not kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tacit.arena.hands import HandRecord, replay
from tacit.arena.journal import GrowingFile
from tacit.arena.notation import betting_states
from tacit.cards.deck import card_names
from tacit.errors import TacitError
from tacit.games.betting import CALL, FOLD, RIVER, SHOWDOWN, BettingRules
from tacit.games.holdem import Holdem


def write_hand(game: Holdem, record: HandRecord, number: int, players: Sequence[str]) -> str:
    """Returns a hand as the text of a `.phh` file.

    Args:
      game: the rules, from the blinds on.
      record: cards and actions.
      number: the number of the hand.
      players: the players' names, player 0 first.

    Raises:
      TacitError: the hand is not possible by the rules.
    """
    rules, limit = game.rules, game.rules.fixed_raises
    payoff = int(game.returns(replay(game, record))[0])
    lines: dict[str, Any] = {
        "variant": "FT" if limit else "NT",  # fixed-limit or no-limit Texas hold'em
        "antes": [0, 0],
        "blinds_or_straddles": [rules.small_blind, rules.big_blind],  # with two players the format reverses their order
        **({"small_bet": rules.big_blind, "big_bet": 2 * rules.big_blind} if limit else {"min_bet": rules.big_blind}),
        "starting_stacks": [rules.stack, rules.stack],
        "actions": list(_words(rules, record)),
        "finishing_stacks": [rules.stack + payoff, rules.stack - payoff],
        "hand": number,
        "players": list(players),
    }
    return "".join(f"{key} = {_toml(value)}\n" for key, value in lines.items())


class HistoryWriter(GrowingFile):
    """A `.phhs` file that grows by one hand at a time."""

    def __init__(self, path: str | Path) -> None:
        if Path(path).suffix != ".phhs":
            raise TacitError(f"{path} must end in .phhs, as files of many hands do")
        super().__init__(path)
        self._count = 0

    def write(self, game: Holdem, record: HandRecord, number: int, players: Sequence[str]) -> None:
        """Appends a hand; see `write_hand`."""
        self._count += 1
        self.append(f"[{self._count}]\n{write_hand(game, record, number, players)}\n")


def _words(rules: BettingRules, record: HandRecord) -> Iterator[str]:
    """Yields the actions of a hand in the format's words."""
    hands = [card_names(record.hands[:2]), card_names(record.hands[2:])]
    yield from (f"d dh p{player} {hand}" for player, hand in enumerate(hands, start=1))
    states = betting_states(rules, record.actions)
    for action, (betting, begun), (after, _) in zip(record.actions, states, states[1:], strict=False):
        yield f"p{betting.actor + 1} {({FOLD: 'f', CALL: 'cc'}).get(action, f'cbr {action - begun}')}"
        yield from _boards(record.board, betting.street + 1, after.street)
    last = states[-1][0]
    if last.actor == SHOWDOWN:  # all-in players show their hands before the rest of the board is dealt
        yield from (f"p{player} sm {hand}" for player, hand in enumerate(hands, start=1))
        yield from _boards(record.board, last.street + 1, RIVER)


def _boards(board: tuple[int, ...], first: int, last: int) -> Iterator[str]:
    cards = (board[:3], board[3:4], board[4:5])
    yield from (f"d db {card_names(cards[street - 1])}" for street in range(first, last + 1))


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, str):  # JSON's strings are TOML's, except for one character
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
    return str(value)
