"""Hand histories in the PHH format (Kim 2024; the `.phh` files of pokerkit): hands of hold'em for two, written and read.

A file is TOML: one hand, or many with a table for each (`.phhs`). Player p1 is our player 0, the big blind. Raises are named by
the chips put in **on the street**, where ours count the whole hand. Menus of bet sizes are no part of a hand and are not kept.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit.arena.hands import HandRecord, replay
from tacit.cards.deck import card_names, parse_cards
from tacit.errors import TacitError
from tacit.games.betting import CALL, DEAL, FOLD, SHOWDOWN
from tacit.games.holdem import Holdem, LimitHoldem, NoLimitHoldem

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


def read_hands(path: str | Path) -> list[History]:
    """Returns the hands of a `.phh` or `.phhs` file.

    Raises:
      TacitError: it cannot be read, or a hand is not hold'em for two with equal stacks, no antes and all cards known.
    """
    try:
        return parse_hands(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise TacitError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
    except TacitError as error:
        raise TacitError(f"{path}: {error}") from None


def parse_hands(text: str) -> list[History]:
    """Returns the hands of a text; see `read_hands`."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise TacitError(f"not in the PHH format: {error}") from None
    tables = content if all(isinstance(value, dict) for value in content.values()) else {"1": content}
    hands = []
    for name, table in tables.items():
        try:
            hands.append(_hand(table))
        except TacitError as error:
            raise TacitError(f"hand {name}: {error}") from None
    return hands


class HistoryWriter:
    """A `.phhs` file that grows by a hand at a time."""

    def __init__(self, path: str | Path) -> None:
        """Starts the file.

        Raises:
          TacitError: it holds something already, or cannot be written.
        """
        self.path, self._count = Path(path), 0
        if self.path.suffix != ".phhs":
            raise TacitError(f"{path} must end in .phhs, as files of many hands do")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.touch()
            written = self.path.stat().st_size
        except OSError as error:
            raise TacitError(f"cannot write {path}: {error.strerror or error}") from None
        if written:
            raise TacitError(f"{path} exists: give another file, or move it away")

    def write(self, history: History) -> None:
        """Appends a hand."""
        self._count += 1
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(f"[{self._count}]\n{write_hand(history)}\n")
        except OSError as error:
            raise TacitError(f"cannot write {self.path}: {error.strerror or error}") from None


def _words(history: History) -> Iterator[str]:
    """Yields the actions of a hand in the format's words."""
    rules, record = history.game.rules, history.record
    hands = [card_names(record.hands[:2]), card_names(record.hands[2:])]
    yield from (f"d dh p{player} {hand}" for player, hand in enumerate(hands, start=1))
    betting, begun = rules.start(), 0
    for action in record.actions:
        yield f"p{betting.actor + 1} {({FOLD: 'f', CALL: 'cc'}).get(action, f'cbr {action - begun}')}"
        betting = rules.apply(betting, action)
        if betting.actor == DEAL:
            betting, begun = rules.deal(betting), betting.facing
            yield from _boards(record.board, betting.street, betting.street)
    if betting.actor == SHOWDOWN:  # who is all-in shows before the rest of the board lies
        yield from (f"p{player} sm {hand}" for player, hand in enumerate(hands, start=1))
        yield from _boards(record.board, betting.street + 1, 3)


def _boards(board: tuple[int, ...], first: int, last: int) -> Iterator[str]:
    cards = (board[:3], board[3:4], board[4:5])
    yield from (f"d db {card_names(cards[street - 1])}" for street in range(first, last + 1))


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, str):  # JSON's strings are TOML's, but for one character
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
    return str(value)


def _hand(table: dict[str, Any]) -> History:
    game = _game(table)
    actions = table.get("actions")
    if not isinstance(actions, list) or not all(isinstance(action, str) for action in actions):
        raise TacitError("actions must be a list of texts")
    reader = _Reader(game)
    for action in actions:
        try:
            reader.take(action.partition("#")[0].split())
        except TacitError as error:
            raise TacitError(f"{action!r}: {error}") from None
    record = reader.record()
    number, players = table.get("hand"), table.get("players", [])
    if not isinstance(players, list) or not all(isinstance(name, str) for name in players):
        raise TacitError("players must be a list of names")
    payoff, stack = int(game.returns(replay(game, record))[0]), table["starting_stacks"][0]
    if "finishing_stacks" in table and table["finishing_stacks"] != [stack + payoff, stack - payoff]:
        raise TacitError(f"finishing_stacks is {table['finishing_stacks']}, by the rules {[stack + payoff, stack - payoff]}")
    return History(game, record, number if isinstance(number, int) else None, tuple(players))


def _game(table: dict[str, Any]) -> Holdem:
    variant = table.get("variant")
    if variant not in (NO_LIMIT, LIMIT):
        raise TacitError(f"variant {variant!r} is not hold'em: {NO_LIMIT} (no-limit) or {LIMIT} (limit)")
    small, big = _pair(table, "blinds_or_straddles")
    first, second = _pair(table, "starting_stacks")
    if _pair(table, "antes") != (0, 0) or first != second:
        raise TacitError("only hands without antes and with equal stacks can be read")
    if variant == NO_LIMIT:
        game: Holdem = NoLimitHoldem(stack=first, small_blind=small, big_blind=big)
        sizes = {"min_bet": big}
    else:
        game, sizes = LimitHoldem(small_blind=small, big_blind=big), {"small_bet": big, "big_bet": 2 * big}
        if first < game.rules.stack:
            raise TacitError(f"stacks of {first} are too small for limit hands, in which {game.rules.stack} can be bet")
    for key, size in sizes.items():
        if table.get(key) != size:
            raise TacitError(f"{key} must be {size} with this big blind, not {table.get(key)!r}")
    return game


def _pair(table: dict[str, Any], key: str) -> tuple[int, int]:
    found = table.get(key)
    if not isinstance(found, list) or len(found) != 2 or not all(isinstance(chips, int) for chips in found):
        raise TacitError(f"{key} must be two whole numbers of chips, for two players, not {found!r}")
    return found[0], found[1]


class _Reader:
    """The words of a hand, one after the other."""

    def __init__(self, game: Holdem) -> None:
        self._rules, self._betting, self._begun = game.rules, game.rules.start(), 0
        self._hands: dict[str, tuple[int, ...]] = {"p1": (), "p2": ()}
        self._board: tuple[int, ...] = ()
        self._actions: list[int] = []

    def take(self, words: list[str]) -> None:
        """Takes in an action of any kind.

        Raises:
          TacitError: it cannot be read, or is not possible.
        """
        match words:
            case []:
                pass
            case ["d", "dh", ("p1" | "p2") as player, cards]:
                self._hands[player] += () if "?" in cards else parse_cards(cards)
            case ["d", "db", cards]:
                self._board += parse_cards(cards)
            case [("p1" | "p2") as player, "sm", cards] if cards not in ("-", "????"):
                self._hands[player] = parse_cards(cards)
            case ["p1" | "p2", "sm", *_]:
                pass
            case [player, "f"]:
                self._act(player, FOLD)
            case [player, "cc"]:
                self._act(player, CALL)
            case [player, "cbr", chips] if chips.isdecimal():
                self._act(player, self._begun + int(chips[:10]))
            case _:
                raise TacitError("cannot be read")

    def record(self) -> HandRecord:
        """Returns the hand."""
        cards = (*self._hands["p1"], *self._hands["p2"])
        if any(len(hand) != 2 for hand in self._hands.values()):
            raise TacitError("the private cards are not all known")
        board = tuple(sorted(self._board[:3], reverse=True)) + self._board[3:]  # as boards lie here
        return HandRecord((cards[0], cards[1], cards[2], cards[3]), board, tuple(self._actions))

    def _act(self, player: str, action: int) -> None:
        if self._betting.actor < 0 or player != f"p{self._betting.actor + 1}":
            raise TacitError(f"{player} is not to act")
        if action > CALL and action == self._begun:
            raise TacitError("a bet of nothing")
        self._betting = self._rules.apply(self._betting, action)
        self._actions.append(action)
        if self._betting.actor == DEAL:
            self._begun = self._betting.facing
            self._betting = self._rules.deal(self._betting)
