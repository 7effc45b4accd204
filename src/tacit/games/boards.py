"""Boards: games without chance and hidden information, for many positions at once.

A position is a row of integers. What a network sees of it are *planes*: pictures of the board from the view of the player to
act. A game that gives `planes` can be searched and learnt as a board; one with rules for whole arrays is fast besides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tacit.errors import TacitError
from tacit.games.base import TERMINAL, Game

Positions = NDArray[np.int64]
Planes = Sequence[Sequence[Sequence[float]]]


class Boards(Protocol):
    """The rules of a board game for arrays of positions.

    Attributes:
      num_actions: `A`: actions are `0 .. A - 1`.
      num_words: `W`: the integers of a position.
      plane_shape: planes, rows and columns of what a network sees.
    """

    num_actions: int
    num_words: int
    plane_shape: tuple[int, int, int]

    def start(self, count: int) -> Positions:
        """Returns `[n, W]` so many games at their start."""
        ...

    def legal(self, positions: Positions) -> NDArray[np.bool_]:
        """Returns `[n, A]` the legal actions; of games that are over, anything."""
        ...

    def apply(self, positions: Positions, actions: NDArray[np.int64]) -> Positions:
        """Returns `[n, W]` the positions after legal actions `[n]`."""
        ...

    def outcomes(self, positions: Positions) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
        """Returns `[n]` who acts, `TERMINAL` where the game is over, and `[n]` player 0's payoff there, 0 elsewhere."""
        ...

    def planes(self, positions: Tensor) -> Tensor:
        """Returns `[n, planes, rows, columns]` float32 what a network sees, on the device of the positions `[n, W]`."""
        ...

    def positions(self, states: Sequence[Any]) -> Positions:
        """Returns `[n, W]` states of the game as positions."""
        ...


class RuleBoards:
    """Boards by the rules of any game that gives planes: a position is the number of a state that was met (see `Boards`)."""

    num_words = 1

    def __init__(self, game: Game[Any]) -> None:
        self._game = game
        self._states: list[Any] = []
        self._number: dict[Any, int] = {}
        first = self._planes(self._find(game.initial_state()))
        self.plane_shape = (first.shape[0], first.shape[1], first.shape[2])
        self.num_actions = game.num_actions()

    def start(self, count: int) -> Positions:
        return np.full((count, 1), self._find(self._game.initial_state()), np.int64)

    def legal(self, positions: Positions) -> NDArray[np.bool_]:
        legal = np.zeros((len(positions), self.num_actions), bool)
        for row, state in enumerate(self._at(positions)):
            legal[row, list(self._game.legal_actions(state))] = True
        return legal

    def apply(self, positions: Positions, actions: NDArray[np.int64]) -> Positions:
        moves = zip(self._at(positions), actions.tolist(), strict=True)
        return self.positions([self._game.apply(state, action) for state, action in moves])

    def outcomes(self, positions: Positions) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
        actors = [self._game.actor(state) for state in self._at(positions)]
        states = zip(actors, self._at(positions), strict=True)
        payoffs = [self._game.returns(state)[0] if actor == TERMINAL else 0.0 for actor, state in states]
        return np.array(actors, np.int8), np.array(payoffs, np.float32)

    def planes(self, positions: Tensor) -> Tensor:
        seen = [self._planes(number) for number in positions[:, 0].tolist()]
        return torch.from_numpy(np.stack(seen)).to(positions.device) if seen else torch.zeros(0, *self.plane_shape)

    def positions(self, states: Sequence[Any]) -> Positions:
        return np.array([self._find(state) for state in states], np.int64).reshape(-1, 1)

    def _at(self, positions: Positions) -> list[Any]:
        return [self._states[number] for number in positions[:, 0].tolist()]

    def _find(self, state: Any) -> int:
        number = self._number.setdefault(state, len(self._states))
        if number == len(self._states):
            self._states.append(state)
        return number

    def _planes(self, number: int) -> NDArray[np.float32]:
        return np.array(self._game.planes(self._states[number]), np.float32)


def is_board(game: Game[Any]) -> bool:
    """Returns whether a game shows planes."""
    return type(game).planes is not Game.planes


def make_boards(game: Game[Any]) -> Boards:
    """Returns a game's rules for many positions: its own for arrays if it has them, else by its rules, state by state.

    Raises:
      TacitError: the game shows no planes.
    """
    if not is_board(game):
        raise TacitError(f"{game} gives no planes(): it cannot be played as a board")
    return game.boards() or RuleBoards(game)
