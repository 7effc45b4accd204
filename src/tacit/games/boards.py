"""Board games, without chance or hidden information, for many positions at once.

A position is a row of integers. A network sees it as *planes*: pictures of the board from the view of the player to act. A
game that gives `planes` can be searched and learnt as a board; it is fast if it also has rules for whole arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.errors import TacitError
from tacit.games.base import CHANCE, TERMINAL, Game

if TYPE_CHECKING:  # `is_board` is called before torch is loaded
    from torch import Tensor

Positions = NDArray[np.int64]
Planes = Sequence[Sequence[Sequence[float]]]

MOST_KNOWN = 200_000
"""The number of states that `RuleBoards` remembers. It plays forgotten ones again from the start."""
_MOVES_IN_WORD = 7
"""The number of moves in one integer, a byte each; the sign bit stays free."""


class Boards(Protocol):
    """The rules of a board game for arrays of positions.

    Attributes:
      num_actions: `A`; actions are `0 .. A - 1`.
      num_words: `W`, the number of integers of a position.
      plane_shape: The number of planes, rows and columns that a network sees.
    """

    num_actions: int
    num_words: int
    plane_shape: tuple[int, int, int]

    def start(self, count: int) -> Positions:
        """Returns `[n, W]`, the starting positions of `count` games."""
        ...

    def legal(self, positions: Positions) -> NDArray[np.bool_]:
        """Returns `[n, A]`, True for the legal actions; rows of finished games are undefined."""
        ...

    def apply(self, positions: Positions, actions: NDArray[np.int64]) -> Positions:
        """Returns `[n, W]` the positions after legal actions `[n]`."""
        ...

    def outcomes(self, positions: Positions) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
        """Returns `[n]` the actors, `TERMINAL` where the game is over, and `[n]` player 0's payoffs there, 0 elsewhere."""
        ...

    def planes(self, positions: Tensor) -> Tensor:
        """Returns `[n, planes, rows, columns]` float32, a network's input, on the device of the positions `[n, W]`."""
        ...


class RuleBoards:
    """Implements `Boards` with the rules of any game that gives planes. A position is the number of moves and the moves.

    Args:
      game: The rules.

    Raises:
      TacitError: the game has more actions than fit in a byte.
    """

    def __init__(self, game: Game[Any]) -> None:
        self._game = game
        self.num_actions, longest = game.board_bounds()
        if self.num_actions > 256:
            raise TacitError(f"{game} has {self.num_actions} actions: without array rules a board may have at most 256")
        self.num_words = 1 + -(-longest // _MOVES_IN_WORD)
        planes = np.array(game.planes(game.initial_state()), np.float32)
        self.plane_shape = (planes.shape[0], planes.shape[1], planes.shape[2])
        self._known: dict[bytes, Any] = {self.start(1).tobytes(): game.initial_state()}

    def start(self, count: int) -> Positions:
        return np.zeros((count, self.num_words), np.int64)

    def legal(self, positions: Positions) -> NDArray[np.bool_]:
        legal = np.zeros((len(positions), self.num_actions), bool)
        for row, state in enumerate(self._states(positions)):
            legal[row, list(self._game.legal_actions(state))] = True
        return legal

    def apply(self, positions: Positions, actions: NDArray[np.int64]) -> Positions:
        after, rows = positions.copy(), np.arange(len(positions))
        word, place = np.divmod(positions[:, 0], _MOVES_IN_WORD)
        after[rows, 1 + word] |= actions << 8 * place
        after[:, 0] += 1
        states = self._states(positions)
        if len(self._known) > MOST_KNOWN:
            self._known.clear()
        for state, action, new in zip(states, actions.tolist(), after, strict=True):
            key = new.tobytes()
            if key not in self._known:
                self._known[key] = self._game.apply(state, action)
        return after

    def outcomes(self, positions: Positions) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
        states = self._states(positions)
        actors = [self._game.actor(state) for state in states]
        ends = zip(actors, states, strict=True)
        payoffs = [self._game.returns(state)[0] if actor == TERMINAL else 0.0 for actor, state in ends]
        if CHANCE in actors:
            raise TacitError(f"{self._game} has chance moves: it cannot be played as a board")
        if any(abs(payoff) > 1.0 for payoff in payoffs):
            raise TacitError(f"{self._game} pays more than 1: boards are learnt with payoffs from -1 to 1")
        return np.array(actors, np.int8), np.array(payoffs, np.float32)

    def planes(self, positions: Tensor) -> Tensor:
        seen = [self._game.planes(state) for state in self._states(positions.cpu().numpy())]
        import torch

        return torch.tensor(seen, dtype=torch.float32, device=positions.device).view(-1, *self.plane_shape)

    def _states(self, positions: Positions) -> list[Any]:
        return [self._state(position) for position in positions]

    def _state(self, position: Positions) -> Any:
        """Returns the state of a position `[W]`, playing its moves if the state is not remembered."""
        key = position.tobytes()
        if key not in self._known:
            state = self._game.initial_state()
            for number in range(int(position[0])):
                word, place = divmod(number, _MOVES_IN_WORD)
                state = self._game.apply(state, int(position[1 + word]) >> 8 * place & 255)
            self._known[key] = state
        return self._known[key]


def is_board(game: Game[Any]) -> bool:
    """Returns whether a game gives planes."""
    return type(game).planes is not Game.planes


def make_boards(game: Game[Any]) -> Boards:
    """Returns a game's rules for many positions: its own array rules if it has any, else its rules state by state.

    Raises:
      TacitError: the game gives no planes.
    """
    if not is_board(game):
        raise TacitError(f"{game} gives no planes(): it cannot be played as a board")
    return game.boards() or RuleBoards(game)


def position_after(boards: Boards, moves: Sequence[int]) -> Positions:
    """Returns `[1, W]`, the position after some moves."""
    position = boards.start(1)
    for move in moves:
        position = boards.apply(position, np.array([move]))
    return position
