"""Connect four for many positions at once: each player's discs are the bits of an integer (`games/connect_four.py`)."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tacit.games.base import TERMINAL
from tacit.games.boards import Positions


class ConnectFourBoards:
    """The rules of connect four on arrays; see `Boards`. A position is both players' discs.

    Args:
      rows: The rows of the board.
      columns: The columns of the board. Each takes `rows + 1` bits, and all must fit into 63 bits.
    """

    num_words = 2

    def __init__(self, rows: int, columns: int) -> None:
        self.rows, self.num_actions = rows, columns
        self.plane_shape = (2, rows, columns)
        self._shift = np.arange(columns, dtype=np.int64) * (rows + 1)
        self._top = np.int64(1) << (self._shift + rows - 1)
        self._places = [[column * (rows + 1) + row for column in range(columns)] for row in reversed(range(rows))]
        self._full = sum(1 << place for line in self._places for place in line)

    def start(self, count: int) -> Positions:
        return np.zeros((count, 2), np.int64)

    def legal(self, positions: Positions) -> NDArray[np.bool_]:
        taken = positions[:, :1] | positions[:, 1:]
        free: NDArray[np.bool_] = (taken & self._top) == 0
        return free

    def apply(self, positions: Positions, actions: NDArray[np.int64]) -> Positions:
        taken, shift = positions[:, 0] | positions[:, 1], self._shift[actions]
        disc = (taken + (np.int64(1) << shift)) & ~taken & (np.int64((1 << self.rows) - 1) << shift)
        second = np.bitwise_count(taken) % 2 == 1
        return np.stack([positions[:, 0] | np.where(second, 0, disc), positions[:, 1] | np.where(second, disc, 0)], axis=1)

    def outcomes(self, positions: Positions) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
        first, second = (self._has_line(positions[:, player]) for player in (0, 1))
        taken = positions[:, 0] | positions[:, 1]
        over = first | second | (taken == self._full)
        actor = np.where(over, np.int8(TERMINAL), (np.bitwise_count(taken) % 2).astype(np.int8))
        return actor, first.astype(np.float32) - second.astype(np.float32)

    def planes(self, positions: Tensor) -> Tensor:
        bits = torch.tensor(self._places, device=positions.device)
        discs = (positions[:, :, None, None] >> bits) & 1
        second = (discs.sum((1, 2, 3)) % 2 == 1)[:, None, None, None]
        return torch.where(second, discs.flip(1), discs).float()

    def _has_line(self, discs: NDArray[np.int64]) -> NDArray[np.bool_]:
        has_line = np.zeros(len(discs), bool)
        for step in (1, self.rows, self.rows + 1, self.rows + 2):  # up, and to the right: down, level, up
            pairs = discs & (discs >> step)
            has_line |= (pairs & (pairs >> 2 * step)) != 0
        return has_line
