"""The protocol of the Annual Computer Poker Competition, version 2.0.0: states as lines of text, and a client.

A player connects by TCP and sends `VERSION:2.0.0`. The dealer sends both players a line for each state,

    MATCHSTATE:<position>:<hand number>:<betting>:<cards>

and the player to act answers with the same line, a colon and an action. Position 0 is the big blind, 1 the button: our players
0 and 1. Cards are `hand 0|hand 1/flop/turn/river`, with unknown ones left out; the betting is in `AcpcWords`. Lines that start
with `#` or `;` are comments. The match is over when the dealer closes the connection between two hands.
"""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from tacit.agents.base import Agent
from tacit.arena.hands import HandRecord, check_cards, replay
from tacit.arena.lines import EndError, Lines, LostError
from tacit.arena.notation import AcpcWords, read_line, write_line
from tacit.arena.score import Score
from tacit.arena.seat import Seat
from tacit.cards.deck import card_names, parse_cards
from tacit.errors import TacitError
from tacit.games.betting import BOARD_CARDS, CALL, FOLDED, RIVER, SHOWDOWN, Betting, BettingRules
from tacit.games.holdem import Holdem

VERSION = "VERSION:2.0.0"
MAX_WARNINGS = 10
"""The number of warnings shown about one program's mistakes; any more are only counted."""
_STATE = re.compile(r"MATCHSTATE:(?P<position>[01]):(?P<number>\d{1,9}):(?P<betting>[^:]*):(?P<cards>[^:]*)")
_DEALT = (3, 1, 1)
"""How many public cards the flop, the turn and the river have."""


@dataclass(frozen=True)
class MatchState:
    """One line from the dealer, parsed.

    Attributes:
      position: the player it is sent to.
      number: the number of the hand.
      actions: all actions so far, in chips over the whole hand.
      hands: the private cards of both players; empty if they are unknown.
      board: the public cards.
      betting: the state of the betting after the actions.
    """

    position: int
    number: int
    actions: tuple[int, ...]
    hands: tuple[tuple[int, ...], tuple[int, ...]]
    board: tuple[int, ...]
    betting: Betting

    @property
    def over(self) -> bool:
        """Whether the hand has ended."""
        return self.betting.actor in (FOLDED, SHOWDOWN)


def is_comment(line: str) -> bool:
    """Returns whether a line is to be ignored."""
    return not line.strip() or line.startswith(("#", ";"))


def read_state(rules: BettingRules, line: str) -> MatchState:
    """Returns the state in a line from the dealer.

    Raises:
      TacitError: the line cannot be read, or the state is not possible by the rules.
    """
    match = _STATE.fullmatch(line)
    if match is None:
        raise TacitError(f"{line[:100]!r} is not MATCHSTATE:position:hand:betting:cards")
    actions, betting, _ = read_line(rules, AcpcWords(rules), match["betting"])
    private, *public = match["cards"].split("/")
    first, bar, second = private.partition("|")
    hands = parse_cards(first), parse_cards(second)
    streets = [parse_cards(street) for street in public]
    board = tuple(card for street in streets for card in street)
    check_cards((*hands[0], *hands[1], *board))
    if not bar or any(len(hand) not in (0, 2) for hand in hands):
        raise TacitError(f"{private!r} is not two hands of two cards, like AsKd|")
    if tuple(map(len, streets)) != _DEALT[: len(streets)] or len(board) != num_board_cards(betting):
        raise TacitError(f"the board of {match['cards']!r} does not fit the betting {match['betting']!r}")
    return MatchState(int(match["position"]), int(match["number"]), actions, hands, board, betting)


def write_state(rules: BettingRules, state: MatchState) -> str:
    """Returns a state as a line, without the line end."""
    betting = write_line(rules, AcpcWords(rules), state.actions)
    return f"MATCHSTATE:{state.position}:{state.number}:{betting}:{write_cards(state.hands, state.board)}"


def write_cards(hands: tuple[tuple[int, ...], tuple[int, ...]], board: tuple[int, ...]) -> str:
    """Returns cards as `AsKd|/3s7hTd/Ks`."""
    streets = [board[start:end] for start, end in pairwise(BOARD_CARDS) if end <= len(board)]
    return "|".join(map(card_names, hands)) + "".join(f"/{card_names(street)}" for street in streets)


def num_board_cards(betting: Betting) -> int:
    """Returns how many public cards the board has at this point of the betting."""
    return BOARD_CARDS[RIVER if betting.actor == SHOWDOWN else betting.street]


def accept_action(rules: BettingRules, betting: Betting, word: str) -> tuple[int, str | None]:
    """Returns the action of a word, corrected as the competition's dealer would if it is not allowed; and what was wrong.

    A raise that is too small or too large becomes the nearest allowed one. Everything else that cannot be read or is not
    allowed (a fold without a bet to call, a raise when no more are allowed) becomes a call.
    """
    words = AcpcWords(rules)
    if words.pattern.fullmatch(word) is None:
        return CALL, f"{word[:50]!r} is not an action: taken as a call"
    try:
        action = words.read(betting, 0, word)
    except TacitError as error:
        return CALL, f"{error}: taken as a call"
    limits = rules.all_raises(betting)
    if action > CALL or word.startswith("r"):
        if limits is None:
            return CALL, f"{word} where no raise is allowed: taken as a call"
        nearest = min(max(action, limits[0]), limits[1])
        return nearest, None if nearest == action else f"{word} is out of bounds: taken as r{nearest}"
    if action != CALL and not betting.to_call:
        return CALL, "a fold without a bet to call: taken as a check"
    return action, None


def connect(host: str, port: int, seconds: float) -> Lines:
    """Returns a connection to a dealer, retrying while the dealer is still starting.

    Raises:
      TacitError: nothing answers there within that time.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            return Lines(socket.create_connection((host, port), timeout=max(deadline - time.monotonic(), 0.1)), "the dealer")
        except (OSError, OverflowError) as error:
            if time.monotonic() >= deadline or not isinstance(error, ConnectionRefusedError):
                raise TacitError(f"no dealer at {host}:{port}: {getattr(error, 'strerror', None) or error}") from None
            time.sleep(0.1)


class Client:
    """An agent in a match run by a dealer.

    Attributes:
      score: the score over all finished hands whose winner is known.
    """

    def __init__(self, game: Holdem, agent: Agent, say: Callable[[str], None]) -> None:
        """Makes a client.

        Args:
          game: the game that the dealer deals.
          agent: the player.
          say: called with a line about each mistake of the dealer.
        """
        self.score = Score(game.rules.big_blind)
        self._game, self._seat, self._say = game, Seat(game, agent), say
        self._last: MatchState | None = None
        self._answer: tuple[MatchState, str] | None = None
        self._warnings = 0

    def play(self, dealer: Lines, seconds: float, on_hand: Callable[[], None] = lambda: None) -> None:
        """Plays until the dealer closes the connection after a hand.

        Args:
          dealer: the connection.
          seconds: how long to wait for a line.
          on_hand: called after each hand.

        Raises:
          LostError: the dealer closes the connection in the middle of a hand, or is silent for too long.
        """
        dealer.send(VERSION, seconds)
        while True:
            try:
                line = dealer.receive(seconds)
            except EndError:
                if self._last is not None and self._last.over:
                    return
                where = "before the first hand" if self._last is None else f"in the middle of hand {self._last.number}"
                raise LostError(f"{dealer.peer} closed the connection {where}") from None
            if is_comment(line):
                continue
            hands = self.score.hands
            try:
                answer = self.answer(line)
            except TacitError as error:
                self._warn(f"ignored what {dealer.peer} sent: {error}")
                continue
            if answer is not None:
                dealer.send(answer, seconds)
            if self.score.hands > hands:
                on_hand()

    def answer(self, line: str) -> str | None:
        """Returns the answer to a line from the dealer, or None if it is not the agent's turn.

        Raises:
          TacitError: the line cannot be read.
        """
        state, rules = read_state(self._game.rules, line), self._game.rules
        hand = state.hands[state.position]
        if not hand:
            raise TacitError("the agent's own cards are missing")
        last = self._last
        if last is None or (last.number, last.position, last.hands[last.position]) != (state.number, state.position, hand):
            self._seat.start(state.position, hand)
        self._seat.follow(state.actions, state.board)
        repeated = last == state
        self._last = state
        if state.over:
            if not repeated:
                self._count(state)
            return None
        if state.betting.actor != state.position:
            return None
        if self._answer is None or self._answer[0] != state:  # the same question gets the same answer
            word = AcpcWords(rules).write(state.betting, 0, self._seat.act())
            self._answer = state, f"{line}:{word}"
        return self._answer[1]

    def _count(self, state: MatchState) -> None:
        first, second = state.hands
        if state.betting.actor == FOLDED:
            winnings = float(state.betting.spent[state.betting.folder])
            self.score.add(-winnings if state.betting.folder == state.position else winnings)
        elif first and second:
            record = HandRecord((*first, *second), state.board, state.actions)
            self.score.add(self._game.returns(replay(self._game, record))[state.position])

    def _warn(self, text: str) -> None:
        self._warnings += 1
        if self._warnings <= MAX_WARNINGS:
            self._say(text if self._warnings < MAX_WARNINGS else f"{text} (more like it are not shown)")
