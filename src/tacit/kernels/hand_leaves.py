"""What hands are worth where a depth limit cuts a tree of hold'em, and where both are all-in before the last card.

A leaf evaluator gets many leaves at once: their boards and betting, and what hands both players come there with. It answers
with counterfactual values, as the passes need them. `search/leaves.py` has the same idea for games of few private states.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.cards.run_outs import run_out_margins
from tacit.compiled import compiled
from tacit.games.betting import Betting
from tacit.kernels.card_removal import LANES, VECTOR
from tacit.kernels.simd import load, splat, store
from tacit.tree.hand_tree import LEAF, RUNS_OUT, HandTree

Array = NDArray[Any]


@dataclass(frozen=True)
class HandLeaves:
    """`L` leaves of one street; their lanes are the `H` hands that the board allows, in ascending order.

    Attributes:
      board: the cards that lie at each.
      betting: where it stands at each: the next street waits for its cards.
    """

    board: list[tuple[int, ...]]
    betting: list[Betting]

    def by_board(self) -> dict[tuple[int, ...], list[int]]:
        """Returns which leaves lie on each board."""
        found: dict[tuple[int, ...], list[int]] = {}
        for number, board in enumerate(self.board):
            found.setdefault(board, []).append(number)
        return found


class HandLeafEvaluator(Protocol):
    """Anything that values leaves of hold'em."""

    def evaluate(self, leaves: HandLeaves, player: int, reaches: tuple[Array, Array]) -> Array:
        """Returns `[L, H]` a player's counterfactual values, in units of the chips that either player has put in.

        A sum over the hands that a hand can meet: what it wins against each on the mean, times the opponent's reach of it.

        Args:
          leaves: where they are.
          player: who asks.
          reaches: for both players `[L, H]`, on any scale. The values are linear in the scale of the opponent's; its own
            matter only to an evaluator that asks how both go on.
        """
        ...


class CheckDownLeaves:
    """Nobody bets any more: exact where both are all-in, and a plain guess elsewhere."""

    def evaluate(self, leaves: HandLeaves, player: int, reaches: tuple[Array, Array]) -> Array:
        theirs = reaches[1 - player]
        values = np.empty_like(theirs)
        for board, here in leaves.by_board().items():
            margins = run_out_margins(board, theirs.dtype.name)
            for first in range(0, len(here), LANES):
                part = here[first : first + LANES]
                columns = np.zeros((theirs.shape[1], LANES), theirs.dtype)
                columns[:, : len(part)] = theirs[part].T
                found = np.empty_like(columns)
                _multiply(margins, columns, found)
                values[part] = found.T[: len(part)]
        return values


@compiled()
def _multiply(matrix, columns, found):  # type: ignore[no-untyped-def]
    """Sets `found` to `matrix @ columns` on the calling thread: BLAS wakes all of them, which costs more than the product.

    Args:
      matrix: `[H, H]`, H at least 4.
      columns: `[H, LANES]`.
      found: `[H, LANES]`.
    """
    size = len(matrix)
    zero = splat(columns[0, 0] - columns[0, 0], VECTOR)
    for start in range(0, size, 4):
        row = min(start, size - 4)
        a, b, c, d = zero, zero, zero, zero
        for inner in range(size):
            column = load(columns, inner, VECTOR)
            a = a + splat(matrix[row, inner], VECTOR) * column
            b = b + splat(matrix[row + 1, inner], VECTOR) * column
            c = c + splat(matrix[row + 2, inner], VECTOR) * column
            d = d + splat(matrix[row + 3, inner], VECTOR) * column
        store(found, row, a)
        store(found, row + 1, b)
        store(found, row + 2, c)
        store(found, row + 3, d)


class LeafValues:
    """Writes the values of a tree's leaves where a pass upwards reads them.

    Args:
      tree: the tree.
      value_offset: `[N]` where each node's values lie.
      evaluator: of the leaves; None: they are worth nothing. All-in hands are always run out.
    """

    def __init__(self, tree: HandTree, value_offset: NDArray[np.int64], evaluator: HandLeafEvaluator | None) -> None:
        self._groups = []
        widths = np.diff(tree.blocks.lane_start)[tree.block]
        betting: dict[int, Betting] = dict(zip(np.flatnonzero(tree.kind == LEAF).tolist(), tree.leaf_betting, strict=True))
        answering = {RUNS_OUT: CheckDownLeaves(), **({} if evaluator is None else {LEAF: evaluator})}
        for kind, answers in answering.items():
            for width in np.unique(widths[tree.kind == kind]):  # of the streets of a forest
                nodes, lanes = np.flatnonzero((tree.kind == kind) & (widths == width)), np.arange(width)
                rows = [tree.row_offset[p][tree.reach_row[p][nodes]][:, None] + lanes for p in (0, 1)]
                boards = [tree.blocks.board[block] for block in tree.block[nodes]]
                leaves = HandLeaves(boards, [betting[node] for node in nodes.tolist() if node in betting])
                places = value_offset[nodes][:, None] + lanes
                self._groups.append((answers, leaves, rows, places, tree.amount[nodes][:, None]))

    def __bool__(self) -> bool:
        return bool(self._groups)

    def fill(self, player: int, reaches: tuple[Array, Array], values: Array) -> None:
        """Writes what the leaves are worth to a player whose hands, and the opponent's, come to all rows with `reaches`."""
        for evaluator, leaves, rows, places, amount in self._groups:
            found = evaluator.evaluate(leaves, player, (reaches[0][rows[0]], reaches[1][rows[1]]))
            values[places] = found * amount.astype(values.dtype)
