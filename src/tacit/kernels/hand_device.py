"""The choice of passes for hold'em searches, by device and by tree."""

from __future__ import annotations

from collections import OrderedDict

import torch

from tacit.cards.board_tensors import FULL_BOARD, BoardTensors
from tacit.kernels import check_backend, make_passes
from tacit.kernels.base import AnyTreePasses
from tacit.kernels.board_passes import BoardPasses
from tacit.kernels.numba_hands import HandPasses
from tacit.tree.hand_tree import HandTree

KEPT_BOARDS = 16
"""How many boards' margins and features are cached, some 12 MB each."""


class HandDevice:
    """Makes passes over hold'em trees, and caches the tensors of the latest boards.

    A tree of one board is searched by planes (`BoardPasses`), except a full board on the CPU: with hands in order of strength
    its showdowns are sums instead of matrix products, which is fifteen times as fast (docs/LOG.md).

    Args:
      device: `cpu` or `cuda`.
      stack: each player's chips at the start of a hand.

    Raises:
      TacitError: the device is not available.
    """

    def __init__(self, device: str, stack: int) -> None:
        if device != "cpu":
            check_backend("torch", device)
        self.device, self._stack = device, stack
        self._boards: OrderedDict[tuple[int, ...], BoardTensors] = OrderedDict()

    def passes(self, tree: HandTree, keep: bool = False) -> AnyTreePasses:
        """Returns passes over a tree; `keep` makes all nodes' values available after an upward pass (see `HandPasses`)."""
        board, on_cpu = tree.blocks.board[0], self.device == "cpu"
        if len(tree.blocks.board) > 1 or (on_cpu and len(board) == FULL_BOARD):
            return HandPasses(tree, keep=keep) if on_cpu else make_passes(tree, "torch", self.device)
        return BoardPasses(tree, self._tensors(board), self._stack)

    def _tensors(self, board: tuple[int, ...]) -> BoardTensors:
        if board not in self._boards:
            cards = torch.tensor(board, dtype=torch.int64, device=self.device)
            self._boards[board] = BoardTensors(cards.view(1, -1))
            if len(self._boards) > KEPT_BOARDS:
                self._boards.popitem(last=False)
        self._boards.move_to_end(board)
        return self._boards[board]
