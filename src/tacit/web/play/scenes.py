"""Scenes: what one seat sees of a game, as data to draw. They are made only from that seat's sights."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Protocol

from tacit.agents.base import Sight
from tacit.games import AnyGame
from tacit.games.base import TERMINAL, InfostateGame
from tacit.games.chips import STREETS, Chips
from tacit.games.connect_four import ConnectFour
from tacit.games.goofspiel import Goofspiel
from tacit.games.holdem import Holdem
from tacit.games.liars_dice import LiarsDice
from tacit.games.small_poker import SmallPoker
from tacit.games.tic_tac_toe import TicTacToe

Scene = dict[str, Any]
Seen = Sequence[Sight]
"""All sights of one seat in a hand, in order."""

_CARD = re.compile(r"([2-9TJQKA])([shdc]?)")


class Stage(Protocol):
    """Turns the sights of a seat into a scene.

    Attributes:
      kind: The kind of drawing that the browser uses.
    """

    kind: str

    def scene(self, seat: int, seen: Seen) -> Scene:
        """Returns what a seat sees now; the drawing in the browser decides the keys."""
        ...

    def held(self, seat: int, seen: Seen) -> Any:
        """Returns what a seat held in secret, from its own sights, or None for nothing."""
        ...


def cards_of(words: Sequence[str]) -> list[str]:
    """Returns the cards named in words, like `Kh`, or just `K` if the deck has no suits."""
    return ["".join(found) for word in words for found in _CARD.findall(word)]


def moves_of(seen: Seen) -> list[tuple[int, int]]:
    """Returns a seat's own moves, each with the index of the sight that it answered."""
    return [(number, sight.action) for number, sight in enumerate(seen[1:]) if sight.action is not None]


class PokerStage:
    """Cards and chips, for every game that gives `Game.chips`."""

    kind = "poker"

    def __init__(self, game: AnyGame) -> None:
        self._game = game
        self._hand = 2 if isinstance(game, Holdem) else game.hand_size if isinstance(game, SmallPoker) else 1
        streets = game.num_streets if isinstance(game, SmallPoker) else 1
        self._slots = 5 if isinstance(game, Holdem) else streets - 1
        self._unit = game.rules.big_blind if isinstance(game, Holdem) else game.ante if isinstance(game, SmallPoker) else 1

    def scene(self, seat: int, seen: Seen) -> Scene:
        chips, spent = self._chips(seen)
        board = [card for number, sight in enumerate(seen) for card in cards_of(sight.told[1:] if number else sight.told)]
        is_over = seen[-1].actor == TERMINAL
        return {
            "cards": self.held(seat, seen), "its_cards": self._hand, "board": board, "slots": max(self._slots, len(board)),
            "pot": sum(spent) if is_over else sum(chips.before), "unit": self._unit,
            "bets": [0, 0] if is_over else _own_first(seat, chips.bets),
            "stacks": None if chips.stack is None else [chips.stack - part for part in _own_first(seat, spent)],
            "street": self._street(chips, len(board)), "button": self._button(seat),
        }  # fmt: skip

    def held(self, seat: int, seen: Seen) -> list[str]:
        del seat
        return cards_of([word for sight in seen for word in sight.private])

    def _chips(self, seen: Seen) -> tuple[Chips, tuple[int, int]]:
        """Returns the chips at the last decision, and what each player has put in by now."""
        chips = next(sight.chips for sight in reversed(seen) if sight.chips is not None)
        spent = list(chips.spent)
        if seen[-1].actor == TERMINAL and seen[-1].told[0].startswith("call"):
            spent[chips.actor] = spent[1 - chips.actor]
        return chips, (spent[0], spent[1])

    def _street(self, chips: Chips, num_cards: int) -> str:
        if not isinstance(self._game, Holdem):
            return f"Round {chips.street + 1}" if self._slots else ""
        return {0: "Pre-flop", 3: "Flop", 4: "Turn", 5: "River"}.get(num_cards, STREETS[chips.street])

    def _button(self, seat: int) -> str | None:
        """Returns who has the button: player 1 in hold'em, nobody elsewhere."""
        if not isinstance(self._game, Holdem):
            return None
        return "you" if seat == 1 else "it"


class DiceStage:
    """Dice under a cup, and rising bids."""

    kind = "dice"

    def __init__(self, game: LiarsDice) -> None:
        self._game = game

    def scene(self, seat: int, seen: Seen) -> Scene:
        bids, liar = [], None
        for before, sight in pairwise(seen):
            who = "you" if before.actor == seat else "it"
            if sight.public[0] == "liar":
                liar = who
            else:
                quantity, face = sight.public[0].split("x")
                bids.append({"who": who, "quantity": int(quantity), "face": int(face)})
        return {
            "dice": self.held(seat, seen), "its_dice": self._game.dice, "faces": self._game.faces,
            "total": 2 * self._game.dice, "bids": bids, "liar": liar,
        }  # fmt: skip

    def held(self, seat: int, seen: Seen) -> list[int]:
        del seat
        return [int(face) for sight in seen for word in sight.private for face in word]


class BidStage:
    """Goofspiel: a player's own cards, the prizes, and who won each prize."""

    kind = "bids"

    def __init__(self, game: Goofspiel) -> None:
        self._game = game

    def scene(self, seat: int, seen: Seen) -> Scene:
        won = [
            "tie" if word == "tie" else "you" if (word == "first wins") == (seat == 0) else "it"
            for sight in seen
            for told in sight.public
            for word in re.findall(r"first wins|second wins|tie", told)
        ]
        return {
            "cards": list(range(1, self._game.cards + 1)), "prizes": list(range(self._game.cards, 0, -1)),
            "played": self.held(seat, seen), "won": won,
        }  # fmt: skip

    def held(self, seat: int, seen: Seen) -> list[int]:
        del seat
        played = [action + 1 for _, action in moves_of(seen)]
        if seen[-1].actor == TERMINAL:  # the last card is forced
            played += [card for card in range(1, self._game.cards + 1) if card not in played]
        return played


class BoardStage:
    """Tic-tac-toe and connect four: a grid of cells."""

    kind = "board"

    def __init__(self, game: TicTacToe | ConnectFour) -> None:
        self._game = game
        self._drops = isinstance(game, ConnectFour)
        self._rows, self._columns = (game.rows, game.columns) if isinstance(game, ConnectFour) else (3, 3)
        names = range(self._columns if self._drops else self._rows * self._columns)
        self._actions = {game.action_name(action): action for action in names}

    def scene(self, seat: int, seen: Seen) -> Scene:
        cells: list[str | None] = [None] * (self._rows * self._columns)
        last = None
        for before, sight in pairwise(seen):
            last = self._cell(cells, self._actions[sight.public[0]])
            cells[last] = "you" if before.actor == seat else "it"
        return {
            "rows": self._rows, "columns": self._columns, "cells": cells, "last": last, "drops": self._drops,
            "first": seat == 0, "line": self._line(cells),
        }  # fmt: skip

    def held(self, seat: int, seen: Seen) -> None:
        del seat, seen

    def _cell(self, cells: list[str | None], action: int) -> int:
        """Returns the cell that an action fills; cells are numbered row by row from the top."""
        if not self._drops:
            return action
        return next(c for c in range(len(cells) - self._columns + action, -1, -self._columns) if cells[c] is None)

    def _line(self, cells: list[str | None]) -> list[int]:
        """Returns the cells of a winning line, or none."""
        length = 4 if self._drops else 3
        for cell, owner in enumerate(cells):
            row, column = divmod(cell, self._columns)
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                places = [(row + step * down, column + step * right) for step in range(length)]
                inside = all(0 <= r < self._rows and 0 <= c < self._columns for r, c in places)
                line = [r * self._columns + c for r, c in places] if owner and inside else []
                if line and all(cells[place] == owner for place in line):
                    return line
        return []


class TextStage:
    """Any other game, by its observations and drawing in words."""

    kind = "text"

    def __init__(self, game: AnyGame) -> None:
        self._names_infostates = isinstance(game, InfostateGame)

    def scene(self, seat: int, seen: Seen) -> Scene:
        return {
            "drawing": seen[-1].drawing, "known": self.held(seat, seen),
            "public": [word for sight in seen for word in sight.told if word],
        }  # fmt: skip

    def held(self, seat: int, seen: Seen) -> str:
        del seat
        private = [sight.private for sight in seen if any(sight.private)]
        words = private[-1:] if self._names_infostates else private
        return "\n".join(word for part in words for word in part if word)


def make_stage(game: AnyGame) -> Stage:
    """Returns the stage that suits a game."""
    if game.tree_layout == "hands" or isinstance(game, SmallPoker):
        return PokerStage(game)
    makers: tuple[tuple[Any, Callable[[Any], Stage]], ...] = (
        (LiarsDice, DiceStage), (Goofspiel, BidStage), ((TicTacToe, ConnectFour), BoardStage),
    )  # fmt: skip
    return next((maker(game) for kind, maker in makers if isinstance(game, kind)), TextStage(game))


def narrate(seat: int, seen: Seen) -> list[dict[str, str]]:
    """Returns the events so far in words, from a seat's point of view: `who` is you, it or deal."""
    lines: list[dict[str, str]] = []
    if seen and any(seen[0].told):
        lines.append({"who": "deal", "text": " ".join(seen[0].told)})
    for before, sight in pairwise(seen):
        told = [word for word in sight.told if word]
        if before.actor == seat and sight.action is not None:
            own = before.chips.name(sight.action) if before.chips else _name(before, sight.action)
            lines.append({"who": "you", "text": own})
            told = told[1:] if told and told[0] == own else told
        elif before.chips is not None or (told and before.actor != seat):
            lines.append({"who": "it", "text": told[0]})
            told = told[1:]
        else:
            lines.append({"who": "it", "text": "moves"})
        if told:
            lines.append({"who": "deal", "text": " ".join(told)})
    return lines


def _name(sight: Sight, action: int) -> str:
    return dict(zip(sight.legal_actions, sight.action_names, strict=True)).get(action, str(action))


def _own_first(seat: int, pair: tuple[int, int]) -> list[int]:
    return [pair[seat], pair[1 - seat]]
