"""A seat in a hand that another program deals: the agent in it gets the sights it would get at a table of ours.

Opponents may raise to any number of chips, including amounts not on the game's menu. The seat follows the real betting: the
agent's sights and legal actions always follow from the rules and the hand as it is being played. (An agent that knows only the
menu would have to translate what it sees; the bots need not.)
"""

from __future__ import annotations

from collections.abc import Sequence

from tacit.agents.base import Agent, Sight
from tacit.arena.hands import check_cards
from tacit.errors import TacitError
from tacit.games.base import CHANCE
from tacit.games.holdem import Holdem, HoldemState
from tacit.tree.strategy import distinct_names

_UNKNOWN = -1
"""Stands for each card of the other player."""


class Seat:
    """An agent in hands that another program deals."""

    _state: HoldemState

    def __init__(self, game: Holdem, agent: Agent) -> None:
        self._game, self._agent = game, agent
        self._player = 0
        self._hand: tuple[int, ...] = ()
        self._actions: tuple[int, ...] = ()
        self._started = False

    def start(self, player: int, hand: Sequence[int]) -> None:
        """Takes a seat for a new hand with two private cards."""
        self._player, self._hand, self._actions, self._started = player, tuple(hand), (), False
        self._agent.start(player)

    def follow(self, actions: Sequence[int], board: Sequence[int]) -> None:
        """Shows the agent what is new.

        Args:
          actions: all actions of the hand so far. If they do not continue the last ones, the hand is shown from its start.
          board: the public cards dealt so far.

        Raises:
          TacitError: an action is not allowed, a card is missing, or a card appears twice.
        """
        check_cards((*self._hand, *board))
        if tuple(actions[: len(self._actions)]) != self._actions:
            self.start(self._player, self._hand)
        try:
            if not self._started:
                unknown = (_UNKNOWN, _UNKNOWN)
                self._arrive((*self._hand, *unknown) if self._player == 0 else (*unknown, *self._hand), board, None)
            for action in actions[len(self._actions) :]:
                own = action if self._game.actor(self._state) == self._player else None
                self._state = self._game.apply(self._state, action)
                self._actions = (*self._actions, action)
                self._arrive((), board, own)
        except TacitError:
            self.start(self._player, self._hand)  # the agent forgets what it saw of an impossible hand
            raise

    def act(self) -> int:
        """Returns the agent's action.

        Raises:
          TacitError: the rules do not allow it.
        """
        action = self._agent.act()
        self._game.rules.apply(self._state.betting, action)
        return action

    def _arrive(self, hands: tuple[int, ...], board: Sequence[int], own_action: int | None) -> None:
        """Deals the cards that are due, and shows the agent the resulting state."""
        game, public, private = self._game, [], []
        if not self._started:
            self._state, self._started = game.initial_state(), True
        waiting = [*hands, *board[len(self._state.board) :]]
        while True:
            public.append(game.public_observation(self._state))
            private.append(game.private_observation(self._state, self._player))
            if (actor := game.actor(self._state)) != CHANCE:
                break
            if not waiting:
                raise TacitError(f"the board has {len(board)} cards where the betting needs more")
            self._state = game.apply(self._state, waiting.pop(0))
        legal = tuple(game.legal_actions(self._state)) if actor == self._player else ()
        names = distinct_names([game.action_name_at(self._state, action) for action in legal], legal)
        seen = tuple(filter(None, public)), tuple(filter(None, private))
        self._agent.observe(Sight(actor, own_action, *seen, legal, tuple(names)))
