"""Hand histories in the PHH format (Kim 2024; the `.phh` files of pokerkit): hands of hold'em for two, written.

A file is TOML: one hand, or many with a table for each (`.phhs`). Player p1 is our player 0, the big blind. Raises are named by
the chips put in **on the street**, where ours count the whole hand. Menus of bet sizes are no part of a hand and are not kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit.arena.hands import HandRecord, replay
from tacit.arena.journal import GrowingFile
from tacit.arena.notation import follow
from tacit.cards.deck import card_names
from tacit.errors import TacitError
from tacit.games.betting import CALL, FOLD, RIVER, SHOWDOWN
from tacit.games.holdem import Holdem, LimitHoldem

NO_LIMIT, LIMIT = "NT", "FT"
"""Codes of the format's variants."""


@dataclass(frozen=True)
class History:
    """A hand and what is known about it.

    Attributes:
      game: the rules, from the blinds on.
      record: cards and actions.
      number: of the hand.
      players: names, that of player 0 first; empty if unknown.
    """

    game: Holdem
    record: HandRecord
    number: int | None = None
    players: tuple[str, ...] = ()


def write_hand(history: History) -> str:
    """Returns a hand as the text of a `.phh` file.

    Raises:
      TacitError: the hand is not possible by the rules.
    """
    game, rules = history.game, history.game.rules
    payoff = int(game.returns(replay(game, history.record))[0])
    limit = isinstance(game, LimitHoldem)
    lines: dict[str, Any] = {
        "variant": LIMIT if limit else NO_LIMIT,
        "antes": [0, 0],
        "blinds_or_straddles": [rules.small_blind, rules.big_blind],  # with two players the format turns them round
        **({"small_bet": rules.big_blind, "big_bet": 2 * rules.big_blind} if limit else {"min_bet": rules.big_blind}),
        "starting_stacks": [rules.stack, rules.stack],
        "actions": list(_words(history)),
        "finishing_stacks": [rules.stack + payoff, rules.stack - payoff],
    }
    if history.number is not None:
        lines["hand"] = history.number
    if history.players:
        lines["players"] = list(history.players)
    return "".join(f"{key} = {_toml(value)}\n" for key, value in lines.items())


class HistoryWriter(GrowingFile):
    """A `.phhs` file that grows by a hand at a time."""

    def __init__(self, path: str | Path) -> None:
        if Path(path).suffix != ".phhs":
            raise TacitError(f"{path} must end in .phhs, as files of many hands do")
        super().__init__(path)
        self._count = 0

    def write(self, history: History) -> None:
        """Appends a hand."""
        self._count += 1
        self.append(f"[{self._count}]\n{write_hand(history)}\n")


def _words(history: History) -> Iterator[str]:
    """Yields the actions of a hand in the format's words."""
    rules, record = history.game.rules, history.record
    hands = [card_names(record.hands[:2]), card_names(record.hands[2:])]
    yield from (f"d dh p{player} {hand}" for player, hand in enumerate(hands, start=1))
    states = follow(rules, record.actions)
    for action, (betting, begun), (after, _) in zip(record.actions, states, states[1:], strict=False):
        yield f"p{betting.actor + 1} {({FOLD: 'f', CALL: 'cc'}).get(action, f'cbr {action - begun}')}"
        yield from _boards(record.board, betting.street + 1, after.street)
    last = states[-1][0]
    if last.actor == SHOWDOWN:  # who is all-in shows before the rest of the board lies
        yield from (f"p{player} sm {hand}" for player, hand in enumerate(hands, start=1))
        yield from _boards(record.board, last.street + 1, RIVER)


def _boards(board: tuple[int, ...], first: int, last: int) -> Iterator[str]:
    cards = (board[:3], board[3:4], board[4:5])
    yield from (f"d db {card_names(cards[street - 1])}" for street in range(first, last + 1))


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, str):  # JSON's strings are TOML's, but for one character
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
    return str(value)
