"""A dealer of the computer poker competition's protocol (`tacit.arena.acpc`): two programs connect and play a match.

It behaves like the competition's dealer. The players change seats after every hand, and every hand starts with full stacks.
Both players get the state after every action, and see the other's cards only at a showdown. An action that is not allowed is
replaced (`accept_action`); answers to another state and unreadable lines are ignored. A player that is silent for too long or
disconnects ends the match, and the unfinished hand does not count.

Where we differ: both players connect to one port, and the first to do so is player 1. Cards are our own: those of hand i
depend only on the seed and on i, so a second match with the same seed and the players in the other order is a duplicate match.
"""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tacit.arena.acpc import (
    MAX_WARNINGS,
    VERSION,
    MatchState,
    accept_action,
    is_comment,
    num_board_cards,
    read_state,
    write_cards,
    write_state,
)
from tacit.arena.hands import HandRecord
from tacit.arena.lines import Lines, LostError, SilentError
from tacit.arena.notation import AcpcWords, write_line
from tacit.cards.deck import NUM_CARDS
from tacit.errors import TacitError
from tacit.games.base import CHANCE, TERMINAL
from tacit.games.betting import FOLDED
from tacit.games.holdem import Holdem, HoldemState

_VERSION = re.compile(r"VERSION:2\.0\.\d+")
VERSION_SECONDS = 10.0
"""The time limit for a connected program to send its version."""


@dataclass
class Player:
    """A program in a match.

    Attributes:
      name: its name in results.
      lines: the connection to it.
      warnings: the number of mistakes it has made.
    """

    name: str
    lines: Lines
    warnings: int = 0


@dataclass(frozen=True)
class DealtHand:
    """A hand of a match.

    Attributes:
      seats: the indices of the programs at position 0 and position 1.
      record: cards and actions.
      payoffs: the winnings of each program, in the order of programs.
      text: the hand as in the competition's logs: `STATE:number:betting:cards:payoffs:names`, ordered by position.
    """

    seats: tuple[int, int]
    record: HandRecord
    payoffs: tuple[int, int]
    text: str


def listen(host: str, port: int) -> socket.socket:
    """Returns a socket to which programs can connect; port 0 picks a free one.

    Raises:
      TacitError: the port is taken, or the host is not an address of this machine.
    """
    try:
        return socket.create_server((host, port))
    except (OSError, OverflowError) as error:
        raise TacitError(f"cannot listen at {host}:{port}: {getattr(error, 'strerror', None) or error}") from None


def await_players(server: socket.socket, names: Sequence[str], seconds: float, say: Callable[[str], None]) -> list[Player]:
    """Returns the connected programs, in the order of connection. One that does not speak the protocol is disconnected.

    Args:
      server: the socket to which they connect.
      names: the names to give them.
      seconds: how long to wait for all of them.
      say: called with a line about each connection.

    Raises:
      TacitError: too few connected in time.
    """
    deadline, players = time.monotonic() + seconds, list[Player]()
    while len(players) < len(names):
        left = deadline - time.monotonic()
        try:
            if left <= 0:
                raise TimeoutError
            server.settimeout(left)
            connection, address = server.accept()
        except TimeoutError:
            for player in players:
                player.lines.close()
            raise TacitError(f"only {len(players)} of {len(names)} players connected within {seconds:g} s") from None
        lines = Lines(connection, names[len(players)])
        try:
            while is_comment(version := lines.receive(min(max(left, 0.1), VERSION_SECONDS))):
                pass
            if _VERSION.fullmatch(version.strip()) is None:
                lines.send(f"# this dealer speaks {VERSION}", VERSION_SECONDS)
                raise LostError(f"said {version[:50]!r} instead of {VERSION}")
        except LostError as error:
            say(f"sent {address[0]}:{address[1]} away: {error}")
            lines.close(linger=0.0)
            continue
        say(f"{names[len(players)]} connected from {address[0]}:{address[1]}")
        players.append(Player(names[len(players)], lines))
    return players


class Dealer:
    """A match in progress."""

    def __init__(self, game: Holdem, players: Sequence[Player], seed: int, seconds: float, say: Callable[[str], None]) -> None:
        """Makes a dealer.

        Args:
          game: the game, from the blinds on.
          players: the two programs.
          seed: the seed of the cards.
          seconds: the time limit for an action.
          say: called with a line about each mistake of a player.
        """
        self._game, self._players, self._seed, self._seconds, self._say = game, players, seed, seconds, say

    def deal(self, number: int) -> DealtHand:
        """Returns a hand after the players have played it.

        Raises:
          LostError: one of them disconnected or was silent for too long.
        """
        try:
            return self._deal(number)
        except LostError as error:
            raise LostError(f"{error} in hand {number}") from None

    def _deal(self, number: int) -> DealtHand:
        game = self._game
        cards = np.random.default_rng([self._seed, number]).permutation(NUM_CARDS)[:9].tolist()
        seats = (number % 2, 1 - number % 2)
        state, actions = game.initial_state(), list[int]()
        while True:
            while game.actor(state) == CHANCE:
                state = game.apply(state, cards.pop(0))
            texts = [write_state(game.rules, self._seen(state, number, actions, position)) for position in (0, 1)]
            for position, text in enumerate(texts):
                self._players[seats[position]].lines.send(text, self._seconds)
            if game.actor(state) == TERMINAL:
                break
            actor = state.betting.actor
            actions.append(self._ask(self._players[seats[actor]], texts[actor], state, number))
            state = game.apply(state, actions[-1])
        return self._finished(number, seats, state, tuple(actions))

    def _seen(self, state: HoldemState, number: int, actions: list[int], position: int) -> MatchState:
        """Returns a state as a player may see it."""
        shown = self._game.actor(state) == TERMINAL and state.betting.actor != FOLDED
        first, second = state.hands[:2], state.hands[2:]
        hands = (first if shown or position == 0 else (), second if shown or position == 1 else ())
        return MatchState(position, number, tuple(actions), hands, state.board[: num_board_cards(state.betting)], state.betting)

    def _ask(self, player: Player, text: str, state: HoldemState, number: int) -> int:
        """Returns a player's action at a state."""
        deadline = time.monotonic() + self._seconds
        while True:
            try:
                line = player.lines.receive(max(deadline - time.monotonic(), 0.0))
            except SilentError:
                raise LostError(f"{player.name} gave no answer for {self._seconds:g} s") from None
            if is_comment(line):
                continue
            said, _, word = line.rpartition(":")
            if said == text or self._is_state(said, text):
                action, complaint = accept_action(self._game.rules, state.betting, word.strip())
                if complaint is not None:
                    self._warn(player, number, complaint)
                return action
            self._warn(player, number, f"ignored {line[:100]!r}, which does not answer the state it was sent")

    def _is_state(self, said: str, text: str) -> bool:
        """Returns whether two lines mean the same state, even if they are written differently."""
        try:
            return read_state(self._game.rules, said) == read_state(self._game.rules, text)
        except TacitError:
            return False

    def _warn(self, player: Player, number: int, text: str) -> None:
        player.warnings += 1
        if player.warnings <= MAX_WARNINGS:
            more = " (more from it is not shown)" if player.warnings == MAX_WARNINGS else ""
            self._say(f"{player.name} in hand {number}: {text}{more}")

    def _finished(self, number: int, seats: tuple[int, int], state: HoldemState, actions: tuple[int, ...]) -> DealtHand:
        returns = [int(payoff) for payoff in self._game.returns(state)]  # chips are whole, and no zero is negative
        betting = write_line(self._game.rules, AcpcWords(self._game.rules), actions)
        cards = write_cards((state.hands[:2], state.hands[2:]), state.board)
        payoffs, names = "|".join(map(str, returns)), "|".join(self._players[seat].name for seat in seats)
        text = f"STATE:{number}:{betting}:{cards}:{payoffs}:{names}"
        record = HandRecord(state.hands, state.board, actions)
        return DealtHand(seats, record, (returns[seats.index(0)], returns[seats.index(1)]), text)
