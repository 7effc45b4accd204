"""Encodes what the player to act knows as a vector, for each kind of game. NFSP learns from the same vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.errors import TacitError
from tacit.games import AnyGame
from tacit.games.betting import CALL, FOLD, NoLimitBetting
from tacit.games.boards import is_board
from tacit.games.holdem import Holdem
from tacit.games.openspiel import OpenSpielGame
from tacit.nets.infostate_encoding import encode_infostates
from tacit.pettingzoo.hands import betting_shape, encode_hand, max_raises_on_a_street
from tacit.tree.compiler import compile_game
from tacit.tree.navigate import START, Navigator
from tacit.tree.observations import Arrival
from tacit.tree.public_tree import NO_ACTION

Vector = NDArray[np.float32]


class InfostateEncoder(ABC):
    """Follows one game after another and encodes the infostate of the player to act.

    Attributes:
      num_features: `F`, the length of a vector.
      num_actions: `A`; moves are numbered 0 to `A - 1`.
      worst_payoff: The smallest payoff that a player can get.
      bounded: Whether all numbers of a vector are from 0 to 1.
    """

    num_features: int
    num_actions: int
    worst_payoff: float
    bounded: ClassVar[bool] = True

    def __init__(self, game: AnyGame) -> None:
        self.game = game

    def start(self) -> None:  # noqa: B027 (most encoders remember nothing)
        """Starts a new game."""

    def follow(self, mover: int, action: int, arrival: Arrival) -> None:  # noqa: B027
        """Goes on to the next decision.

        Args:
          mover: The player who moved last; `CHANCE` at the first decision.
          action: The last move, in the game's numbering; `NO_ACTION` at the first decision.
          arrival: The decision, and the observations on the way to it.
        """

    @abstractmethod
    def encode(self, arrival: Arrival) -> Vector:
        """Returns `[F]`, what the player to act knows; `arrival` must be the one passed to `follow` last."""

    def legal_moves(self, state: Any) -> dict[int, int]:
        """Returns the legal moves at a decision, each with the game's action."""
        return {action: action for action in self.game.legal_actions(state)}


class TreeEncoder(InfostateEncoder):
    """Encodes games that compile with NFSP's encoding of the infostate, found in the public tree by each player's observations.

    Moves are the actions that occur anywhere in the game, in ascending order.
    """

    def __init__(self, game: AnyGame) -> None:
        super().__init__(game)
        self._tree = compile_game(game)
        self._encodings, self.num_features = encode_infostates(self._tree)
        self._navigator = Navigator(self._tree)
        self._move = {action: move for move, action in enumerate(np.unique(self._tree.entry_action).tolist())}
        self.num_actions = len(self._move)
        met = self._tree.payoff_chance > 0
        self.worst_payoff = -float(np.abs(self._tree.payoff[met] / self._tree.payoff_chance[met]).max(initial=0.0))

    def start(self) -> None:
        self._places = [START, START]

    def follow(self, mover: int, action: int, arrival: Arrival) -> None:
        for player, place in enumerate(self._places):
            own = action if player == mover else NO_ACTION
            self._places[player] = self._navigator.follow_player(
                player, place, own, arrival.actor, arrival.public, arrival.private[player]
            )

    def encode(self, arrival: Arrival) -> Vector:
        infostate = self._tree.rows[arrival.actor].infostate[self._places[arrival.actor].row]
        active = slice(self._encodings.start[infostate], self._encodings.start[infostate + 1])
        vector = np.zeros(self.num_features, np.float32)
        vector[self._encodings.feature[active]] = self._encodings.value[active]
        return vector

    def legal_moves(self, state: Any) -> dict[int, int]:
        return {self._move[action]: action for action in self.game.legal_actions(state)}


class BoardEncoder(InfostateEncoder):
    """Encodes games that give planes as the planes of the position, from the view of the player to act."""

    bounded = False
    worst_payoff = -1.0  # boards pay from -1 to 1

    def __init__(self, game: AnyGame) -> None:
        super().__init__(game)
        self.num_actions, _ = game.board_bounds()
        self.num_features = np.array(game.planes(game.initial_state())).size

    def encode(self, arrival: Arrival) -> Vector:
        return np.array(self.game.planes(arrival.state), np.float32).ravel()


class OpenSpielEncoder(InfostateEncoder):
    """Encodes OpenSpiel games with OpenSpiel's information state tensor and its numbering of actions.

    If the game hides nothing and has no such tensor, it uses the observation tensor, which shows the position.

    Raises:
      TacitError: the game has neither tensor.
    """

    bounded = False

    def __init__(self, game: OpenSpielGame) -> None:
        super().__init__(game)
        rules, facts = game.spiel_game, game.spiel_game.get_type()
        self._tensor = "information_state_tensor"
        if not facts.provides_information_state_tensor:
            if facts.information.name != "PERFECT_INFORMATION" or not facts.provides_observation_tensor:
                raise TacitError(f"{game} gives no information_state_tensor, so its infostates have no encoding")
            self._tensor = "observation_tensor"
        self.num_features, self.num_actions = getattr(rules, f"{self._tensor}_size")(), rules.num_distinct_actions()
        self.worst_payoff = float(min(rules.min_utility(), -rules.max_utility()))

    def encode(self, arrival: Arrival) -> Vector:
        return np.array(getattr(arrival.state, self._tensor)(arrival.actor), np.float32)


class HandEncoder(InfostateEncoder):
    """Encodes hold'em as the cards seen on each street and the betting (`hands.py`).

    Moves are fold, check or call, and the raises of the game's menu from small to large. The amount of the k-th raise depends
    on the state: the menu gives the number of sizes, while chips and pot give the amounts.
    """

    def __init__(self, game: Holdem) -> None:
        super().__init__(game)
        self._rules = game.rules
        self._shape = betting_shape(max_raises_on_a_street(game.rules))
        self.num_actions = 2 + (self._rules.most_raises if isinstance(self._rules, NoLimitBetting) else 1)
        self.worst_payoff = -float(game.rules.stack)
        self.start()
        self.num_features = len(encode_hand((), (), self._betting))

    def start(self) -> None:
        self._betting = np.zeros(self._shape, np.float32)
        self._last: Any = None

    def follow(self, mover: int, action: int, arrival: Arrival) -> None:
        if self._last is not None and action != FOLD:  # a fold ends the game
            before, raised = self._last, int(action > CALL)
            slot = min(before.num_raises, self._shape[2] - 1)
            share = action / self._rules.stack if raised and not self._rules.fixed_raises else 1.0
            self._betting[mover, before.street, slot, raised] = share
        self._last = arrival.state.betting

    def encode(self, arrival: Arrival) -> Vector:
        state, first = arrival.state, 2 * arrival.actor
        return encode_hand(state.hands[first : first + 2], state.board, self._betting)

    def legal_moves(self, state: Any) -> dict[int, int]:
        actions = self.game.legal_actions(state)
        raises = sorted(action for action in actions if action > CALL)
        return {**{action: action for action in actions if action <= CALL}, **dict(enumerate(raises, 2))}


def make_encoder(game: AnyGame) -> InfostateEncoder:
    """Returns the encoder that suits a game.

    Raises:
      TacitError: the game is too large to compile and gives nothing else to encode.
    """
    if isinstance(game, Holdem):
        return HandEncoder(game)
    if isinstance(game, OpenSpielGame):
        return OpenSpielEncoder(game)
    return BoardEncoder(game) if is_board(game) else TreeEncoder(game)
