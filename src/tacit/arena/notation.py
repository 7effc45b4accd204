"""Betting as a line of text: streets joined by `/`, one word per action. Protocols differ only in the words.

A slash marks a deal of board cards: after the last action of a street unless the hand ends there, and for each street
that is skipped because both players are all-in (`r20000c///`). Readers also accept lines without the slashes at the end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from tacit.errors import TacitError
from tacit.games.betting import CALL, DEAL, FOLD, RIVER, SHOWDOWN, Betting, BettingRules


class Words(Protocol):
    """The words of a protocol.

    Attributes:
      pattern: matches any one word.
    """

    pattern: re.Pattern[str]

    def write(self, betting: Betting, begun: int, action: int) -> str:
        """Returns the word for an action; each player had put in `begun` chips when the street began, not counting blinds."""
        ...

    def read(self, betting: Betting, begun: int, word: str) -> int:
        """Returns the action of a word; raises a `TacitError` if it means none."""
        ...


class Line(NamedTuple):
    """A line of betting, parsed.

    Attributes:
      actions: all actions, in chips over the whole hand.
      betting: the state after them, with the next street begun if there is one.
      begun: the chips each player had put in when that street began, not counting blinds.
    """

    actions: tuple[int, ...]
    betting: Betting
    begun: int


@dataclass(frozen=True)
class AcpcWords:
    """The competition's words: `f`, `c`, and `r` with the raiser's chips over the whole hand; in limit games `r` alone."""

    rules: BettingRules
    pattern = re.compile(r"f|c|r\d*")

    def write(self, betting: Betting, begun: int, action: int) -> str:
        del betting, begun
        raised = "r" if self.rules.fixed_raises else f"r{action}"
        return {FOLD: "f", CALL: "c"}.get(action, raised)

    def read(self, betting: Betting, begun: int, word: str) -> int:
        del begun
        if word in ("f", "c"):
            return FOLD if word == "f" else CALL
        limit = self.rules.fixed_raises
        if limit != (word == "r"):
            raise TacitError(f"{word} is not a raise: write {'r alone' if limit else 'r and a number of chips'}")
        if not limit:
            return _chips(word)
        limits = self.rules.all_raises(betting)
        if limits is None:
            raise TacitError("no raise is allowed here")
        return limits[0]


class SlumbotWords:
    """Slumbot's words: `f`, `k` for a check, `c` for a call, and `b` with the player's chips **on this street**."""

    pattern = re.compile(r"f|k|c|b\d+")

    def write(self, betting: Betting, begun: int, action: int) -> str:
        if action == CALL:
            return "c" if betting.to_call else "k"
        return "f" if action == FOLD else f"b{action - begun}"

    def read(self, betting: Betting, begun: int, word: str) -> int:
        if word == "f":
            return FOLD
        if word in ("k", "c"):
            if (word == "c") != bool(betting.to_call):
                raise TacitError("a check where there is a bet" if word == "k" else "a call without a bet")
            return CALL
        chips = _chips(word)
        if not chips:
            raise TacitError("a bet of nothing")
        return begun + chips


def betting_states(rules: BettingRules, actions: Sequence[int]) -> list[tuple[Betting, int]]:
    """Returns the betting before each action and after the last, each with the chips per player when its street began.

    Raises:
      TacitError: an action is not allowed.
    """
    states = [(rules.start(), 0)]
    for action in actions:
        betting = rules.apply(states[-1][0], action)
        states.append((rules.deal(betting), betting.facing) if betting.actor == DEAL else (betting, states[-1][1]))
    return states


def write_line(rules: BettingRules, words: Words, actions: Sequence[int]) -> str:
    """Returns the text of the actions of a hand, from its start.

    Raises:
      TacitError: one of them is not allowed.
    """
    states, text = betting_states(rules, actions), ""
    for action, (betting, begun), (after, _) in zip(actions, states, states[1:], strict=False):
        text += words.write(betting, begun, action) + "/" * (after.street - betting.street)
    last = states[-1][0]
    return text + "/" * (RIVER - last.street if last.actor == SHOWDOWN else 0)


def read_line(rules: BettingRules, words: Words, text: str) -> Line:
    """Returns the actions in a text, and where they lead.

    Raises:
      TacitError: it cannot be read, or an action is not allowed; the message says which.
    """
    betting, begun, place = rules.start(), 0, 0
    actions: list[int] = []
    while place < len(text) and betting.actor >= 0:
        match = words.pattern.match(text, place)
        if match is None:
            raise TacitError(f"cannot read {text[place:]!r} in the betting {text!r}")
        try:
            actions.append(words.read(betting, begun, match[0]))
            betting = rules.apply(betting, actions[-1])
        except TacitError as error:
            raise TacitError(f"in the betting {text!r}: {error}") from None
        place = match.end()
        if betting.actor == DEAL:
            if text[place : place + 1] not in ("", "/"):
                raise TacitError(f"in the betting {text!r}: a / is missing before {text[place:]!r}")
            betting, begun, place = rules.deal(betting), betting.facing, place + 1
    skipped = "/" * (RIVER - betting.street) if betting.actor == SHOWDOWN else ""
    if not skipped.startswith(text[place:]):
        raise TacitError(f"in the betting {text!r}: the hand is over before {text[place:]!r}")
    return Line(tuple(actions), betting, begun)


def _chips(word: str) -> int:
    """Returns the number after the first letter of a word; digits after the ninth are cut, since no stack is that large."""
    return int(word[1:10])
