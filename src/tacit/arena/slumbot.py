"""A client of Slumbot, the no-limit hold'em program that anybody can play over HTTP (an unofficial interface).

Requests are POSTs of JSON: `/new_hand {token}`, `/act {token, incr}` and `/login {username, password}`. An answer holds
the state: `token` (for all later requests), `action` (the betting so far, in `SlumbotWords`), `client_pos` (0 is the big
blind, 1 the button: our players 0 and 1), `hole_cards`, `board`; once the hand is over, even by a fold, `winnings` and
`bot_hole_cards`; or an `error_msg`. Blinds are 50 and 100, stacks 20,000 at the start of every hand.

Requests are sent one after another, with a pause between them. An action is sent again only if it certainly did not arrive. If
the answer to an action is lost, the hand is abandoned, does not count, and a new one starts. Hands with more actions are lost
more often, so many lost hands would bias the score; they are counted and reported.
"""

from __future__ import annotations

import http.client
import json
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from tacit.agents.base import Agent
from tacit.arena.hands import HandRecord, replay
from tacit.arena.notation import SlumbotWords, betting_states, read_line
from tacit.arena.seat import Seat
from tacit.cards.deck import parse_cards
from tacit.errors import TacitError
from tacit.files import parse_json
from tacit.games.betting import FOLDED, PREFLOP, SHOWDOWN
from tacit.games.holdem import Holdem

RULES = (20_000, 50, 100, PREFLOP)
"""Stack, small blind, big blind and first street of Slumbot's no-limit game."""
MAX_PAUSE = 30.0
"""The longest pause between attempts, in seconds."""
_MAX_REPLY = 1 << 20


class UnsentError(TacitError):
    """A request did not reach the server, so it can be sent again."""


class UnclearError(TacitError):
    """A request may or may not have arrived, or its answer makes no sense: the hand cannot continue."""


class RefusedError(TacitError):
    """The server answered with an `error_msg`."""


class State(NamedTuple):
    """A validated answer of the server.

    Attributes:
      text: the betting as the server wrote it.
      position: the client's position.
      hand: the client's cards.
      board: the public cards.
      winnings: the client's winnings; None while the hand goes on.
      bot_hand: the bot's cards, once the hand is over; empty if the server does not show them.
      baseline: the server's own estimate of the luck of the cards; None if the server does not give it.
    """

    text: str
    position: int
    hand: tuple[int, ...]
    board: tuple[int, ...]
    winnings: int | None
    bot_hand: tuple[int, ...]
    baseline: int | None


@dataclass(frozen=True)
class SlumbotHand:
    """A finished hand.

    Attributes:
      state: the last answer.
      actions: all actions, in chips over the whole hand.
      replayed: the client's winnings by our rules; None if the bot's cards are unknown or the hand cannot be replayed.
    """

    state: State
    actions: tuple[int, ...]
    replayed: int | None


class Connection:
    """Sends requests to a server, with a pause before each, and keeps the token."""

    def __init__(
        self,
        url: str,
        pause: float,
        timeout: float,
        credentials: tuple[str, str] | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Makes a connection; nothing is sent yet.

        Args:
          url: the URL of the interface, without the name of a request.
          pause: seconds between an answer and the next request.
          timeout: seconds to wait for an answer.
          credentials: name and password of an account; None to play without one.
          clock: returns the time in seconds.
          sleep: waits for a number of seconds.

        Raises:
          TacitError: the URL is not a web address.
        """
        if not url.startswith(("http://", "https://")) or len(url.split("//", 1)[1]) < 1:
            raise TacitError(f"{url!r} is not an address: write http://... or https://...")
        self._url, self._pause, self._timeout, self._credentials = url.rstrip("/"), pause, timeout, credentials
        self._clock, self._sleep, self._last = clock, sleep, -float("inf")
        self._token: str | None = None

    def new_hand(self) -> State:
        """Returns the first state of a new hand."""
        if self._token is not None:
            try:
                return _state(self._post("new_hand", {"token": self._token}))
            except RefusedError:  # the token may have expired, or the answer with a new one was lost: start a new session
                self._token = None
        if self._credentials is not None:
            name, password = self._credentials
            try:
                self._post("login", {"username": name, "password": password})
            except RefusedError as error:
                raise TacitError(str(error)) from None  # trying again would not help
        return _state(self._post("new_hand", {} if self._token is None else {"token": self._token}))

    def act(self, word: str) -> State:
        """Returns the state after an action of the client."""
        return _state(self._post("act", {"token": self._token, "incr": word}))

    def wait(self, failures: int) -> None:
        """Waits before another attempt; the more attempts have failed in a row, the longer."""
        self._sleep(min(self._pause * 2.0 ** min(failures, 20), MAX_PAUSE))

    def _post(self, name: str, body: dict[str, Any]) -> dict[str, Any]:
        left = self._last + self._pause - self._clock()
        if left > 0:
            self._sleep(left)
        try:
            reply = self._exchange(name, body)
        finally:
            self._last = self._clock()
        if reply.get("error_msg"):
            raise RefusedError(f"{name} was refused: {str(reply['error_msg'])[:200]}")
        token = reply.get("token")
        if isinstance(token, str) and token:
            self._token = token
        return reply

    def _exchange(self, name: str, body: dict[str, Any]) -> dict[str, Any]:
        """Returns the JSON object in the server's answer."""
        headers = {"Content-Type": "application/json", "User-Agent": "tacit"}
        try:
            request = urllib.request.Request(f"{self._url}/{name}", json.dumps(body).encode(), headers)
            with urllib.request.urlopen(request, timeout=self._timeout) as answer:
                content = answer.read(_MAX_REPLY)
        except urllib.error.HTTPError as error:
            content = error.read(_MAX_REPLY)
            if b"error_msg" not in content:
                raise UnclearError(f"{name}: the server answered {error.code} {error.reason}") from None
        except urllib.error.URLError as error:
            unsent = isinstance(error.reason, (ConnectionRefusedError, socket.gaierror))
            raise (UnsentError if unsent else UnclearError)(f"{self._url}/{name}: {_reason(error.reason)}") from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise UnclearError(f"{name}: {_reason(error)}") from None
        return read_reply(name, content)


def read_reply(name: str, content: bytes) -> dict[str, Any]:
    """Returns the JSON object in the answer to a request.

    Raises:
      UnclearError: there is none.
    """
    try:
        reply = parse_json(content)
    except ValueError:
        reply = None
    if not isinstance(reply, dict):
        raise UnclearError(f"{name}: the answer is not a JSON object")
    return reply


class SlumbotMatch:
    """A match of an agent against the bot.

    Attributes:
      abandoned: the number of abandoned hands.
    """

    def __init__(
        self, game: Holdem, agent: Agent, connection: Connection, say: Callable[[str], None], retries: int = 8
    ) -> None:
        """Makes a match.

        Args:
          game: no-limit hold'em with the bot's blinds and stacks, and any menu.
          agent: the player.
          connection: the connection to the server.
          say: called with a line about each problem.
          retries: how many attempts in a row may fail.

        Raises:
          TacitError: it is a different game.
        """
        rules = game.rules
        if rules.fixed_raises or (rules.stack, rules.small_blind, rules.big_blind, rules.first_street) != RULES:
            raise TacitError(f"Slumbot plays no_limit_holdem with blinds of 50 and 100 and stacks of 20,000, not {game}")
        self.abandoned = 0
        self._game, self._seat, self._connection, self._say, self._retries = game, Seat(game, agent), connection, say, retries
        self._failures = 0

    def play(self, on_abandoned: Callable[[str], None]) -> SlumbotHand:
        """Returns the next hand that is played to its end.

        Args:
          on_abandoned: called with the reason for each hand abandoned before that.

        Raises:
          TacitError: too many attempts failed in a row.
        """
        while True:
            try:
                hand = self._hand()
            except (UnsentError, UnclearError, RefusedError) as error:
                self._fail(error)
                continue
            except _AbandonedError as error:
                self.abandoned += 1
                on_abandoned(str(error))
                self._fail(TacitError(f"gave up a hand: {error}"))
                continue
            self._failures = 0
            return hand

    def _hand(self) -> SlumbotHand:
        state = self._connection.new_hand()
        self._seat.start(state.position, state.hand)
        dealt, own = (state.position, state.hand), list[int]()
        while True:
            try:
                line = read_line(self._game.rules, SlumbotWords(), state.text)
                if (state.position, state.hand) != dealt:
                    raise TacitError("position or cards have changed")
                actors = [betting.actor for betting, _ in betting_states(self._game.rules, line.actions)]
                if [action for action, actor in zip(line.actions, actors, strict=False) if actor == state.position] != own:
                    raise TacitError(f"the betting {state.text!r} does not contain the actions that were sent")
                self._seat.follow(line.actions, state.board)
            except TacitError as error:
                raise _AbandonedError(str(error)) from None
            over = line.betting.actor in (FOLDED, SHOWDOWN)
            if state.winnings is not None and over:
                return SlumbotHand(state, line.actions, self._replayed(state, line.actions))
            if state.winnings is not None or line.betting.actor != state.position:
                told = "" if state.winnings is not None else "not "
                raise _AbandonedError(f"the server says that the hand is {told}over after {state.text!r}")
            own.append(self._seat.act())
            state = self._act(SlumbotWords().write(line.betting, line.begun, own[-1]), state)

    def _act(self, word: str, before: State) -> State:
        """Returns the state after an action; sends it again only if it did not arrive."""
        while True:
            try:
                return self._connection.act(word)
            except UnsentError as error:
                self._fail(error)
            except (UnclearError, RefusedError) as error:
                raise _AbandonedError(f"{word} after {before.text!r}: {error}") from None

    def _fail(self, error: TacitError) -> None:
        """Waits, longer each time; raises the error once too many attempts have failed."""
        self._failures += 1
        if self._failures > self._retries:
            raise TacitError(f"{error} (attempt {self._failures} in a row)")
        self._say(str(error))
        self._connection.wait(self._failures)

    def _replayed(self, state: State, actions: tuple[int, ...]) -> int | None:
        if len(state.bot_hand) != 2:
            return None
        cards = (*state.hand, *state.bot_hand) if state.position == 0 else (*state.bot_hand, *state.hand)
        try:
            end = replay(self._game, HandRecord(cards, state.board, actions))
        except TacitError as error:
            self._say(f"the hand {state.text!r} cannot be replayed: {error}")
            return None
        payoff = int(self._game.returns(end)[state.position])
        if payoff != state.winnings:
            self._say(f"the server says that {state.text!r} won {state.winnings}; by our rules it is {payoff}")
        return payoff


class _AbandonedError(Exception):
    """A hand cannot be continued."""


def _state(reply: dict[str, Any]) -> State:
    """Returns an answer after validating it.

    Raises:
      UnclearError: something is missing or of the wrong type.
    """
    text, position = reply.get("action", ""), reply.get("client_pos")
    winnings, baseline = reply.get("winnings"), reply.get("baseline_winnings")
    if type(position) is not int or position not in (0, 1):  # 1.0 and true equal 1 as well
        raise UnclearError("an answer without client_pos")
    if not isinstance(text, str) or not (winnings is None or type(winnings) is int):
        raise UnclearError("an answer without action or whole winnings")
    try:
        hand, board, bot_hand = (_cards(reply.get(key) or []) for key in ("hole_cards", "board", "bot_hole_cards"))
    except TacitError as error:
        raise UnclearError(f"an answer with invalid cards: {error}") from None
    if len(hand) != 2:
        raise UnclearError("an answer without two hole_cards")
    return State(text, position, hand, board, winnings, bot_hand, baseline if isinstance(baseline, int) else None)


def _cards(names: Any) -> tuple[int, ...]:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise TacitError("not a list of names")
    return parse_cards("".join(names))


def _reason(error: object) -> str:
    return str(getattr(error, "strerror", None) or error or type(error).__name__)
